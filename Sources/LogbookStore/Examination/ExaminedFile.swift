// SPDX-License-Identifier: Apache-2.0

import GRDB
import GRDBSQLite
import Glibc
package import Logbook

/// An SQLite file that is read and never written, even if it is damaged. GRDB is not used, since it prepares
/// a connection for writes. Such a connection creates or removes the files of the write-ahead log.
final class ExaminedFile {
  private let handle: OpaquePointer

  /// Attaches a second file to the connection, so that SQL queries can read it under the schema name `name`.
  func attach(_ path: String, as name: String, isImmutable: Bool) throws {
    try forEach("ATTACH ? AS \(name)", Self.uri(path, isImmutable: isImmutable)) { _ in }
  }

  /// - Parameter isImmutable: whether to read only the main file, without locks and without a write-ahead
  ///   log.
  init(_ path: String, isImmutable: Bool) throws {
    var opened: OpaquePointer?
    let code = sqlite3_open_v2(
      Self.uri(path, isImmutable: isImmutable), &opened, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nil)
    guard let opened else { throw DatabaseError(resultCode: .SQLITE_NOMEM) }
    guard code == SQLITE_OK else {
      sqlite3_close_v2(opened)
      throw DatabaseError(resultCode: ResultCode(rawValue: code))
    }
    handle = opened
    sqlite3_busy_timeout(handle, 2000)
  }

  deinit { sqlite3_close_v2(handle) }

  /// Runs an SQL query. Returns all rows as text.
  func rows(_ sql: String) throws -> [[String?]] {
    var rows: [[String?]] = []
    try forEach(sql) { statement in
      rows.append(
        (0..<sqlite3_column_count(statement)).map { column in
          sqlite3_column_text(statement, column).map { String(cString: $0) }
        })
    }
    return rows
  }

  /// Runs an SQL query. Returns the number in the first row; nil for NULL or if there is no row.
  func number(_ sql: String) throws -> Int64? { try rows(sql).first?.first?.flatMap { Int64($0) } }

  /// Runs an SQL query. Returns the SHA-256 of the bytes in the first column of all rows, in hexadecimal.
  func sum(_ sql: String, _ argument: String) throws -> String {
    var digest = Digest()
    try forEach(sql, argument) { statement in
      let bytes = sqlite3_column_blob(statement, 0)
      digest.update(UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(statement, 0))))
    }
    return digest.hexadecimal()
  }

  private func forEach(_ sql: String, _ argument: String? = nil, _ work: (OpaquePointer) -> Void) throws {
    var prepared: OpaquePointer?
    guard sqlite3_prepare_v2(handle, sql, -1, &prepared, nil) == SQLITE_OK, let prepared else {
      throw error()
    }
    defer { sqlite3_finalize(prepared) }
    if let argument {
      let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
      sqlite3_bind_text(prepared, 1, argument, -1, copied)
    }
    while true {
      switch sqlite3_step(prepared) {
      case SQLITE_ROW: work(prepared)
      case SQLITE_DONE: return
      default: throw error()
      }
    }
  }

  private func error() -> DatabaseError {
    DatabaseError(
      resultCode: ResultCode(rawValue: sqlite3_errcode(handle)),
      message: String(cString: sqlite3_errmsg(handle)))
  }

  private static func uri(_ path: String, isImmutable: Bool) -> String {
    "file:" + escaped(path) + (isImmutable ? "?immutable=1" : "")
  }

  /// The path escaped for a URI. Bytes that are not UTF-8 are kept.
  private static func escaped(_ path: String) -> String {
    let text = PathText.bytes(path).dropLast().map { character -> String in
      let byte = UInt8(bitPattern: character)
      let scalar = Unicode.Scalar(byte)
      let isPlain = scalar.isASCII && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar))
      if isPlain || "/._-~".unicodeScalars.contains(scalar) { return String(scalar) }
      return (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
    }.joined()
    // In a URI, two slashes at the start are followed by a host name. So two slashes are added, which make
    // this name empty.
    return text.hasPrefix("/") ? "//" + text : text
  }
}

/// The SQLite library that this process uses.
package enum SQLiteLibrary {
  /// The version of the library.
  package static var version: SQLiteVersion { SQLiteVersion(sqlite3_libversion_number()) }

  /// The build options of the library that removed a feature which stores need. Empty if the library has all
  /// of these features.
  package static var missing: [String] {
    SQLiteVersion.missing(isThreadSafe: sqlite3_threadsafe() != 0) { sqlite3_compileoption_used($0) != 0 }
  }
}
