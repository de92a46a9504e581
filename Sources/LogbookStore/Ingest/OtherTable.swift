// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

/// An earlier input with other amounts at the times of this input's rows. Both inputs are tables whose
/// columns a person named. This input is probably not a later export of the same table.
///
/// A record of such a table is identified by its time, since the table has no ids. So a table of basal doses
/// would change the boluses of another file at the same times. Another column of the same file would change
/// them, too. A later export of one table has mostly equal rows and nearly all earlier rows, or the name and
/// the columns of the earlier file. In one run, a sheet is never a later version of another sheet of the
/// workbook, even if most of its rows are equal.
struct OtherTable {
  /// The number of rows that would change records of other files or columns.
  let rows: Int
  private let source: String
  private let ingest: Int64
  /// The SQL condition for the changes that are dropped.
  private let condition: String
  private let arguments: StatementArguments

  /// The SQL condition for a change of the amounts of a visible record. The record is of another file, or of
  /// other columns of a file with the same name. Standard input has no name, so it always counts as another
  /// file.
  private static let isOfOtherFile = """
    record.guid = c.guid AND record.fields <> c.fields AND record.deleted = 0 AND \(Withdrawn.record) = 0 AND e.id = record.ingest
      AND this.id = ?1 AND e.format = this.format
      AND (e.source <> this.source OR this.source = '-' OR \(columns("e")) IS NOT \(columns("this")))
    """

  /// The SQL condition for a record of an earlier sheet.
  private static let isOfEarlierSheet = "e.id IN (SELECT value FROM json_each(?2))"

  /// The SQL expression for the columns that a person named for an import.
  private static func columns(_ ingest: String) -> String {
    """
    (SELECT json_extract(d.value, '$.value') FROM json_each(\(ingest).decisions) AS d
      WHERE json_extract(d.value, '$.subject') = '\(Decision.columns)')
    """
  }

  /// Nil if this input is probably a later export of the same table.
  ///
  /// - Parameters:
  ///   - known: the number of records of the input that the store already has with equal content.
  ///   - earlierSheets: the imports of other sheets of the same workbook in this run.
  init?(_ database: Database, ingest: Int64, known: Int, earlierSheets: [Int64]) throws {
    let sheets = "[\(earlierSheets.map(String.init).joined(separator: ","))]"
    let row = try Row.fetchOne(
      database.cachedStatement(
        sql: """
          SELECT count(*), coalesce(sum(\(Self.isOfEarlierSheet)), 0), e.source, max(e.id)
          FROM temp.record_change AS c, record, ingest AS e, ingest AS this WHERE \(Self.isOfOtherFile)
          """), arguments: [ingest, sheets])
    guard let row = row.map({ StoredRow($0, of: "ingest") }), let source = try row[2] as String?,
      let earlier = try row[3] as Int64?
    else { return nil }
    let (all, ofSheets) = (try row[0] as Int, try row[1] as Int)
    let isOther = try all > known || Self.lacksRows(of: earlier, ingest, database)
    rows = isOther ? all : ofSheets
    if rows == 0 { return nil }
    (condition, arguments) =
      isOther
      ? (Self.isOfOtherFile, [ingest])
      : ("\(Self.isOfOtherFile) AND \(Self.isOfEarlierSheet)", [ingest, sheets])
    self.source = source
    self.ingest = earlier
  }

  /// A later version of a table lacks few of the earlier version's rows, which a person may have deleted. Few
  /// means at most one in `share`, or at most `rows`.
  private static let maxMissing = (share: 5, rows: 2)

  /// Whether this input lacks many records of an earlier import, within the input's first and last time. A
  /// later export has nearly all of them. Only the kinds of the changed records are compared.
  private static func lacksRows(of earlier: Int64, _ ingest: Int64, _ database: Database) throws -> Bool {
    let row = try Row.fetchOne(
      database.cachedStatement(
        sql: """
          WITH own AS (
            SELECT guid, device_time FROM temp.record_change
            UNION ALL SELECT guid, device_time FROM record WHERE ingest = ?1
            UNION ALL SELECT o.guid, r.device_time FROM ingest_record AS o JOIN record AS r ON r.guid = o.guid
              WHERE o.ingest = ?1)
          SELECT count(*), coalesce(sum(record.guid NOT IN (SELECT guid FROM own)), 0) FROM record
          WHERE record.ingest = ?2 AND record.deleted = 0 AND \(Withdrawn.record) = 0
            AND record.kind IN (SELECT r.kind FROM temp.record_change AS c JOIN record AS r ON r.guid = c.guid)
            AND record.device_time BETWEEN (SELECT min(device_time) FROM own) AND (SELECT max(device_time) FROM own)
          """), arguments: [ingest, earlier])
    guard let row = row.map({ StoredRow($0, of: "record") }) else { return false }
    let (all, missing) = (try row[0] as Int, try row[1] as Int)
    return missing > maxMissing.rows && missing * maxMissing.share > all
  }

  /// Forgets the changes of the records of other files, so that these records stay as they are.
  func dropChanges(_ database: Database) throws {
    try database.executeCached(
      sql: """
        DELETE FROM temp.record_change WHERE guid IN (
          SELECT c.guid FROM temp.record_change AS c, record, ingest AS e, ingest AS this WHERE \(condition))
        """, arguments: arguments)
  }

  /// The warning for a person, with what to do.
  var warning: String {
    "\(counted(rows, "record")) not stored: import \(ingest) of '\(source)' has other amounts at the same times. If this is "
      + "another table, import it with --device NAME, where NAME differs for each table; if it is a later version of that one, first "
      + "run 'glucoport undo \(ingest)'"
  }
}
