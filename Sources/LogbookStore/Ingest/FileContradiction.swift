// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

/// Counts the items for which the times of two files contradict the times of their newest items.
///
/// Of two exports, the one with the later newest item decides. But an export of some weeks, made after a
/// person corrected items in the app, has an older newest item than an earlier complete export. Only the time
/// of its file shows that it was made later. This time cannot decide, since a copied or downloaded file has a
/// new one. An old export would then replace corrections, and two stores with copies of one file would
/// differ. So the newest item decides about doses, meals and finger sticks alike. A warning names the command
/// with `--exported`, by which a person states when the export was made.
struct FileContradiction {
  /// The number of items of this input that keep the content of an older file.
  private(set) var kept = 0
  /// The number of items that this input changed although a younger file has their earlier content.
  private(set) var replaced = 0
  /// The import of the younger file; nil if it was imported in another store.
  private(set) var younger: Int64?

  /// The minimum number of seconds between the times of two files for a statement about their order. Files
  /// that are copied together get times in any order within minutes.
  private static let minSeconds: Int64 = 3600

  /// The sum of the counts for records and for readings.
  static func + (one: Self, other: Self) -> Self {
    var sum = one
    sum.kept += other.kept
    sum.replaced += other.replaced
    sum.younger = one.younger ?? other.younger
    return sum
  }

  /// Whether the file of one export seems to be younger than another export, by the time of its file.
  ///
  /// - Parameter imported: when the import of the other export began; nil if unknown.
  static func isYounger(_ file: ExportAge, than other: ExportAge, imported: Int64? = nil) -> Bool {
    let isAfterFile = file.modified >= other.modified + minSeconds
    return file.modified > max(other.generated, other.modified)
      && (isAfterFile || imported.map { file.modified > $0 } ?? false)
  }

  /// Counts a hand-typed reading of this input that an older file hides.
  mutating func countKeptReading() { kept += 1 }

  /// Counts a hand-typed reading that this input hides although a younger file has it.
  mutating func countReplacedReading(of younger: Int64) {
    replaced += 1
    self.younger = self.younger ?? younger
  }
}

// MARK: - Records

extension FileContradiction {
  /// The SQL condition for a visible record that states nothing about other items.
  private static let isItem = "record.kind NOT IN ('withdrawal', 'zone', 'count') AND \(Withdrawn.record) = 0"

  /// The SQL condition for a file with the time `modified` that is younger than this export.
  private static func isYoungerThanThis(_ modified: String) -> String {
    "\(modified) >= \(ExportAge.modified("this")) + \(minSeconds) AND \(modified) > \(ExportAge.generated("this"))"
  }

  /// The SQL query for the records that this import will change although a younger file has their content.
  /// The second column is the import of that file. The second part is about files whose import found the
  /// content known.
  private static let replacedRecords = """
    SELECT count(DISTINCT guid), max(import) FROM (
      SELECT record.guid AS guid, CASE WHEN \(ContentExport.isFromRemote) THEN NULL ELSE record.ingest END AS import
      FROM temp.record_change AS c CROSS JOIN record CROSS JOIN ingest AS this
      WHERE \(RecordWriter.isOutdated) AND \(isItem) AND \(isYoungerThanThis(ContentExport.modified))
      UNION ALL
      SELECT record.guid, w.id
      FROM temp.record_change AS c CROSS JOIN record CROSS JOIN ingest AS this
        CROSS JOIN ingest AS w
      WHERE \(RecordWriter.isOutdated) AND \(isItem) AND \(ContentExport.isStatement) AND w.id <> :ingest
        AND \(isYoungerThanThis(ExportAge.modified("w"))))
    """

  /// The SQL query for the number of records that differ from their rows in this input and keep the content
  /// of an older file.
  private static let keptRecords = """
    SELECT count(*) FROM temp.record_change AS c CROSS JOIN record CROSS JOIN ingest AS this
    WHERE record.guid = c.guid AND this.id = ? AND record.deleted = 0 AND record.imported <> c.imported
      AND \(ContentExport.isImported) AND \(isItem)
      AND \(ExportAge.modified("this")) > max(coalesce(\(ContentExport.generated), 0), \(ContentExport.modified))
      AND (\(ExportAge.modified("this")) >= \(ContentExport.modified) + \(minSeconds) OR \(ExportAge.modified("this"))
        > (SELECT e.started_at FROM ingest AS e WHERE e.id = record.ingest))
      AND NOT EXISTS (SELECT 1 FROM ingest AS w WHERE \(ContentExport.isStatement) AND w.id <> this.id
        AND max(\(ExportAge.generated("w")), \(ExportAge.modified("w"))) >= \(ExportAge.modified("this")))
    """

  /// Counts the records that an import is about to change. Call it before the change.
  ///
  /// - Parameter arguments: the arguments of `RecordWriter.isOutdated`.
  mutating func countReplaced(_ database: Database, _ arguments: StatementArguments) throws {
    let row = try Row.fetchOne(database.cachedStatement(sql: Self.replacedRecords), arguments: arguments)
    guard let row = row.map({ StoredRow($0, of: "record") }) else { return }
    replaced += try row[0]
    let found: Int64? = try row[1]
    younger = younger ?? found
  }

  /// Counts the records that an import left unchanged. Call it after the changes.
  mutating func countKept(_ database: Database, ingest: Int64) throws {
    kept +=
      try Int.fetchOne(database.cachedStatement(sql: Self.keptRecords), arguments: [ingest]) ?? 0
  }
}

// MARK: - The warning

extension IngestWriter {
  /// The warning that the times of this file and of another one contradict their newest items. It has the
  /// command that states when the younger one was exported. Nil without such items, and if the same file was
  /// imported before: a job that imports a folder each night is warned once.
  package func contradictingFiles() throws -> String? {
    guard let found = try contradiction, try !wasImportedBefore() else { return nil }
    var sentences: [String] = []
    if found.kept > 0, let command = try commandStatingAge(of: id) {
      let (count, keep) = (
        counted(found.kept, "item differs", "items differ"), found.kept == 1 ? "keeps" : "keep"
      )
      sentences.append(
        "\(count) from an export that has a later newest item, and \(keep) the content of that one, although this file was "
          + "written later; if this file is the newer export: '\(command)'")
    }
    if found.replaced > 0 {
      let start =
        "\(counted(found.replaced, "item")) got the content of this file, since its newest item is later than that of "
      if let younger = found.younger, let command = try commandStatingAge(of: younger) {
        sentences.append(
          "\(start)import \(younger), although the file of that one was written later; if that file is the newer export: "
            + "'\(command)'")
      } else {
        sentences.append(
          "\(start)an export that another computer imported, although the file of that one was written later; if that file "
            + "is the newer export, import it there with --exported and its time")
      }
    }
    return sentences.isEmpty ? nil : sentences.joined(separator: "; ")
  }

  private var contradiction: FileContradiction? {
    get throws {
      guard !source.isMerge, !source.isFetched, let records, let corrections else { return nil }
      return records.contradiction + corrections.contradiction
    }
  }

  /// Whether an import that is not undone read the same bytes and states the same time of the export.
  private func wasImportedBefore() throws -> Bool {
    try Bool.fetchOne(
      database.cachedStatement(
        sql: """
          SELECT EXISTS (SELECT 1 FROM ingest AS e CROSS JOIN ingest AS this
            WHERE this.id = ? AND e.id < this.id AND e.digest = this.digest AND e.digest <> ''
              AND e.generated_at IS this.generated_at AND e.outcome IN ('whole', 'truncated')
              AND NOT \(ImportContribution.isUndone(of: "e")))
          """), arguments: [id]) ?? false
  }

  /// The command that imports a file again with the time of the file as the time of its export. Nil if the
  /// import read no file or pipe.
  private func commandStatingAge(of ingest: Int64) throws -> String? {
    let row = try Row.fetchOne(
      database.cachedStatement(sql: "SELECT id, \(ExportAge.modified("ingest")) FROM ingest WHERE id = ?"),
      arguments: [ingest])
    guard let row = row.map({ StoredRow($0, of: "ingest") }) else { return nil }
    return try command(
      importing: ingest, ["--exported", DeviceTime(seconds: try row.seconds(1)).text + "Z"])
  }

  /// The command that imports the input of an import again with further options. It has the choices that the
  /// person made, except those about `subject`. Nil if the import read no file or pipe.
  func command(importing ingest: Int64, _ options: [String], besides subject: String? = nil) throws -> String?
  {
    let row = try Row.fetchOne(
      database.cachedStatement(sql: "SELECT id, source, decisions FROM ingest WHERE id = ? AND digest <> ''"),
      arguments: [ingest])
    guard let row = row.map({ StoredRow($0, of: "ingest") }) else { return nil }
    let choices = try StoredDecision.decisions(try row[2], ingest: ingest).filter {
      $0.basis == .given && $0.subject != subject
    }
    let given = choices.flatMap { choice in Self.option(choice).map { [$0.name, $0.value] } ?? [] }
    return (["glucoport", "import"] + options + given + [try row[1] as String]).map(\.shellWord)
      .joined(separator: " ")
  }

  /// The option of `import` by which a person made a choice; nil for a choice that needs no option.
  private static func option(_ choice: Decision) -> (name: String, value: String)? {
    switch choice.subject {
    case Decision.columns, Decision.device, Decision.rows, "format", "kind", "unit":
      ("--\(choice.subject)", choice.value)
    case "zone": ("--timezone", choice.value)
    case "date-order": ("--date-order", choice.value.hasPrefix("day") ? "dmy" : "mdy")
    default: nil
    }
  }
}
