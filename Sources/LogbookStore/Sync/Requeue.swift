// SPDX-License-Identifier: Apache-2.0

import GRDB

/// Queues again what was on a remote. Of a reading, only `uploaded` changes, and nothing that people wrote.
enum Requeue {
  /// Makes everything pending, as if no remote had ever answered.
  ///
  /// - Parameter reason: stored permanently with the time.
  static func all(reason: String, at seconds: Int64, _ database: Database) throws {
    try open(reason, at: seconds, database) {
      try PendingRanges(database).coverAll()
      try database.execute(sql: "UPDATE reading SET uploaded = 0 WHERE uploaded = 1")
      try database.execute(sql: "DELETE FROM refusal")
      try database.execute(sql: "DELETE FROM same_as")
      // The known documents are those of the other remote.
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

  /// Runs the work while a requeue is open, without which the store refuses it.
  private static func open(
    _ reason: String, at seconds: Int64, _ database: Database, _ work: () throws -> Void
  ) throws {
    try database.execute(sql: "INSERT INTO requeue (at, reason) VALUES (?, ?)", arguments: [seconds, reason])
    try work()
    try database.execute(sql: "UPDATE requeue SET is_open = 0 WHERE is_open = 1")
  }
}
