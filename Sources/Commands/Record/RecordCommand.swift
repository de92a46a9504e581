// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// `glucoport record`: the commands on records, the entries of the diary.
struct RecordCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "record", abstract: "Add, edit, delete, show and list records, and attach files.",
    discussion: "None of them needs the network: a later upload sends what is pending, or --push at once.",
    subcommands: [
      RecordAddCommand.self, RecordEditCommand.self, RecordDeleteCommand.self, RecordShowCommand.self,
      RecordListCommand.self, RecordAttachCommand.self, RecordAttachmentsCommand.self,
    ])
}
