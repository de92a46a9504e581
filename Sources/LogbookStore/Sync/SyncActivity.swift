// SPDX-License-Identifier: Apache-2.0

import GRDB
import SQLiteRows

/// What an upload of a store has under way at this moment.
package struct SyncActivity: Hashable, Sendable {
  /// Whether an upload runs.
  package let isRunning: Bool
  /// How many readings are on their way.
  package let readings: Int
  /// How many records are on their way.
  package let records: Int
  /// How many attachments are on their way.
  package let attachments: Int
  private let firstReading: TransferKey?
  private let lastReading: TransferKey?

  /// Nothing is under way.
  package static let none = SyncActivity()

  /// Whether something is on its way.
  package var isTransferring: Bool { readings + records + attachments > 0 }

  /// No upload: what a dead one noted says nothing.
  private init() {
    (isRunning, readings, records, attachments) = (false, 0, 0, 0)
    (firstReading, lastReading) = (nil, nil)
  }

  /// What the running upload noted; a lane in which nothing is under way has no row.
  fileprivate init(_ lanes: [String: StoredRow]) throws {
    isRunning = true
    func items(_ lane: String) throws -> Int { try lanes[lane]?.count("items") ?? 0 }
    (readings, records, attachments) = (try items("readings"), try items("records"), try items("attachments"))
    let bounds = lanes.first { $0.key == "readings" }?.value
    firstReading = try bounds.flatMap { TransferKey(try $0["first_section"], try $0["first_position"]) }
    lastReading = try bounds.flatMap { TransferKey(try $0["last_section"], try $0["last_position"]) }
  }

  fileprivate func holds(_ key: TransferKey) -> Bool {
    guard let firstReading, let lastReading else { return false }
    return firstReading <= key && key <= lastReading
  }
}

/// The first parts of a reading's key, by which the readings that are on their way are bounded.
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
  /// What an upload has under way. An upload holds its lock as long as it lives, so that a crash leaves nothing that
  /// seems to move.
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
  /// Its sync state.
  package func syncState(_ activity: SyncActivity) -> SyncState {
    if isUploaded { return .synced }
    if refusal != nil { return .queued(.refused) }
    guard let key = TransferKey(partition, position), activity.holds(key) else { return .queued(.waiting) }
    return .syncing
  }
}

extension StoredRecord {
  /// The sync state of it and of everything that belongs to it.
  package func syncState(_ activity: SyncActivity) -> SyncState {
    queueCode.state(isRunning: activity.isRunning)
  }
}
