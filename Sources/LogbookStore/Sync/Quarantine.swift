// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
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

extension SyncTransaction {
  /// Quarantines the records whose text in `sent`, `base` or `conflict` is damaged. The damaged text is
  /// removed, so that an edit or a retry sends the current content of the record.
  ///
  /// - Returns: the number of quarantined records.
  package func quarantineUnreadableRecords() throws -> Int {
    let rows = try Row.fetchCursor(
      database.cachedStatement(
        sql: """
          SELECT guid, sent, base, conflict FROM record INDEXED BY record_pending
          WHERE \(RecordCondition.isPending) AND (sent IS NOT NULL OR base IS NOT NULL)
          UNION ALL
          SELECT guid, sent, base, conflict FROM record INDEXED BY record_conflicted WHERE conflict IS NOT NULL
          """))
    var damaged: [(guid: String, damages: [SyncTexts.Damage])] = []
    while let row = try rows.next().map({ StoredRow($0, of: "record") }) {
      let damages = SyncTexts(sent: try row[1], base: try row[2], conflict: try row[3]).damages
      if !damages.isEmpty { damaged.append((try row[0], damages)) }
    }
    for (guid, damages) in damaged { try quarantine(guid, damages) }
    return damaged.count + (try quarantineUnsendableRecords())
  }

  /// Quarantines pending records that every remote would refuse, so that they do not block other records.
  private func quarantineUnsendableRecords() throws -> Int {
    let unsendable = try UnsendableRecords.find(database)
    for (guid, reason) in unsendable {
      try quarantine(guid, reason: "it cannot be sent: \(reason); edit the record")
    }
    return unsendable.count
  }

  private func quarantine(_ guid: String, _ damages: [SyncTexts.Damage]) throws {
    let reasons = damages.map { "'\($0.column)' (byte \($0.error.offset): \($0.error.reason))" }
    let removed = damages.flatMap { Self.columns[$0.column] ?? [] }.map { "\($0) = NULL, " }.joined()
    try database.execute(
      sql: "UPDATE record SET \(removed)quarantine = ?, quarantined_version = version WHERE guid = ?",
      arguments: [
        "this store cannot read what it keeps for sync in \(reasons.joined(separator: ", ")); "
          + "edit the record, or send it as it is with 'glucoport queue retry'", guid,
      ])
  }

  /// The columns that are emptied together with a damaged column, since they are only valid together.
  private static let columns = [
    "sent": ["sent", "sent_version"], "base": ["base"], "conflict": ["conflict", "conflict_revision"],
  ]
}

/// Pending records that every remote would refuse, since their content is invalid. Another program or an
/// older version of glucoport stored them.
enum UnsendableRecords {
  /// The guids of these records, each with the reason.
  static func find(_ database: Database) throws -> [(guid: String, reason: String)] {
    let rows = try Row.fetchCursor(
      database.cachedStatement(
        sql: """
          SELECT guid, fields FROM record INDEXED BY record_pending
          WHERE \(RecordCondition.isPending) AND sent IS NULL
          """))
    var found: [(String, String)] = []
    while let row = try rows.next() {
      let record = StoredRow(row, of: "record")
      if let reason = fault(try record[1]) { found.append((try record[0], reason)) }
    }
    return found
  }

  private static func fault(_ fields: String) -> String? {
    do throws(JSONError) {
      return try RecordFields(uncheckedJSON: fields).fault
    } catch {
      return "its fields are not an object of numbers, texts, flags and lists of words: \(error.reason)"
    }
  }
}

extension Store {
  /// The number of pending records that cannot be sent to any remote.
  package func unsendableRecords() throws -> Int {
    try read { try UnsendableRecords.find($0).count }
  }
}
