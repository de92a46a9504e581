// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook

/// Rows of `ingest` that only have the age of an export of which another store imported contents. With this
/// age, later exports can correct these contents. Such a row is not an import of this store.
enum ExportOrigin {
  /// The SQL condition for such a row.
  ///
  /// - Parameter row: the alias of the row's table in the SQL statement.
  static func isOrigin(_ row: String) -> String { "\(row).source = '' AND \(row).digest IS NULL" }

  /// The number of the row with this age, which is added if there is none.
  static func ingest(of age: WritingAge, _ database: Database) throws -> Int64 {
    let arguments: StatementArguments = [
      "format": StoreMerge.format, "started": age.startedAt,
      "generated": age.generatedAt == 0 ? nil : age.generatedAt,
      "modified": age.modifiedAt == 0 ? nil : age.modifiedAt,
    ]
    let known = try Int64.fetchOne(
      database.cachedStatement(
        sql: """
          SELECT id FROM ingest WHERE \(isOrigin("ingest")) AND started_at = :started AND generated_at IS :generated
            AND modified_at IS :modified AND format = :format
          """), arguments: arguments)
    if let known { return known }
    try database.executeCached(
      sql: """
        INSERT INTO ingest (source, format, started_at, generated_at, modified_at, outcome)
        VALUES ('', :format, :started, :generated, :modified, 'whole')
        """, arguments: arguments)
    return database.lastInsertedRowID
  }
}

/// The age of an export, by which contents of two stores are compared.
struct WritingAge: Hashable, Comparable {
  var generatedAt: Int64 = 0
  var modifiedAt: Int64 = 0
  var startedAt: Int64 = 0

  static func < (one: WritingAge, other: WritingAge) -> Bool {
    (one.generatedAt, one.modifiedAt, one.startedAt) < (other.generatedAt, other.modifiedAt, other.startedAt)
  }
}

extension WritingAge {
  /// The age of an export of which only another store knows when its import began.
  init(_ age: ExportAge) {
    self.init(generatedAt: age.generated, modifiedAt: age.modified, startedAt: age.modified)
  }
}
