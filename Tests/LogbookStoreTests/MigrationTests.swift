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
          INSERT INTO series (device, kind, axis, readings, pending, first_position, last_position, first_time,
            last_time)
            VALUES (1, 1, 0, 1, 1, \(Make.noon), \(Make.noon), \(Make.noon), \(Make.noon));
          INSERT INTO ingest (source, format, digest, started_at, finished_at, outcome)
            VALUES ('input', 'test', 'd', 1, 2, 'whole');
          INSERT INTO reading (section, position, series, level, occurrence, device_time, utc_offset,
            offset_source, value, unit, beyond, marks, ingest)
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
