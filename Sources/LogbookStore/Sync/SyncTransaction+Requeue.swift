// SPDX-License-Identifier: Apache-2.0

import GRDB
package import Logbook
import SQLiteRows

extension SyncTransaction {
  /// Digests over the identities of the readings that the remote is said to have. In place of a reading that it has in a
  /// document of another program there is what that document gives.
  package func uploadedDigests() throws -> IdentityDigests {
    let same = try sameReadings()
    var (digests, documents) = (IdentityDigests(), same.documents)
    try forEachUploaded { key, identity in
      guard !same.isHeldOnlyByOthers(key) else { return }
      digests.insert(identity)
      documents.remove(identity)
    }
    for document in documents { digests.insert(document) }
    return digests
  }

  /// Queues again what a remote may lack: the uploaded readings in these buckets, and every record. A record keeps
  /// its base and revision: where the remote knows them, nothing is doubled and nothing becomes a conflict.
  ///
  /// - Returns: how many readings are queued again.
  package func requeue(_ buckets: Set<Int>, reason: String, at now: Int64) throws -> Int {
    var keys: [ReadingKey] = []
    let same = try sameReadings()
    try forEachUploaded { key, identity in
      if same.identities(of: key, identity).contains(where: {
        buckets.contains(IdentityDigests.bucket(of: $0))
      }) {
        keys.append(key)
      }
    }
    let count = try requeue(keys, reason: reason, at: now)
    try database.executeCached(
      sql: "UPDATE record SET version_synced = version - 1 WHERE version_synced = version")
    try AttachmentQueue.requeueAll(database)
    try database.executeCached(sql: "UPDATE remote SET cursor = NULL, last_position = NULL")
    return count
  }

  /// Queues again these readings, which the remote lacks.
  ///
  /// - Parameter reason: kept permanently beside the time.
  /// - Returns: how many of them the remote was said to have.
  package func requeue(_ keys: [ReadingKey], reason: String, at now: Int64) throws -> Int {
    try database.executeCached(
      sql: "INSERT INTO requeue (at, reason) VALUES (?, ?)", arguments: [now, reason])
    // The schema puts each reading into a range; neighbours share one.
    var positions = PendingPositions()
    for key in keys.sorted() { positions.append(key.partition, key.position) }
    try positions.save(database)
    let statement = try RawStatement(
      keptBy: database,
      """
      UPDATE reading SET uploaded = 0
      WHERE partition = ?1 AND position = ?2 AND series = ?3 AND value_bucket = ?4 AND occurrence = ?5 AND uploaded = 1
      """)
    var count = 0
    for key in keys {
      statement.bind(key, at: 1)
      count += try statement.run()
    }
    try forgetSame(keys)
    try noteUnanswered(keys)
    try database.executeCached(sql: "UPDATE requeue SET is_open = 0 WHERE is_open = 1")
    return count
  }

  /// Queues again a record that the remote lacks; false where it is pending already.
  ///
  /// - Parameter isNew: whether it is sent as one that the remote never had, so that its absence is no deletion; else with
  ///   its base and revision.
  package func requeue(record guid: String, asNew isNew: Bool = false) throws -> Bool {
    try database.executeCached(
      sql: """
        UPDATE record SET version_synced = version - 1 \(isNew ? ", base = NULL, revision = NULL" : "")
        WHERE guid = ? AND version_synced = version AND conflict IS NULL
        """, arguments: [guid])
    return database.changesCount > 0
  }
}
