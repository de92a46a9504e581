// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Meters

/// `glucoport meter udev-rules`: the rules that let people and their cron jobs open meters.
struct MeterUdevRulesCommand: ClassifiedCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    commandName: "udev-rules", abstract: "Print rules for udev that let people open their meters.",
    discussion:
      "Write them to /etc/udev/rules.d/70-glucoport.rules; the name has to sort before 73-seat-late.rules.")

  @Option(
    help: ArgumentHelp("The group that may open meters, for a cron job without a seat.", valueName: "group"))
  var group = "plugdev"

  @Flag(help: "Also for cables and chips whose ids other devices use, too.")
  var shared = false

  @Option(
    help: ArgumentHelp("Also for this device, whose ids no driver knows.", valueName: "vendor:product"))
  var usb: [USBArgument] = []

  func validate() throws {
    if usb.contains(where: { $0.port != nil }) {
      throw ValidationError("A rule holds at every port: --usb takes the ids without one.")
    }
    guard UdevRules.isGroup(group) else { throw ValidationError("'\(group)' is no name of a group.") }
  }

  func run() throws {
    let output = Output()
    let lines = UdevRules.lines(DriverRegister.all, group: group, shared: shared, others: usb)
    for line in lines { output.line(line) }
    try output.finish()
  }
}
