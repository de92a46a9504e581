// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// `glucoport meter`: blood-glucose meters on USB and by Bluetooth.
struct MeterCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "meter", abstract: "List, inspect and pair meters, set their clocks, record sessions.",
    discussion: helpText(
      """
      'glucoport import --meter' stores what a meter holds. No command erases or configures \
      a meter.
      """,
      examples: "glucoport meter list",
      "glucoport meter info"),
    subcommands: [
      MeterListCommand.self, MeterInfoCommand.self, MeterSetClockCommand.self, MeterDriversCommand.self,
      MeterRecordCommand.self, MeterPairCommand.self, MeterForgetCommand.self,
      MeterWaitCommand.self, MeterUdevRulesCommand.self,
    ])
}
