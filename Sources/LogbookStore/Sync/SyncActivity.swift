// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

/// The items that the running upload of a store is sending at the moment.
package struct SyncActivity: Hashable, Sendable {
  /// Whether an upload is running.
  package let isRunning: Bool
  /// The number of readings that the upload is sending.
  package let readings: Int
  /// The number of records that the upload is sending.
  package let records: Int
  /// The number of attachments that the upload is sending.
  package let attachments: Int
  private let firstReading: TransferKey?
  private let lastReading: TransferKey?

  /// The activity while no upload is running.
  package static let none = SyncActivity()

  /// Whether items are being sent at the moment.
  package var isTransferring: Bool { readings + records + attachments > 0 }

  /// The activity while no upload is running. Rows that a killed upload left in the table `transfer` are
  /// ignored.
  private init() {
    (isRunning, readings, records, attachments) = (false, 0, 0, 0)
    (firstReading, lastReading) = (nil, nil)
  }

  /// Reads the rows of the running upload. A lane (readings, records or attachments) that sends nothing has
  /// no row.
  fileprivate init(_ lanes: [String: StoredRow]) throws {
    isRunning = true
    func items(_ lane: String) throws -> Int { try lanes[lane]?.count("items") ?? 0 }
    (readings, records, attachments) = (try items("readings"), try items("records"), try items("attachments"))
    let bounds = lanes.first { $0.key == "readings" }?.value
    firstReading = try bounds.flatMap { TransferKey(try $0["first_partition"], try $0["first_position"]) }
    lastReading = try bounds.flatMap { TransferKey(try $0["last_partition"], try $0["last_position"]) }
  }

  fileprivate func holds(_ key: TransferKey) -> Bool {
    guard let firstReading, let lastReading else { return false }
    return firstReading <= key && key <= lastReading
  }
}

/// The partition and position of a reading. Two values of this type state the first and the last reading that
/// an upload is sending.
private struct TransferKey: Hashable, Comparable {
  let partition: Int64
  let position: Int64

  init?(_ partition: Int64?, _ position: Int64?) {
    guard let partition, let position else { return nil }
    (self.partition, self.position) = (partition, position)
  }

  static func < (left: TransferKey, right: TransferKey) -> Bool {
    (left.partition, left.position) < (right.partition, right.position)
  }
}

extension Store {
  /// What the running upload is sending. An upload holds a lock while it runs, so the rows that a crashed
  /// upload left are recognised and ignored.
  package func activity() throws -> SyncActivity {
    guard try UploadLock.isHeld(storePath: path) else { return .none }
    return try read { database in
      let rows = try Row.fetchAll(database.cachedStatement(sql: "SELECT * FROM transfer"))
        .map { StoredRow($0, of: "transfer") }
      return try SyncActivity(
        rows.reduce(into: [:]) { lanes, row in lanes[try row["lane"] as String] = row })
    }
  }
}

extension StoredReading {
  /// The sync state of the reading.
  package func syncState(_ activity: SyncActivity) -> SyncState {
    if isUploaded { return .synced }
    if refusal != nil { return .queued(.refused) }
    guard let key = TransferKey(partition, position), activity.holds(key) else { return .queued(.waiting) }
    return .syncing
  }
}

extension StoredRecord {
  /// The sync state of the record together with all records that belong to it.
  package func syncState(_ activity: SyncActivity) -> SyncState {
    queueCode.state(isRunning: activity.isRunning)
  }
}

/// A part of an upload that sends one kind of items. Each lane sends at most one request at a time.
package enum TransferLane: String, Sendable { case readings, records, attachments }

extension SyncTransaction {
  /// Marks these readings as being sent from this transaction on.
  package func beginTransfer(of keys: [ReadingKey], at now: Int64) throws {
    guard let any = keys.first else { return }
    var (first, last) = (any, any)
    for key in keys {
      if (key.partition, key.position) < (first.partition, first.position) { first = key }
      if (key.partition, key.position) > (last.partition, last.position) { last = key }
    }
    try database.executeCached(
      sql: """
        INSERT OR REPLACE INTO transfer
          (lane, started_at, items, first_partition, first_position, last_partition, last_position)
        VALUES ('readings', ?, ?, ?, ?, ?, ?)
        """,
      arguments: [now, keys.count, first.partition, first.position, last.partition, last.position])
    try markUnanswered(keys)
  }

  /// Marks records with these guids, or contents with these digests, as being sent from this transaction on.
  package func beginTransfer(_ lane: TransferLane, of ids: [String], at now: Int64) throws {
    guard let first = ids.min(), let last = ids.max() else { return }
    try database.executeCached(
      sql: """
        INSERT OR REPLACE INTO transfer (lane, started_at, items, first_record, last_record)
        VALUES (?, ?, ?, ?, ?)
        """, arguments: [lane.rawValue, now, ids.count, first, last])
  }

  /// Marks this lane as sending nothing.
  package func endTransfer(_ lane: TransferLane) throws {
    try database.executeCached(sql: "DELETE FROM transfer WHERE lane = ?", arguments: [lane.rawValue])
  }

  /// Marks all lanes as sending nothing.
  package func endTransfers() throws { try database.executeCached(sql: "DELETE FROM transfer") }
}
