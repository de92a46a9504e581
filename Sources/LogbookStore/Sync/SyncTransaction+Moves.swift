// SPDX-License-Identifier: Apache-2.0

import GRDB
package import Logbook
import SQLiteRows

/// Readings whose documents are to be moved.
package struct PendingMoves: Sendable {
  /// The readings as they are placed here.
  package let readings: PendingReadings
  /// Of them those that the remote gets even where it has no document: an upload may have deleted it, or has not sent it
  /// yet.
  package let owed: Set<ReadingKey>
}

// MARK: - Readings

extension SyncTransaction {
  /// Whether the moves lead to later instants, so that the last ones go first: then each finds its place free.
  package func moveLater() throws -> Bool {
    try Bool.fetchOne(
      database.cachedStatement(
        sql: """
          SELECT m.sent_offset > r.derived_offset FROM resend AS m
            CROSS JOIN reading AS r ON \(SiteSchema.isSame("r", "m")) LIMIT 1
          """)) ?? false
  }

  /// The first readings behind `key` whose documents are to be moved, but for those that are hidden, whose documents are
  /// removed.
  package func pendingMoves(after key: ReadingKey?, limit: Int, isDescending: Bool) throws -> PendingMoves {
    let found = try readings(
      "resend AS m CROSS JOIN reading AS r ON \(SiteSchema.isSame("r", "m"))", Withdrawn.readingIsShown,
      orderedBy: "m", after: key, limit: limit, isDescending: isDescending)
    let owed = try RawStatement(
      keptBy: database,
      """
      SELECT \(SiteSchema.keyColumns) FROM resend INDEXED BY resend_begun WHERE is_begun = 1
      UNION ALL
      SELECT r.partition, r.position, r.series, r.value_bucket, r.occurrence FROM unanswered AS u
        CROSS JOIN resend AS m ON \(SiteSchema.isSame("m", "u"))
        CROSS JOIN reading AS r ON \(SiteSchema.isSame("r", "u")) WHERE r.uploaded = 0
      """)
    var keys: Set<ReadingKey> = []
    while try owed.step() { keys.insert(owed.key(from: 0)) }
    return PendingMoves(readings: found, owed: keys)
  }

  /// The documents of these readings may be deleted from this transaction on: whatever the remote lacks then, it gets.
  ///
  /// - Returns: the places of those that may be moved to where these offsets place them. Another process may have changed
  ///   the zone since they were read: what it took out of the queue stays where it is, and what it placed elsewhere waits.
  package func beginMoves(of keys: [ReadingKey], placedBy offsets: [Int32]) throws -> [Int] {
    try keys.isEmpty ? [] : places("UPDATE resend SET is_begun = 1 WHERE", keys, placedBy: offsets)
  }

  /// The remote has no document of these readings that would have to be moved.
  package func endMoves(of keys: [ReadingKey]) throws {
    try forEach(keys, "DELETE FROM resend WHERE \(Self.isBoundKey)")
  }

  /// The documents of these readings stand where these offsets place them. Another process may have changed the zone
  /// meanwhile: what it moved once more stays queued.
  package func endMoves(of keys: [ReadingKey], placedBy offsets: [Int32]) throws {
    if !keys.isEmpty { _ = try places("DELETE FROM resend WHERE", keys, placedBy: offsets) }
  }

  /// The places of the keys whose row a statement met, of those readings that these offsets still place.
  private func places(_ sql: String, _ keys: [ReadingKey], placedBy offsets: [Int32]) throws -> [Int] {
    let statement = try RawStatement(
      keptBy: database,
      """
      \(sql) \(Self.isBoundKey) AND EXISTS (
        SELECT 1 FROM reading AS r WHERE \(SiteSchema.isSame("r", "resend")) AND \(StoredOffset.sql("r")) = ?6)
      """)
    return try zip(keys, offsets).enumerated().filter { _, item in
      statement.bind(item.0, at: 1)
      statement.bind(Int64(item.1), at: 6)
      return try statement.run() > 0
    }.map(\.offset)
  }

  /// The remote has these readings where they belong.
  package func markThere(_ keys: [ReadingKey]) throws {
    guard !keys.isEmpty else { return }
    try UploadMarks(database: database).set(keys)
    try forgetUnanswered(keys)
  }

  /// The remote refuses these readings at their new time, and has no document of them any more.
  package func refuseMoves(of keys: [ReadingKey], reason: String, at now: Int64) throws {
    guard !keys.isEmpty else { return }
    try endMoves(of: keys)
    _ = try requeue(keys, reason: "moved to a time that the remote refuses", at: now)
    try forgetUnanswered(keys)
    try quarantine(keys, reason: reason, at: now)
  }

  /// Documents of these readings may be on the site, though they are not uploaded.
  func noteUnanswered(_ keys: [ReadingKey]) throws {
    guard try Bool.fetchOne(database.cachedStatement(sql: "SELECT \(SiteSchema.isConnected)")) == true else {
      return
    }
    try forEach(keys, "INSERT INTO unanswered VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING")
  }

  /// No document of these readings is on the site but those that the store knows of.
  package func forgetUnanswered(_ keys: [ReadingKey]) throws {
    guard try Bool.fetchOne(database.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM unanswered)")) == true
    else { return }
    try forEach(keys, "DELETE FROM unanswered WHERE \(Self.isBoundKey)")
  }

  private static let isBoundKey =
    "partition = ?1 AND position = ?2 AND series = ?3 AND value_bucket = ?4 AND occurrence = ?5"

  private func forEach(_ keys: [ReadingKey], _ sql: String) throws {
    guard !keys.isEmpty else { return }
    let statement = try RawStatement(keptBy: database, sql)
    for key in keys {
      statement.bind(key, at: 1)
      _ = try statement.run()
    }
  }
}

// MARK: - Records

extension SyncTransaction {
  /// What the zones place at this moment of the transaction.
  package func timezone() throws -> LogbookZone { try LogbookZones(database).zone() }

  /// The same, with the zones that were given for the imports of these records.
  package func timezone(of records: [String]) throws -> LogbookZone {
    var zone = try timezone()
    let names = try Dictionary(
      ItemZoneTables.names(database).map { ($0.id, $0.zone) }, uniquingKeysWith: { first, _ in first })
    guard !names.isEmpty else { return zone }
    for guid in records {
      let id = try Int64.fetchOne(
        database.cachedStatement(sql: "SELECT \(ItemZoneTables.zoneOfRecord) FROM record WHERE guid = ?"),
        arguments: [guid])
      if let id { zone.recordZones[guid] = names[id] }
    }
    return zone
  }

  /// The first records behind this id whose documents are to be moved, or of which a move that was interrupted may have
  /// left one: so also those that wait to be sent, or for a person, and those that are deleted. One that is hidden loses
  /// its documents as such.
  package func pendingMoves(after guid: String, limit: Int) throws -> [SyncRecord] {
    try Row.fetchAll(
      database.cachedStatement(
        sql: """
          SELECT \(SyncRecord.columns) FROM resend_record JOIN record USING (guid)
          WHERE resend_record.guid > ? AND NOT \(Withdrawn.recordIsUnsent)
          ORDER BY resend_record.guid LIMIT ?
          """), arguments: [guid, limit]
    ).map(SyncRecord.init)
  }

  /// The document of this record stands where it belongs, or cannot be moved.
  ///
  /// - Parameter revision: what the remote's state is called since; nil where it stays.
  package func endMove(of record: SyncRecord, revision: String?) throws {
    // Where another process changed the zone meanwhile, it is to be moved once more.
    try database.executeCached(
      sql: """
        DELETE FROM resend_record WHERE guid = ?1 AND NOT EXISTS (
          SELECT 1 FROM record WHERE guid = ?1 AND utc_offset <> ?2)
        """, arguments: [record.guid, record.state.placement.utcOffset])
    guard let revision, revision != record.revision else { return }
    // An edit that was made meanwhile finds out by itself when it is sent.
    try database.executeCached(
      sql: "UPDATE record SET revision = ? WHERE guid = ? AND version = version_synced AND revision IS ?",
      arguments: [revision, record.guid, record.revision])
  }
}
