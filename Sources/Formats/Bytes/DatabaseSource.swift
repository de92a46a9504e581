// SPDX-License-Identifier: Apache-2.0

import Archives
import Glibc
import Logbook
import TemporaryFiles

/// The database of an app that a format reads.
///
/// Its tables become one input: a line `{"database":"name"}`, then a line for each row, as written by
/// `InputDatabase`. So the format is an ordinary reader of JSON, and its rejected rows can be imported again.
struct DatabaseShape {
  /// The name of the database in the first line of the input.
  let name: String
  /// The tables that identify the database. Each must exist with all of its columns.
  let needed: [InputDatabase.Table]
  /// Further columns of these tables, which may be missing, by the name of the table.
  let optionalColumns: [String: [String]]
  /// Further tables, which may be missing or lack columns.
  let others: [InputDatabase.Table]

  /// The first line of the input. It names the database.
  var line: String { "{\"database\":\"\(name)\"}" }

  /// Whether an input begins with `line`.
  func isFirst(in head: InputHead) -> Bool { head.objects.first?["database"] == name }
}

/// An SQLite file as an input: the rows of its tables as text. All text is written before the first row is
/// read, so that damage is found before any value is used.
///
/// The digest is that of the text, so that equal rows are recognised in another copy of the file.
final class DatabaseSource: InputSource {
  /// The encoding of the text, as the import reports it.
  static let encoding = "UTF-8, tables of an SQLite database"

  let modifiedAt: Int64?
  private let text: FileSource

  /// Reads a database.
  ///
  /// - Parameters:
  ///   - given: the bytes; those of a pipe or a member of an archive are copied to an unlinked file.
  ///   - head: the first bytes, if they were read from a pipe.
  /// - Throws: `UnrecognisedInput` for a database that no format reads; `Failure` for a damaged one.
  init(_ given: any InputSource, head: Head, formats: [any ExportFormat.Type]) throws {
    let file = try Self.file(given, head)
    guard let header = DatabaseHeader(try file.peek(DatabaseHeader.size)) else {
      throw UnrecognisedInput(name: given.name, reason: "this is a truncated SQLite database")
    }
    if let refusal = Self.refusal(of: header) { throw UnrecognisedInput(name: given.name, reason: refusal) }
    let isInterrupted = given.isInterrupted
    let database = try withExtendedLifetime(file) {
      try InputDatabase(
        descriptor: file.descriptor, size: file.size ?? 0, header: header, name: given.name,
        isInterrupted: isInterrupted)
    }
    guard let (shape, tables) = try Self.find(database, formats) else {
      throw UnrecognisedInput(
        name: given.name,
        reason: "this is an SQLite database (an app's backup?) without a table that glucoport knows")
    }
    try Self.refuseWithoutJournal(given)
    let spool = try UnlinkedFile()
    try withExtendedLifetime(file) {
      try database.write(tables, first: shape.line) { try spool.append($0) }
    }
    text = try FileSource(descriptor: spool.duplicate(), name: given.name)
    text.isInterrupted = isInterrupted
    modifiedAt = given.modifiedAt
    try text.rewind()
  }

  var name: String { text.name }
  var isRegularFile: Bool { true }
  var size: Int64? { text.size }
  var bytesRead: Int64 { text.bytesRead }
  var digest: Digest { text.digest }

  var isHashing: Bool {
    get { text.isHashing }
    set { text.isHashing = newValue }
  }

  var isInterrupted: @Sendable () -> Bool {
    get { text.isInterrupted }
    set { text.isInterrupted = newValue }
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> ReadOutcome {
    try text.read(into: buffer)
  }

  func rewind() throws { try text.rewind() }

  /// The database as a regular file.
  private static func file(_ given: any InputSource, _ head: Head) throws -> FileSource {
    if let file = given as? FileSource, file.isRegularFile { return file }
    if given.isRegularFile {
      try given.rewind()
      return try Spool.copy([], then: given, name: given.name)
    }
    return try Spool.copy(head.bytes, then: head.ended ? nil : given, name: given.name)
  }

  /// The reason why a database of glucoport itself is not an input; nil for any other database. The
  /// application id of a glucoport database begins with `GLU`.
  private static func refusal(of header: DatabaseHeader) -> String? {
    guard header.applicationID >> 8 == 0x474C55 else { return nil }
    // The id of a client's store ends with C; the ids of a server's files end with other letters.
    return header.applicationID & 0xFF == UInt32(UInt8(ascii: "C"))
      ? "this is a glucoport store (an SQLite database), not an export; "
        + "use: glucoport export --store FILE --format ndjson | glucoport import -"
      : "this is a file of a glucoport server (an SQLite database), not an export; use glucoport upload"
  }

  /// The first shape whose needed tables the database has, with the tables and columns that exist.
  private static func find(
    _ database: InputDatabase, _ formats: [any ExportFormat.Type]
  ) throws -> (DatabaseShape, [InputDatabase.Table])? {
    for shape in formats.compactMap({ $0.database }) {
      var tables: [InputDatabase.Table] = []
      for table in shape.needed where try database.columns(of: table) == table.columns {
        let all = InputDatabase.Table(table.name, table.columns + (shape.optionalColumns[table.name] ?? []))
        tables.append(InputDatabase.Table(table.name, try database.columns(of: all)))
      }
      guard tables.count == shape.needed.count else { continue }
      for table in shape.others {
        tables.append(InputDatabase.Table(table.name, try database.columns(of: table)))
      }
      return (shape, tables)
    }
    return nil
  }

  /// Refuses a file that has a journal with newer pages. Without those pages, the file is outdated or
  /// inconsistent.
  private static func refuseWithoutJournal(_ given: any InputSource) throws {
    guard let file = given as? FileSource, given.isRegularFile, given.name != "-" else { return }
    for end in ["-wal", "-journal"] {
      var status = stat()
      guard stat(file.path + end.utf8.map(CChar.init(bitPattern:)) + [0], &status) == 0, status.st_size > 0
      else { continue }
      throw Failure(
        .badInput,
        "\(given.name): part of this SQLite database is in \(given.name)\(end); "
          + "close the app that writes it, or copy all of it: sqlite3 FILE \"VACUUM INTO 'copy.db'\"")
    }
  }
}
