// SPDX-License-Identifier: Apache-2.0

import GRDBSQLite
import Logbook
import Testing

@testable import LogbookStore

/// Tests what a program other than glucoport can do to a store. Such a program uses the defaults of SQLite:
/// no recursive triggers and no foreign keys.
@Suite struct ForeignProgramTests {
  private let scratch: ScratchStore

  init() throws {
    scratch = try ScratchStore()
    try scratch.ingest(
      Make.batch([Make.reading(.smbg, Make.milligrams(100)), Make.reading(.cbg, Make.milligrams(90))]))
    try scratch.ingest(Make.batch([Make.record(["carbs": .number(30)], sourceID: "1")]))
    let refusal = try bare(
      """
      INSERT INTO device (vendor, model, serial, format, identity) VALUES ('', 'Pen', '', 'test', 'pen');
      INSERT INTO requeue (at, reason, is_open) VALUES (1, 'test', 0);
      INSERT INTO blob (digest, size) VALUES ('\(Self.digest)', 2);
      INSERT INTO blob_part (digest, start, bytes) VALUES ('\(Self.digest)', 0, x'0102');
      UPDATE blob SET held = size;
      """)
    try #require(refusal == nil)
  }

  private static let digest = String(repeating: "a", count: 64)
  /// `SQLITE_CONSTRAINT_TRIGGER`: the statement was refused by a trigger and not by a constraint.
  private static let refusedByTrigger: Int32 = 1811

  /// The tables whose rows are protected, each with the columns that another program may write.
  private static let protected: [String: Set<String>] = [
    "reading": ["uploaded", "derived_offset", "offset_source", "zone"],
    // No rule of the schema protects these columns: an edit must change `version`, and only glucoport knows
    // the valid values of the sync columns.
    "record": [
      "utc_offset", "offset_source", "edited_at", "version_synced", "sent_version", "sent", "revision",
      "base",
      "imported",
      "ingest", "conflict", "conflict_revision", "quarantine", "quarantined_version", "version",
    ],
    "device": ["model", "firmware"],
    "series": [
      "readings", "pending", "first_position", "last_position", "first_time", "last_time", "has_strays",
      "has_instants",
    ],
    "ingest": [
      "source", "format", "digest", "decisions", "clock_difference", "started_at", "finished_at", "outcome",
      "generated_at", "modified_at", "counts", "meter", "firmware", "clock_meter", "clock_host", "is_noted",
      "shows_withdrawn", "guid",
    ],
    "requeue": ["at", "reason", "is_open"],
    "blob": ["uploaded", "refusal"],
    "blob_part": [],
  ]

  /// The tables that other programs may change: settings, queues, and data that is derived from other tables.
  private static let free: Set<String> = [
    "pending_range", "setting", "rejection", "remote", "revision", "refusal", "same_as", "queued", "transfer",
    "download",
    "pinned", "stated_person",
    "ingest_run", "ingest_record", "stated_content", "withdrawal_arrival", "action",
    "action_state", "redo", "withdrawn", "listed_record",
    "resend", "resend_record", "removed_record", "unanswered",
    "item_zone", "item_zone_name", "item_zone_record", "item_zone_series", "zone_period",
    "changed_zone_series",
    "changed_statement", "changed_withdrawal", "changed_record", "changed_series",
  ]

  /// Runs SQL statements on a separate connection. Returns the error code and message, or nil if the
  /// statements succeed.
  private func bare(_ sql: String) throws -> (code: Int32, message: String)? {
    var connection: OpaquePointer?
    try #require(sqlite3_open_v2(scratch.path, &connection, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK)
    defer { sqlite3_close(connection) }
    guard sqlite3_exec(connection, sql, nil, nil, nil) != SQLITE_OK else { return nil }
    return (sqlite3_extended_errcode(connection), String(cString: sqlite3_errmsg(connection)))
  }

  /// The content of all protected tables.
  private func content() throws -> [String] {
    try Self.protected.keys.sorted().flatMap { table in
      let columns = try columns(table)
      return try scratch.rows("SELECT '\(table)', \(columns.joined(separator: ", ")) FROM \(table)")
    }
  }

  private func columns(_ table: String) throws -> [String] {
    try scratch.rows("SELECT name FROM pragma_table_xinfo('\(table)') WHERE hidden = 0").map {
      $0 == "bytes" ? "hex(bytes)" : $0
    }
  }

  private func expectRefusal(_ sql: String, _ location: SourceLocation = #_sourceLocation) throws {
    let before = try content()
    let refusal = try bare(sql)
    #expect(
      refusal?.code == Self.refusedByTrigger, "\(sql): \(refusal?.message ?? "done")",
      sourceLocation: location)
    #expect(try content() == before, "\(sql)", sourceLocation: location)
  }

  @Test func everyStoreTableIsListedAsProtectedOrChangeable() throws {
    let names = try scratch.rows("SELECT name FROM sqlite_schema WHERE type = 'table'")
    #expect(Set(names) == Set(Self.protected.keys).union(Self.free))
  }

  @Test(arguments: protected.keys.sorted()) func otherProgramsCannotDeleteOrReplaceAProtectedRow(
    _ table: String
  )
    throws
  {
    let names = try columns(table).map { $0 == "hex(bytes)" ? "bytes" : $0 }
    let list = names.joined(separator: ", ")
    try #require(try scratch.number("SELECT count(*) FROM \(table)") > 0)
    try expectRefusal("DELETE FROM \(table)")
    try expectRefusal("DELETE FROM \(table) WHERE true")
    for verb in ["INSERT OR REPLACE", "REPLACE"] {
      try expectRefusal("\(verb) INTO \(table) (\(list)) SELECT \(list) FROM \(table)")
    }
    try expectRefusal(
      """
      INSERT INTO \(table) (\(list)) SELECT \(list) FROM \(table) WHERE true
      ON CONFLICT DO UPDATE SET \(names[0]) = excluded.\(names[0])
      """)
  }

  @Test(arguments: protected.keys.sorted()) func otherProgramsCannotChangeTheKeyOfAProtectedRow(
    _ table: String
  )
    throws
  {
    let free = Self.protected[table] ?? []
    for (name, type) in try types(table) where !free.contains(name) {
      let other =
        switch type {
        case "TEXT" where name == "fields": "'{}'"
        case "TEXT": "coalesce(\(name), '') || 'x'"
        case "BLOB": "x'03'"
        default: name == "deleted" ? "1 - deleted" : "coalesce(\(name), 0) + 1"
        }
      for verb in ["UPDATE", "UPDATE OR REPLACE"] {
        try expectRefusal("\(verb) \(table) SET \(name) = \(other)")
      }
    }
  }

  private func types(_ table: String) throws -> [(name: String, type: String)] {
    try scratch.rows("SELECT name, type FROM pragma_table_xinfo('\(table)') WHERE hidden = 0").map {
      let parts = $0.split(separator: " ").map(String.init)
      return (parts[0], parts[1])
    }
  }

  /// SQLite has two names for the row number: `rowid` and the primary key. A trigger for one name does not
  /// run when a statement uses the other.
  @Test(arguments: ["device", "series", "ingest", "requeue", "blob_part"])
  func otherProgramsCannotChangeTheRowIDOfAProtectedRow(_ table: String) throws {
    try expectRefusal("UPDATE \(table) SET rowid = rowid + 100")
    try expectRefusal("UPDATE OR REPLACE \(table) SET rowid = rowid + 100")
  }

  @Test(arguments: [
    "REPLACE INTO device (vendor, model, serial, format, identity) VALUES ('Test', 'Other', 'S1', 'x', 'y')",
    "REPLACE INTO device (vendor, model, serial, format, identity) VALUES ('', 'Pen', '', 'test', 'y')",
    "REPLACE INTO series (device, kind, position_kind) SELECT device, kind, position_kind FROM series",
    "UPDATE device SET model = 'Other' WHERE serial = ''",
    "REPLACE INTO blob_part (rowid, digest, start, bytes) SELECT rowid, 'b', 0, x'00' FROM blob_part",
    "INSERT INTO blob_part (digest, start, bytes) SELECT digest, 2, x'00' FROM blob",
  ])
  func otherProgramsCannotReplaceARowByOneWithTheSameUniqueValues(_ sql: String) throws {
    try expectRefusal(sql)
  }

  @Test(arguments: [
    "UPDATE device SET firmware = '2', model = 'Other' WHERE serial <> ''",
    "UPDATE reading SET uploaded = 1", "UPDATE record SET fields = '{}', version = version + 1",
    "INSERT INTO device (vendor, model, serial, format, identity) VALUES ('Test', 'Meter', 'S2', 'test', 'z')",
    "INSERT INTO device (vendor, model, serial, format, identity) VALUES ('', 'Pen', '', 'other', 'z')",
    "UPDATE ingest SET started_at = started_at - 1", "REPLACE INTO setting VALUES ('a', 'b')",
    """
    INSERT INTO reading SELECT partition, position + 1, series, value_bucket, occurrence, device_time, stated_offset,
      derived_offset, offset_source, value, unit, range_flag, threshold, marks, ingest, uploaded, zone FROM reading
    """,
  ])
  func otherProgramsCanChangeChangeableColumns(_ sql: String) throws {
    let refusal = try bare(sql)
    #expect(refusal == nil, "\(sql): \(refusal?.message ?? "")")
  }

  private static let replacement =
    "INSERT OR REPLACE INTO reading SELECT partition, position, series, value_bucket, occurrence, device_time, "
    + "stated_offset, derived_offset, offset_source, 40, unit, range_flag, threshold, marks, ingest, uploaded, zone FROM reading"

  private func many(_ count: Int64) -> IngestBatch {
    Make.batch((0..<count).map { Make.reading(.cbg, Make.milligrams(100), at: Make.noon + 300 + $0 * 300) })
  }

  @Test func afterALargeImportReadingsAreStillProtectedByTheirTriggers() throws {
    let counts = try scratch.ingest(many(5000))
    #expect(counts.newReadings == 5000)
    try expectRefusal(Self.replacement)
    #expect(try scratch.ingest(many(5000)).knownReadings == 5000)
    try expectRefusal(Self.replacement)
  }

  @Test func afterAFailedImportReadingsAreStillProtectedByTheirTriggers() throws {
    struct Interruption: Error {}
    let source = IngestSource(name: "x", format: "test", startedAt: 1, modifiedAt: nil, decisions: [])
    for isAtomic in [true, false] {
      let store = try scratch.open()
      #expect(throws: Interruption.self) {
        try store.ingest(source, isAtomic: isAtomic) { writer in
          try writer.write(many(3000))
          throw Interruption()
        }
      }
      try expectRefusal(Self.replacement)
    }
  }

  /// A large import drops the trigger inside its transaction. Another connection still sees the trigger, and
  /// its statement finds the store locked.
  @Test func duringAnImportOtherProgramsCannotReplaceReadings() throws {
    let source = IngestSource(name: "x", format: "test", startedAt: 1, modifiedAt: nil, decisions: [])
    try scratch.open().ingest(source, isAtomic: true) { writer in
      try writer.write(many(3000))
      let rules = "SELECT count(*) FROM sqlite_schema WHERE name = 'reading_is_not_replaced'"
      #expect(try scratch.number(rules) == 1)
      #expect(try bare("PRAGMA busy_timeout = 0; \(Self.replacement)")?.code == SQLITE_BUSY)
      try writer.finish(
        end: .whole, digest: "d", generatedAt: nil, finishedAt: 2, decisions: [])
    }
    try expectRefusal(Self.replacement)
  }
}
