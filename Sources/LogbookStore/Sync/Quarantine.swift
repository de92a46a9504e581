// SPDX-License-Identifier: Apache-2.0

import GRDB
import SQLiteRows

extension Store {
  /// Calls `body` with each item that the remote refused permanently, and with the reason. A record is
  /// included if the remote refused its content or the content of its attachment.
  package func forEachRefused(_ body: (StoredItem, String) throws -> Void) throws {
    try read { database in
      let readings = try Row.fetchCursor(
        database,
        sql: """
          SELECT \(StoredReading.columns)
          FROM refusal AS q JOIN series AS s ON s.id = q.series JOIN device AS d ON d.id = s.device
            CROSS JOIN reading AS r ON r.partition = s.partition AND r.position = q.position AND r.series = q.series
              AND r.value_bucket = q.value_bucket AND r.occurrence = q.occurrence
          WHERE r.uploaded = 0 ORDER BY r.device_time - \(StoredOffset.sql("r"))
          """)
      while let row = try readings.next() {
        let reading = try StoredReading(row)
        try body(.reading(reading), reading.refusal ?? "")
      }
      let records = try Row.fetchCursor(
        database,
        sql: """
          SELECT \(StoredRecord.columns) FROM record WHERE \(RecordCondition.isRefused)
          ORDER BY device_time - utc_offset, guid
          """)
      while let row = try records.next() {
        let record = try StoredRecord(row)
        try body(.record(record), record.refusal ?? "")
      }
      let contents = try Row.fetchCursor(
        database,
        sql: """
          SELECT \(StoredRecord.columns), blob.refusal FROM queued INDEXED BY queued_file
          JOIN record ON record.guid = queued.record JOIN blob ON blob.digest = \(StoredField.digest)
          WHERE queued.aspect = 'file' AND blob.refusal IS NOT NULL ORDER BY queued.queued_at, queued.record
          """)
      while let row = try contents.next() {
        let record = try StoredRecord(row)
        try body(.record(record), StoredRow(row, of: "record")[row.count - 1])
      }
    }
  }

  /// Queues all items again that the remote refused permanently. Needs the role `sync`.
  ///
  /// - Returns: the number of readings, records and contents that were queued.
  @discardableResult
  package func releaseRefused() throws -> Int {
    try write { database in
      try database.execute(
        sql: """
          UPDATE record SET quarantine = NULL, quarantined_version = NULL WHERE quarantined_version IS NOT NULL
          """)
      let records = database.changesCount
      try database.execute(sql: "DELETE FROM refusal")
      let readings = database.changesCount
      return try records + readings + AttachmentQueue.releaseRefused(database)
    }
  }
}
