// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// `glucoport conflict`: commands for records that were edited here and on the remote.
struct ConflictCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "conflict", abstract: "List, show and resolve conflicts.",
    discussion: helpText(
      "No conflict command uses the network: a later upload sends the decision.",
      examples: "glucoport conflict list",
      "glucoport conflict resolve 8120 --keep mine"),
    subcommands: [ConflictListCommand.self, ConflictShowCommand.self, ConflictResolveCommand.self])
}
