// SPDX-License-Identifier: Apache-2.0

package import Logbook
package import LogbookStore

/// The results of an import.
package struct ImportReport: Sendable {
  /// The maximum number of rejections that a report lists.
  static let maxRejections = 20

  /// The number of the ingest.
  package let ingest: Int64
  /// The path of the input, `-` for standard input, or `meter`.
  package let source: String
  /// The id of the format or driver.
  package let format: String
  /// The decisions about the input, such as its format, unit and zone.
  package let decisions: [Decision]
  /// Warnings for the person. They reject nothing.
  package let warnings: [String]
  /// The warnings that even a quiet import prints, for example in an unattended job; empty if nothing was
  /// stored.
  package let doubts: [String]
  /// Whether the input states its person.
  package let statesPerson: Bool
  /// The numbers of items by result, such as new, known and changed.
  package let counts: IngestCounts
  /// How the input ended.
  package let end: InputEnd
  /// The first rejections, for the person; all are counted.
  package let rejections: [Rejection]
  /// Other devices that have readings with the same kind, time and value.
  package let likelyDuplicates: [LikelyDuplicate]
  /// The meter that was read; nil for an export.
  package let meter: MeterReport?
}

extension ImportReport {
  /// The minimum number of changed values for a contradiction; fewer can be chance.
  private static let minContradictions = 24

  /// The result of comparing a table without a device with the stored readings of the same times. It is the
  /// number of readings with another value, and the number of compared readings.
  ///
  /// Nil if fewer than 24 or less than 90 % of the compared values differ. An app that calculates its values
  /// again changes only some of them. If more differ, the table is of another person or device.
  package var contradictions: (count: Int, compared: Int)? {
    let (count, compared) = (counts.changedReadings, counts.changedReadings + counts.knownReadings)
    guard format == "generic", count >= Self.minContradictions, count * 10 >= compared * 9 else {
      return nil
    }
    return (count, compared)
  }
}

extension IngestCounts {
  /// Warnings about stored items that a person must see, since totals or times change. `import` prints them
  /// even with `--quiet`.
  package var warnings: [String] { newAccounts + equalRows + movedTimes }

  /// The warning that another account made this export than earlier exports. A parent or a clinician may have
  /// made it for this person, so it is imported.
  private var newAccounts: [String] {
    guard let newAccount, newReadings + newRecords > 0 else { return [] }
    return [
      "another account made this export than that of import \(newAccount.former); if it is of another person, "
        + "'glucoport undo \(newAccount.ingest)' rolls it back, and --person NAME imports it for that person"
    ]
  }

  /// The warning about rows of new doses and meals that equal an earlier row of the input. An export may
  /// repeat a row, or a person may have taken the same dose twice. Equal rows are stored once, and the
  /// warning lets the person correct that.
  private var equalRows: [String] {
    guard repeatedAmounts > 0 else { return [] }
    return [
      "\(counted(repeatedAmounts, "row")) of new doses or meals equal an earlier row in time and amount and were not stored "
        + "again; if they are separate, such as a dose in two injections, add them with 'glucoport add'"
    ]
  }

  /// The warning about an export of a logbook in another zone: its shown times are kept, so its instants
  /// move. There is no warning if the store already had all items, since known items do not move.
  private var movedTimes: [String] {
    guard moved.count > 0, newReadings + newRecords > 0 else { return [] }
    return [
      "\(counted(moved.count, "time")) of this export moved, since its logbook has another zone: \(moved.example); to keep "
        + "them, import it again with --timezone and the zone of that logbook"
    ]
  }
}

/// The error of an import that a signal ended.
package struct ImportInterruption: Error {
  /// The path of the input, or `-` for standard input.
  package let source: String
  /// The results for the stored items; empty for a strict import, which stores nothing.
  package let stored: IngestCounts
}

extension StoreMerge {
  /// Merges the other store into `store` in one transaction, and returns the counts as an import report.
  package func report(into store: Store) throws -> ImportReport {
    let result = try run(into: store)
    return ImportReport(
      ingest: result.ingest, source: name, format: Self.format, decisions: [], warnings: [],
      doubts: [], statesPerson: false,
      counts: result.counts, end: .whole, rejections: [], likelyDuplicates: [], meter: nil)
  }
}
