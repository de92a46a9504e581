// SPDX-License-Identifier: Apache-2.0

import GRDB
package import Logbook
import SQLiteRows

/// Queries whether a store has the doses, meals and notes of another input. Their cost does not grow with the
/// store.
extension Store {
  /// Whether the store has each of these records with equal content, so that no withdrawal hides it. Each
  /// record is searched by its guid.
  ///
  /// - Parameter format: the id of the input's format, which is part of the guids.
  package func hasShown(_ records: [ImportedRecord], format: String) throws -> [Bool] {
    try read { database in
      let statement = try database.cachedStatement(
        sql: """
          SELECT guid, fields, device_time, utc_offset, offset_source FROM record
          WHERE guid = ? AND deleted = 0 AND \(Withdrawn.record) = 0
          """)
      return try records.map { record in
        let row = try Row.fetchOne(statement, arguments: [record.guid(format: format)])
        guard let row = row.map({ StoredRow($0, of: "record") }) else { return false }
        let stored = RecordContent(
          fields: try row[1], deviceTime: try row[2], utcOffset: try row[3], offsetSource: try row[4],
          isDeleted: false)
        return RecordContent(record, at: record.deviceTime, record.placement).isStated(by: stored)
      }
    }
  }

  /// The shown times of the first and the last record, in civil seconds; nil if there are no records.
  package func timesOfRecords() throws -> ClosedRange<Int64>? {
    try read { database in
      let times = try ["", "DESC"].compactMap { order in
        try Int64.fetchOne(
          database.cachedStatement(
            sql: """
              SELECT device_time FROM record WHERE deleted = 0 AND NOT \(Withdrawn.isStatement)
              ORDER BY device_time \(order) LIMIT 1
              """))
      }
      guard let first = times.first, let last = times.last else { return nil }
      return first...max(first, last)
    }
  }

  /// The names of the programs and devices from which the newest records came; see `Provenance.source`.
  ///
  /// - Parameter count: the number of records that are examined.
  package func sources(ofNewestRecords count: Int) throws -> Set<String> {
    try read { database in
      try Set(
        String.fetchAll(
          database.cachedStatement(
            sql: """
              SELECT DISTINCT source FROM (
                SELECT provenance_source AS source FROM record
                WHERE deleted = 0 AND NOT \(Withdrawn.isStatement) AND \(Withdrawn.record) = 0
                ORDER BY device_time DESC LIMIT ?)
              WHERE source <> ''
              """), arguments: [count]))
    }
  }

  /// The newest records as an export of the store states them, with their guids.
  ///
  /// - Parameter count: the maximum number of records.
  package func newestRecords(_ count: Int) throws -> [ImportedRecord] {
    var filter = ItemFilter()
    (filter.readingKinds, filter.newest) = ([], count)
    var records: [ImportedRecord] = []
    try forEachItem(filter) { item in
      guard case .record(let stored) = item else { return }
      let source = stored.provenance?.source ?? ""
      var record = ImportedRecord(
        kind: stored.kind, at: stored.deviceTime, placement: stored.placement,
        fields: try RecordFields(stored: stored.fields, of: stored.guid), owner: source, source: source,
        line: 0)
      record.guid = stored.guid
      records.append(record)
    }
    return records
  }
}
