// SPDX-License-Identifier: Apache-2.0

import GRDBSQLite
import Logbook

/// An SQLite file of another program. The file is untrusted: it may be damaged or malicious.
///
/// Only ordinary tables are read, by names that the caller knows, in the order of their row numbers. Views,
/// triggers and virtual tables never run. All bytes come from one descriptor.
package final class InputDatabase {
  /// A table with the columns to read.
  package struct Table: Sendable {
    package let name: String
    package let columns: [String]

    package init(_ name: String, _ columns: [String]) {
      (self.name, self.columns) = (name, columns)
    }
  }

  /// The maximum file size in bytes, far above years of data.
  static let maxSize: Int64 = 8 << 30
  /// The longest accepted text or blob, in bytes. Rows of more than 8 MiB are later rejected one by one.
  static let longestCell: Int32 = 16 << 20
  /// The maximum number of bytes of JSON text that `write` makes from one file.
  static let maxText = 4 << 30
  /// The number of SQLite's virtual machine steps between two checks of the bounds.
  private static let stepsPerCheck: Int32 = 10_000

  private let name: String
  private let size: Int64
  private let bounds: Bounds
  private let connection: OpaquePointer

  /// Opens a database from an open descriptor of a regular file. The caller keeps ownership of the
  /// descriptor.
  ///
  /// - Parameters:
  ///   - name: the input, for messages.
  ///   - isInterrupted: whether the program was asked to end.
  /// - Throws: `Failure`: `badInput` for a file that is truncated, damaged or too large.
  package init(
    descriptor: Int32, size: Int64, header: DatabaseHeader, name: String,
    isInterrupted: @escaping () -> Bool
  ) throws {
    try SQLiteVersion(sqlite3_libversion_number()).check()
    guard size <= Self.maxSize else { throw Failure(.badInput, "\(name): the database is larger than 8 GiB") }
    if let whole = header.fileSize, whole > size {
      throw Failure(
        .badInput, "\(name): the database is truncated: \(size) of \(whole) bytes; export it again")
    }
    (self.name, self.size) = (name, size)
    bounds = Bounds(checks: 1000 + Int(size / 1000), isInterrupted)
    guard DescriptorFiles.registration == SQLITE_OK else {
      throw Failure(.inputOutput, "SQLite cannot be set up")
    }
    var opened: OpaquePointer?
    let code = sqlite3_open_v2(
      String(descriptor), &opened, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, DescriptorFiles.name)
    guard let opened else { throw Failure(.inputOutput, "\(name): no memory to open the database") }
    connection = opened
    guard code == SQLITE_OK else { throw failure(code) }
    try protect()
  }

  deinit { sqlite3_close_v2(connection) }

  private func protect() throws {
    let limits: [(Int32, Int32)] = [
      (SQLITE_LIMIT_LENGTH, Self.longestCell), (SQLITE_LIMIT_SQL_LENGTH, 100_000),
      (SQLITE_LIMIT_COLUMN, 500), (SQLITE_LIMIT_EXPR_DEPTH, 50), (SQLITE_LIMIT_COMPOUND_SELECT, 5),
      (SQLITE_LIMIT_VDBE_OP, 25_000), (SQLITE_LIMIT_FUNCTION_ARG, 8), (SQLITE_LIMIT_ATTACHED, 0),
      (SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 50), (SQLITE_LIMIT_VARIABLE_NUMBER, 10),
      (SQLITE_LIMIT_TRIGGER_DEPTH, 1), (SQLITE_LIMIT_WORKER_THREADS, 0),
    ]
    for (limit, value) in limits { sqlite3_limit(connection, limit, value) }
    // SQLite loads extensions only on request, so none is loaded here.
    sqlite3_progress_handler(
      connection, Self.stepsPerCheck,
      { bounds in
        guard let bounds else { return 1 }
        return Unmanaged<Bounds>.fromOpaque(bounds).takeUnretainedValue().check() ? 0 : 1
      }, Unmanaged.passUnretained(bounds).toOpaque())
    for setting in [
      "trusted_schema = OFF", "query_only = ON", "cell_size_check = ON", "temp_store = MEMORY",
      "mmap_size = 0",
      "cache_size = -8192",
    ] {
      try run("PRAGMA \(setting)") { _ in }
    }
    // Denies everything that a view or trigger could request, and all functions.
    sqlite3_set_authorizer(
      connection,
      { _, action, _, _, _, inner in
        let isAllowed = [SQLITE_SELECT, SQLITE_READ, SQLITE_PRAGMA].contains(action)
        return inner == nil && isAllowed ? SQLITE_OK : SQLITE_DENY
      }, nil)
  }

  /// The requested columns that an ordinary table has; empty if the file has no such table, or only a view of
  /// that name.
  package func columns(of table: Table) throws -> [String] {
    var found: [Bool] = []
    try run(
      "SELECT type, rootpage, sql FROM sqlite_schema WHERE name = \(quoted(table.name, "'")) COLLATE NOCASE"
    ) {
      // SQLite would treat a table with a view's definition as a view, so the definition is checked as well.
      // A virtual table has no root page.
      found.append(
        text($0, 0) == "table" && sqlite3_column_int64($0, 1) > 1 && text($0, 2).hasPrefix("CREATE TABLE "))
    }
    guard found == [true] else { return [] }
    var columns: Set<String> = []
    try run("PRAGMA table_xinfo(\(quoted(table.name, "\"")))") {
      // Generated columns are left out: their expressions could run for long, and no app has any.
      if sqlite3_column_int64($0, 6) == 0 { columns.insert(text($0, 1).lowercased()) }
    }
    return table.columns.filter { columns.contains($0.lowercased()) }
  }

  /// Writes the rows of tables as lines of JSON, in pieces.
  ///
  /// - Parameters:
  ///   - first: a line before all rows.
  ///   - tables: names and columns from `columns(of:)`.
  /// - Throws: `Failure` of category `badInput` for a damaged database, `temporary` for an interruption, and
  ///   errors of the sink. Pieces written before are then useless.
  package func write(
    _ tables: [Table], first: String, to sink: @escaping (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    var out = DatabaseText(sink)
    out.add(line: first)
    var rows: Int64 = 0
    let longest = min(Self.maxText, 64 * Int(size) + (1 << 20))
    for table in tables where !table.columns.isEmpty {
      let names = table.columns.map { Array(",\"\($0)\":".utf8) }
      let start = Array("{\"table\":\"\(table.name)\",\"row\":".utf8)
      let list = table.columns.map { quoted($0, "\"") }.joined(separator: ", ")
      var last: Int64?
      try run("SELECT _rowid_, \(list) FROM \(quoted(table.name, "\"")) NOT INDEXED") { row in
        let number = sqlite3_column_int64(row, 0)
        rows += 1
        // In a damaged file, pages can refer to each other in a circle. Without these limits, SQLite would
        // then return rows endlessly.
        guard last.map({ number > $0 }) ?? true, rows <= size / 4, out.count <= longest else {
          throw Failure(
            .badInput, "\(name): the database is damaged: rows of \(table.name) repeat; export it again")
        }
        last = number
        try out.add(row, start: start, names: names)
      }
    }
    try out.flush()
  }

  /// Runs an SQL statement, and passes each row of its result to `row`.
  private func run(_ sql: String, _ row: (OpaquePointer) throws -> Void) throws {
    var prepared: OpaquePointer?
    let code = sqlite3_prepare_v2(connection, sql, -1, &prepared, nil)
    guard code == SQLITE_OK, let statement = prepared else { throw failure(code) }
    defer { sqlite3_finalize(statement) }
    while true {
      let code = sqlite3_step(statement)
      if code == SQLITE_DONE { return }
      guard code == SQLITE_ROW else { throw failure(code) }
      try row(statement)
    }
  }

  private func text(_ statement: OpaquePointer, _ column: Int32) -> String {
    sqlite3_column_text(statement, column).map { String(cString: $0) } ?? ""
  }

  private func quoted(_ name: String, _ mark: String) -> String {
    mark + name.replacing(mark, with: mark + mark) + mark
  }

  private func failure(_ code: Int32) -> Failure {
    switch code & 0xFF {
    case SQLITE_INTERRUPT where bounds.wasInterrupted: return Failure(.temporary, "\(name): interrupted")
    case SQLITE_TOOBIG:
      return Failure(
        .badInput, "\(name): a cell of the database is longer than \(Self.longestCell >> 20) MiB")
    case SQLITE_IOERR: return Failure(.inputOutput, "\(name): cannot read the database")
    default:
      let reason =
        code == SQLITE_INTERRUPT ? "reading it does not end" : String(cString: sqlite3_errstr(code))
      return Failure(.badInput, "\(name): the SQLite database is damaged: \(reason); export it again")
    }
  }
}

/// Limits SQLite's work on a file. The limit depends on the size of the file, not on the clock.
private final class Bounds {
  private var checksLeft: Int
  private let isInterrupted: () -> Bool
  private(set) var wasInterrupted = false

  init(checks: Int, _ isInterrupted: @escaping () -> Bool) {
    checksLeft = checks
    self.isInterrupted = isInterrupted
  }

  /// Counts one check of the bounds. Returns whether the work may continue.
  func check() -> Bool {
    checksLeft -= 1
    wasInterrupted = isInterrupted()
    return checksLeft > 0 && !wasInterrupted
  }
}

/// The header of an SQLite file (https://www.sqlite.org/fileformat2.html#the_database_header).
package struct DatabaseHeader {
  /// The size of the header in bytes.
  package static let size = 100
  private static let signature = Array("SQLite format 3\0".utf8)

  /// The application id that the program set; 0 if none.
  package let applicationID: UInt32
  /// The stated size of the file; nil if the last writer did not state it.
  package let fileSize: Int64?

  /// Whether bytes are the start of an SQLite file.
  package static func isDatabase(_ bytes: some Collection<UInt8>) -> Bool {
    bytes.starts(with: signature)
  }

  /// Parses the header; nil if the bytes are too few or not those of an SQLite file.
  package init?(_ bytes: [UInt8]) {
    guard Self.isDatabase(bytes), bytes.count >= Self.size else { return nil }
    func number(_ place: Int, _ count: Int) -> UInt32 {
      bytes[place..<(place + count)].reduce(0) { $0 << 8 | UInt32($1) }
    }
    let pageSize = number(16, 2) == 1 ? 65536 : Int64(number(16, 2))
    let pages = Int64(number(28, 4))
    // Old libraries do not update the page count. Then the two change counters in the header differ, and the
    // size is unknown.
    fileSize = pages > 0 && number(24, 4) == number(92, 4) ? pages * pageSize : nil
    applicationID = number(68, 4)
  }
}

/// Writes rows of a database as JSON, one object a line: `{"table":"Name","row":1,"column":2.5}`, in pieces.
/// NULL is left out. A blob becomes a text with its length, so that it is never taken for a number or a name.
struct DatabaseText {
  /// Receives a piece of the text. The bytes are valid only during the call.
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

  /// Adds a row of the result of an SQL statement. The first column of the result is the row's number.
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
        // The text is read before its length: reading it determines the encoding in which SQLite counts the
        // bytes.
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

  /// Adds a line that is not a row of a table, with its line end.
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
