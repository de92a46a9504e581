// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

extension Store {
  /// The query for the records of each second at which an export shows a record as corrected. The conditions that cost
  /// little come first, since the record of an undo lists up to 256 KiB of items.
  private static let correctedSecondsQuery = """
    WITH corrected(guid) AS MATERIALIZED (
      SELECT json_extract(w.fields, '$.record') FROM record AS w INDEXED BY record_withdrawing
      WHERE w.kind = 'withdrawal' AND w.deleted = 0 AND length(w.fields) < 1000
        AND json_extract(w.fields, '$.subtype') = 'record'
        AND json_extract(w.fields, '$.text') = '\(Withdrawal.correctedAtSource)'),
    seconds(at, zone, name, format, part) AS MATERIALIZED (
      SELECT DISTINCT r.device_time, r.utc_offset, r.kind, r.provenance_format, r.provenance_source
      FROM corrected AS c CROSS JOIN record AS r ON r.guid = c.guid
      WHERE r.kind IN ('insulin', 'food') AND r.device_time BETWEEN ?1 AND ?2
        AND r.provenance_format IN (\(formatsWithAmountsInIDs)))
    SELECT \(StoredRecord.columns),
      CASE WHEN \(ContentExport.isImported) THEN NULL ELSE record.edited_at END,
      EXISTS (SELECT 1 FROM corrected AS c WHERE c.guid = record.guid)
    FROM seconds AS s CROSS JOIN record ON record.device_time = s.at
    WHERE record.utc_offset = s.zone AND record.kind = s.name
      AND (record.provenance_format, record.provenance_source) = (s.format, s.part)
    """

  private static let formatsWithAmountsInIDs = CountingSource.formatsWithAmountsInIDs.sorted()
    .map { "'\($0)'" }.joined(separator: ", ")

  private struct Second: Hashable {
    let time: DeviceTime
    let offset: Int32
    let kind: RecordKind
    let source: CountingSource
  }

  /// The items between two instants that are other states of items that a person edited.
  func editedItems(since: Int64?, until: Int64?, _ rules: CountingRules) throws -> EditedItems {
    try read { database in
      // Most stores hide nothing, and then no export corrected a record.
      guard try Bool.fetchOne(database, sql: "SELECT EXISTS (SELECT 1 FROM listed_record)") == true else {
        return EditedItems()
      }
      // A shown time and its instant differ by less than two days.
      let rows = try Row.fetchCursor(
        database.cachedStatement(sql: Self.correctedSecondsQuery),
        arguments: [
          since.map { $0 - CountingMargin.seconds } ?? .min,
          until.map { $0 + CountingMargin.seconds } ?? .max,
        ])
      var seconds: [Second: [EditedItems.State]] = [:]
      while let row = try rows.next() {
        let record = try StoredRecord(row)
        let second = Second(
          time: record.deviceTime, offset: record.placement.utcOffset, kind: record.kind,
          source: record.countingSource)
        let stored = StoredRow(row, of: "record")
        seconds[second, default: []].append(
          EditedItems.State(
            CountableItem(record), editedAt: try stored[row.count - 2],
            wasCorrected: try stored[row.count - 1]))
      }
      return EditedItems(seconds.values, rules)
    }
  }
}
