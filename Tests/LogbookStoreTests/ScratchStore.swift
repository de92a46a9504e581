// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Logbook
import Testing

@testable import LogbookStore

/// A folder with a store for the duration of a test.
final class ScratchStore {
  let folder: URL
  var path: String { folder.appending(path: "logbook.db").path }
  /// The connection for the queries of this class, and the inode of its file. The connection stays open
  /// because each opening parses the whole schema.
  private var reader: (store: Store, file: Int)?

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "glucoport-store-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit {
    do {
      try FileManager.default.removeItem(at: folder)
    } catch {
      // If the folder remains in the temporary folder, it affects no test.
    }
  }

  func open(_ role: StoreRole = .importer, zone: String = "Europe/Madrid") throws -> Store {
    try Store.openOrCreate(path: path, role: role, zone: LogbookZone(name: zone))
  }

  /// The reader connection. It is opened again only if the file of the store was replaced.
  private func reading() throws -> Store {
    let attributes = try? FileManager.default.attributesOfItem(atPath: path)
    let file = attributes?[.systemFileNumber] as? Int
    if let reader, reader.file == file { return reader.store }
    let store = try open(.reader)
    reader = try (store, FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? Int ?? 0)
    return store
  }

  /// Imports batches as one ingest, and returns the counts of the ingest.
  @discardableResult
  func ingest(
    _ batches: IngestBatch..., format: String = "test", isAtomic: Bool = false, generatedAt: Int64? = nil,
    modifiedAt: Int64? = nil, end: InputEnd = .whole, digest: String = UUID().uuidString,
    restoresWithdrawn: Bool = false
  ) throws -> IngestCounts {
    let store = try open()
    let source = IngestSource(
      name: "input", format: format, startedAt: 1000, modifiedAt: modifiedAt, decisions: [],
      restoresWithdrawn: restoresWithdrawn)
    var counts = IngestCounts()
    try store.ingest(source, isAtomic: isAtomic) { writer in
      for batch in batches { try writer.write(batch) }
      try writer.finish(end: end, digest: digest, generatedAt: generatedAt, finishedAt: 2000, decisions: [])
      counts = writer.counts
    }
    try expectCountersEqualCount()
    return counts
  }

  /// The rows of a query. Each row is the text of its columns, joined with blanks.
  func rows(_ sql: String) throws -> [String] {
    try reading().queue.inDatabase { database in
      try Row.fetchAll(database, sql: sql).map { row in
        row.databaseValues.map { $0.isNull ? "NULL" : String.fromDatabaseValue($0) ?? "\($0)" }
          .joined(separator: " ")
      }
    }
  }

  func number(_ sql: String) throws -> Int {
    try reading().queue.inDatabase { try Int.fetchOne($0, sql: sql) ?? -1 }
  }

  /// Runs an SQL statement in a role. Returns the message with which the store refuses the statement, or nil
  /// if it succeeds.
  func refusal(_ role: StoreRole, _ sql: String) throws -> String? {
    try open(role).queue.inDatabase { database in
      do {
        try database.execute(sql: sql)
        return nil
      } catch let error as DatabaseError {
        return error.message ?? ""
      }
    }
  }

  /// Runs an SQL statement with the rules of the schema switched off, as a damaged disk or another program
  /// might change the store. The rules are then restored, since glucoport refuses a store without them.
  func damage(_ sql: String) throws {
    reader = nil
    let rules = try loosen()
    let other = try DatabaseQueue(path: path)
    try other.inDatabase { try $0.execute(sql: "PRAGMA ignore_check_constraints = ON; \(sql)") }
    try other.close()
    let queue = try DatabaseQueue(path: path)
    try queue.inDatabase { database in
      try database.execute(sql: "PRAGMA writable_schema = ON; DELETE FROM sqlite_schema")
      for rule in rules {
        try database.execute(
          sql: "INSERT INTO sqlite_schema VALUES (?, ?, ?, ?, ?)",
          arguments: StatementArguments(rule.databaseValues))
      }
    }
    try queue.close()
  }

  /// Removes the triggers and some NOT NULL constraints of the store. The next connection uses the changed
  /// schema. Returns the original schema.
  private func loosen() throws -> [Row] {
    let queue = try DatabaseQueue(path: path)
    let rules = try queue.inDatabase { database in
      let rules = try Row.fetchAll(
        database, sql: "SELECT type, name, tbl_name, rootpage, sql FROM sqlite_schema ORDER BY rowid")
      try database.execute(
        sql: """
          PRAGMA writable_schema = ON; DELETE FROM sqlite_schema WHERE type = 'trigger';
          UPDATE sqlite_schema SET sql = replace(replace(sql, 'device_time INTEGER NOT NULL', 'device_time INTEGER'),
            'source TEXT NOT NULL', 'source TEXT') WHERE type = 'table' AND name IN ('reading', 'ingest');
          """)
      return rules
    }
    try queue.close()
    return rules
  }

  /// The value and the number `occurrence` of every reading, in the order of the primary key.
  func occurrences() throws -> [String] {
    try rows(
      "SELECT CAST(value AS INTEGER), occurrence FROM reading ORDER BY partition, position, series, value_bucket, occurrence"
    )
  }

  /// Checks that the counters of each series agree with its readings, and that each pending reading is in a
  /// range of `pending_range`.
  func expectCountersEqualCount(_ location: SourceLocation = #_sourceLocation) throws {
    let counters = try rows(
      """
      SELECT partition, id, readings, pending, first_position, last_position, first_time, last_time FROM series
      ORDER BY 2
      """)
    let counted = try rows(
      """
      SELECT partition, series, count(*), sum(uploaded = 0), min(position), max(position), min(device_time),
        max(device_time) FROM reading GROUP BY 1, 2 ORDER BY 2
      """)
    #expect(counters == counted, sourceLocation: location)
    #expect(try number(Self.unreachable) == 0, sourceLocation: location)
  }

  private static let unreachable =
    "SELECT count(*) FROM reading AS r WHERE r.uploaded = 0 AND \(PendingSchema.isInNoRange)"

  /// Checks `pending_range`: each pending reading is in a range, each range has a pending reading, and no two
  /// ranges overlap.
  func expectRangesHoldWhatIsPending(
    _ comment: Comment? = nil, _ location: SourceLocation = #_sourceLocation
  ) throws {
    #expect(try number(Self.unreachable) == 0, comment, sourceLocation: location)
    let overlapping = """
      SELECT count(*) FROM pending_range AS p JOIN pending_range AS o ON o.partition = p.partition
        AND o.first_position >= p.first_position AND o.first_position <= p.last_position
      WHERE (o.first_position, o.last_position) <> (p.first_position, p.last_position)
      """
    #expect(try number(overlapping) == 0, comment, sourceLocation: location)
    let empty = """
      SELECT count(*) FROM pending_range AS p WHERE NOT EXISTS (SELECT 1 FROM reading AS r WHERE r.partition = p.partition
        AND r.position BETWEEN p.first_position AND p.last_position AND r.uploaded = 0)
      """
    #expect(try number(empty) == 0, comment, sourceLocation: location)
  }
}

/// Makes devices, readings and records for tests.
enum Make {
  static let device = Device(vendor: "Test", model: "Meter", serial: "S1", format: "test")
  /// 2025-06-01T12:00:00 as seconds since 1970. No zone shows this hour twice.
  static let noon: Int64 = 1_748_779_200
  /// 2025-10-26T02:30:00 as seconds since 1970. Clocks in Madrid show this time twice.
  static let repeated: Int64 = 1_761_445_800

  static func batch(_ readings: [Reading], devices: [Device] = [device]) -> IngestBatch {
    var batch = IngestBatch()
    batch.devices = devices
    batch.readings = readings
    return batch
  }

  static func batch(_ records: [ImportedRecord]) -> IngestBatch {
    var batch = IngestBatch()
    batch.records = records
    return batch
  }

  static func milligrams(_ number: Double) -> Logbook.Measurement {
    .value(Quantity(number, .milligramsPerDecilitre))
  }
  static func millimoles(_ number: Double) -> Logbook.Measurement {
    .value(Quantity(number, .millimolesPerLitre))
  }

  static func reading(
    _ kind: ReadingKind, _ measurement: Logbook.Measurement, at seconds: Int64 = noon, device: Int32 = 0,
    source: OffsetSource = .zone
  ) -> Reading {
    Reading(
      device: DeviceIndex(device), kind: kind, at: DeviceTime(seconds: seconds),
      placement: Placement(utcOffset: 7200, source: source), measurement, line: 1)
  }

  static func tick(_ tick: Int64, _ number: Double, _ kind: ReadingKind = .cbg, at seconds: Int64 = noon)
    -> Reading
  {
    Reading(
      device: DeviceIndex(0), kind: kind, tick: tick, at: DeviceTime(seconds: seconds),
      placement: Placement(utcOffset: 7200, source: .zone), milligrams(number), line: 1)
  }

  static func record(
    _ fields: [String: FieldValue], kind: RecordKind = .food, sourceID: String = "", at seconds: Int64 = noon
  ) -> ImportedRecord {
    ImportedRecord(
      kind: kind, at: DeviceTime(seconds: seconds), placement: Placement(utcOffset: 7200, source: .zone),
      fields: RecordFields(fields), sourceID: sourceID, line: 1)
  }
}
