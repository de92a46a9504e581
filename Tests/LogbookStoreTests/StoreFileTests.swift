// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Logbook
import SQLiteRows
import Testing

@testable import LogbookStore

@Suite struct StoreFileTests {
  private let scratch: ScratchStore

  init() throws { scratch = try ScratchStore() }

  private func category(_ work: () throws -> Void) throws -> FailureCategory? {
    do {
      try work()
      return nil
    } catch let failure as Failure {
      return failure.category
    }
  }

  private func mode(_ path: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
  }

  private func makeForeign(_ sql: String) throws {
    let foreign = try DatabaseQueue(path: scratch.path)
    try foreign.inDatabase { try $0.execute(sql: sql) }
    try foreign.close()
  }

  @Test func aNewStoreIsAccessibleOnlyToItsOwner() throws {
    let path = scratch.folder.appending(path: "a/b/logbook.db").path
    let store = try Store.openOrCreate(path: path, role: .importer, zone: LogbookZone(name: "UTC"))
    #expect(try mode(path) == 0o600)
    #expect(try mode(path + "-wal") == 0o600)
    #expect(try mode(scratch.folder.appending(path: "a/b").path) == 0o700)
    #expect(try mode(scratch.folder.appending(path: "a").path) == 0o700)
    #expect(try store.timezone().name == "UTC")
  }

  @Test func aMissingStoreIsReported() throws {
    #expect(try category { _ = try Store(path: scratch.path, role: .reader) } == .missingInput)
    #expect(!FileManager.default.fileExists(atPath: scratch.path))
  }

  @Test func aStoreOfANewerProgramIsRefused() throws {
    _ = try scratch.open()
    try makeForeign("PRAGMA user_version = \(Schema.schema.version + 1)")
    for role in [StoreRole.reader, .importer, .editor, .sync] {
      #expect(try category { _ = try scratch.open(role) } == .configuration)
    }
  }

  @Test func aStoreWithAnUnreleasedSchemaVersionIsRefused() throws {
    _ = try scratch.open()
    for version in [0, 1, Schema.schema.firstKept - 1] {
      try makeForeign("PRAGMA user_version = \(version)")
      for role in [StoreRole.reader, .importer, .editor, .sync] {
        #expect(try category { _ = try scratch.open(role) } == .configuration)
      }
    }
  }

  @Test(arguments: [0, 1, 7]) func aDatabaseOfAnotherProgramIsRefusedAndNotChanged(_ version: Int) throws {
    try makeForeign("CREATE TABLE t (x); PRAGMA user_version = \(version)")
    let before = try Data(contentsOf: URL(filePath: scratch.path))
    for role in [StoreRole.reader, .importer] {
      #expect(try category { _ = try scratch.open(role) } == .badInput)
    }
    #expect(try Data(contentsOf: URL(filePath: scratch.path)) == before)
  }

  @Test func aFileThatIsNotADatabaseIsRefused() throws {
    try Data(repeating: 0x41, count: 5000).write(to: URL(filePath: scratch.path))
    #expect(try category { _ = try scratch.open() } == .badInput)
  }

  @Test func openingAStoreAgainKeepsItsFirstTimeZone() throws {
    _ = try scratch.open(zone: "Europe/Madrid")
    #expect(try scratch.open(zone: "Asia/Tokyo").timezone().name == "Europe/Madrid")
  }

  @Test func aStoreUsesAWriteAheadLogAndFullSynchronisation() throws {
    let store = try scratch.open()
    let names = ["journal_mode", "synchronous", "page_size", "foreign_keys"]
    let values = try store.queue.inDatabase { database in
      try names.map { try String.fetchOne(database, sql: "PRAGMA \($0)") ?? "" }
    }
    #expect(values == ["wal", "2", "16384", "1"])
  }

  @Test func manyProcessesCreateOneStoreAtOnce() async throws {
    let path = scratch.path
    for round in 0..<10 {
      let names = try await withThrowingTaskGroup(of: String.self) { group in
        for zone in ["Europe/Madrid", "Asia/Tokyo", "America/New_York", "UTC"] {
          group.addTask {
            let zone = try LogbookZone(name: zone)
            return try Store.openOrCreate(path: "\(path)\(round)", role: .importer, zone: zone).timezone()
              .name
          }
        }
        return try await group.reduce(into: Set<String>()) { $0.insert($1) }
      }
      #expect(names.count == 1, "all of them see the zone of the one that made it")
    }
  }

  @Test func aReadOnlyStoreRefusesAnAtomicImportAndStaysUsable() throws {
    _ = try scratch.open()
    let store = try scratch.open(.reader)
    let source = IngestSource(name: "x", format: "test", startedAt: 1, modifiedAt: nil, decisions: [])
    for isAtomic in [true, false] {
      #expect(try category { try store.ingest(source, isAtomic: isAtomic) { _ in } } == .permission)
    }
    #expect(try store.overview(ingests: 5).ingests.isEmpty)
  }

  @Test func changesInAScratchCopyDoNotReachTheStore() throws {
    try scratch.ingest(Make.batch([Make.reading(.smbg, Make.milligrams(100))]))
    let copy = try Store.scratch(copyOf: scratch.open(.reader), zone: LogbookZone(name: "UTC"))
    let source = IngestSource(name: "x", format: "test", startedAt: 1, modifiedAt: nil, decisions: [])
    try copy.ingest(source, isAtomic: false) { writer in
      try writer.write(Make.batch([Make.reading(.smbg, Make.milligrams(200))]))
      #expect(writer.counts.newReadings == 1)
    }
    #expect(try copy.overview(ingests: 5).readings == 2)
    #expect(try scratch.open(.reader).overview(ingests: 5).readings == 1)
    #expect(try copy.timezone().name == "Europe/Madrid")
  }

  @Test func pendingItemsAreFoundThroughRangesAndIndexes() throws {
    _ = try scratch.open()
    let batch = """
      SELECT r.position FROM \(SyncTransaction.pendingTables) WHERE \(SyncTransaction.pendingCondition)
      ORDER BY \(SyncTransaction.pendingOrder.joined(separator: ", ")) LIMIT 100
      """
    for query in [batch, UploadMarks.pending] {
      let plan = try scratch.rows("EXPLAIN QUERY PLAN \(query.replacing(/\?[0-9]/, with: "1"))")
      #expect(
        plan.contains {
          $0.contains("SEARCH r USING PRIMARY KEY (partition=? AND position>? AND position<?)")
        })
      #expect(!plan.contains { $0.contains("TEMP B-TREE") })
    }
    let records = try scratch.rows(
      """
      EXPLAIN QUERY PLAN SELECT guid FROM record WHERE version > version_synced AND conflict IS NULL
        AND (quarantined_version IS NULL OR quarantined_version < version)
      """)
    #expect(records.contains { $0.contains("record_pending") })
  }

  @Test func theDatabaseViewsHaveTheDocumentedColumns() throws {
    _ = try scratch.open()
    #expect(
      try scratch.rows("SELECT name FROM pragma_table_info('readings')") == [
        "kind", "time", "device_time", "utc_offset", "offset_source", "value", "unit", "value_mgdl",
        "value_mmoll", "range", "threshold", "marks", "withdrawn", "vendor", "model", "serial", "format",
        "position_kind", "position", "value_bucket", "occurrence", "ingest",
        "uploaded",
      ])
    #expect(
      try scratch.rows("SELECT name FROM pragma_table_info('records')") == [
        "guid", "kind", "entry_guid", "time", "device_time", "utc_offset", "subtype", "fields",
        "withdrawn", "deleted", "version", "version_synced", "ingest",
        "provenance_format", "provenance_source",
      ])
  }

  @Test func theDatabaseViewsShowTheStoredItems() throws {
    var low = Make.reading(.smbg, .low(below: 20, .milligramsPerDecilitre))
    low.marks = [.manual, .bedtime]
    try scratch.ingest(Make.batch([low, Make.reading(.ketone, Make.millimoles(0.4), source: .stated)]))
    let columns =
      "kind, time, device_time, utc_offset, offset_source, value, unit, range, threshold, marks, model"
    #expect(
      try scratch.rows("SELECT \(columns) FROM readings ORDER BY kind") == [
        "ketone 2025-06-01T10:00:00Z 2025-06-01T12:00:00 +02:00 stated 0.4 mmol/L NULL NULL  Meter",
        "smbg 2025-06-01T10:00:00Z 2025-06-01T12:00:00 +02:00 zone NULL mg/dL low 20.0 manual,bedtime Meter",
      ])
  }

  @Test func theDatabaseViewsUseTheNamesOfAllMarks() throws {
    var reading = Make.reading(.smbg, Make.milligrams(100))
    for (mark, _) in ReadingMarks.named { reading.marks.insert(mark) }
    try scratch.ingest(Make.batch([reading]))
    #expect(
      try scratch.rows("SELECT marks FROM readings") == [
        ReadingMarks.named.map(\.name).joined(separator: ",")
      ])
  }
}
