// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import LogbookStore

/// `glucoport record show`: everything about one record.
struct RecordShowCommand: ClassifiedCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Show everything about one record.",
    discussion: helpText(
      examples: "glucoport record show 8120",
      "glucoport record show 8120 --json"))

  @OptionGroup var storeOptions: StoreOptions

  @Argument(help: "The id of the record, or its first characters.")
  var id: String

  @Flag(help: "Print the record as one JSON object.")
  var json = false

  func run() throws {
    let output = Output()
    let store = try storeOptions.open(.reader)
    try ItemDetails(store).write(.record(store.record(named: id)), asJSON: json, output)
    try output.finish()
  }
}
