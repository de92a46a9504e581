// SPDX-License-Identifier: Apache-2.0

import GRDB
package import Logbook
import SQLiteRows

/// The content of an attachment that a record refers to, and that the store does not have completely.
package struct WantedContent: Hashable, Sendable {
  /// The SHA-256 of the content.
  package let digest: String
  /// The number of the content's bytes that the store already has.
  package let held: Int64
  /// The maximum size of a content that the store accepts, in bytes.
  package let limit: Int64
}

/// The result of storing a downloaded part of a content.
package enum FetchedPart: Hashable, Sendable {
  /// The part is stored, and more parts follow.
  case morePartsFollow
  /// The remote states another size than before. The download starts again from the first byte.
  case restarts
  /// The content is complete and matches its digest.
  case isWhole
  /// The store already had the content: a person attached it during the download.
  case alreadyStored
  /// All bytes were downloaded, but do not match the digest. They are discarded.
  case wrongDigest
}

// MARK: - Sending

extension SyncTransaction {
  /// The SQL query for the digests of queued contents, in the order in which they were attached.
  static let queuedDigests = """
    SELECT json_extract(record.fields, '$.sha256') FROM queued INDEXED BY queued_file
    JOIN record ON record.guid = queued.record WHERE queued.aspect = 'file'
    ORDER BY queued.queued_at, queued.record
    """

  /// The next content that must be sent to the remote; nil if there is none.
  ///
  /// - Parameter setAside: digests of contents that this upload does not send.
  package func nextContentToSend(besides setAside: Set<String>) throws -> AttachmentContent? {
    let digests = try String.fetchCursor(database.cachedStatement(sql: Self.queuedDigests))
    while let digest = try digests.next() {
      if setAside.contains(digest) { continue }
      let size = try Int64.fetchOne(
        database.cachedStatement(
          sql: "SELECT size FROM blob WHERE digest = ? AND uploaded = 0 AND refusal IS NULL"),
        arguments: [digest])
      if let size { return AttachmentContent(digest: digest, size: size) }
    }
    return nil
  }

  /// The number of pending contents, without the refused ones.
  package func contentsToSend() throws -> Int {
    try Int.fetchOne(
      database.cachedStatement(
        sql: """
          SELECT count(*) FROM blob WHERE refusal IS NULL AND digest IN (\(Self.queuedDigests))
          """)) ?? 0
  }

  /// At most `limit` bytes of a content, beginning at an offset.
  package func bytes(of digest: String, from offset: Int64, limit: Int) throws -> [UInt8] {
    try ContentParts(database: database, digest: digest).bytes(from: offset, limit: limit)
  }

  /// Marks a content as uploaded: the remote has all of it.
  package func markUploaded(_ digest: String) throws {
    try database.executeCached(
      sql: "UPDATE blob SET uploaded = 1, refusal = NULL WHERE digest = ? AND uploaded = 0",
      arguments: [digest])
  }

  /// Stores why the remote refused a content. It is not sent again until a person retries it.
  package func refuseContent(_ digest: String, reason: String) throws {
    try database.executeCached(
      sql: "UPDATE blob SET refusal = ? WHERE digest = ?", arguments: [String(reason.prefix(1000)), digest])
  }

  /// The number of pending readings, without the refused ones.
  package func unrefusedPendingReadings() throws -> Int {
    try Int.fetchOne(
      database.cachedStatement(
        sql: "SELECT coalesce(sum(pending), 0) - (SELECT count(*) FROM refusal) FROM series")) ?? 0
  }
}

// MARK: - Fetching

extension SyncTransaction {
  /// The maximum time in seconds after which a content that the remote lacked is requested again.
  package static let maxPostponementSeconds: Int64 = 3600

  /// The next content to download: the one with the highest priority, then the one queued first. Nil if there
  /// is none.
  ///
  /// - Parameters:
  ///   - setAside: digests of contents that this upload does not fetch.
  ///   - includesPostponed: whether to include contents that the remote lacked and that are postponed.
  package func nextContentToFetch(
    besides setAside: Set<String>, at now: Int64, includesPostponed: Bool = false
  ) throws -> WantedContent? {
    let rows = try Row.fetchCursor(
      database.cachedStatement(
        sql: """
          SELECT subject, coalesce(blob.held, 0) FROM download INDEXED BY download_by_priority
          LEFT JOIN blob ON blob.digest = subject
          WHERE kind = 'attachment' AND download.refusal IS NULL
            -- A time beyond the maximum postponement was stored by a wrong clock: the content is due.
            AND (?2 OR coalesce(not_before, 0) <= ?1 OR not_before > ?1 + \(Self.maxPostponementSeconds))
          ORDER BY priority, id
          """), arguments: [now, includesPostponed])
    while let row = try rows.next() {
      let stored = StoredRow(row, of: "download")
      let digest: String = try stored[0]
      if setAside.contains(digest) { continue }
      return WantedContent(
        digest: digest, held: try stored[1], limit: try Store.attachmentLimit(database))
    }
    return nil
  }

  /// Stores a part of a content. After the last part, the digest is checked. A content that does not match
  /// its digest never counts as complete.
  package func append(_ part: ContentPart, to digest: String, at offset: Int64) throws -> FetchedPart {
    let parts = ContentParts(database: database, digest: digest)
    let known = try heldSize(of: digest)
    if let known, known.size == known.held {
      try database.executeCached(
        sql: "DELETE FROM download WHERE kind = 'attachment' AND subject = ?", arguments: [digest])
      return .alreadyStored
    }
    if known?.size != part.size {
      try parts.removeAll()
      guard part.size > 0 else { return try storeEmpty(parts) }
      try database.executeCached(
        sql: """
          INSERT INTO blob (digest, size) VALUES (?, ?)
          ON CONFLICT (digest) DO UPDATE SET held = 0, size = excluded.size
          """, arguments: [digest, part.size])
    }
    guard offset == (known?.size == part.size ? known?.held ?? 0 : 0) else { return .restarts }
    let end = offset + Int64(part.bytes.count)
    guard end <= part.size, !part.bytes.isEmpty else { return .morePartsFollow }
    try parts.insert(part.bytes, at: offset)
    if end < part.size {
      try database.executeCached(sql: "UPDATE blob SET held = ? WHERE digest = ?", arguments: [end, digest])
      return .morePartsFollow
    }
    guard try parts.sum() == digest else {
      try parts.removeAll()
      try database.executeCached(sql: "UPDATE blob SET held = 0 WHERE digest = ?", arguments: [digest])
      return .wrongDigest
    }
    try database.executeCached(
      sql: "UPDATE blob SET held = size, uploaded = 1 WHERE digest = ?", arguments: [digest])
    return .isWhole
  }

  /// The size of a content and the number of its stored bytes; nil if no part of it is stored.
  private func heldSize(of digest: String) throws -> (size: Int64, held: Int64)? {
    let row = try Row.fetchOne(
      database.cachedStatement(sql: "SELECT digest, size, held FROM blob WHERE digest = ?"),
      arguments: [digest])
    return try row.map { row in
      let row = StoredRow(row, of: "blob")
      return (try row[1], try row[2])
    }
  }

  /// Stores an empty content, which is complete at once if its digest is that of no bytes.
  private func storeEmpty(_ parts: ContentParts) throws -> FetchedPart {
    guard parts.digest == Digest().hexadecimal() else { return .wrongDigest }
    try database.executeCached(
      sql: """
        INSERT INTO blob (digest, size, held, uploaded) VALUES (?, 0, 0, 1)
        ON CONFLICT (digest) DO UPDATE SET size = 0, held = 0, uploaded = 1
        """, arguments: [parts.digest])
    return .isWhole
  }

  /// Postpones the download of a content until this time, in UTC seconds, since the remote did not have the
  /// content.
  package func postponeContent(_ digest: String, until seconds: Int64) throws {
    try database.executeCached(
      sql: "UPDATE download SET not_before = ? WHERE kind = 'attachment' AND subject = ?",
      arguments: [seconds, digest])
  }

  /// The number of queued contents that the remote did not have when they were requested.
  package func absentContents() throws -> Int {
    try Int.fetchOne(
      database.cachedStatement(
        sql: """
          SELECT count(*) FROM download WHERE kind = 'attachment' AND refusal IS NULL AND not_before IS NOT NULL
          """)) ?? 0
  }

  /// Stores why a content is no longer downloaded. A person can request it again.
  package func refuseFetch(of digest: String, reason: String) throws {
    try database.executeCached(
      sql: "UPDATE download SET refusal = ? WHERE kind = 'attachment' AND subject = ?",
      arguments: [String(reason.prefix(1000)), digest])
  }
}
