// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Logbook
import LogbookAPI
import ServiceConformance
import Testing

@testable import ServerStore

/// Tests logbook files with content that glucoport never writes, from another program or a disk error.
@Suite struct DamagedFileTests {
  private let folder: ScratchFolder

  init() throws { folder = try ScratchFolder() }

  /// A logbook file with a reading, damaged by a statement for which the schema's triggers and checks are
  /// off.
  private func damaged(_ sql: String) throws -> DatabaseFile {
    let path = folder.path + "/a.db"
    try DataFolder.makeFile(path)
    let file = try DatabaseFile(path: path, name: "logbook a", schema: LogbookSchema.schema)
    try file.writeNow { database in
      _ = try ReadingStorage(database, node: 1, after: 0).store(Sample.history(1))
      let triggers = try String.fetchAll(
        database, sql: "SELECT name FROM sqlite_schema WHERE type = 'trigger'")
      for trigger in triggers { try database.execute(sql: "DROP TRIGGER \(trigger)") }
      try database.execute(
        sql: "PRAGMA ignore_check_constraints = ON; \(sql); PRAGMA ignore_check_constraints = OFF")
    }
    return file
  }

  @Test(arguments: [
    ("UPDATE reading SET unit = 5", "unknown unit 5"),
    ("UPDATE reading SET offset_source = 9", "unknown offset_source 9"),
    ("UPDATE reading SET value = NULL", "value is NULL"),
    ("UPDATE reading SET value = 9e18", "unknown value"), ("UPDATE reading SET value = -1", "unknown value"),
    ("UPDATE reading SET value = 9e999", "unknown value"),
    ("UPDATE reading SET threshold = 9e18", "unknown threshold"),
    ("UPDATE reading SET device_time = -9223372036854775808", "unknown device_time"),
    ("UPDATE reading SET device_time = 4611686018427387904", "unknown device_time"),
    ("UPDATE reading SET utc_offset = 86400", "unknown utc_offset 86400"),
    ("UPDATE reading SET occurrence = -1", "unknown occurrence"),
    ("UPDATE reading SET value_bucket = 7", "its bucket does not match its value"),
    ("UPDATE reading SET marks = 70000", "unknown marks 70000"),
    ("UPDATE series SET kind = 9", "unknown kind 9"),
    ("UPDATE series SET position_kind = 9", "unknown position_kind 9"),
    ("DELETE FROM series", "readings belong to it, and it is not there"),
  ])
  func aDamagedStoredReadingIsReported(_ sql: String, _ reason: String) async throws {
    let file = try damaged(sql)
    await #expect {
      _ = try await file.read { database in
        try PartScan(database, node: 2, limit: 5).page(of: .readings(from: .min, until: .max), after: 0)
      }
    } throws: { error in
      // The message contains neither the time nor the value of the reading.
      "\(error)".contains("logbook a is damaged: ") && "\(error)".contains(": \(reason)")
        && !"\(error)".contains("1700000000") && !"\(error)".contains("position 1")
    }
    try file.close()
  }

  /// Each statement damages a record, while the schema's triggers and checks are off.
  @Test(arguments: [
    ("UPDATE record SET guid = '-1'", "record (guid \"-1\"): unknown guid"),
    ("UPDATE record SET state = '{}'", "record (guid \"\(guid)\"): unknown state"),
    (
      "UPDATE record SET state = replace(state, '2026-05', '2026-15')",
      "record (guid \"\(guid)\"): unknown state"
    ),
  ])
  func aDamagedStoredRecordIsReportedByEveryRead(_ sql: String, _ reason: String) async throws {
    let file = try damaged(
      """
      INSERT INTO node (id, name, run_number, run_id)
      VALUES (1, '\(Self.guid)', 1, '\(Self.guid)') ON CONFLICT DO NOTHING;
      INSERT INTO record (guid, seq, revision, kind, state, node)
      VALUES ('\(Self.guid)', 100, '100.a', 'note', '\(Self.state)', 1); \(sql)
      """)
    let works: [@Sendable (Database) throws -> Void] = [
      { _ = try DigestScan(database: $0).recordDigests() },
      { _ = try DigestScan(database: $0).records(in: Set(0..<4096), after: nil) },
      { _ = try PartScan($0, node: 2, limit: 5).page(of: .records, after: 0) },
      { database in
        var scan = ChangeScan(database, node: 2, after: 0, limit: 5)
        _ = try scan.page()
      },
    ]
    for work in works {
      await #expect { try await file.read(work) } throws: {
        Self.log($0) == "logbook a is damaged: \(reason)"
      }
    }
    try file.close()
  }

  /// The text for the server's log.
  private static func log(_ error: any Error) -> String? {
    guard case .serverFailure(_, let log)? = error as? ServiceError else { return nil }
    return log
  }

  private static let guid = "0a1b2c3d-0000-4000-8000-000000000002"
  private static let state = """
    {"kind":"note","entry_guid":null,"device_time":"2026-05-28T20:26:40","utc_offset":"Z","offset_source":"stated",\
    "fields":{"text":"a"},"deleted":false,"edited_at":null}
    """

  /// A number after this one would overflow. An overflow would end the server's process, also for other
  /// logbooks.
  @Test(arguments: [Int64.max, Int64.max - 1, Int64(1) << 62])
  func anImpossiblyLargeStoredNumberIsReportedAsDamage(_ seq: Int64)
    async throws
  {
    let file = try damaged("UPDATE reading SET seq = \(seq)")
    await #expect {
      _ = try await file.read { try Positions(database: $0).last() }
    } throws: {
      "\($0)".contains("logbook a is damaged: the sequence of changes: unknown number")
    }
    try file.close()
  }

  /// One wrong byte on the disk can turn a number into NULL or text, whatever type the schema states.
  @Test(arguments: [
    ("unit", "NULL", "unit is NULL"), ("unit", "'x'", "unit is not a number"),
    ("value", "'x'", "value is not a number"),
    ("marks", "NULL", "marks is NULL"), ("device_time", "NULL", "device_time is NULL"),
    ("position", "NULL", "position is NULL"), ("occurrence", "x'00'", "occurrence is not a number"),
    ("threshold", "'x'", "threshold is not a number"),
  ])
  func anInvalidStoredNumberIsReportedAndNotReadAsZero(_ column: String, _ value: String, _ reason: String)
    async throws
  {
    let file = try damaged("SELECT 1")
    try file.writeNow { database in
      try database.execute(
        sql: """
          PRAGMA writable_schema = ON;
          UPDATE sqlite_schema SET sql = replace(replace(replace(sql, ' NOT NULL,', ','), 'STRICT', ''), ' INTEGER,', ',')
            WHERE name = 'reading';
          PRAGMA writable_schema = RESET; PRAGMA ignore_check_constraints = ON;
          UPDATE reading SET \(column) = \(value)
          """)
    }
    await #expect {
      _ = try await file.read { database in
        var scan = ChangeScan(database, node: 2, after: 0, limit: 5)
        return try scan.page()
      }
    } throws: {
      "\($0)".contains("logbook a is damaged: reading (seq 1): \(reason)")
    }
    try file.close()
  }

  @Test(arguments: [true, false]) func aDamagedLogbookFileDoesNotAffectOtherLogbooks(isDatabase: Bool)
    async throws
  {
    let logins = try Logins(folder: folder.path)
    let tokens = [LoginToken("gp_one"), LoginToken("gp_two")]
    for (index, token) in tokens.enumerated() {
      try logins.add(name: "\(index)", role: .write, logbook: "logbook \(index)", token: token, at: 1)
    }
    try logins.close()
    let run = RunStamp(node: Sample.node, number: 1, id: "00000000-0000-4000-8000-000000000001")
    var storage = try EmbeddedStorage(folder: folder.path)
    var files: [String] = []
    for token in tokens {
      let login = try #require(try await storage.logins.login(tokenHash: token.hash))
      _ = try await storage.logbook(for: login).store(Sample.history(1), run)
      files.append(folder.path + "/logbooks/\(login.logbook).db")
    }
    try await storage.close()
    if isDatabase {
      let queue = try DatabaseQueue(path: files[0])
      try await queue.write { database in
        try database.execute(sql: "DROP TRIGGER reading_is_immutable; PRAGMA ignore_check_constraints = ON")
        try database.execute(sql: "UPDATE reading SET unit = 9")
      }
      try queue.close()
    } else {
      try Data("no database".utf8).write(to: URL(filePath: files[0]))
    }
    storage = try EmbeddedStorage(folder: folder.path)
    for (index, token) in tokens.enumerated() {
      let login = try #require(try await storage.logins.login(tokenHash: token.hash))
      do {
        let page = try await storage.logbook(for: login).neededDigests.readings(in: Array(0..<4096), run)
        #expect(index == 1 && page.readings.count == 1)
      } catch {
        guard case .serverFailure(_, let log) = error as? ServiceError else { throw error }
        #expect(index == 0 && log.contains(login.logbook), "\(log)")
      }
    }
    try await storage.close()
  }
}
