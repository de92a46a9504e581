// SPDX-License-Identifier: Apache-2.0

import GRDB
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
