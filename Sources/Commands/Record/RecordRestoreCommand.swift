// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import LogbookStore

/// `glucoport record restore`: shows a record, even if another withdrawal hides it.
struct RecordRestoreCommand: ClassifiedCommand {
  static let actionClass = ActionClass.deferrable
  static let configuration = CommandConfiguration(
    commandName: "restore", abstract: "Show a hidden record again.",
    discussion: helpText(
      """
      It is shown whatever hid it: 'glucoport record hide' or 'glucoport undo'.
      """,
      examples: "glucoport record restore 8120",
      "glucoport record restore 8120 --quiet"))

  @OptionGroup var storeOptions: StoreOptions

  @Argument(help: "The id of the record, or its first characters.")
  var id: String

  @Flag(help: "Print nothing on success.")
  var quiet = false

  func run() throws {
    let output = Output()
    let store = try storeOptions.open(.editor)
    let record = try store.record(named: id)
    let isChanged = try WithdrawalEditor(store, at: Host.now()).set(
      record, isHidden: false, reason: "")
    if !quiet {
      output.line(isChanged ? "restored: \(record.guid)" : "unchanged: \(record.guid) is not hidden")
    }
    try output.finish()
  }
}
