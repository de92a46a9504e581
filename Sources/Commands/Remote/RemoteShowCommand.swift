// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logbook
import LogbookStore
import Remotes

/// `glucoport remote show`: the stored facts about the remote, without a request to it.
struct RemoteShowCommand: ClassifiedCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Show the server and its sync state, without contacting it.",
    discussion: helpText(
      examples: "glucoport remote show",
      "glucoport remote show --json"))

  @OptionGroup var storeOptions: StoreOptions

  @Flag(help: "Print one JSON object.")
  var json = false

  func run() throws {
    let output = Output()
    let setting = try storeOptions.open(.reader).requireRemote()
    try output.result(asJSON: json, RemoteObject(setting), orLines: RemoteText.lines(setting))
    try output.finish()
  }
}
