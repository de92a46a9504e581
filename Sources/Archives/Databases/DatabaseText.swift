// SPDX-License-Identifier: Apache-2.0

import GRDBSQLite
import Logbook

/// Writes rows of a database as JSON, one object a line: `{"table":"Name","row":1,"column":2.5}`, in pieces. NULL is
/// left out. A blob becomes a text with its length, so that it is never taken for a number or a name.
struct DatabaseText {
  /// Receives a piece.
  typealias Sink = (UnsafeRawBufferPointer) throws -> Void

  private static let pieceSize = 256 * 1024
  private let sink: Sink
  private var bytes: [UInt8] = []
  /// The number of bytes written, including buffered ones.
  private(set) var count = 0

  init(_ sink: @escaping Sink) {
    self.sink = sink
    bytes.reserveCapacity(2 * Self.pieceSize)
  }

  /// Adds a row of a statement whose first column is the row's number.
  ///
  /// - Parameter start: the start of each line of the table.
  mutating func add(_ statement: OpaquePointer, start: [UInt8], names: [[UInt8]]) throws {
    let before = bytes.count
    bytes += start
    appendNumber(sqlite3_column_int64(statement, 0))
    for (index, name) in names.enumerated() {
      let column = Int32(index + 1)
      let type = sqlite3_column_type(statement, column)
      if type == SQLITE_NULL { continue }
      bytes += name
      switch type {
      case SQLITE_INTEGER: appendNumber(sqlite3_column_int64(statement, column))
      case SQLITE_FLOAT: append(sqlite3_column_double(statement, column))
      case SQLITE_TEXT:
        // The text must come first: reading it fixes the encoding in which the bytes are counted.
        let text = sqlite3_column_text(statement, column)
        appendQuoted(
          UnsafeBufferPointer(start: text, count: Int(sqlite3_column_bytes(statement, column))))
      default: bytes += "\"(\(sqlite3_column_bytes(statement, column)) bytes)\"".utf8
      }
    }
    bytes += [UInt8(ascii: "}"), 0x0A]
    count += bytes.count - before
    if bytes.count >= Self.pieceSize { try flush() }
  }

  /// Adds a separate line.
  mutating func add(line: String) {
    bytes += line.utf8
    bytes.append(0x0A)
    count += line.utf8.count + 1
  }

  /// Passes the buffered bytes to the sink.
  mutating func flush() throws {
    try bytes.withUnsafeBytes(sink)
    bytes.removeAll(keepingCapacity: true)
  }

  private mutating func appendNumber(_ number: Int64) { bytes += String(number).utf8 }

  private mutating func append(_ number: Double) {
    bytes += (number.isFinite ? number.description : "\"infinite\"").utf8
  }

  private mutating func appendQuoted(_ text: UnsafeBufferPointer<UInt8>) {
    bytes.append(UInt8(ascii: "\""))
    // Invalid UTF-8 becomes U+FFFD, so that the whole input has one encoding.
    for byte in String(decoding: text, as: UTF8.self).utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
      case 0..<0x20:
        let digits = Array("0123456789abcdef".utf8)
        bytes += Array("\\u00".utf8) + [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      default: bytes.append(byte)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }
}
