// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import Testing

@testable import LogbookStore

/// Stores that a former program made.
@Suite struct MigrationTests {
  private let scratch: ScratchStore

  init() throws { scratch = try ScratchStore() }

  /// A store of the first schema with an ingest, a device and a reading.
  private func makeFirst() throws {
    let queue = try DatabaseQueue(path: scratch.path)
    try queue.inTransaction { database in
      try Schema.migrate(database, to: 1)
      try database.execute(
        sql: """
          INSERT INTO setting (name, value) VALUES ('timezone', 'Europe/Madrid'), ('store-id', 'x');
          INSERT INTO device (vendor, model, serial, format) VALUES ('Test', 'Meter', 'S1', 'test');
          INSERT INTO series (device, kind, position_kind, readings, pending, first_position, last_position, first_time,
            last_time)
            VALUES (1, 1, 0, 1, 1, \(Make.noon), \(Make.noon), \(Make.noon), \(Make.noon));
          INSERT INTO ingest (source, format, digest, started_at, finished_at, outcome)
            VALUES ('input', 'test', 'd', 1, 2, 'whole');
          INSERT INTO reading (partition, position, series, value_bucket, occurrence, device_time, utc_offset,
            offset_source, value, unit, range_flag, marks, ingest)
            VALUES (1, \(Make.noon), 1, 56, 0, \(Make.noon), 7200, 1, 100, 0, 0, 0, 1);
          """)
      return .commit
    }
    try queue.close()
  }

  @Test func aStoreOfTheFirstSchemaKeepsEverythingAndTakesMore() throws {
    try makeFirst()
    #expect(
      try DatabaseQueue(path: scratch.path).read { try Int.fetchOne($0, sql: "PRAGMA user_version") } == 1)
    let counts = try scratch.ingest(Make.batch([Make.reading(.smbg, Make.milligrams(100))]))
    #expect(counts.knownReadings == 1 && counts.newReadings == 0)
    #expect(try scratch.number("PRAGMA user_version") == Schema.version)
    let entries = try scratch.open(.reader).ingests(limit: 5)
    #expect(entries.map(\.source) == ["input", "input"])
    #expect(entries.allSatisfy { $0.meter == nil && $0.clock == nil && $0.firmware == nil })
  }

  @Test func aMigratedStoreHasTheTablesOfANewOne() throws {
    let other = try ScratchStore()
    _ = try other.open()
    try makeFirst()
    _ = try scratch.open(.reader)
    let columns =
      "SELECT m.name, c.name, c.type FROM sqlite_schema m, pragma_table_info(m.name) c ORDER BY 1, 2"
    #expect(try scratch.rows(columns) == other.rows(columns))
    let rules = "SELECT type || ' ' || name FROM sqlite_schema ORDER BY 1"
    #expect(try scratch.rows(rules) == other.rows(rules))
  }

  /// Two sensors and a meter whose readings their own ticks place, as the third schema kept them: each series apart.
  private func makeThird() throws {
    let queue = try DatabaseQueue(path: scratch.path)
    try queue.inTransaction { database in
      try Schema.migrate(database, to: 3)
      try database.execute(
        sql: """
          INSERT INTO setting (name, value) VALUES ('timezone', 'Europe/Madrid'), ('store-id', 'x');
          INSERT INTO device (vendor, model, serial, format) VALUES ('Test', 'Meter', 'S1', 'test'),
            ('Test', 'Meter', 'S2', 'test'), ('Test', 'Meter', 'S3', 'test');
          INSERT INTO ingest (source, format, digest, started_at, finished_at, outcome)
            VALUES ('input', 'test', 'd', 1, 2, 'whole');
          """)
      for (device, kind) in [(1, 2), (2, 2), (3, 1)] {
        try database.execute(
          sql: """
            INSERT INTO series (device, kind, position_kind, readings, pending, first_position, last_position, first_time,
              last_time) VALUES (?, ?, 1, 2, 1, 7, 8, \(Make.noon), \(Make.noon))
            """, arguments: [device, kind])
        for tick in [7, 8] {
          try database.execute(
            sql: """
              INSERT INTO reading (partition, position, series, value_bucket, occurrence, device_time, utc_offset,
                offset_source, value, unit, range_flag, marks, ingest, uploaded)
                SELECT partition, ?, id, 0, 0, \(Make.noon), 7200, 1, 100, 0, 0, 0, 1, ? = 7 FROM series
                WHERE device = ?
              """, arguments: [tick, tick, device])
        }
      }
      return .commit
    }
    try queue.close()
  }

  @Test func seriesKeepTheirSectionsAndThoseOfInstantsShareOne() throws {
    try makeThird()
    let instant: Int64 = 1_748_779_200_000
    let devices = ["S1", "S4", "S5"].map {
      Device(vendor: "Test", model: "Meter", serial: $0, format: "test")
    }
    var readings = [7, 8, 9, instant, instant, 7].map { Make.tick($0, 100) }
    for (index, device) in [0, 0, 0, 1, 2, 0 as Int32].enumerated() {
      readings[index].device = DeviceIndex(device)
    }
    readings[5].kind = .scan
    let counts = try scratch.ingest(Make.batch(readings, devices: devices))
    #expect(counts.knownReadings == 2 && counts.newReadings == 4)
    #expect(
      try scratch.rows("SELECT partition, position, series, uploaded FROM reading ORDER BY 1, 2, 3") == [
        "-2 \(instant) 4 0", "-2 \(instant) 5 0", "5 7 1 1", "5 8 1 0", "5 9 1 0", "6 7 2 1", "6 8 2 0",
        "7 7 3 1",
        "7 8 3 0", "10 7 6 0",
      ])
    let refusal = try scratch.refusal(.importer, "UPDATE series SET is_instant = 1 - is_instant")
    #expect(refusal?.contains("never change") == true)
  }

  @Test func anAnnotationFindsTheReadingsOfAFormerSchema() throws {
    try makeFirst()
    var record = Make.record(
      ["excluded": .flag(true), "reading": .text("serial|Test|S1|smbg|time|\(Make.noon)|56|0")],
      kind: .annotation)
    record.guid = "a-1"
    try scratch.ingest(Make.batch([record]))
    #expect(try scratch.rows("SELECT withdrawn, value_mgdl FROM readings") == ["1 100.0"])
  }

  @Test func theClocksOfAnIngestAreThereTogetherOrNotAtAll() throws {
    try scratch.ingest()
    for columns in [
      "clock_meter = 1", "clock_host = 1, clock_difference = 1", "clock_meter = 1, clock_host = 1",
    ] {
      #expect(try scratch.refusal(.importer, "UPDATE ingest SET \(columns)")?.contains("CHECK") == true)
    }
    let all = "clock_meter = 1, clock_host = 1, clock_difference = 1"
    #expect(try scratch.refusal(.importer, "UPDATE ingest SET \(all)") == nil)
  }
}
