// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Formats
package import Logbook
package import LogbookStore

/// The output formats of `list`.
package enum ListForm: String, ExpressibleByArgument, CaseIterable {
  case table, csv, ndjson
}

/// The options of `list` for the format of its output, and the code that writes this output.
package struct ListOptions: ParsableArguments {
  /// The sentence for the help about the number of items in a table.
  package static let tableRule =
    "A table has the newest 50 items unless --since, --until or --limit is given."

  @Option(help: ArgumentHelp("Show only the newest N.", valueName: "number"))
  var limit: Int?

  @Option(help: ArgumentHelp("table, csv or ndjson.", valueName: "form"))
  package var format = ListForm.table

  @Flag(help: "Show devices and ids in the table, too.")
  package var long = false

  /// Creates the options without values. The parser sets the values.
  package init() {}

  /// Refuses a limit that is not positive.
  package func validate() throws {
    if let limit, limit < 1 { throw ValidationError("--limit is a whole number, 1 or more.") }
  }

  /// Writes one line for each day on which readings pass the filter.
  package func writeDays(_ filter: ItemFilter, of store: Store, _ output: Output) throws {
    let marksQueued = try store.remote() != nil
    for day in try store.readingDays(limited(filter), store.activity()) {
      try output.result(
        asJSON: format != .table, day, orLines: [DayText.line(day, marksQueued: marksQueued)])
    }
  }

  /// Writes the items that statistics leave out since another source has them, too.
  package func writeLeftOut(_ filter: ItemFilter, of store: Store, unit: GlucoseUnit?, _ output: Output)
    throws
  {
    try LeftOutListing(store, table(of: store, unit: unit, bars: nil, output)).write(limited(filter), output)
  }

  private func table(
    of store: Store, unit: GlucoseUnit?, bars: ListBars?, showsIDs: Bool = false, _ output: Output
  ) throws -> TableWriter {
    TableWriter(
      output: output, unit: try unit ?? store.displayUnit(), isLong: long, showsIDs: showsIDs,
      marksQueued: try store.remote() != nil, activity: try store.activity(), bars: bars)
  }

  private func limited(_ filter: ItemFilter) -> ItemFilter {
    var filter = filter
    let isOpenTable = format == .table && filter.since == nil && filter.until == nil
    filter.newest = limit ?? (isOpenTable ? 50 : nil)
    return filter
  }

  /// Writes the items that pass the filter. A table shows values in this unit; for nil, in that of the
  /// settings.
  package func write(
    _ filter: ItemFilter, of store: Store, unit: GlucoseUnit?, inBothUnits: Bool = false,
    bars: ListBars? = nil, showsIDs: Bool = false, _ output: Output
  ) throws {
    let filter = limited(filter)
    var writer: any ItemWriter =
      switch format {
      case .csv: OwnFormatWriter(.csv(isSpreadsheetSafe: false), inBothUnits: inBothUnits, output)
      case .ndjson: OwnFormatWriter(.ndjson, inBothUnits: inBothUnits, output)
      case .table: try table(of: store, unit: unit, bars: bars, showsIDs: showsIDs, output)
      }
    writer.begin()
    try store.forEachItem(filter) {
      writer.write($0)
      try output.requireOpenOutput()
    }
    for message in writer.end() { output.message("glucoport: \(message)") }
  }
}
