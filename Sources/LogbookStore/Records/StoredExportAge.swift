// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

extension ExportAge {
  /// The first value by which the ages of exports are compared, as SQL: the time of the newest item.
  ///
  /// - Parameter table: the alias of the import's row in the SQL statement.
  static func generated(_ table: String) -> String { "coalesce(\(table).generated_at, 0)" }

  /// The second value by which the ages of exports are compared, as SQL: the time of the file. Without a
  /// file, it is the time when the import began.
  ///
  /// - Parameter table: the alias of the import's row in the SQL statement.
  static func modified(_ table: String) -> String { "coalesce(\(table).modified_at, \(table).started_at)" }
}

/// The export from which the content of a record was imported, if no edit changed the content after that
/// import.
///
/// The row of `ingest` describes the export if this store imported it. The base of the record describes the
/// export if any store imported it. If both differ and the record is synced, the base is used, since the
/// content came from the remote.
enum ContentExport {
  /// The SQL condition that the content of a record is what an import wrote, in this or another store.
  static let isImported = "(record.imported IS NOT NULL AND record.imported = \(RecordContent.sql))"

  /// The time of the newest item in the export, as SQL; NULL if the age is unknown.
  static let generated = """
    CASE WHEN \(isFromRemote) THEN coalesce(\(agreed("generated_at")), 0) ELSE \(own(ExportAge.generated("w"))) END
    """
  /// The time of the file or, without a file, of the import, as SQL; NULL if the age is unknown.
  static let modified = """
    CASE WHEN \(isFromRemote) THEN \(agreed("modified_at")) ELSE \(own(ExportAge.modified("w"))) END
    """

  /// The SQL condition that an import of another store wrote the content.
  static let isFromRemote = """
    (\(agreed("modified_at")) IS NOT NULL AND (record.ingest IS NULL OR (record.version = record.version_synced
      AND (coalesce(\(agreed("generated_at")), 0), \(agreed("modified_at")))
        IS NOT \(own("\(ExportAge.generated("w")), \(ExportAge.modified("w"))")))))
    """

  /// When a person edited the amount of a record, as SQL; NULL if the record has the amount that an import
  /// wrote. If the store does not know that amount, any edit counts.
  static let amountEditedAt = """
    CASE WHEN record.edited_at IS NOT NULL AND NOT \(isImported)
      AND \(amounts("record.fields")) IS NOT \(amounts("substr(record.imported, instr(record.imported, ' ') + 1)"))
    THEN record.edited_at END
    """

  /// The amounts in fields that are stored as JSON, as an SQL row; NULL for fields that are damaged or
  /// unknown.
  private static func amounts(_ fields: String) -> String {
    let values = ["units", "extended", "carbs"].map { name in
      "CASE WHEN json_valid(\(fields)) THEN json_extract(\(fields), '$.\(name)') END"
    }
    return "(\(values.joined(separator: ", ")))"
  }

  /// The SQL condition that an undone import of this store wrote the content of a record.
  static let isOfUndoneImport = """
    (NOT \(isFromRemote) AND EXISTS (
      SELECT 1 FROM ingest AS w WHERE w.id = record.ingest AND \(ImportContribution.isUndone(of: "w"))))
    """

  /// The age of the export that the base of the record names, as an SQL row of two numbers.
  static let agreedAge = "(coalesce(\(agreed("generated_at")), 0), \(agreed("modified_at")))"

  /// A time of the export that the base of the record names, as SQL; NULL if the base is damaged.
  private static func agreed(_ member: String) -> String {
    "unixepoch(CASE WHEN json_valid(record.base) THEN json_extract(record.base, '$.export.\(member)') END)"
  }

  /// A value of the import of this store that wrote the record, as SQL.
  private static func own(_ value: String) -> String {
    "(SELECT \(value) FROM ingest AS w WHERE w.id = record.ingest)"
  }

  /// The two columns with the age that `age` gets as `own`; NULL if no import of this store wrote the record.
  static let columns = "\(own(ExportAge.generated("w"))), \(own(ExportAge.modified("w")))"

  /// The two columns with the age that `age` gets as `statement`; NULL if there is no such import.
  static let statementColumns =
    "\(statement(ExportAge.generated("w"))), \(statement(ExportAge.modified("w")))"

  /// The age of the latest export that states the content.
  ///
  /// - Parameters:
  ///   - own: the age according to the import of this store that wrote the content.
  ///   - agreed: the age that the base of the record states.
  ///   - statement: the age of the latest export that this store imported and that contained the same
  ///     content.
  ///   - isSynced: whether the record is synced, so that its content is the base.
  static func age(own: ExportAge?, agreed: ExportAge?, statement: ExportAge?, isSynced: Bool) -> ExportAge? {
    guard let written = isSynced ? agreed ?? own : own ?? agreed else { return nil }
    return max(written, statement ?? written)
  }

  /// The SQL condition that `w` is a valid import of this store that stated the present content of a record.
  /// An import that lists the record and has no noted content stated the present one.
  static let isStatement = """
    (w.id IN (
      SELECT s.ingest FROM stated_content AS s WHERE s.guid = record.guid AND \(StatedContents.isCurrent)
      UNION ALL
      SELECT o.ingest FROM ingest_record AS o WHERE o.guid = record.guid
        AND NOT EXISTS (SELECT 1 FROM stated_content AS s WHERE (s.guid, s.ingest) = (o.guid, o.ingest)))
      AND \(StatedContents.isValid) AND NOT (\(ExportOrigin.isOrigin("w"))))
    """

  private static func statement(_ value: String) -> String {
    """
    (SELECT \(value) FROM ingest AS w WHERE \(isStatement)
      ORDER BY \(ExportAge.generated("w")) DESC, \(ExportAge.modified("w")) DESC LIMIT 1)
    """
  }
}

/// Rows of `ingest` that only have the age of an export, if another store imported contents of it. With this
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
  /// The age of an export that another store imported. Only that store knows when its import began.
  init(_ age: ExportAge) {
    self.init(generatedAt: age.generated, modifiedAt: age.modified, startedAt: age.modified)
  }
}
