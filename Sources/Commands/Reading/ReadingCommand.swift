// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// `glucoport reading`: commands to hide and show readings.
struct ReadingCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reading", abstract: "Hide readings that do not count, and show them again.",
    discussion: helpText(
      """
      A reading never changes and is never deleted. Hidden readings are left out of lists, \
      exports and statistics, here and with the next upload on all other stores of the logbook.
      """,
      examples: "glucoport reading hide r1.smbg.time1772352960.67.0 --reason 'sugar on the finger'",
      "glucoport reading restore r1.smbg.time1772352960.67.0"),
    subcommands: [ReadingHideCommand.self, ReadingRestoreCommand.self])
}
