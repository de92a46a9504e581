// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// `glucoport meter`: blood-glucose meters at the USB plug.
struct MeterCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "meter", abstract: "List, ask, set and record the meters that are plugged in.",
    discussion:
      "'glucoport import --meter' stores what a meter holds. No command erases or configures a meter.",
    subcommands: [
      MeterListCommand.self, MeterInfoCommand.self, MeterSetClockCommand.self, MeterDriversCommand.self,
      MeterRecordCommand.self, MeterUdevRulesCommand.self,
    ])
}
