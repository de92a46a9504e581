// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

/// The queues of attachment contents: those to be uploaded and those to be downloaded.
enum AttachmentQueue {
  /// Queues all contents again, since it is not known which ones the remote has. A content that this store
  /// has is queued for upload, and a missing one for download.
  static func requeueAll(_ database: Database) throws {
    try database.execute(
      sql: "UPDATE blob SET uploaded = 0, refusal = NULL WHERE uploaded = 1 OR refusal IS NOT NULL")
    try database.execute(
      sql: "UPDATE download SET refusal = NULL, not_before = NULL WHERE kind = 'attachment'")
  }

  /// Queues again the contents that the remote refused permanently. Returns the number of those to which a
  /// record refers.
  static func releaseRefused(_ database: Database) throws -> Int {
    // A content that no record refers to is not sent again, so it is not counted.
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
  /// Queues every content for a comparison with the remote, which may have lost some. An upload asks the
  /// remote once for each content, and sends it only if the remote lacks it. Needs the role `sync`.
  package func requeueContents() throws { try write(AttachmentQueue.requeueAll) }

  /// Queues the download of a content that a person asked for. It becomes the first download, even if it was
  /// refused or cancelled before. Needs the role `editor`.
  package func wantContent(_ digest: String, at seconds: Int64) throws {
    try queueDownload(.attachment(digest), .waiting, at: seconds)
  }

  /// Counts the contents of attachments that wait for upload or download, and those that were refused.
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

/// The numbers of contents of attachments that wait for upload or download, or that were refused.
package struct AttachmentBacklog: Hashable, Sendable {
  /// The number of contents that are queued for upload.
  package let toSend: Int
  /// The number of bytes in the contents that `toSend` counts.
  package let toSendBytes: Int64
  /// The number of contents that are queued for download.
  package let toFetch: Int
  /// The number of contents that the remote refused permanently.
  package let refused: Int
  /// The number of contents that are not fetched any more: the remote refused or damaged them, or they are
  /// too large for this store.
  package let notFetched: Int
  /// The number of contents in `toFetch` that the remote did not have when it was asked.
  package let absent: Int
}

/// The contents that wait, in `status --json`. The members are in the order of the coding keys.
extension AttachmentBacklog: Encodable {
  private enum CodingKeys: String, CodingKey { case toSend, toSendBytes, toFetch, refused, notFetched }
}
