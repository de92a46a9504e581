// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logbook
import LogbookStore

/// `glucoport record delete`: replaces a record, and everything that belongs to it, by tombstones.
struct RecordDeleteCommand: AsyncParsableCommand, ClassifiedCommand {
  static let actionClass = ActionClass.deferrable
  static let configuration = CommandConfiguration(
    commandName: "delete", abstract: "Delete a record, and the records that belong to it.",
    discussion: helpText(
      """
      'glucoport undo' brings a deleted record back in this store, within 30 days; to hide one \
      that may be needed later: 'glucoport record hide'. Its id, kind and time are kept, so that \
      the deletion can be sent to other nodes. On a terminal, the command asks first.
      """,
      examples: "glucoport record delete 8120",
      "glucoport record delete 8120 --push"))

  @OptionGroup var storeOptions: StoreOptions

  @Argument(help: "The id of the record, or its first characters.")
  var id: String

  @Flag(help: "Do not ask.")
  var yes = false

  @OptionGroup var pushOption: PushOption
  @OptionGroup var result: RecordOutputOptions

  func run() async throws {
    let output = Output()
    let store = try storeOptions.open(.editor)
    let record = try store.record(named: id)
    if !yes, !record.isDeleted, Confirmation.canAsk {
      output.message(TableWriter(output: output, unit: nil, isLong: false).line(.record(record)))
      try Confirmation.require(
        "Delete this record? 'glucoport undo' brings it back for 30 days, only in this store.",
        otherwise: "nothing was deleted", output)
    }
    let edit = try RecordEditor(store, at: Host.now()).delete(record.guid)
    for edit in try await pushOption.attempt([edit], in: store, storeOptions, output, isQuiet: result.quiet) {
      try result.show("deleted", edit, store, output)
    }
    try output.finish()
  }
}
