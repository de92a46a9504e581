// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// `glucoport person`: the people with stores on this computer.
struct PersonCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "person", abstract: "Keep the stores of several people apart.",
    discussion: helpText(
      """
      Each person has a store. --person, or GLUCOPORT_PERSON, chooses the store of a command. 'upload', \
      'status' and 'backup' go over all persons.
      """,
      examples: "glucoport person add anna",
      "glucoport person list"),
    subcommands: [
      PersonAddCommand.self, PersonListCommand.self, PersonAssignCommand.self, PersonRenameCommand.self,
      PersonRemoveCommand.self,
    ])
}
