// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logbook
import LogbookStore

/// The forms in which `list` shows items.
enum ListForm: String, ExpressibleByArgument, CaseIterable {
  case table, csv, ndjson
}

/// `glucoport list`: shows readings and records in the order of time.
struct ListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List readings and records, oldest first.",
    discussion: "A table holds the newest 50 unless --since, --until or --limit says otherwise.")

  @OptionGroup var storeOptions: StoreOptions
  @OptionGroup var items: ItemOptions

  @Option(help: ArgumentHelp("Show the newest so many.", valueName: "number"))
  var limit: Int?

  @Option(help: ArgumentHelp("Show values in this unit: mg/dL or mmol/L.", valueName: "unit"))
  var unit: GlucoseUnit?

  @Option(help: ArgumentHelp("table, csv or ndjson.", valueName: "form"))
  var format = ListForm.table

  @Flag(help: "Devices and ids in the table, too.")
  var long = false

  func validate() throws {
    if let limit, limit < 1 { throw ValidationError("--limit takes a number from 1.") }
    if format != .table, unit != nil {
      throw ValidationError("--unit is for tables; csv and ndjson hold each value as it was given.")
    }
  }

  func run() throws {
    let output = Output()
    let store = try storeOptions.open(.reader)
    var filter = try items.filter(store)
    let isOpenTable = format == .table && items.since == nil && items.until == nil
    filter.newest = limit ?? (isOpenTable ? 50 : nil)
    var writer: any ItemWriter =
      switch format {
      case .csv: CSVWriter(output: output, isSpreadsheetSafe: false)
      case .ndjson: NDJSONWriter(output: output)
      case .table:
        TableWriter(output: output, unit: try unit ?? store.displayUnit(), isLong: long)
      }
    writer.begin()
    try store.forEachItem(filter) { writer.write($0) }
    for message in writer.end() { output.message("glucoport: \(message)") }
    try output.finish()
  }
}
