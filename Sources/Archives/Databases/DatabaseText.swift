// SPDX-License-Identifier: Apache-2.0

import GRDBSQLite
import Logbook

/// Writes rows of a database as JSON, one object a line: `{"table":"Name","row":1,"column":2.5}`, in pieces. What is NULL is left
/// out. A blob is text that says how long it is, so that it never passes for a number or a name.
struct DatabaseText {
  /// Takes a piece.
  typealias Sink = (UnsafeRawBufferPointer) throws -> Void

  private static let pieceSize = 256 * 1024
  private let sink: Sink
  private var bytes: [UInt8] = []
  /// How many bytes are written, those included that still wait.
  private(set) var count = 0

  init(_ sink: @escaping Sink) {
    self.sink = sink
    bytes.reserveCapacity(2 * Self.pieceSize)
  }

  /// A row of a statement whose first column is the row's number.
  ///
  /// - Parameter start: what each row of the table begins with.
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
        // The text first: asking for it settles in which encoding the bytes are counted.
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

  /// A line of its own.
  mutating func add(line: String) {
    bytes += line.utf8
    bytes.append(0x0A)
    count += line.utf8.count + 1
  }

  /// Hands on what is written.
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
    // Bytes that are no UTF-8 become the sign for it: the whole input is one encoding.
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
