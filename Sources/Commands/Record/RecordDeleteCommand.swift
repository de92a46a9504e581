// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import LogbookStore

/// `glucoport record delete`: leaves a tombstone of a record, and of what belongs to it.
struct RecordDeleteCommand: AsyncParsableCommand, ClassifiedCommand {
  static let actionClass = ActionClass.deferrable
  static let configuration = CommandConfiguration(
    commandName: "delete", abstract: "Delete a record, and the records that belong to it.",
    discussion: helpText(
      """
      Its id, kind and time are kept, so that the deletion can be sent to other nodes. Its \
      content is removed.
      """,
      examples: "glucoport record delete 8120",
      "glucoport record delete 8120 --push"))

  @OptionGroup var storeOptions: StoreOptions

  @Argument(help: "The id of the record, or its first characters.")
  var id: String

  @OptionGroup var pushOption: PushOption
  @OptionGroup var told: RecordOutputOptions

  func run() async throws {
    let output = Output()
    let store = try storeOptions.open(.editor)
    let edit = try RecordEditor(store, at: Host.now()).delete(store.record(named: id).guid)
    for edit in try await pushOption.attempt([edit], in: store, storeOptions, output) {
      try told.tell("deleted", edit, store, output)
    }
    try output.finish()
  }
}
