// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import LogbookStore

/// `glucoport record hide`: hides a record, which can be shown again.
struct RecordHideCommand: ClassifiedCommand {
  static let actionClass = ActionClass.deferrable
  static let configuration = CommandConfiguration(
    commandName: "hide", abstract: "Hide a record and the records that belong to it.",
    discussion: helpText(
      """
      Nothing is deleted: 'glucoport record restore' shows it again. Other stores of the logbook hide it with the next upload.
      """,
      examples: "glucoport record hide 8120",
      "glucoport record hide 8120 --reason 'typed twice'"))

  @OptionGroup var storeOptions: StoreOptions

  @Argument(help: "The id of the record, or its first characters.")
  var id: String

  @Option(help: ArgumentHelp("Why, for people.", valueName: "text"))
  var reason = ""

  @Flag(help: "Print nothing on success.")
  var quiet = false

  func run() throws {
    let output = Output()
    let store = try storeOptions.open(.editor)
    let record = try store.record(named: id)
    let isChanged = try WithdrawalEditor(store, at: Host.now()).set(
      record, isHidden: true, reason: reason)
    if !quiet {
      output.line(isChanged ? "hidden: \(record.guid)" : "unchanged: \(record.guid) is hidden already")
    }
    try output.finish()
  }
}
