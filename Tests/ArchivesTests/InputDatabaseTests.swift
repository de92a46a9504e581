// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import SeededRandom
import TestArchives
import Testing

@testable import Archives

/// Tests reading tables from databases of other programs, some of them malicious.
@Suite struct InputDatabaseTests {
  private static let table = InputDatabase.Table("BgReadings", ["timestamp", "calculated_value"])
  private static let environment = ProcessInfo.processInfo.environment
  private static let rounds = environment["GLUCOPORT_FUZZ_ROUNDS"].flatMap { Int($0) }
  private static let firstSeed = environment["GLUCOPORT_FUZZ_SEED"].flatMap { UInt64($0) } ?? 1
  private static let create =
    "CREATE TABLE BgReadings(_id INTEGER PRIMARY KEY, timestamp INTEGER, calculated_value REAL);"

  /// The lines of a table; nil if the database has no such table.
  private func lines(
    _ bytes: [UInt8], _ table: InputDatabase.Table = table, isInterrupted: @escaping () -> Bool = { false }
  ) throws -> [String]? {
    try DatabaseInput.text(bytes, [table], first: "{}", isInterrupted: isInterrupted)?
      .split(separator: "\n").dropFirst().map(String.init)
  }

  /// Why a database is refused; nil if it is read.
  private func refusal(_ bytes: [UInt8]) throws -> String? {
    do {
      _ = try lines(bytes)
      return nil
    } catch let failure as Failure {
      return failure.message
    }
  }

  @Test func databaseRowsAreReadInOrderOfTheirRowIDsWithTheirTypes() throws {
    let bytes = try DatabaseWriter.database(
      Self.create
        + """
        INSERT INTO BgReadings VALUES (7, 2, 0.5), (3, 'a word', '12'), (4, x'0011', NULL), (5, NULL, 'x' || char(10) || '"\\'),
          (6, 1e300, 9e999), (9223372036854775807, -1, 1)
        """)
    #expect(
      try lines(bytes) == [
        #"{"table":"BgReadings","row":3,"timestamp":"a word","calculated_value":12.0}"#,
        #"{"table":"BgReadings","row":4,"timestamp":"(2 bytes)"}"#,
        #"{"table":"BgReadings","row":5,"calculated_value":"x\u000a\"\\"}"#,
        #"{"table":"BgReadings","row":6,"timestamp":1e+300,"calculated_value":"infinite"}"#,
        #"{"table":"BgReadings","row":7,"timestamp":2,"calculated_value":0.5}"#,
        #"{"table":"BgReadings","row":9223372036854775807,"timestamp":-1,"calculated_value":1.0}"#,
      ])
  }

  @Test func aDatabaseInUTF16OrWALModeHasTheSameRows() throws {
    let rows = "INSERT INTO BgReadings VALUES (1, 'ünï', 1)"
    let plain = try DatabaseWriter.database(Self.create + rows)
    let expected = [#"{"table":"BgReadings","row":1,"timestamp":"ünï","calculated_value":1.0}"#]
    #expect(try lines(plain) == expected)
    #expect(
      try lines(DatabaseWriter.database("PRAGMA encoding = 'UTF-16';" + Self.create + rows)) == expected)
    var wal = plain
    (wal[18], wal[19]) = (2, 2)
    #expect(try lines(wal) == expected)
  }

  @Test func missingDatabaseColumnsAreLeftOut() throws {
    let bytes = try DatabaseWriter.database(
      "CREATE TABLE bgreadings(TIMESTAMP); INSERT INTO bgreadings VALUES (5)")
    #expect(try lines(bytes) == [#"{"table":"BgReadings","row":1,"timestamp":5}"#])
  }

  @Test(arguments: [
    "CREATE TABLE other(a)",
    "CREATE TABLE t(timestamp, calculated_value); CREATE VIEW BgReadings AS SELECT * FROM t",
    "CREATE VIRTUAL TABLE BgReadings USING fts5(timestamp, calculated_value)",
    "CREATE TABLE BgReadings(x, timestamp AS (x), calculated_value AS (x * 2) STORED)",
    "CREATE TABLE t(a); CREATE INDEX BgReadings ON t(a)",
  ])
  func onlyOrdinaryTablesOfADatabaseAreRead(_ sql: String) throws {
    #expect(try lines(DatabaseWriter.database(sql)) == nil)
  }

  @Test(arguments: [
    "CREATE VIEW BgReadings AS WITH RECURSIVE n(timestamp, calculated_value) AS "
      + "(SELECT 1, 2 UNION ALL SELECT timestamp + 1, 2 FROM n) SELECT * FROM n",
    "CREATE VIRTUAL TABLE BgReadings USING fts5(timestamp, calculated_value)",
    "CREATE TABLE BgReadings(timestamp, calculated_value AS (randomblob(1000000000)))",
    "CREATE TABLE",
    "DROP TABLE t",
  ])
  func aDatabaseTableWithAForgedDefinitionReturnsNoRows(_ definition: String) throws {
    let bytes = try DatabaseWriter.database(
      Self.create + "INSERT INTO BgReadings VALUES (1, 2, 3); CREATE TABLE t(a)", defining: "BgReadings",
      as: definition)
    do {
      let found = try lines(bytes) ?? []
      #expect(!found.contains { $0.contains("calculated_value") }, "\(found)")
    } catch let failure as Failure {
      #expect(failure.category == .badInput)
    }
  }

  @Test func aDatabaseWithRepeatedRowIDsIsReportedAsDamaged() throws {
    // These columns hide the row ids of SQLite, so that two rows seem to have the id 5.
    let bytes = try DatabaseWriter.database(
      """
      CREATE TABLE BgReadings(rowid, _rowid_, oid, timestamp, calculated_value);
      INSERT INTO BgReadings VALUES (5, 5, 5, 1, 2), (5, 5, 5, 1, 2)
      """)
    #expect(try refusal(bytes)?.contains("rows of BgReadings repeat") == true)
  }

  @Test func aDatabaseTableWithoutRowIDsIsRefused() throws {
    let bytes = try DatabaseWriter.database(
      "CREATE TABLE BgReadings(timestamp PRIMARY KEY, calculated_value) WITHOUT ROWID")
    #expect(try refusal(bytes) != nil)
  }

  @Test func aDatabaseCellIsReadUpToTheMaximumSizeOnly() throws {
    func cell(_ size: Int) throws -> [UInt8] {
      try DatabaseWriter.database(
        Self.create + "INSERT INTO BgReadings VALUES (1, 2, printf('%.*c', \(size), 'x'))")
    }
    #expect(try refusal(cell(20_000_000))?.contains("longer than 16 MiB") == true)
    #expect(try lines(cell(1_000_000))?.first?.utf8.count ?? 0 > 1_000_000)
    // The limit does not apply to a column that is not requested.
    let bytes = try DatabaseWriter.database(
      """
      CREATE TABLE BgReadings(timestamp, calculated_value, picture);
      INSERT INTO BgReadings VALUES (1, 2, zeroblob(20000000))
      """)
    #expect(try lines(bytes)?.count == 1)
  }

  @Test func aTruncatedDatabaseIsRefused() throws {
    let rows = (1...2000).map { "(\($0), \($0), 1)" }.joined(separator: ",")
    let bytes = try DatabaseWriter.database(Self.create + "INSERT INTO BgReadings VALUES \(rows)")
    #expect(try lines(bytes)?.count == 2000)
    #expect(try refusal(Array(bytes.dropLast(5000)))?.contains("is truncated") == true)
    // An old library changes a file without updating the page count, so the header does not show the
    // truncation.
    var old = bytes
    old[95] &+= 1
    #expect(try refusal(Array(old.dropLast(5000)))?.contains("is damaged") == true)
    #expect(try lines(old)?.count == 2000)
  }

  @Test func anInterruptionEndsTheReadingOfADatabase() throws {
    let rows = (1...20_000).map { "(\($0), \($0), 1)" }.joined(separator: ",")
    let bytes = try DatabaseWriter.database(Self.create + "INSERT INTO BgReadings VALUES \(rows)")
    let failure = #expect(throws: Failure.self) { try lines(bytes, isInterrupted: { true }) }
    #expect(failure?.category == .temporary)
  }

  /// Each round reads one damaged database. `GLUCOPORT_FUZZ_ROUNDS` sets the number of rounds,
  /// `GLUCOPORT_FUZZ_SEED` the first seed. A failure states its seed.
  @Test(.timeLimit(.minutes(rounds == nil ? 10 : 600))) func aDamagedDatabaseNeverCrashesOrHangsTheReader()
    throws
  {
    let rounds = UInt64(Self.rounds ?? 1500)
    let rows = (1...600).map { "(\($0), \($0 * 300_000), \($0) * 0.5)" }.joined(separator: ",")
    let whole = try DatabaseWriter.database(
      "PRAGMA page_size = 512;" + Self.create
        + "CREATE TABLE t(a); CREATE VIEW v AS SELECT * FROM BgReadings; INSERT INTO BgReadings VALUES \(rows)"
    )
    var outcomes: Set<String> = []
    for seed in Self.firstSeed..<(Self.firstSeed + rounds) {
      var generator = SeededGenerator(seed: seed)
      var bytes = whole
      for _ in 0..<Int.random(in: 1...8, using: &generator) {
        // The heads of pages contain the references between pages, so they are damaged more often.
        let page = Int.random(in: 0..<(bytes.count / 512), using: &generator) * 512
        let place = page + Int.random(in: 0..<(Bool.random(using: &generator) ? 16 : 512), using: &generator)
        if place >= 16 { bytes[place] = UInt8.random(in: 0...255, using: &generator) }
      }
      do {
        let found = try lines(bytes)
        outcomes.insert(found == nil ? "none" : "read")
        #expect(found?.count ?? 0 <= whole.count / 4, "seed \(seed)")
      } catch let failure as Failure {
        outcomes.insert("refused")
        #expect(failure.category == .badInput, "seed \(seed): \(failure.message)")
      }
    }
    #expect(rounds < 1000 || outcomes.isSuperset(of: ["read", "refused"]))
  }
}
