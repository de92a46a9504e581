// SPDX-License-Identifier: Apache-2.0

import FormatConformance
import Formats
import Foundation
import GRDB
import GRDBSQLite
import Ingest
import Logbook
import LogbookStore

/// A store in a temporary folder, into which tests import files.
final class ImportBench {
  static let samples = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Samples")

  /// The paths of all sample exports below the folder `Samples`, sorted.
  static var sampleExports: [String] {
    let extensions: Set<String> = ["csv", "tsv", "txt", "json", "ndjson", "gz"]
    let files = FileManager.default.enumerator(atPath: samples.path)?.compactMap { $0 as? String } ?? []
    return files.filter { path in
      extensions.contains((path as NSString).pathExtension) && !path.hasSuffix(".expected.ndjson")
        && !path.hasPrefix("refused/")
    }.sorted()
  }

  let folder: URL
  let store: Store
  private var storePath: String { folder.appending(path: "logbook.db").path }

  init(zone: String = "Europe/Madrid") throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "glucoport-ingest-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    store = try Store.openOrCreate(
      path: folder.appending(path: "logbook.db").path, role: .importer, zone: LogbookZone(name: zone))
  }

  deinit {
    do {
      try FileManager.default.removeItem(at: folder)
    } catch {
      // A folder that remains in the temporary folder affects no test.
    }
  }

  /// Writes an input file into the folder and returns its path.
  func file(_ name: String, _ bytes: some Sequence<UInt8>) throws -> String {
    let path = folder.appending(path: name).path
    try Data(bytes).write(to: URL(filePath: path))
    return path
  }

  @discardableResult
  func importSample(_ sample: String, zone: String? = nil) throws -> ImportReport {
    let path = Self.samples.appending(path: sample).path
    return try run(path, zone: zone, words: try Self.words(besides: path))
  }

  @discardableResult
  func run(
    _ path: String, zone: String? = nil, words: [String] = [], isStrict: Bool = false,
    maxRejections: Int? = nil,
    onRejection: @escaping (Rejection, String?) throws -> Void = { _, _ in }
  ) throws -> ImportReport {
    // 2026-11-21T00:00:00Z as seconds since 1970. The time is fixed, so that the result does not depend on
    // the day of the test.
    let now: Int64 = 1_795_219_200
    var options = try ExportOptions(zone: store.timezone(), now: now)
    try Rendering.apply(words, to: &options)
    if let zone { options.zone = try LogbookZone(name: zone) }
    let reader = try InputReader(path: path, options: options)
    var policy = ImportPolicy()
    policy.isStrict = isStrict
    policy.maxRejections = maxRejections
    return try ImportSession(policy: policy, clock: { now }, onRejection: onRejection).run(reader) { store }
  }

  /// The command-line options in the file `PATH.options`, which some samples have.
  private static func words(besides path: String) throws -> [String] {
    guard FileManager.default.fileExists(atPath: path + ".options") else { return [] }
    return try String(contentsOfFile: path + ".options", encoding: .utf8).split(
      whereSeparator: \.isWhitespace
    )
    .map(String.init)
  }

  // MARK: Stored data

  static let device = "d.vendor, d.serial, CASE d.serial WHEN '' THEN d.format || d.model END"
  static let identity = "s.kind, s.position_kind, r.position, r.value_bucket"
  static let value = "r.value, r.unit, r.range_flag"

  /// The given columns of all readings, in a fixed order.
  func readings(_ columns: String...) throws -> [String] {
    try rows(
      """
      SELECT \(columns.joined(separator: ", ")) FROM reading r
      JOIN series s ON s.id = r.series JOIN device d ON d.id = s.device
      """
    ).sorted()
  }

  /// All rows that an import without new items must not change.
  func content() throws -> [String] {
    try rows("SELECT * FROM reading", "SELECT * FROM record", "SELECT * FROM series", "SELECT * FROM device")
  }

  func number(_ sql: String) throws -> Int { Int(try rows(sql).first ?? "") ?? -1 }

  /// The rows of all queries, in the order of the queries.
  func rows(_ queries: String...) throws -> [String] {
    let queue = try DatabaseQueue(path: storePath)
    return try queue.read { database in
      try queries.flatMap { sql in
        let kept = try database.makeStatement(sql: sql)
        return try withExtendedLifetime(kept) { try Self.rows(kept.sqliteStatement, database) }
      }
    }
  }

  /// Reads the rows with the C interface of SQLite. Some tests compare a hundred thousand readings, for which
  /// GRDB takes seconds.
  private static func rows(_ statement: OpaquePointer, _ database: Database) throws -> [String] {
    var rows: [String] = []
    while true {
      switch sqlite3_step(statement) {
      case SQLITE_ROW:
        rows.append((0..<sqlite3_column_count(statement)).map { text(statement, $0) }.joined(separator: "|"))
      case SQLITE_DONE: return rows
      case let code:
        throw DatabaseError(resultCode: ResultCode(rawValue: code), message: database.lastErrorMessage)
      }
    }
  }

  private static func text(_ statement: OpaquePointer, _ column: Int32) -> String {
    switch sqlite3_column_type(statement, column) {
    case SQLITE_NULL: "NULL"
    // SQLite's text of a number has fewer digits than Swift's, so the number is read as a `Double`.
    case SQLITE_FLOAT: "\(sqlite3_column_double(statement, column))"
    default:
      String(
        decoding: UnsafeRawBufferPointer(
          start: sqlite3_column_blob(statement, column), count: Int(sqlite3_column_bytes(statement, column))),
        as: UTF8.self)
    }
  }
}
