// SPDX-License-Identifier: Apache-2.0

import GRDB
package import Logbook
import SQLiteRows

extension SyncTransaction {
  /// The digests of the identities of uploaded readings. For a reading in a document of another program, the
  /// identity in that document is used.
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

  /// Makes items pending again that the remote may lack: the uploaded readings in these buckets (see
  /// `IdentityDigests`), and every record. Records keep their base and revision. If the remote knows these,
  /// no record is duplicated and none becomes a conflict.
  ///
  /// - Returns: the number of readings that are pending again.
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

  /// Makes these readings pending again, since the remote lacks them.
  ///
  /// - Parameter reason: the reason, which is stored permanently with the time.
  /// - Returns: the number of readings that became pending, without those that were already pending.
  package func requeue(_ keys: [ReadingKey], reason: String, at now: Int64) throws -> Int {
    try database.executeCached(
      sql: "INSERT INTO requeue (at, reason) VALUES (?, ?)", arguments: [now, reason])
    // A trigger would add a range for each reading. If the ranges are saved first, neighbouring readings
    // share one range.
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
    try removePairs(keys)
    try markUnanswered(keys)
    try database.executeCached(sql: "UPDATE requeue SET is_open = 0 WHERE is_open = 1")
    return count
  }

  /// Makes a record pending again, since the remote lacks it. Returns false if it is already pending.
  ///
  /// - Parameter isNew: whether to send it as a record that the remote never had, so that its absence does
  ///   not count as a deletion. Otherwise it is sent with its base and revision.
  package func requeue(record guid: String, asNew isNew: Bool = false) throws -> Bool {
    try database.executeCached(
      sql: """
        UPDATE record SET version_synced = version - 1 \(isNew ? ", base = NULL, revision = NULL" : "")
        WHERE guid = ? AND version_synced = version AND conflict IS NULL
        """, arguments: [guid])
    return database.changesCount > 0
  }
}

/// Makes items pending again that were on a remote. Only columns of sync change, never content.
enum Requeue {
  /// Makes all items pending, as if no remote had ever received them.
  ///
  /// - Parameter reason: the reason, which is stored permanently with the time.
  static func all(reason: String, at seconds: Int64, _ database: Database) throws {
    try withRequeueRow(reason, at: seconds, database) {
      try PendingRanges(database).coverAll()
      try database.execute(sql: "UPDATE reading SET uploaded = 0 WHERE uploaded = 1")
      try database.execute(sql: "DELETE FROM refusal")
      try database.execute(sql: "DELETE FROM same_as")
      // These tables describe documents on the previous remote, so their rows are deleted.
      for table in ["resend", "resend_record", "unanswered", "removed_record"] {
        try database.execute(sql: "DELETE FROM \(table)")
      }
      try AttachmentQueue.requeueAll(database)
      try database.execute(
        sql: """
          UPDATE record SET version_synced = 0, base = NULL, revision = NULL, sent = NULL, sent_version = NULL,
            quarantine = NULL, quarantined_version = NULL
          """)
    }
  }

  /// Runs `work` while a row of `requeue` is open. Without such a row, triggers refuse to make readings
  /// pending again.
  private static func withRequeueRow(
    _ reason: String, at seconds: Int64, _ database: Database, _ work: () throws -> Void
  ) throws {
    try database.execute(sql: "INSERT INTO requeue (at, reason) VALUES (?, ?)", arguments: [seconds, reason])
    try work()
    try database.execute(sql: "UPDATE requeue SET is_open = 0 WHERE is_open = 1")
  }
}
