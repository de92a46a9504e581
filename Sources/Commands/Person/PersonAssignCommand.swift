// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logbook

/// `glucoport person assign`: says whose a meter is.
struct PersonAssignCommand: ClassifiedCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    commandName: "assign", abstract: "Assign a meter to a person.",
    discussion: helpText(
      "It is taken from any other person. What is stored stays where it is.",
      examples: "glucoport person assign SN-0001 anna",
      "glucoport person assign 'Contour XT' ben"))

  @Argument(help: ArgumentHelp("The serial number of the meter, or its model.", valueName: "meter"))
  var meter: String

  @Argument(help: ArgumentHelp("The person.", valueName: "name"))
  var name: String

  @Flag(help: "Print nothing on success.")
  var quiet = false

  func validate() throws {
    if meter.isEmpty || meter.utf8.count > 256 {
      throw ValidationError("A meter has a serial number or a model.")
    }
  }

  func run() throws {
    let output = Output()
    try PersonList.change { try $0.assign(meter, to: name) }
    if !quiet { output.line("assigned: \(displayed(meter)) to \(displayed(name))") }
    try output.finish()
  }
}
