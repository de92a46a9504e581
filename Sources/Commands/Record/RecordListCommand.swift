// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import LogbookStore

/// `glucoport record list`: shows records in the order of time.
struct RecordListCommand: ClassifiedCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List records, oldest first.",
    discussion: helpText(
      ListOptions.tableRule,
      examples: "glucoport record list --since 7d",
      "glucoport record list --kind food --format csv"))

  @OptionGroup var storeOptions: StoreOptions
  @OptionGroup var items: ItemOptions
  @OptionGroup var listing: ListOptions

  func validate() throws {
    if items.namesReadings { throw ValidationError("'record list' accepts only kinds of records.") }
  }

  func run() throws {
    let output = Output()
    let store = try storeOptions.open(.reader)
    var filter = try items.filter(store)
    filter.readingKinds = []
    try listing.write(filter, of: store, unit: nil, output)
    try output.finish()
  }
}
