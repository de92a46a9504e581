// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook

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
