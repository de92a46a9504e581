// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandParts
import LogbookStore

/// The command `list`, which lists readings and records in the order of time.
struct ListCommand: PrintingCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    "list", "List readings and records, oldest first.",
    ListOptions.tableRule,
    examples: "glucoport list --since 14d --unit mmol/L", "glucoport list --kind smbg,ketone --limit 20")

  @OptionGroup var storeOptions: StoreOptions
  @OptionGroup var items: ItemOptions
  @OptionGroup var listing: ListOptions

  @OptionGroup var values: UnitOptions

  @Flag(help: "In csv and ndjson, add the value in mg/dL and in mmol/L.")
  var bothUnits = false

  @Flag(help: "Show one line for each day with readings.")
  var days = false

  @Flag(help: "In a table, show short ids of readings, too.")
  var ids = false

  @Flag(help: "Show only what figures leave out because another source states it, too.")
  var leftOut = false

  @Flag(help: "In a table, show a bar for each glucose value, and an arrow outside of 70-180 mg/dL.")
  var plot = false

  @Flag(help: "With --plot: draw with ASCII characters only.")
  var ascii = false

  func validate() throws {
    if leftOut, days || plot || listing.format != .table {
      throw ValidationError("--left-out is only for tables, without --days and --plot.")
    }
    if plot, days || listing.format != .table { throw ValidationError("--plot is only for tables.") }
    if ascii, !plot { throw ValidationError("--ascii needs --plot.") }
    if ids, days || leftOut || listing.long || listing.format != .table {
      throw ValidationError("--ids is only for tables without --long, --days and --left-out.")
    }
    if days, listing.format == .csv { throw ValidationError("--days needs --format table or ndjson.") }
    if listing.format != .table, values.unit != nil {
      throw ValidationError(
        "--unit is only for tables; for csv and ndjson use --both-units."
      )
    }
    if bothUnits, listing.format == .table || days {
      throw ValidationError("--both-units is only for csv and ndjson.")
    }
  }

  func run(_ output: Output) throws {
    let store = try storeOptions.open(.reader)
    let filter = try items.filter(store)
    if leftOut {
      try listing.writeLeftOut(filter, of: store, unit: values.unit, output)
    } else if days {
      try listing.writeDays(filter, of: store, output)
    } else {
      let bars = plot ? ListBars(isASCII: ascii) : nil
      try listing.write(
        filter, of: store, unit: values.unit, inBothUnits: bothUnits, bars: bars, showsIDs: ids, output)
    }
  }
}
