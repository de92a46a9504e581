// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
package import Logbook

/// Collects the contents of attachments piece by piece outside of the store, so that a slow pipe blocks no
/// other writer. Later, a transaction moves the contents into the store with `storeCollected`; until then,
/// the store does not change. Memory holds at most one part.
package final class ContentIntake {
  /// The size of a part of a content in the store, in bytes.
  static let partBytes = 256 << 10

  private let store: Store
  private var taken: Int64 = 0
  private var number: Int64 = 0
  private var digest = Digest()
  private var size: Int64 = 0
  private var part: [UInt8] = []

  /// An intake for a store that was opened as `editor`.
  package init(_ store: Store) throws {
    self.store = store
    try store.read { database in
      // Temporary tables of this connection. If they grow too large for memory, SQLite puts them into a file
      // without a name.
      try database.execute(
        sql: """
          CREATE TEMP TABLE IF NOT EXISTS intake (digest TEXT PRIMARY KEY, size INTEGER, number INTEGER) STRICT;
          CREATE TEMP TABLE IF NOT EXISTS intake_part (
            number INTEGER, start INTEGER, bytes BLOB, PRIMARY KEY (number, start)) STRICT;
          DELETE FROM temp.intake;
          DELETE FROM temp.intake_part;
          """)
    }
  }

  /// Adds the next bytes of a content.
  package func add(_ bytes: UnsafeRawBufferPointer) throws {
    digest.update(bytes)
    size += Int64(bytes.count)
    part.append(contentsOf: bytes)
    while part.count >= Self.partBytes { try flush(Self.partBytes) }
  }

  /// Ends the content. The next bytes belong to the next content.
  package func end() throws -> AttachmentContent {
    if !part.isEmpty { try flush(part.count) }
    let content = AttachmentContent(digest: digest.hexadecimal(), size: size)
    try store.read { database in
      try database.executeCached(
        sql: "INSERT INTO temp.intake VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
        arguments: [content.digest, content.size, number])
    }
    (digest, size, taken) = (Digest(), 0, 0)
    number += 1
    return content
  }

  /// Moves each collected content into the store, unless the store already holds it completely.
  func storeCollected(_ database: Database) throws {
    try database.execute(
      sql: """
        DELETE FROM temp.intake WHERE digest IN (SELECT digest FROM main.blob WHERE held = size);
        -- Remove downloaded parts of a content that was collected completely.
        DELETE FROM main.blob_part WHERE digest IN (SELECT digest FROM temp.intake);
        INSERT INTO main.blob (digest, size) SELECT digest, size FROM temp.intake WHERE true
          ON CONFLICT (digest) DO UPDATE SET held = 0, size = excluded.size;
        INSERT INTO main.blob_part (digest, start, bytes)
          SELECT digest, start, bytes FROM temp.intake JOIN temp.intake_part USING (number) ORDER BY number, start;
        UPDATE main.blob SET held = size WHERE digest IN (SELECT digest FROM temp.intake);
        """)
  }

  private func flush(_ count: Int) throws {
    let bytes = Data(part.prefix(count))
    part.removeFirst(count)
    try store.read { database in
      try database.executeCached(
        sql: "INSERT INTO temp.intake_part VALUES (?, ?, ?)", arguments: [number, taken, bytes])
    }
    taken += Int64(count)
  }
}

/// The parts of a content in a store. They follow each other without gaps from the first byte on, and can
/// have any size.
struct ContentParts {
  let database: Database
  let digest: String

  /// At most `limit` bytes from an offset on.
  func bytes(from offset: Int64, limit: Int) throws -> [UInt8] {
    let rows = try Row.fetchCursor(
      database.cachedStatement(
        sql: """
          SELECT substr(bytes, max(1, ?2 - start + 1), ?3 - max(start, ?2)) FROM blob_part
          WHERE digest = ?1 AND start + length(bytes) > ?2 AND start < ?3 ORDER BY start
          """), arguments: [digest, offset, offset + Int64(limit)])
    var bytes: [UInt8] = []
    while let row = try rows.next() {
      try row.withUnsafeData(atIndex: 0) { data in if let data { bytes.append(contentsOf: data) } }
    }
    return bytes
  }

  /// Passes each part to `work`, in order.
  func forEach(_ work: (UnsafeRawBufferPointer) throws -> Void) throws {
    let rows = try Row.fetchCursor(
      database.cachedStatement(sql: "SELECT bytes FROM blob_part WHERE digest = ? ORDER BY start"),
      arguments: [digest])
    while let row = try rows.next() {
      try row.withUnsafeData(atIndex: 0) { data in try data?.withUnsafeBytes(work) }
    }
  }

  /// The SHA-256 of the bytes in all parts, in hexadecimal.
  func sum() throws -> String {
    var sum = Digest()
    try forEach { sum.update($0) }
    return sum.hexadecimal()
  }

  func insert(_ bytes: [UInt8], at offset: Int64) throws {
    try database.executeCached(
      sql: "INSERT INTO blob_part (digest, start, bytes) VALUES (?, ?, ?)",
      arguments: [digest, offset, Data(bytes)])
  }

  func removeAll() throws {
    try database.executeCached(sql: "DELETE FROM blob_part WHERE digest = ?", arguments: [digest])
  }
}
