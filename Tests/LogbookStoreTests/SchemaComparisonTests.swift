// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import Testing

@testable import LogbookStore

/// Tests that the schema of a store is checked before any SQL in it, such as a view, can run.
@Suite struct SchemaComparisonTests {
  private let scratch: ScratchStore

  init() throws {
    scratch = try ScratchStore()
    _ = try scratch.open()
  }

  private func execute(_ sql: String) throws {
    let queue = try DatabaseQueue(path: scratch.path)
    try queue.writeWithoutTransaction { try $0.execute(sql: sql) }
    try queue.close()
  }

  private static let all: [StoreRole] = [.reader, .importer, .editor, .resolver, .sync]

  private func refusal(_ role: StoreRole) -> Failure? {
    do {
      _ = try Store(path: scratch.path, role: role)
      return nil
    } catch {
      return error as? Failure
    }
  }

  @Test func theSchemaChecksumIsThatOfANewStore() throws {
    #expect(try SchemaComparison.ofNewStore(SchemaComparison.checksum) == Schema.checksum)
  }

  @Test(arguments: [
    "UPDATE sqlite_schema SET sql = replace(sql, 'BEFORE', 'AFTER') WHERE name = 'blob_stays'",
    "UPDATE sqlite_schema SET sql = sql || ' ' WHERE name = 'setting'",
    "UPDATE sqlite_schema SET name = 'settinh' WHERE name = 'setting'",
    "DELETE FROM sqlite_schema WHERE name = 'blob_stays'",
    "INSERT INTO sqlite_schema SELECT * FROM sqlite_schema WHERE name = 'records'",
  ])
  func anySchemaChangeAltersTheChecksum(_ change: String) throws {
    let sum = try SchemaComparison.ofNewStore { database in
      try database.execute(sql: "PRAGMA writable_schema = ON; \(change)")
      return try SchemaComparison.checksum(in: database)
    }
    #expect(sum != Schema.checksum)
  }

  /// In the first case, a view with an endless query replaces a table. Without the check, opening the store
  /// would never end, even for a role that only reads.
  @Test(arguments: [
    (
      "table setting",
      """
      PRAGMA writable_schema = ON;
      UPDATE sqlite_schema SET type = 'view', rootpage = 0, sql = 'CREATE VIEW setting AS SELECT (WITH RECURSIVE
        n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n) AS name, 1 AS value' WHERE name = 'setting'
      """
    ),
    ("view records", "DROP VIEW records; CREATE VIEW records AS SELECT 1 AS guid"),
    ("trigger record_stays", "DROP TRIGGER record_stays"),
  ])
  func aStoreWithAChangedSchemaIsRefusedForEveryRole(_ part: String, _ change: String) throws {
    try execute(change)
    for role in Self.all {
      let failure = try #require(refusal(role), "\(role)")
      #expect(
        failure.category == .inputOutput && failure.message.contains(": \(part) is missing or changed; "))
      #expect(failure.store == scratch.path)
    }
  }

  @Test func aForeignTriggerIsRefusedForEveryRoleThatWrites() throws {
    try execute("CREATE TRIGGER extra AFTER INSERT ON record BEGIN DELETE FROM rejection; END")
    #expect(refusal(.reader) == nil)
    for role in Self.all where role != .reader {
      let failure = try #require(refusal(role), "\(role)")
      #expect(
        failure.category == .configuration
          && failure.message.hasSuffix(
            ": trigger extra; remove it: sqlite3 '\(scratch.path)' 'DROP TRIGGER \"extra\"'")
      )
    }
    // A trial import writes to a temporary copy of the store, where the foreign trigger would run as well.
    let reader = try Store(path: scratch.path, role: .reader)
    let failure = #expect(throws: Failure.self) {
      try Store.scratch(copyOf: reader, zone: LogbookZone(name: "UTC"))
    }
    #expect(failure?.message.hasPrefix("\(scratch.path): ") == true, "\(String(describing: failure))")
    _ = try Store.scratch(copyOf: reader, zone: LogbookZone(name: "UTC"), role: .reader)
    try execute("DROP TRIGGER extra")
    for role in Self.all { #expect(refusal(role) == nil, "\(role)") }
  }

  /// The name in the command comes from the file, and a person may paste the command into a shell. So an
  /// unusual name is replaced by `NAME`.
  @Test(arguments: [
    ("index own", #"DROP INDEX "own"'"#), ("trigger a\"; --", "DROP TRIGGER NAME'"),
    ("trigger a' $(id)", "DROP TRIGGER NAME'"), ("table own", "DROP TRIGGER NAME'"),
  ])
  func theSuggestedDropCommandRepeatsOnlyASimpleName(_ part: String, _ end: String) {
    let command = StoreExamination.removal(of: part, from: "it's.db")
    #expect(command == #"sqlite3 'it'\''s.db' '"# + end)
  }

  @Test func aTableViewOrSimpleIndexAddedByAPersonIsAccepted() throws {
    try execute(
      """
      CREATE TABLE mine (a); CREATE VIEW own AS SELECT a FROM mine; CREATE INDEX by_kind ON record (kind, guid); ANALYZE
      """)
    for role in Self.all { #expect(refusal(role) == nil, "\(role)") }
  }
}
