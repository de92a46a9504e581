// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import LogbookAPI
import ServiceConformance
import Testing

@testable import ServerStore

/// Tests changes of a server's files by another program. This program uses SQLite's default settings, in
/// which recursive triggers and foreign keys are off.
@Suite struct ForeignProgramOnServerTests {
  private let folder: ScratchFolder

  init() throws { folder = try ScratchFolder() }

  /// A database file of the server. `protected` has the tables whose rows no other program can delete or
  /// replace, each with the columns that other programs can still change. `free` has the tables that any
  /// program may change.
  struct Kind: Sendable, CustomTestStringConvertible {
    let name: String
    let content: String
    /// For each protected table, the columns that another program may write.
    let protected: [String: Set<String>]
    let free: Set<String>

    var testDescription: String { name }
  }

  private static let digest = String(repeating: "a", count: 64)
  private static func uuid(_ number: Int) -> String { "00000000-0000-4000-8000-00000000000\(number)" }

  private static let logbook = Kind(
    name: "logbook",
    content: """
      INSERT INTO epoch VALUES (0, '00000000');
      INSERT INTO node (name, run_number, run_id) VALUES ('\(uuid(1))', 1, '\(uuid(2))');
      INSERT INTO device (vendor, model, serial, format) VALUES ('', 'Pen', '', 'test');
      INSERT INTO record (guid, seq, revision, kind, state, node)
      VALUES ('\(uuid(3))', 9000, '9000.0', 'note', '{"kind":"note","deleted":0,"fields":{}}', 1);
      INSERT INTO accepted VALUES ('\(uuid(3))', '\(uuid(1))', 3, '\(digest)', '9000.0');
      INSERT INTO blob (digest, size) VALUES ('\(digest)', 2);
      INSERT INTO blob_part (digest, start, bytes) VALUES ('\(digest)', 0, x'0102');
      UPDATE blob SET held = size;
      """,
    protected: [
      "reading": [], "record": ["state", "node", "seq", "revision"], "device": ["model"], "series": [],
      "epoch": [], "node": ["run_number", "run_id", "last_seq"],
      "accepted": ["version", "digest", "revision"],
      "blob": [], "blob_part": [],
    ], free: [])

  private static let server = Kind(
    name: "server",
    content: """
      INSERT INTO logbook VALUES ('\(uuid(1))', 'mine');
      INSERT INTO login VALUES ('me', zeroblob(32), 'read', '\(uuid(1))', 1);
      INSERT INTO purged VALUES ('\(uuid(2))');
      INSERT INTO purged_token VALUES (randomblob(32), '\(uuid(2))');
      """,
    protected: ["logbook": ["name"], "purged": [], "purged_token": []], free: ["login", "replaced_token"])

  private static let places = [logbook, server].flatMap { kind in
    kind.protected.keys.sorted().map { table in (kind, table) }
  }

  private func path(_ kind: Kind) -> String { folder.path + "/\(kind.name).db" }

  private func make(_ kind: Kind, readings: Int = 2) throws {
    try DataFolder.makeFile(path(kind))
    let file = try DatabaseFile(
      path: path(kind), name: kind.name,
      schema: kind.name == Self.logbook.name ? LogbookSchema.schema : LoginSchema.schema)
    try file.writeNow { database in
      if kind.protected["reading"] != nil {
        _ = try ReadingStorage(database, node: 1, after: 0).store(Sample.history(readings))
      }
      try database.execute(sql: kind.content)
    }
    try file.close()
  }

  private func bare<Value>(_ kind: Kind, _ work: (Database) throws -> Value) throws -> Value {
    var configuration = Configuration()
    configuration.foreignKeysEnabled = false
    let queue = try DatabaseQueue(path: path(kind), configuration: configuration)
    defer { #expect(throws: Never.self) { try queue.close() } }
    return try queue.inDatabase(work)
  }

  /// The content of the protected tables.
  private func content(_ kind: Kind) throws -> [String] {
    try bare(kind) { database in
      try kind.protected.keys.sorted().flatMap { table in
        try Row.fetchAll(database, sql: "SELECT * FROM \(table)").map { "\(table) \($0)" }
      }
    }
  }

  /// Expects that a trigger refuses a statement, or that the statement changes nothing.
  private func expectUnchanged(
    _ kind: Kind, _ sql: String, mayPass: Bool = false, _ location: SourceLocation = #_sourceLocation
  ) throws {
    let before = try content(kind)
    do {
      try bare(kind) { try $0.execute(sql: sql) }
      #expect(mayPass, "\(sql): done", sourceLocation: location)
    } catch let error as DatabaseError {
      #expect(
        error.extendedResultCode == .SQLITE_CONSTRAINT_TRIGGER, "\(sql): \(error)", sourceLocation: location)
    }
    #expect(try content(kind) == before, "\(sql)", sourceLocation: location)
  }

  @Test(arguments: [logbook, server]) func everyServerTableIsListedAsPermanentOrChangeable(_ kind: Kind)
    throws
  {
    try make(kind)
    let names = try bare(kind) { database in
      try String.fetchAll(database, sql: "SELECT name FROM sqlite_schema WHERE type = 'table'")
    }
    #expect(Set(names) == Set(kind.protected.keys).union(kind.free))
  }

  @Test(arguments: places)
  func anotherProgramCannotDeleteOrReplaceAPermanentServerRow(_ kind: Kind, _ table: String) throws {
    try make(kind)
    let names = try columns(kind, table).map(\.name)
    let list = names.joined(separator: ", ")
    #expect(try bare(kind) { try Int.fetchOne($0, sql: "SELECT count(*) FROM \(table)") ?? 0 } > 0)
    try expectUnchanged(kind, "DELETE FROM \(table)")
    try expectUnchanged(kind, "DELETE FROM \(table) WHERE true")
    // Uploads repeat known readings, so the schema skips such a row without an error.
    let isSkipped = table == "reading"
    for verb in ["INSERT OR REPLACE", "REPLACE"] {
      try expectUnchanged(
        kind, "\(verb) INTO \(table) (\(list)) SELECT \(list) FROM \(table)", mayPass: isSkipped)
    }
    try expectUnchanged(
      kind,
      """
      INSERT INTO \(table) (\(list)) SELECT \(list) FROM \(table) WHERE true
      ON CONFLICT DO UPDATE SET \(names[0]) = excluded.\(names[0])
      """, mayPass: isSkipped)
  }

  @Test(arguments: places)
  func anotherProgramCannotChangeTheKeyOfAPermanentServerRow(_ kind: Kind, _ table: String) throws {
    try make(kind)
    for (name, type) in try columns(kind, table) where kind.protected[table]?.contains(name) != true {
      let other =
        switch type {
        case "TEXT": "coalesce(\(name), '') || 'x'"
        case "BLOB": "x'03'"
        default: "coalesce(\(name), 0) + 1"
        }
      for verb in ["UPDATE", "UPDATE OR REPLACE"] {
        try expectUnchanged(kind, "\(verb) \(table) SET \(name) = \(other)")
      }
    }
  }

  private func columns(_ kind: Kind, _ table: String) throws -> [(name: String, type: String)] {
    try bare(kind) { database in
      try Row.fetchAll(
        database, sql: "SELECT name, type FROM pragma_table_xinfo('\(table)') WHERE hidden = 0"
      )
      .map { ($0[0], $0[1]) }
    }
  }

  /// SQLite's row id has two names, and a trigger for one name does not fire for the other name.
  @Test(arguments: ["device", "series", "node", "epoch", "reading", "blob_part"])
  func anotherProgramCannotChangeTheRowIDOfAPermanentServerRow(_ table: String) throws {
    try make(Self.logbook)
    try expectUnchanged(Self.logbook, "UPDATE \(table) SET rowid = rowid + 100")
    try expectUnchanged(Self.logbook, "UPDATE OR REPLACE \(table) SET rowid = rowid + 100")
  }

  @Test(arguments: [
    "REPLACE INTO device (vendor, model, serial, format) VALUES ('Abbott', 'Other', 'S-1', 'x')",
    "REPLACE INTO device (vendor, model, serial, format) VALUES ('x', 'Pen', '', 'test')",
    "REPLACE INTO series (device, kind, position_kind) SELECT device, kind, position_kind FROM series",
    "REPLACE INTO node (name, run_number, run_id) SELECT name, 9, run_id FROM node",
    "REPLACE INTO accepted SELECT guid, node, version + 1, digest, revision FROM accepted",
    "UPDATE accepted SET version = version - 1", "UPDATE device SET model = 'Other' WHERE serial = ''",
    "REPLACE INTO record SELECT guid, seq + 1, '9001.0', kind, state, node FROM record",
    "REPLACE INTO blob_part (rowid, digest, start, bytes) SELECT rowid, 'b', 0, x'00' FROM blob_part",
    "INSERT INTO blob_part (digest, start, bytes) SELECT digest, 2, x'00' FROM blob",
  ])
  func anotherProgramCannotReplaceARowByOneWithTheSameKey(_ sql: String) throws {
    try make(Self.logbook)
    try expectUnchanged(Self.logbook, sql)
  }

  private static func insert(seq: String, value: String, verb: String = "REPLACE") -> String {
    """
    \(verb) INTO reading SELECT \(seq), series, position, value_bucket, occurrence, device_time, utc_offset, offset_source,
      \(value), unit, range_flag, threshold, marks, node FROM reading
    """
  }

  /// Another program tries to store a known reading with its own sequence number or with another one. It also
  /// tries to store another reading with a used number.
  @Test(arguments: [2, 5000]) func aStoredReadingIsNeverReplacedEvenAfterALargeUpload(_ readings: Int) throws
  {
    try make(Self.logbook, readings: readings)
    let other =
      "REPLACE INTO reading SELECT seq, series, position + 1, value_bucket, occurrence, device_time, utc_offset, "
      + "offset_source, value, unit, range_flag, threshold, marks, node FROM reading"
    for sql in [
      Self.insert(seq: "seq", value: "40"), Self.insert(seq: "seq + 100000", value: "40"), other,
      Self.insert(seq: "seq + 100000", value: "40", verb: "INSERT OR IGNORE"),
    ] {
      try expectUnchanged(Self.logbook, sql, mayPass: true)
    }
  }

  @Test(arguments: [
    "INSERT INTO device (vendor, model, serial, format) VALUES ('Abbott', 'Libre 3', 'S-2', 'test')",
    "UPDATE device SET model = 'Other' WHERE serial <> ''",
    "UPDATE node SET run_number = run_number + 1", "UPDATE accepted SET version = version + 1",
    "UPDATE record SET seq = seq + 1, revision = '9001.0'",
    """
    INSERT INTO reading SELECT seq + 10, series, position + 1, value_bucket, occurrence, device_time, utc_offset, offset_source,
      value, unit, range_flag, threshold, marks, node FROM reading
    """,
  ])
  func changesThatTheServerMakesArePermittedByTheDatabase(_ sql: String) throws {
    try make(Self.logbook)
    let before = try content(Self.logbook)
    try bare(Self.logbook) { try $0.execute(sql: sql) }
    #expect(try content(Self.logbook) != before)
  }

  @Test func anotherProgramCannotRemoveALogbookThatHasTokens() throws {
    try make(Self.server)
    try expectUnchanged(Self.server, "DELETE FROM logbook")
    try bare(Self.server) { try $0.execute(sql: "DELETE FROM login; DELETE FROM logbook") }
    #expect(try bare(Self.server) { try Int.fetchOne($0, sql: "SELECT count(*) FROM logbook") } == 0)
  }

  /// Repeated uploads skip the known readings, whether few or many.
  @Test(arguments: [3, 600]) func aRepeatedUploadStoresKnownReadingsOnce(_ count: Int) throws {
    try make(Self.logbook, readings: count)
    let file = try DatabaseFile(path: path(Self.logbook), name: "logbook", schema: LogbookSchema.schema)
    let answer = try file.writeNow { database in
      try ReadingStorage(database, node: 1, after: 10_000).store(Sample.history(count + 2))
    }
    #expect(answer.stored == 2 && answer.known == count && answer.differing.isEmpty)
    var other = Sample.history(1)
    other.readings[0] = Sample.reading(at: 1_700_000_000, 333)
    let changed = other
    let differing = try file.writeNow { try ReadingStorage($0, node: 1, after: 20_000).store(changed) }
    #expect(differing.stored == 0 && differing.known == 1 && differing.differing == [0])
    try file.close()
  }
}
