// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import LogbookStore

/// `glucoport show`: everything about one reading or record.
struct ShowCommand: ClassifiedCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Show everything about one reading or record.",
    discussion: "'list --long' shows the ids. Of a record's id its first characters are enough.")

  @OptionGroup var storeOptions: StoreOptions

  @Argument(help: "The id of a reading or record.")
  var id: String

  @Flag(help: "Print one JSON object.")
  var json = false

  func run() throws {
    let output = Output()
    let store = try storeOptions.open(.reader)
    let item: StoredItem =
      if let reading = try store.reading(at: id) { .reading(reading) } else {
        .record(try store.record(named: id))
      }
    try ItemDetails(store).write(item, asJSON: json, output)
    try output.finish()
  }
}
