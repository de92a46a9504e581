// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logbook

/// `glucoport person rename`: gives a person another name.
struct PersonRenameCommand: ClassifiedCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    commandName: "rename", abstract: "Give a person another name.",
    discussion: helpText(
      "The store and the backups keep their files.", examples: "glucoport person rename anna 'Anna B.'",
      "glucoport person rename ben benjamin"))

  @Argument(help: ArgumentHelp("The person.", valueName: "name"), completion: .persons)
  var name: String

  @Argument(help: ArgumentHelp("The new name.", valueName: "new-name"))
  var newName: String

  @Flag(help: "Print nothing on success.")
  var quiet = false

  func run() throws {
    let output = Output()
    try PersonList.change { try $0.rename(name, to: newName) }
    if !quiet { output.line("renamed: \(displayed(name)) to \(displayed(newName))") }
    try output.finish()
  }
}
