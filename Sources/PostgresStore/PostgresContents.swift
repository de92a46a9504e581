// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookAPI

/// The operations on contents of attachments. Writing a content is not a change that other nodes pull, and
/// does not delay changes of readings and records.
extension PostgresLogbook: AttachmentService {
  func heldContent(of digest: String, _ run: RunStamp) async throws(ServiceError) -> HeldContent {
    try await withReadTransaction(run) { transaction, entry, _ in
      try ContentTable(transaction, entry.logbook).heldContent(of: digest)
    }
  }

  func append(
    _ bytes: [UInt8], to content: AttachmentContent, at offset: Int64, _ run: RunStamp
  ) async throws(ServiceError) -> ContentAnswer {
    guard login.role == .write else { throw .readOnly }
    // This call records an unknown run, for which the counter must be locked. The following transaction locks
    // only the row with the total size of the logbook's attachments.
    try await withReadTransaction(run) { _, _, _ in }
    return try await transaction(TransactionMode.storingContent) { [login] transaction, number, core in
      let entry = try PostgresEntry(transaction, number, of: login, run, writes: true)
      guard entry.node != nil else { throw ServiceError.nodeReused }
      return try ContentTable(transaction, number).append(
        bytes, to: content, at: offset, limit: core.quota.contentBytes)
    }
  }

  func part(
    of digest: String, from offset: Int64, limit: Int, _ run: RunStamp
  ) async throws(ServiceError) -> ContentPart? {
    try await withReadTransaction(run) { transaction, entry, _ in
      try ContentTable(transaction, entry.logbook).part(of: digest, from: offset, limit: limit)
    }
  }
}

/// The contents of a logbook, inside the caller's transaction.
private struct ContentTable {
  private let transaction: DatabaseTransaction
  private let logbook: SQLValue

  init(_ transaction: DatabaseTransaction, _ logbook: Int64) {
    self.transaction = transaction
    self.logbook = .integer(logbook)
  }

  /// How much of a content is stored.
  func heldContent(of digest: String) throws(DatabaseError) -> HeldContent {
    let rows = try transaction.rows(
      "SELECT held, size FROM glucoport.blob WHERE logbook = $1 AND digest = $2", logbook, .text(digest))
    guard rows.count == 1 else { return HeldContent() }
    return HeldContent(bytes: try rows.integer(0, 0), size: try rows.integer(0, 1))
  }

  /// Appends a part, while the row with the total size of attachments is locked. After the last part, the
  /// whole content is read once to verify its digest.
  func append(
    _ bytes: [UInt8], to content: AttachmentContent, at offset: Int64, limit: Int64
  ) throws -> ContentAnswer {
    var held = try heldContent(of: content.digest)
    if held.isWhole { return .holds(held) }
    if ContentRules.restarts(held, content, at: offset) { held = try begin(content, held) }
    let refusal = try ContentRules.refusal(
      held, content, at: offset, count: bytes.count, total: total, limit: limit)
    if let refusal { return refusal }
    let end = offset + Int64(bytes.count)
    if !bytes.isEmpty {
      try transaction.rows(
        "INSERT INTO glucoport.blob_part (logbook, digest, start, bytes) VALUES ($1, $2, $3, $4)", logbook,
        .text(content.digest), .integer(offset), .data(bytes))
    }
    if end == content.size, try digest(of: content) != content.digest {
      try drop(content.digest, held: held.bytes)
      return .wrongDigest
    }
    // The digest is checked while the content still counts as incomplete. So its row is updated last.
    try transaction.rows(
      """
      INSERT INTO glucoport.blob (logbook, digest, size, held) VALUES ($1, $2, $3, $4)
      ON CONFLICT (logbook, digest) DO UPDATE SET held = excluded.held
      """, logbook, .text(content.digest), .integer(content.size), .integer(end))
    try count(Int64(bytes.count))
    return .holds(HeldContent(bytes: end, size: content.size))
  }

  /// A part of a complete content; nil while it is incomplete.
  func part(of digest: String, from offset: Int64, limit: Int) throws -> ContentPart? {
    let held = try heldContent(of: digest)
    guard held.isWhole, let size = held.size else { return nil }
    let end = min(size, offset.addingReportingOverflow(Int64(limit)).partialValue)
    var part = ContentPart(size: size, bytes: [])
    guard offset < end else { return part }
    let rows = try transaction.rows(
      """
      SELECT substr(bytes, greatest(1, $3 - start + 1)::int, ($4 - greatest(start, $3))::int)
      FROM glucoport.blob_part
      WHERE logbook = $1 AND digest = $2 AND start + octet_length(bytes) > $3 AND start < $4 ORDER BY start
      """, logbook, .text(digest), .integer(offset), .integer(end))
    for row in 0..<rows.count { part.bytes += try rows.data(row, 0) }
    return part
  }

  private func begin(_ content: AttachmentContent, _ held: HeldContent) throws -> HeldContent {
    if held.size != nil { try drop(content.digest, held: held.bytes) }
    // An empty content becomes complete with its first part, which has no bytes. Until then it has no row,
    // since a row would count as complete.
    guard content.size > 0 else { return HeldContent(bytes: 0, size: 0) }
    try transaction.rows(
      "INSERT INTO glucoport.blob (logbook, digest, size, held) VALUES ($1, $2, $3, 0)", logbook,
      .text(content.digest), .integer(content.size))
    return HeldContent(bytes: 0, size: content.size)
  }

  private func drop(_ digest: String, held: Int64) throws {
    for table in ["blob_part", "blob"] {
      try transaction.rows(
        "DELETE FROM glucoport.\(table) WHERE logbook = $1 AND digest = $2", logbook, .text(digest))
    }
    try count(-held)
  }

  private func total() throws -> Int64 {
    let rows = try transaction.rows("SELECT bytes FROM glucoport.contents WHERE logbook = $1", logbook)
    guard rows.count == 1 else { throw ServiceError.purged }
    return try rows.integer(0, 0)
  }

  private func count(_ bytes: Int64) throws {
    try transaction.rows(
      "UPDATE glucoport.contents SET bytes = bytes + $2 WHERE logbook = $1", logbook, .integer(bytes))
  }

  private func digest(of content: AttachmentContent) throws -> String {
    var sum = Digest()
    var (start, size): (Int64, Int64) = (0, 0)
    while true {
      let rows = try transaction.rows(
        """
        SELECT bytes, start + octet_length(bytes) FROM glucoport.blob_part
        WHERE logbook = $1 AND digest = $2 AND start >= $3 ORDER BY start LIMIT 4
        """, logbook, .text(content.digest), .integer(start))
      for row in 0..<rows.count {
        let bytes = try rows.data(row, 0)
        bytes.withUnsafeBytes { sum.update($0) }
        size += Int64(bytes.count)
        start = try rows.integer(row, 1)
      }
      guard rows.count == 4, size < content.size else { return sum.hexadecimal() }
    }
  }
}
