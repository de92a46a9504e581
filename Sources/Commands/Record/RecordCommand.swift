// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// `glucoport record`: commands for records, the entries of the diary.
struct RecordCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "record", abstract: "Add, edit, hide, delete, show and list records, and attach files.",
    discussion: helpText(
      """
      No record command needs the network: a later upload sends the change, or --push sends \
      it at once.
      """,
      examples: "glucoport record add insulin 4.5 --subtype rapid",
      "glucoport record list --since 7d"),
    subcommands: [
      RecordAddCommand.self, RecordEditCommand.self, RecordDeleteCommand.self, RecordHideCommand.self,
      RecordRestoreCommand.self, RecordShowCommand.self,
      RecordListCommand.self, RecordAttachCommand.self, RecordAttachmentsCommand.self,
    ])
}
