// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Logbook
import SQLiteRows
import Testing

@testable import LogbookStore

/// Tests that a store is examined without being written to.
@Suite struct ExaminationTests {
  private let scratch: ScratchStore

  init() throws {
    scratch = try ScratchStore()
    _ = try scratch.open()
  }

  private func examine(isDeep: Bool = false) throws -> StoreExamination? {
    try StoreExaminer(path: scratch.path).examine(isDeep: isDeep)
  }

  /// Changes the file of the store with plain SQLite, as another program does.
  private func execute(_ sql: String) throws {
    var configuration = Configuration()
    configuration.foreignKeysEnabled = false
    try DatabaseQueue(path: scratch.path, configuration: configuration).writeWithoutTransaction {
      try $0.execute(sql: sql)
    }
  }

  private func files() throws -> [String: Data] {
    let names = try FileManager.default.contentsOfDirectory(atPath: scratch.folder.path)
    return try Dictionary(
      uniqueKeysWithValues: names.map { ($0, try Data(contentsOf: scratch.folder.appending(path: $0))) })
  }

  @Test(arguments: [false, true]) func examiningANewStoreFindsNothingAndWritesNothing(_ isDeep: Bool) throws {
    let before = try files()
    let found = try #require(try examine(isDeep: isDeep))
    #expect(found.damage == [] && found.changedSchema == [] && found.remote == nil)
    #expect(found.conflicts + found.refused + found.unfinishedImports == 0 && found.lastImport == nil)
    #expect((found.deep != nil) == isDeep && found.deep?.wrongContents ?? 0 == 0)
    #expect(try files() == before)
  }

  @Test func aStoreInUseIsExaminedWithItsWriteAheadLog() throws {
    let store = try scratch.open(.sync)
    let access = RemoteAccess(
      kind: "glucoport", url: "https://host.example", token: .file("/token"), authorities: "/ca.pem",
      clientCertificate: ClientCertificate(certificateFile: "/me.pem", keyFile: "/me.key"))
    let logbook = RemoteLogbook(id: "id", name: "Anna", isWritable: true, maxReadings: 1, maxRecords: 1)
    try store.setRemote(access, logbook: logbook, isNewRemote: false, at: 0)
    #expect(try files()["logbook.db-wal"]?.isEmpty == false)
    let found = try #require(try examine())
    #expect(found.remote?.access == access && found.remote?.logbook == "id")
    #expect(try store.remote()?.access == access)
    #expect(try store.removeRemote())
    #expect(try examine()?.remote == nil)
  }

  /// SQLite has no checksums for rows. So one changed bit of a value or note is found only by comparison with
  /// a backup.
  @Test(arguments: [
    (
      "UPDATE reading SET value = 101",
      "reading (series 1, position \(Make.noon), value_bucket 56, occurrence 0)", 0, 1
    ),
    (
      "UPDATE reading SET marks = 1",
      "reading (series 1, position \(Make.noon), value_bucket 56, occurrence 0)", 0, 1
    ),
    ("DELETE FROM reading", "reading (series 1, position \(Make.noon), value_bucket 56, occurrence 0)", 1, 0),
    ("UPDATE record SET fields = replace(fields, 'one', 'two'), guid = 'x'", "record (guid x)", 0, 1),
  ])
  func comparingAStoreWithABackupFindsValuesThatTheDiskAltered(
    _ sql: String, _ name: String, _ missing: Int, _ differing: Int
  )
    throws
  {
    try scratch.ingest(Make.batch([Make.reading(.smbg, Make.milligrams(100))]))
    try scratch.ingest(Make.batch([Make.record(["text": .text("one")], kind: .note, sourceID: "1")]))
    let copy = scratch.folder.appending(path: "copy.db").path
    try scratch.damage("UPDATE record SET guid = 'x' WHERE kind = 'note'")
    try execute("PRAGMA wal_checkpoint(TRUNCATE)")
    try FileManager.default.copyItem(atPath: scratch.path, toPath: copy)
    // Readings and records that were stored after the backup are not reported as differences.
    try scratch.damage(
      "INSERT INTO record (guid, kind, device_time, utc_offset, offset_source, fields) VALUES ('y', 'note', 1, 0, 0, '{}')"
    )
    let comparison = { [scratch] in
      try StoreComparison(try ExaminedFile(scratch.path, isImmutable: false), with: copy)
    }
    let sound = try comparison()
    #expect(sound.first == nil && sound.readings == 1 && sound.records == 1)
    try scratch.damage(sql.contains("record") ? sql + " WHERE guid = 'x'" : sql)
    let damaged = try comparison()
    #expect(damaged.first == name && damaged.missing == missing && damaged.differing == differing)
    #expect(throws: Failure.self) {
      try StoreComparison(try ExaminedFile(scratch.path, isImmutable: false), with: copy + "x")
    }
  }

  @Test func examiningAMissingStoreFindsNothing() throws {
    #expect(try StoreExaminer(path: scratch.path + "x").examine(isDeep: true) == nil)
    let empty = scratch.folder.appending(path: "empty.db").path
    try Data().write(to: URL(filePath: empty))
    #expect(try StoreExaminer(path: empty).examine(isDeep: true) == nil)
  }

  @Test func aStoreAtAPathOfAnyCharactersIsExamined() throws {
    let path = scratch.folder.path + "//a b?c#d%41'ä.db"
    try FileManager.default.copyItem(atPath: scratch.path, toPath: path)
    #expect(try StoreExaminer(path: scratch.path).examine(isDeep: false)?.schema == Schema.schema.version)
  }

  @Test(arguments: [false, true])
  func aPrimaryKeyInAnotherColumnOrderIsNotReportedAsDamage(_ isDeep: Bool) throws {
    try execute(
      """
      CREATE TABLE other (number INTEGER NOT NULL, name TEXT NOT NULL, PRIMARY KEY (name, number)) WITHOUT ROWID;
      INSERT INTO other VALUES (1, 'a');
      INSERT INTO ingest_record SELECT 1, 'a';
      """)
    #expect(try examine(isDeep: isDeep)?.damage == [])
  }

  @Test func anOverwrittenPageOfAStoreIsFound() throws {
    let size = try #require(try FileManager.default.attributesOfItem(atPath: scratch.path)[.size] as? Int)
    let file = try FileHandle(forUpdating: URL(filePath: scratch.path))
    for page in 1..<(size / Configuration.pageSize) {
      try file.seek(toOffset: UInt64(page * Configuration.pageSize))
      try file.write(contentsOf: [0x5A])
    }
    try file.close()
    do {
      #expect(try examine()?.damage.isEmpty == false)
    } catch let failure as Failure {
      #expect(failure.category == .inputOutput, "damaged beyond a check")
    }
  }

  @Test(arguments: ["junk that is long enough to be looked at as a header of SQLite", ""])
  func aFileOfAnotherProgramIsNotExaminedAsAStore(_ text: String) throws {
    let path = scratch.folder.appending(path: "other.db").path
    if text.isEmpty {
      try DatabaseQueue(path: path).write { try $0.execute(sql: "CREATE TABLE a (b)") }
    } else {
      try Data(String(repeating: text, count: 20).utf8).write(to: URL(filePath: path))
    }
    let failure = #expect(throws: Failure.self) {
      try StoreExaminer(path: path).examine(isDeep: false)
    }
    #expect(failure?.category == .badInput)
  }

  @Test(arguments: [(99, "update glucoport"), (1, "move it away and start a new one")])
  func aStoreOfAnotherVersionIsNotExamined(_ version: Int, _ remedy: String) throws {
    try execute("PRAGMA user_version = \(version)")
    let failure = #expect(throws: Failure.self) { try examine() }
    #expect(failure?.category == .configuration && failure?.message.contains(remedy) == true)
  }

  @Test func aMissingOrChangedTriggerOfAStoreIsFound() throws {
    try execute("DROP TRIGGER blob_stays")
    #expect(try examine()?.changedSchema == ["trigger blob_stays"])
    try execute("CREATE TRIGGER blob_stays BEFORE DELETE ON blob BEGIN SELECT 1; END")
    #expect(try examine()?.changedSchema == ["trigger blob_stays"])
  }

  @Test func harmlessTablesViewsAndIndexesOfOtherProgramsAreNotReported() throws {
    try execute(
      "CREATE TABLE mine (a); CREATE VIEW own AS SELECT a FROM mine; CREATE INDEX by_kind ON record (kind, guid)"
    )
    let found = try #require(try examine())
    #expect(found.changedSchema == [] && found.foreignSchema == [])
    try StoreExaminer(path: scratch.path).requireOwnSchema(isWritten: true)
  }

  @Test(arguments: [
    ("trigger extra", "CREATE TRIGGER extra AFTER INSERT ON record BEGIN DELETE FROM rejection; END"),
    ("index extra", "CREATE INDEX extra ON record (length(hex(zeroblob(1000000))))"),
    ("index extra", "CREATE INDEX extra ON record (kind) WHERE length(fields) > 1"),
    ("index extra", "CREATE UNIQUE INDEX extra ON record (kind)"),
  ])
  func aForeignTriggerOrIndexThatRunsOnWritesIsFound(_ name: String, _ sql: String) throws {
    try execute(sql)
    let found = try #require(try examine())
    #expect(found.changedSchema == [] && found.foreignSchema == [name])
    try StoreExaminer(path: scratch.path).requireOwnSchema(isWritten: false)
    let failure = #expect(throws: Failure.self) {
      try StoreExaminer(path: scratch.path).requireOwnSchema(isWritten: true)
    }
    #expect(failure?.category == .badInput && failure?.message.contains(": \(name); ") == true)
  }

  /// SQLite's error for a full disk does not show whether it is the disk of the store or of SQLite's
  /// temporary files.
  @Test func aDiskWithSpaceIsDistinguishedFromAFullOrMissingOne() {
    #expect(StoreFile.hasRoom(scratch.path))
    #expect(
      !StoreFile.hasRoom("/proc/logbook.db") && !StoreFile.hasRoom("/missing/logbook.db")
        && !StoreFile.hasRoom(""))
  }

  /// The view runs a query that never ends. It would block every command that reads the table `setting`.
  @Test func aViewInsteadOfAStoreTableIsRefusedBeforeItRuns() throws {
    try execute(
      """
      PRAGMA writable_schema = ON;
      UPDATE sqlite_schema SET type = 'view', rootpage = 0, sql = 'CREATE VIEW setting AS SELECT (WITH RECURSIVE
        n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n) AS name, 1 AS value' WHERE name = 'setting'
      """)
    #expect(try examine()?.changedSchema == ["table setting"])
    let failure = #expect(throws: Failure.self) {
      try StoreExaminer(path: scratch.path).requireOwnSchema(isWritten: false)
    }
    #expect(
      failure?.category == .inputOutput && failure?.message.contains("table setting is missing") == true)
  }

  @Test func theCompleteCheckFindsAReferenceToAMissingRow() throws {
    try execute("INSERT INTO rejection (ingest, line, reason) VALUES (7, 1, 'x')")
    #expect(try examine()?.deep == nil)
    #expect(try examine(isDeep: true)?.deep?.brokenReferences == 1)
  }

  @Test func theCompleteCheckFindsAPendingReadingThatNoUploadFinds() throws {
    try scratch.ingest(Make.batch([Make.reading(.smbg, Make.milligrams(100)), Make.tick(1, 90)]))
    #expect(try examine(isDeep: true)?.deep?.unreachableReadings == 0)
    let rule = try #require(
      scratch.rows("SELECT sql FROM sqlite_schema WHERE name = 'pending_range_stays'").first)
    try execute(
      "DROP TRIGGER pending_range_stays; DELETE FROM pending_range WHERE partition = 1; \(rule)")
    #expect(try examine(isDeep: true)?.deep?.unreachableReadings == 1)
    #expect(try examine()?.damage == [])
  }

  /// SQLite checks the constraints of columns only on write connections, so the examination must check them.
  @Test(arguments: [
    ("UPDATE record SET deleted = 1 << 53 WHERE kind = 'note'", ["record (1)"], 0, 0),
    ("UPDATE reading SET range_flag = 9", ["reading (2)"], 0, 0),
    // No series has readings in the partition 99. So the check reports two series without readings, and two
    // readings without a series.
    ("UPDATE reading SET partition = 99", [], 2 + 2, 0),
    ("UPDATE series SET readings = 7 WHERE id = 1", [], 1, 0),
    ("INSERT INTO withdrawn VALUES (1, -1, 0, 0, 1)", [], 0, 1),
    ("UPDATE series SET pending = 0", [], 0, 0),
  ])
  func theCompleteCheckFindsValuesThatBreakASchemaRule(
    _ sql: String, _ rules: [String], _ series: Int, _ withdrawals: Int
  ) throws {
    try scratch.ingest(Make.batch([Make.reading(.smbg, Make.milligrams(100)), Make.tick(1, 90)]))
    try scratch.ingest(Make.batch([Make.record(["text": .text("a")], kind: .note, sourceID: "1")]))
    let names = try scratch.rows("SELECT name FROM sqlite_schema WHERE type = 'trigger'")
    let triggers = try scratch.rows("SELECT sql FROM sqlite_schema WHERE type = 'trigger'")
    try execute(
      "PRAGMA ignore_check_constraints = ON; " + names.map { "DROP TRIGGER \($0);" }.joined()
        + sql + ";" + triggers.joined(separator: ";"))
    let found = try #require(try examine(isDeep: true)?.deep)
    #expect(found.brokenRules == rules)
    #expect(found.misplacedSeries == series && found.lostWithdrawals == withdrawals, "\(found)")
  }

  @Test func everyCheckConstraintInACreateTableStatementIsFound() throws {
    let statement = """
      CREATE TABLE t (
        -- A comment's quote and CHECK (no rule).
        a TEXT CHECK (a NOT GLOB '*[)(]*'),
        CHECK ((a = 'b') OR a IN ('c', 'd'))
      ) STRICT
      """
    #expect(StoreExaminer.rules(in: statement) == ["a NOT GLOB '*[)(]*'", "(a = 'b') OR a IN ('c', 'd')"])
  }

  @Test(arguments: [("content", 0), ("contents", 1)])
  func theCompleteCheckFindsAChangedAttachment(_ text: String, _ count: Int) throws {
    var digest = Digest()
    digest.update("content")
    try execute(
      """
      INSERT INTO blob (digest, size) VALUES ('\(digest.hexadecimal())', \(text.count));
      INSERT INTO blob_part (digest, start, bytes) VALUES ('\(digest.hexadecimal())', 0, CAST('\(text)' AS BLOB));
      UPDATE blob SET held = size;
      """)
    #expect(try examine(isDeep: true)?.deep?.wrongContents == count)
  }

  @Test func theExaminationCountsItemsThatNeedADecision() throws {
    try execute(
      """
      INSERT INTO ingest (source, format, started_at) VALUES ('a', 'b', 1);
      INSERT INTO ingest (source, format, started_at, finished_at, outcome) VALUES ('a', 'b', 1, 5, 'whole');
      """)
    let found = try #require(try examine())
    #expect(found.unfinishedImports == 1 && found.lastImport == 5)
  }
}
