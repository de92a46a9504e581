// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

/// What is pending of the content of attachments, in either direction.
enum AttachmentQueue {
  /// Every content may be missing on the remote, and every one that is missing here may be there.
  static func requeueAll(_ database: Database) throws {
    try database.execute(
      sql: "UPDATE blob SET uploaded = 0, refusal = NULL WHERE uploaded = 1 OR refusal IS NOT NULL")
    try database.execute(
      sql: "UPDATE download SET refusal = NULL, not_before = NULL WHERE kind = 'attachment'")
  }

  /// Queues contents that were refused permanently once more; returns how many there were.
  static func releaseRefused(_ database: Database) throws -> Int {
    // One that no record names any more is not sent again.
    let contents =
      try Int.fetchOne(
        database,
        sql: """
          SELECT count(*) FROM blob WHERE refusal IS NOT NULL AND digest IN (\(SyncTransaction.queuedDigests))
          """) ?? 0
    try database.execute(sql: "UPDATE blob SET refusal = NULL WHERE refusal IS NOT NULL")
    try database.execute(
      sql: "UPDATE download SET refusal = NULL WHERE kind = 'attachment' AND refusal IS NOT NULL")
    return contents + database.changesCount
  }
}

extension Store {
  /// Lets every content be compared with the remote's again, for the role `sync`, where the remote may have lost some:
  /// each is asked for once, and sent only where it is missing.
  package func requeueContents() throws { try write(AttachmentQueue.requeueAll) }

  /// Queues the fetch of a content that a person asked for, for the role `editor`: it goes first, whatever came of it
  /// before.
  package func wantContent(_ digest: String, at seconds: Int64) throws {
    try queueDownload(.attachment(digest), .waiting, at: seconds)
  }

  /// What is pending of the content of attachments.
  package func attachmentBacklog() throws -> AttachmentBacklog {
    try read { database in
      let toSend = try Row.fetchOne(
        database,
        sql: """
          SELECT count(*) FILTER (WHERE refusal IS NULL), coalesce(sum(size) FILTER (WHERE refusal IS NULL), 0),
            count(*) FILTER (WHERE refusal IS NOT NULL)
          FROM blob WHERE digest IN (\(SyncTransaction.queuedDigests))
          """)
      let toFetch = try Row.fetchOne(
        database,
        sql: """
          SELECT count(*) FILTER (WHERE refusal IS NULL), count(*) FILTER (WHERE refusal IS NOT NULL),
            count(*) FILTER (WHERE refusal IS NULL AND not_before IS NOT NULL)
          FROM download WHERE kind = 'attachment'
          """)
      guard let toSend, let toFetch else { throw DatabaseError(resultCode: .SQLITE_INTERNAL) }
      let (blobs, downloads) = (StoredRow(toSend, of: "blob"), StoredRow(toFetch, of: "download"))
      return AttachmentBacklog(
        toSend: try blobs[0], toSendBytes: try blobs[1], toFetch: try downloads[0], refused: try blobs[2],
        notFetched: try downloads[1], absent: try downloads[2])
    }
  }
}

/// How many contents of attachments are pending.
package struct AttachmentBacklog: Hashable, Sendable {
  /// Contents that are to be sent.
  package let toSend: Int
  /// Their bytes.
  package let toSendBytes: Int64
  /// Contents that are not here yet.
  package let toFetch: Int
  /// Contents that the remote refused permanently.
  package let refused: Int
  /// Contents that are not fetched any more: the remote refused or damaged them, or they are too large for this store.
  package let notFetched: Int
  /// Contents that are not here yet since the remote did not have them when it was asked: a part of `toFetch`.
  package let absent: Int
}
