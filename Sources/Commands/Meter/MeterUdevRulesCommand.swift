// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Meters

/// `glucoport meter udev-rules`: the rules that let people and their cron jobs open meters.
struct MeterUdevRulesCommand: ClassifiedCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    commandName: "udev-rules", abstract: "Print udev rules that let users open their meters.",
    discussion: helpText(
      """
      Write them to /etc/udev/rules.d/70-glucoport.rules; the name must sort before \
      73-seat-late.rules.
      """,
      examples: "glucoport meter udev-rules | sudo tee /etc/udev/rules.d/70-glucoport.rules",
      "glucoport meter udev-rules --group dialout --shared"))

  @Option(
    help: ArgumentHelp("Group that may open meters, for cron jobs and remote logins.", valueName: "group"))
  var group = "plugdev"

  @Flag(help: "Also print rules for cables and chips that other devices use.")
  var shared = false

  @Option(
    help: ArgumentHelp("Also print rules for this device.", valueName: "vendor:product"))
  var usb: [USBArgument] = []

  func validate() throws {
    if usb.contains(where: { $0.port != nil }) {
      throw ValidationError("--usb takes no port here; a rule is for every port.")
    }
    guard UdevRules.isGroup(group) else { throw ValidationError("'\(group)' is not a valid group name.") }
  }

  func run() throws {
    let output = Output()
    let lines = UdevRules.lines(DriverRegister.all, group: group, shared: shared, others: usb)
    for line in lines { output.line(line) }
    try output.finish()
  }
}
