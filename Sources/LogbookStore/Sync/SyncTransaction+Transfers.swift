// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook

/// A lane of an upload, of which each has at most one request under way.
package enum TransferLane: String, Sendable { case readings, records, attachments }

extension SyncTransaction {
  /// These readings are on their way from this transaction on.
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
          (lane, started_at, items, first_section, first_position, last_section, last_position)
        VALUES ('readings', ?, ?, ?, ?, ?, ?)
        """,
      arguments: [now, keys.count, first.partition, first.position, last.partition, last.position])
    try noteUnanswered(keys)
  }

  /// The records of these ids, or the contents of these digests, are on their way from this transaction on.
  package func beginTransfer(_ lane: TransferLane, of ids: [String], at now: Int64) throws {
    guard let first = ids.min(), let last = ids.max() else { return }
    try database.executeCached(
      sql: """
        INSERT OR REPLACE INTO transfer (lane, started_at, items, first_record, last_record)
        VALUES (?, ?, ?, ?, ?)
        """, arguments: [lane.rawValue, now, ids.count, first, last])
  }

  /// Nothing of this lane is on its way.
  package func endTransfer(_ lane: TransferLane) throws {
    try database.executeCached(sql: "DELETE FROM transfer WHERE lane = ?", arguments: [lane.rawValue])
  }

  /// Nothing is on its way.
  package func endTransfers() throws { try database.executeCached(sql: "DELETE FROM transfer") }
}
