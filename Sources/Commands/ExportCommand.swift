// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Formats
import LogbookStore

/// The forms that `export` writes.
enum ExportForm: String, ExpressibleByArgument, CaseIterable {
  case csv, ndjson, nightscout
}

/// `glucoport export`: writes items so that they can be imported again without loss.
struct ExportCommand: ClassifiedCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    commandName: "export", abstract: "Print readings and records for other programs.",
    discussion: helpText(
      """
      Importing the output into the same store changes nothing. Nightscout entries hold only \
      readings.
      """,
      examples: "glucoport export --since 2026-01-01 > readings.csv",
      "glucoport export --format ndjson | glucoport import --store copy.db -"))

  @OptionGroup var storeOptions: StoreOptions
  @OptionGroup var items: ItemOptions

  @Option(help: ArgumentHelp("csv, ndjson or nightscout.", valueName: "form"))
  var format = ExportForm.csv

  @Flag(help: "In CSV, protect cells that a spreadsheet would take for formulas.")
  var spreadsheetSafe = false

  @Flag(help: "In csv and ndjson, add the value in mg/dL and in mmol/L.")
  var bothUnits = false

  func validate() throws {
    if bothUnits, format == .nightscout { throw ValidationError("--both-units is only for csv and ndjson.") }
    if spreadsheetSafe, format != .csv { throw ValidationError("--spreadsheet-safe is only for csv.") }
  }

  func run() throws {
    let output = Output()
    let store = try storeOptions.open(.reader)
    var filter = try items.filter(store)
    // An export leaves nothing out unasked: a newer program may read it.
    filter.includesUnlistedKinds = items.kind == nil
    var writer: any ItemWriter =
      switch format {
      case .csv:
        OwnFormatWriter(.csv(isSpreadsheetSafe: spreadsheetSafe), inBothUnits: bothUnits, output)
      case .ndjson: OwnFormatWriter(.ndjson, inBothUnits: bothUnits, output)
      case .nightscout: NightscoutItemWriter(output: output)
      }
    writer.begin()
    try store.forEachItem(filter) {
      writer.write($0)
      try output.checkReader()
    }
    for message in writer.end() { output.message("glucoport: \(message)") }
    try output.finish()
  }
}
