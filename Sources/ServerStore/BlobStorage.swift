// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Logbook
import LogbookAPI
import SQLiteRows

/// Reads and writes the contents of a logbook's attachments, inside the caller's transaction.
struct BlobStorage {
  let database: Database

  /// How much of a content is stored.
  func heldContent(of digest: String) throws -> HeldContent {
    let statement = try database.cachedStatement(sql: "SELECT digest, held, size FROM blob WHERE digest = ?")
    guard let row = try Row.fetchOne(statement, arguments: [digest]) else { return HeldContent() }
    let stored = StoredRow(row, of: "blob")
    let (held, size) = (try stored.count(1), try stored.count(2))
    guard held <= size else { throw stored.damage(1) }
    return HeldContent(bytes: Int64(held), size: Int64(size))
  }

  /// Appends a part. After the last part, the whole content is read once to verify its digest.
  func append(
    _ bytes: [UInt8], to content: AttachmentContent, at offset: Int64, limit: Int64
  ) throws -> ContentAnswer {
    var held = try heldContent(of: content.digest)
    if held.isWhole { return .holds(held) }
    if ContentRules.restarts(held, content, at: offset) { held = try begin(content) }
    let refusal = try ContentRules.refusal(
      held, content, at: offset, count: bytes.count, total: total, limit: limit)
    if let refusal { return refusal }
    let end = offset + Int64(bytes.count)
    if !bytes.isEmpty { try store(bytes, content.digest, at: offset) }
    let isDamaged = try end == content.size && digest(of: content.digest) != content.digest
    guard !isDamaged else {
      try drop(content.digest)
      return .wrongDigest
    }
    let statement = try database.cachedStatement(
      sql: """
        INSERT INTO blob (digest, size, held) VALUES (?, ?, ?)
        ON CONFLICT (digest) DO UPDATE SET held = excluded.held
        """)
    try statement.execute(arguments: [content.digest, content.size, end])
    return .holds(HeldContent(bytes: end, size: content.size))
  }

  /// A part of a complete content; nil while it is incomplete.
  func part(of digest: String, from offset: Int64, limit: Int) throws -> ContentPart? {
    let held = try heldContent(of: digest)
    guard held.isWhole, let size = held.size else { return nil }
    let end = min(size, offset.addingReportingOverflow(Int64(limit)).partialValue)
    let statement = try database.cachedStatement(
      sql: """
        SELECT substr(bytes, max(1, ?2 - start + 1), ?3 - max(start, ?2)) FROM blob_part
        WHERE digest = ?1 AND start + length(bytes) > ?2 AND start < ?3 ORDER BY start
        """)
    var part = ContentPart(size: size, bytes: [])
    let rows = try Row.fetchCursor(statement, arguments: [digest, offset, end])
    while let row = try rows.next() {
      try row.withUnsafeData(atIndex: 0) { data in if let data { part.bytes.append(contentsOf: data) } }
    }
    return part
  }
}

extension BlobStorage {
  private func begin(_ content: AttachmentContent) throws -> HeldContent {
    try drop(content.digest)
    // An empty content becomes complete with its first part, which has no bytes. Until then it has no row,
    // since a row would count as complete.
    guard content.size > 0 else { return HeldContent(bytes: 0, size: 0) }
    let statement = try database.cachedStatement(
      sql: "INSERT INTO blob (digest, size, held) VALUES (?, ?, 0)")
    try statement.execute(arguments: [content.digest, content.size])
    return HeldContent(bytes: 0, size: content.size)
  }

  private func drop(_ digest: String) throws {
    for table in ["blob_part", "blob"] {
      try database.cachedStatement(sql: "DELETE FROM \(table) WHERE digest = ?").execute(arguments: [digest])
    }
  }

  private func store(_ bytes: [UInt8], _ digest: String, at offset: Int64) throws {
    let statement = try database.cachedStatement(
      sql: "INSERT INTO blob_part (digest, start, bytes) VALUES (?, ?, ?)")
    try statement.execute(arguments: [digest, offset, Data(bytes)])
  }

  private func total() throws -> Int64 {
    try Int64.fetchOne(database, sql: "SELECT coalesce(sum(held), 0) FROM blob") ?? 0
  }

  private func digest(of digest: String) throws -> String {
    var sum = Digest()
    let statement = try database.cachedStatement(
      sql: "SELECT bytes FROM blob_part WHERE digest = ? ORDER BY start")
    let rows = try Row.fetchCursor(statement, arguments: [digest])
    while let row = try rows.next() {
      try row.withUnsafeData(atIndex: 0) { data in data?.withUnsafeBytes { sum.update($0) } }
    }
    return sum.hexadecimal()
  }
}

/// The operations on the contents of attachments. Writing a content is not a change that other nodes pull.
extension LogbookFile {
  func held(_ digest: String, _ run: RunStamp) async throws(ServiceError) -> HeldContent {
    try await withReadTransaction(run) { database, _ in
      try BlobStorage(database: database).heldContent(of: digest)
    }
  }

  func append(
    _ bytes: [UInt8], to content: AttachmentContent, at offset: Int64, limit: Int64, _ run: RunStamp
  ) async throws(ServiceError) -> ContentAnswer {
    try await file.write { [id, quota] database in
      _ = try Nodes(database: database, logbook: id, max: quota.nodes).findOrRecord(run)
      return try BlobStorage(database: database).append(bytes, to: content, at: offset, limit: limit)
    }
  }

  func part(
    of digest: String, from offset: Int64, limit: Int, _ run: RunStamp
  ) async throws(ServiceError) -> ContentPart? {
    try await withReadTransaction(run) { database, _ in
      try BlobStorage(database: database).part(of: digest, from: offset, limit: limit)
    }
  }
}
