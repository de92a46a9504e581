// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Logbook

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
