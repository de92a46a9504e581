// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// `glucoport conflict`: the commands on records that were edited here and there.
struct ConflictCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "conflict", abstract: "List, show and resolve conflicts.",
    discussion: "None of them uses the network: a later upload sends what was decided.",
    subcommands: [ConflictListCommand.self, ConflictShowCommand.self, ConflictResolveCommand.self])
}
