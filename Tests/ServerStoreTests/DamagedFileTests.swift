// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import LogbookAPI
import ServiceConformance
import Testing

@testable import ServerStore

/// Files of a logbook in which another program, or the disk, left what no glucoport writes.
@Suite struct DamagedFileTests {
  private let folder: ScratchFolder

  init() throws { folder = try ScratchFolder() }

  /// A file with a reading, and what a statement then does to it without any rule of the schema.
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
    ("UPDATE reading SET marks = 70000", "unknown marks 70000"),
    ("UPDATE series SET kind = 9", "unknown kind 9"),
    ("UPDATE series SET position_kind = 9", "unknown position_kind 9"),
    ("DELETE FROM series", "readings belong to it, and it is not there"),
  ])
  func aDamagedReadingIsReportedAndNotGuessed(_ sql: String, _ reason: String) async throws {
    let file = try damaged(sql)
    await #expect {
      _ = try await file.read { database in
        try PartScan(database, node: 2, limit: 5).page(of: .readings(from: .min, until: .max), after: 0)
      }
    } throws: { error in
      "\(error)".contains("logbook a is damaged: ") && "\(error)".contains(": \(reason)")
    }
    try file.close()
  }
}
