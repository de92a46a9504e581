// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import TestArchives
import Testing

@testable import Archives

/// Tests the lines of JSON that are made from a database, and what is read from its header.
@Suite struct DatabaseTextTests {
  private static let table = InputDatabase.Table("t", ["a", "b"])

  /// Stores a value in a table, and returns its text in the line of JSON.
  private static func cell(_ value: String, create: String = "CREATE TABLE t(a, b);") throws -> String {
    let bytes = try DatabaseWriter.database(create + "INSERT INTO t(a) VALUES (\(value))")
    let text = try #require(try DatabaseInput.text(bytes, [table]))
    let line = try #require(text.split(separator: "\n").last)
    let start = try #require(line.firstRange(of: "\"a\":")).upperBound
    return String(line[start...].dropLast())
  }

  @Test(arguments: [
    ("0", "0"), ("-1", "-1"), ("9223372036854775807", "9223372036854775807"),
    ("-9223372036854775808", "-9223372036854775808"), ("0.5", "0.5"), ("1e300", "1e+300"),
    ("9e999", "\"infinite\""), ("-9e999", "\"infinite\""), ("'12'", "\"12\""), ("''", "\"\""),
    ("x''", "\"(0 bytes)\""), ("x'00ff'", "\"(2 bytes)\""), ("zeroblob(100000)", "\"(100000 bytes)\""),
    ("'ünï日本🙂'", "\"ünï日本🙂\""), ("'a' || char(127) || 'b'", "\"a\u{7F}b\""),
    ("'a\"b\\c'", #""a\"b\\c""#), ("'a' || char(0) || 'b'", #""a\u0000b""#),
    ("char(1, 9, 10, 13, 31)", #""\u0001\u0009\u000a\u000d\u001f""#),
    ("CAST(x'41ff42' AS TEXT)", "\"A\u{FFFD}B\""), ("CAST(x'e282' AS TEXT)", "\"\u{FFFD}\""),
    ("'{\"table\":\"x\"}'", #""{\"table\":\"x\"}""#),
  ])
  func aDatabaseCellKeepsItsTypeAndContent(_ value: String, _ text: String) throws {
    #expect(try Self.cell(value) == text)
  }

  @Test(arguments: ["0.1", "1e-7", "5e-324", "123456789.125", "1e15", "-2.5", "4.35", "0.30000000000000004"])
  func aNumberInADatabaseIsReadBackUnchanged(_ number: String) throws {
    #expect(try Double(Self.cell(number)) == Double(number))
  }

  /// A column declared for numbers may hold anything that an app stored.
  @Test(arguments: [
    ("INTEGER", "'12'", "12"), ("INTEGER", "'x'", "\"x\""), ("REAL", "5", "5.0"), ("TEXT", "5", "\"5\""),
    ("BLOB", "'5'", "\"5\""), ("NUMERIC", "'5.5'", "5.5"),
  ])
  func aDatabaseCellIsWrittenWithItsStoredTypeNotThatOfItsColumn(
    _ type: String, _ value: String, _ text: String
  ) throws {
    #expect(try Self.cell(value, create: "CREATE TABLE t(a \(type), b);") == text)
  }

  @Test func eachDatabaseRowIsWrittenAsOneJSONObjectOnALine() throws {
    let texts = (0..<128).map { "(char(\($0), 34, 92, \($0)), \($0))" }.joined(separator: ",")
    let bytes = try DatabaseWriter.database("CREATE TABLE t(a, b); INSERT INTO t VALUES \(texts)")
    let lines = try #require(try DatabaseInput.text(bytes, [Self.table])).split(separator: "\n")
    #expect(lines.count == 129)
    for (number, line) in lines.dropFirst().enumerated() {
      let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
      #expect(object["b"] as? Int == number && object["row"] as? Int == number + 1)
      #expect(
        (object["a"] as? String)?.unicodeScalars.map(\.value) == [UInt32(number), 34, 92, UInt32(number)])
    }
  }

  @Test func databaseTablesAreWrittenInTheRequestedOrder() throws {
    let bytes = try DatabaseWriter.database(
      "CREATE TABLE u(c); INSERT INTO u VALUES (3); CREATE TABLE t(b, a); INSERT INTO t VALUES (2, 1)")
    let wanted = [
      Self.table, InputDatabase.Table("missing", ["a"]), InputDatabase.Table("U", ["c", "d"]),
    ]
    #expect(
      try DatabaseInput.text(bytes, wanted, first: #"{"database":"x"}"#) == """
        {"database":"x"}
        {"table":"t","row":1,"a":1,"b":2}
        {"table":"U","row":1,"c":3}

        """)
    #expect(try DatabaseInput.text(bytes, [InputDatabase.Table("missing", ["a"])]) == nil)
  }

  @Test func databaseRowsAreInOrderOfTheirRowIDsAlsoBelowZero() throws {
    let bytes = try DatabaseWriter.database(
      "CREATE TABLE t(a INTEGER PRIMARY KEY, b); INSERT INTO t VALUES (5, 1), (-7, 2), (0, 3)")
    let text = try #require(try DatabaseInput.text(bytes, [Self.table]))
    #expect(text.split(separator: "\n").dropFirst().map { $0.contains("\"a\":-7") } == [true, false, false])
  }

  /// The name of a column may contain anything that fits in quotes.
  @Test(arguments: ["a b", "a'b", "select", "ä", "a;DROP TABLE t"]) func anyNameOfADatabaseColumnIsQuoted(
    _ name: String
  ) throws {
    let bytes = try DatabaseWriter.database(
      "CREATE TABLE \"\(name)\"(\"\(name)\"); INSERT INTO \"\(name)\" VALUES (4)")
    let text = try DatabaseInput.text(bytes, [InputDatabase.Table(name, [name])])
    #expect(text?.hasSuffix("\"\(name)\":4}\n") == true)
  }

  @Test func aLargeDatabaseTableIsPassedOnInPieces() throws {
    let rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30000) "
    let bytes = try DatabaseWriter.database(
      "CREATE TABLE t(a, b); INSERT INTO t \(rows) SELECT i, printf('%.40c', 'x') FROM n")
    var sizes: [Int] = []
    let text = try #require(try DatabaseInput.text(bytes, [Self.table], pieces: { sizes.append($0) }))
    #expect(text.utf8.count { $0 == 0x0A } == 30_001)
    #expect(sizes.count > 5 && sizes.allSatisfy { $0 < 300_000 } && sizes.reduce(0, +) == text.utf8.count)
    #expect(text.hasSuffix("\"b\":\"\(String(repeating: "x", count: 40))\"}\n"))
  }

  @Test func indexesAndTriggersOfAnImportedDatabaseAreNotUsed() throws {
    let bytes = try DatabaseWriter.database(
      """
      CREATE TABLE t(a, b); CREATE INDEX i ON t(a DESC) WHERE a > 1; CREATE UNIQUE INDEX j ON t(b, a);
      CREATE TRIGGER d AFTER INSERT ON t BEGIN UPDATE t SET b = 9 WHERE a = 1; END;
      INSERT INTO t VALUES (2, 1), (1, 2), (3, 3)
      """)
    let text = try #require(try DatabaseInput.text(bytes, [Self.table]))
    let rows = text.split(separator: "\n").dropFirst().map { String($0.dropFirst(13).prefix(7)) }
    #expect(rows == ["\"row\":1", "\"row\":2", "\"row\":3"])
    #expect(text.contains(#""row":2,"a":1,"b":9"#))
  }

  // MARK: The first bytes

  private static func header(_ changes: [Int: UInt8] = [:]) -> [UInt8] {
    var bytes = Array("SQLite format 3\0".utf8) + [UInt8](repeating: 0, count: 84)
    (bytes[16], bytes[31], bytes[27], bytes[95]) = (0x10, 3, 7, 7)
    for (place, byte) in changes { bytes[place] = byte }
    return bytes
  }

  @Test(
    arguments: [
      ([:], 3 * 4096), ([16: 2], 3 * 512), ([16: 0, 17: 1], 3 * 65536), ([28: 1], (1 << 24 | 3) * 4096),
      // The first header has no page count. In the other two, an old library has not updated the page count.
      ([31: 0], nil), ([95: 8], nil), ([27: 8], nil),
    ] as [([Int: UInt8], Int64?)])
  func theDatabaseHeaderStatesTheSizeOfTheFile(_ changes: [Int: UInt8], _ size: Int64?) throws {
    #expect(try #require(DatabaseHeader(Self.header(changes))).fileSize == size)
  }

  @Test func theDatabaseHeaderStatesTheApplication() throws {
    #expect(try #require(DatabaseHeader(Self.header())).applicationID == 0)
    let own = [68: 0x47, 69: 0x4C, 70: 0x55, 71: 0x43] as [Int: UInt8]
    #expect(try #require(DatabaseHeader(Self.header(own))).applicationID == 0x474C_5543)
  }

  @Test func bytesWithAnotherSignatureAreNotReadAsADatabase() {
    #expect(DatabaseHeader(Array(Self.header().prefix(99))) == nil)
    #expect(DatabaseHeader(Self.header([0: 0x73])) == nil && DatabaseHeader(Self.header([15: 0x20])) == nil)
    #expect(DatabaseHeader([]) == nil && !DatabaseHeader.isDatabase([]))
    #expect(DatabaseHeader.isDatabase(Self.header().prefix(16)))
    #expect(!DatabaseHeader.isDatabase(Self.header().prefix(15)))
    #expect(!DatabaseHeader.isDatabase(Array("SQLite format 2\0".utf8)))
  }

  // MARK: Refused databases

  private static func refusal(_ bytes: [UInt8], size: Int64? = nil) throws -> Failure? {
    do {
      _ = try DatabaseInput.text(bytes, [table], size: size)
      return nil
    } catch let failure as Failure {
      return failure
    }
  }

  private static func small() throws -> [UInt8] {
    try DatabaseWriter.database("CREATE TABLE t(a, b); INSERT INTO t VALUES (1, 2)")
  }

  @Test func aDatabaseFileAboveTheLimitIsRefusedUnread() throws {
    let failure = try #require(try Self.refusal(Self.small(), size: 8 << 30 + 1))
    #expect(failure.category == .badInput && failure.message == "a.sqlite: the database is larger than 8 GiB")
    #expect(try Self.refusal(Self.small(), size: 8 << 30) == nil)
  }

  @Test func theErrorForATruncatedDatabaseCountsTheMissingBytes() throws {
    let bytes = try Self.small()
    let failure = try #require(try Self.refusal(Array(bytes.dropLast())))
    #expect(failure.message.contains("truncated: \(bytes.count - 1) of \(bytes.count) bytes"))
    #expect(try Self.refusal(bytes + [0]) == nil)
  }

  /// The header may be followed by anything: encrypted pages, another version, or nothing.
  @Test(arguments: [0x00, 0x5A, 0xFF] as [UInt8]) func aDatabaseWithMeaninglessPagesIsReportedAsDamaged(
    _ byte: UInt8
  ) throws {
    var bytes = try Self.small()
    for place in 100..<bytes.count { bytes[place] = byte }
    let failure = try #require(try Self.refusal(bytes))
    #expect(failure.category == .badInput && failure.message.contains("is damaged"))
  }

  @Test(arguments: [(19, 9), (16, 3), (21, 1), (44, 9), (56, 7)])
  func aDatabaseWithAMeaninglessHeaderIsReportedAsDamaged(
    _ place: Int, _ byte: UInt8
  ) throws {
    var bytes = try Self.small()
    (bytes[place], bytes[place + (place == 44 || place == 56 ? 3 : 0)]) = (byte, byte)
    let failure = try #require(try Self.refusal(bytes))
    #expect(failure.category == .badInput && failure.message.hasPrefix("a.sqlite: "))
  }
}
