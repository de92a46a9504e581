// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

/// Finds doses and meals whose amounts may have been corrected at the source, for a format whose ids contain
/// amounts.
///
/// The records of Apple Health have no ids. Several doses or foods of one app often have one time, so their
/// amounts are part of their identity. A corrected amount makes another record, and the earlier one stays in
/// the store. If each export has one record of the app and kind at this second, it is the same record.
/// `RetypedDoses` compares the exports and hides the earlier record.
///
/// If a person edited a record, its amount in the exports is compared. The withdrawal names this amount, so
/// it does not hide the edit. After an undo of the edit, it hides the record. While the edit holds,
/// `EditedItems` lets it count.
///
/// The identity of the records stays as it is, so that an export of earlier records finds them in every
/// store.
enum CorrectedAmounts {
  /// The SQL condition that this input has the record of a row.
  private static func isGiven(_ row: String) -> String {
    """
    (\(row).ingest IS ?1
      OR EXISTS (SELECT 1 FROM ingest_record AS i WHERE (i.guid, i.ingest) = (\(row).guid, ?1)))
    """
  }

  /// The SQL condition that a row is another record of the same app, kind and second as `x`.
  private static func isOfSameSecond(_ row: String) -> String {
    """
    \(row).guid <> x.guid AND \(row).utc_offset = x.utc_offset AND \(row).kind = x.kind AND \(row).deleted = 0
      AND (\(row).provenance_format, \(row).provenance_source) IS (x.provenance_format, x.provenance_source)
    """
  }

  /// The SQL query for records of this input, each with the records of the same second.
  private static let storedPairQuery = """
    SELECT x.guid, y.guid FROM record AS x CROSS JOIN record AS y ON y.device_time = x.device_time
    WHERE x.kind IN ('insulin', 'food') AND x.deleted = 0 AND x.provenance_format = ?2 AND \(isGiven("x"))
      AND \(isOfSameSecond("y"))
    """

  /// The SQL query for records that are the only ones of their second in this input. Each is paired with the
  /// records of the same second from other inputs.
  private static let pairQuery = """
    \(storedPairQuery)
      AND NOT EXISTS (SELECT 1 FROM record AS z WHERE z.device_time = x.device_time AND \(isOfSameSecond("z"))
        AND \(isGiven("z")))
    """

  /// The pairs of records of one app, kind and second. This input has exactly one record of each pair. Empty
  /// for a format whose ids contain no amounts.
  static func pairs(_ database: Database, ingest: Int64, _ format: String) throws -> [RetypedDoses.DosePair] {
    try pairs(pairQuery, database, ingest, format)
  }

  /// The pairs of records of one app, kind and second. The import has at least one record of each pair.
  static func storedPairs(_ database: Database, ingest: Int64) throws -> [RetypedDoses.DosePair] {
    let format = try String.fetchOne(
      database.cachedStatement(sql: "SELECT format FROM ingest WHERE id = ?"), arguments: [ingest])
    return try pairs(storedPairQuery, database, ingest, format ?? "")
  }

  private static func pairs(
    _ query: String, _ database: Database, _ ingest: Int64, _ format: String
  ) throws -> [RetypedDoses.DosePair] {
    guard CountingSource.idsContainAmounts(format) else { return [] }
    return try Row.fetchAll(database.cachedStatement(sql: query), arguments: [ingest, format]).map { row in
      let row = StoredRow(row, of: "record")
      return RetypedDoses.DosePair(given: try row[0], other: try row[1])
    }
  }
}
