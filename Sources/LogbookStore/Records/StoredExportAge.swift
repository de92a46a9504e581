// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

extension ExportAge {
  /// What an import is compared by first: the time of its newest item, as SQL.
  ///
  /// - Parameter table: the name of the import's row in the statement.
  static func generated(_ table: String) -> String { "coalesce(\(table).generated_at, 0)" }

  /// What an import is compared by next: the time of its file or, without a file, of the import, as SQL.
  ///
  /// - Parameter table: the name of the import's row in the statement.
  static func modified(_ table: String) -> String { "coalesce(\(table).modified_at, \(table).started_at)" }
}

/// The export from which the content of a record was imported, if it is still what an import wrote.
///
/// The row of `ingest` describes an import of this store. The state on which the store and the remote last
/// agreed describes that of any store. The latter is used if both differ and the record is synced: then the
/// content came from the remote.
enum ContentExport {
  /// The SQL condition that the content of a record is what an import wrote, in this or another store.
  static let isImported = "(record.imported IS NOT NULL AND record.imported = \(RecordContent.sql))"

  /// The time of the newest item, as SQL; NULL if the age is unknown.
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

  /// A time of the agreed state's export, as SQL. A damaged state has none.
  private static func agreed(_ member: String) -> String {
    "unixepoch(CASE WHEN json_valid(record.base) THEN json_extract(record.base, '$.export.\(member)') END)"
  }

  /// A value of this store's import, as SQL.
  private static func own(_ value: String) -> String {
    "(SELECT \(value) FROM ingest AS w WHERE w.id = record.ingest)"
  }

  /// The columns for `age`: both times of this store's import, NULL without one.
  static let columns = "\(own(ExportAge.generated("w"))), \(own(ExportAge.modified("w")))"

  /// The columns of the age of the latest own statement: both times, NULL without one.
  static let statementColumns =
    "\(statement(ExportAge.generated("w"))), \(statement(ExportAge.modified("w")))"

  /// The age of the latest export that states the content.
  ///
  /// - Parameters:
  ///   - own: the age according to the import of this store that wrote the content.
  ///   - agreed: the age in the agreed state.
  ///   - statement: the age of the latest import of this store that had the content as a known one.
  ///   - isSynced: whether the content is the agreed state.
  static func age(own: ExportAge?, agreed: ExportAge?, statement: ExportAge?, isSynced: Bool) -> ExportAge? {
    guard let written = isSynced ? agreed ?? own : own ?? agreed else { return nil }
    return max(written, statement ?? written)
  }

  /// The SQL condition that the import `w`, which `ingest_record AS o` names, stated the content of a record
  /// after the import that wrote it. What an undone or failed import stated does not count.
  static let isStatement = """
    o.guid = record.guid AND o.ingest > coalesce(record.ingest, 0) AND w.id = o.ingest
      AND w.outcome IN ('whole', 'truncated') AND NOT \(ImportContribution.isUndone(of: "w"))
    """

  private static func statement(_ value: String) -> String {
    """
    (SELECT \(value) FROM ingest_record AS o CROSS JOIN ingest AS w ON \(isStatement)
      ORDER BY \(ExportAge.generated("w")) DESC, \(ExportAge.modified("w")) DESC LIMIT 1)
    """
  }
}
