// SPDX-License-Identifier: Apache-2.0

import GRDB
import Glibc
import Logbook
import SQLiteRows

/// Examines a store that may be damaged. It writes nothing to the store and creates no file next to it.
package struct StoreExaminer {
  let path: String

  /// The store at a path.
  package init(path: String) { self.path = path }

  /// The findings about the store; nil if no store exists at the path.
  ///
  /// - Parameters:
  ///   - isDeep: whether to check every page, reference and attachment.
  ///   - copy: the path of another copy of the store, for a comparison in a deep check; nil for none.
  /// - Throws: `Failure`: `badInput` if the file is not a store, `missingInput` for a folder, `configuration`
  ///   for a newer schema. Also `inputOutput` if it cannot be read, and `permission`.
  package func examine(isDeep: Bool, against copy: String? = nil) throws -> StoreExamination? {
    guard try StoreFile.exists(path), !StoreFile.isEmpty(path) else { return nil }
    // Without a write-ahead log, the file is complete, and reading it as immutable creates no other file. If
    // another process begins to write during the check, the findings may be inconsistent. Then the file is
    // read again with locks.
    guard !hasLog else {
      try FrozenFile.requireReadableLog(of: path)
      return try read(isImmutable: false, isDeep: isDeep, copy)
    }
    let before = changed
    let first = Result { try read(isImmutable: true, isDeep: isDeep, copy) }
    return changed == before && !hasLog
      ? try first.get() : try read(isImmutable: false, isDeep: isDeep, copy)
  }

  var hasLog: Bool {
    // SQLite creates the log next to the file itself, not next to a symbolic link to it. So links are
    // resolved.
    let log = StoreFile.resolved(path) + "-wal"
    return !StoreFile.isEmpty(log) && access(PathText.bytes(log), F_OK) == 0
  }

  /// Properties of the file that change with every write.
  private var changed: [Int] {
    var status = stat()
    guard stat(PathText.bytes(path), &status) == 0 else { return [] }
    return [Int(status.st_ino), Int(status.st_size), status.st_mtim.tv_sec, status.st_mtim.tv_nsec]
  }

  private func read(isImmutable: Bool, isDeep: Bool, _ copy: String?) throws -> StoreExamination {
    try translatingErrors(path) {
      let file = try ExaminedFile(path, isImmutable: isImmutable)
      var found = StoreExamination()
      found.schema = try checkedSchema(file)
      found.damage = try damage(file, isDeep: isDeep)
      // The rows of a damaged file are not counted.
      guard found.damage.isEmpty else { return found }
      let comparison = try schemaFindings(file)
      (found.changedSchema, found.foreignSchema) = (comparison.changed, comparison.foreign)
      guard found.changedSchema.isEmpty else { return found }
      try count(&found, file)
      if isDeep { found.deep = try deep(file) }
      if isDeep, let copy { found.comparison = try StoreComparison(file, with: copy) }
      return found
    }
  }

  private func checkedSchema(_ file: ExaminedFile) throws -> Int {
    guard try file.number("PRAGMA application_id") == Int64(Schema.schema.applicationID) else {
      throw Failure(.badInput, "\(path): this is an SQLite database, but no glucoport store")
    }
    let version = Int(try file.number("PRAGMA user_version") ?? 0)
    try Schema.schema.require(version, path: path)
    return version
  }

  /// The damage that SQLite's checks find. A finding of the quick check must be confirmed by the complete
  /// check. The quick check of SQLite 3.40, which Debian 12 has, reports NULL in sound rows. This concerns
  /// tables without rowids whose primary key has the columns in another order, such as `ingest_record`.
  private func damage(_ file: ExaminedFile, isDeep: Bool) throws -> [String] {
    if !isDeep, try findings(file, of: "quick_check").isEmpty { return [] }
    return try findings(file, of: "integrity_check")
  }

  /// The findings of one check. SQLite ends a check with an error if it cannot continue; the error is then
  /// the finding.
  private func findings(_ file: ExaminedFile, of check: String) throws -> [String] {
    do {
      let text = try file.rows("PRAGMA \(check)(3)").compactMap { $0.first ?? nil }
      // SQLite puts several findings into one row, after a title line that starts with `***`.
      let lines = text.flatMap { $0.split(separator: "\n") }.filter { !$0.hasPrefix("***") }.map(String.init)
      return lines == ["ok"] ? [] : lines
    } catch let error as DatabaseError where error.resultCode == .SQLITE_CORRUPT {
      return [error.message ?? "\(error.resultCode)"]
    }
  }

  /// Refuses a file of unknown origin whose tables, views and triggers are not those of glucoport, before any
  /// of its SQL runs. A query of a view that replaces a table may never end, and a trigger can change what is
  /// stored.
  ///
  /// - Parameter isWritten: whether the caller will write to the file or to a copy of it, which runs triggers
  ///   and indexes.
  /// - Throws: `Failure`: as in `examine`. Also `inputOutput` if a part of the schema was changed, and
  ///   `badInput` for additions to it, and for a store with a journal.
  package func requireOwnSchema(isWritten: Bool) throws {
    guard try StoreFile.exists(path), !StoreFile.isEmpty(path) else { return }
    try ForeignJournal.refuse(at: path)
    // SQLite would apply the journal after this check.
    guard !ForeignJournal.isPresent(at: path) else {
      throw Failure(
        .badInput,
        "\(path): a part of this store is in \(ForeignJournal.path(of: path)); open it once where it was made, such as with 'glucoport status', or use another copy"
      )
    }
    try FrozenFile.requireReadableLog(of: path)
    try translatingErrors(path) {
      let file = try ExaminedFile(path, isImmutable: !hasLog)
      do {
        _ = try checkedSchema(file)
        try refuse(schemaFindings(file), isWritten: isWritten)
      } catch let error as DatabaseError where error.resultCode == .SQLITE_CORRUPT {
        throw damaged(error.message ?? "\(error.resultCode)")
      }
    }
  }

  private func refuse(_ findings: SchemaComparison, isWritten: Bool) throws(Failure) {
    if let first = findings.changed.first { throw damaged("\(first) is missing or changed") }
    if isWritten, let first = findings.foreign.first {
      throw Failure(
        .badInput,
        "\(path): this store has a part that glucoport did not make, and that could change what is stored: \(first); use another copy, or remove it: \(StoreExamination.removal(of: first, from: path))"
      )
    }
  }

  private func damaged(_ what: String) -> Failure {
    Failure(.inputOutput, "\(path): this store is damaged: \(what); use another copy of it")
  }

  /// Whether the file is a store with an older schema that this program can upgrade.
  var isOlder: Bool {
    get throws {
      guard try StoreFile.exists(path), !StoreFile.isEmpty(path) else { return false }
      let file = try ExaminedFile(path, isImmutable: !hasLog)
      guard try file.number("PRAGMA application_id") == Int64(Schema.schema.applicationID) else {
        return false
      }
      let version = Int(clamping: try file.number("PRAGMA user_version") ?? 0)
      return (Schema.schema.firstKept..<Schema.schema.version).contains(version)
    }
  }

  /// Copies a store with an older schema to an empty database, and upgrades the copy to the current schema.
  ///
  /// - Throws: `Failure`: `inputOutput` and `badInput`, as `requireOwnSchema`; `DatabaseError`.
  func copyUpgraded(to copy: DatabaseQueue) throws {
    var configuration = Configuration()
    configuration.readonly = true
    configuration.busyMode = .timeout(Store.busyTimeoutSeconds)
    let original =
      if let frozen = try FrozenFile(path: path) {
        try DatabaseQueue(path: frozen.name, configuration: configuration)
      } else {
        try StoreFile.withText(path) { try DatabaseQueue(path: $0, configuration: configuration) }
      }
    try original.backup(to: copy)
    try original.close()
    let upgrade = SchemaUpgrade(Schema.schema, path: path, busyTimeoutSeconds: Store.busyTimeoutSeconds)
    try copy.inDatabase { database in
      try upgrade.run(onCopy: database)
      let parts = try String.fetchAll(database, sql: SchemaComparison.parts)
      try refuse(SchemaComparison(Set(parts)), isWritten: true)
    }
  }

  /// The parts of the schema that are missing or changed, and foreign additions that run when a program
  /// writes to the store.
  private func schemaFindings(_ file: ExaminedFile) throws -> SchemaComparison {
    func texts(_ sql: String) throws -> [String] { try file.rows(sql).compactMap { $0.first ?? nil } }
    // This program does not know the SQL statements that created an older schema. It is enough to check that
    // no view has replaced a table, since only tables are read.
    guard try file.number("PRAGMA user_version") == Int64(Schema.schema.version) else {
      return SchemaComparison(
        changed: try Schema.schema.replacedTables(texts(FileSchema.views)).map { "table \($0)" })
    }
    return try SchemaComparison(Set(texts(SchemaComparison.parts)))
  }

  private func count(_ found: inout StoreExamination, _ file: ExaminedFile) throws {
    func count(_ sql: String) throws -> Int { Int(try file.number("SELECT count(*) FROM " + sql) ?? 0) }
    found.unfinishedImports = try count("ingest WHERE outcome = 'running'")
    found.conflicts = try count("record WHERE conflict IS NOT NULL OR \(RecordCondition.isOrphaned)")
    found.refused = try count("refusal") + count("record WHERE \(RecordCondition.isRefused)")
    found.hidden = try count("withdrawn WHERE cause = 1") + count("listed_record WHERE is_withdrawn = 1")
    found.lastImport = try Self.seconds(
      file.rows("SELECT max(finished_at) FROM ingest").first?.first ?? nil, "ingest", "finished_at")
    found.remote = try remote(file)
    found.sources = try file.rows(Store.sourceRows).compactMap { $0[1].flatMap(SourceSetting.init(stored:)) }
  }

  private func remote(_ file: ExaminedFile) throws -> ExaminedRemote? {
    let rows = try file.rows(
      """
      SELECT kind, url, token_file, token_command, allows_plain_http, logbook, last_success, next_attempt, last_error,
        purged_at, \(StoreSetting.remoteAuthorities.sql), \(StoreSetting.remoteClientCertificate.sql), \(StoreSetting.remoteClientKey.sql)
      FROM remote WHERE url IS NOT NULL
      """)
    guard let row = rows.first, let kind = row[0], let url = row[1], let logbook = row[5] else { return nil }
    let token = row[2].map(TokenSource.file) ?? .command(row[3] ?? "")
    var remote = ExaminedRemote(
      access: RemoteAccess(
        kind: kind, url: url, token: token, allowsPlainHTTP: row[4] == "1", authorities: row[10],
        clientCertificate: ClientCertificate(storedCertificate: row[11], key: row[12])),
      logbook: logbook)
    let name = "remote (id 1)"
    remote.lastSuccess = try Self.seconds(row[6], name, "last_success")
    remote.nextAttempt = try Self.seconds(row[7], name, "next_attempt")
    remote.lastError = row[8]
    remote.purgedAt = try Self.seconds(row[9], name, "purged_at")
    return remote
  }

  /// Reads a time in UTC seconds from the text of a column.
  private static func seconds(_ text: String?, _ row: String, _ column: String) throws(DamagedRow) -> Int64? {
    guard let text else { return nil }
    guard let seconds = Int64(text), StoredBounds.seconds.contains(seconds) else {
      throw DamagedRow(row, "unknown \(column)")
    }
    return seconds
  }

  private func deep(_ file: ExaminedFile) throws -> StoreExamination.DeepFindings {
    var deep = StoreExamination.DeepFindings()
    deep.brokenReferences = try file.rows("PRAGMA foreign_key_check").count
    deep.brokenRules = try brokenRules(file)
    func count(_ sql: String) throws -> Int { Int(try file.number("SELECT count(*) FROM " + sql) ?? 0) }
    deep.misplacedSeries =
      try count(
        """
        series AS s LEFT JOIN (SELECT partition, series, count(*) AS readings FROM reading GROUP BY partition, series) AS r
          ON r.partition = s.partition AND r.series = s.id
        WHERE s.readings <> coalesce(r.readings, 0)
        """)
      + count(
        """
        (SELECT DISTINCT partition, series FROM reading) AS r
        WHERE NOT EXISTS (SELECT 1 FROM series AS s WHERE s.id = r.series AND s.partition = r.partition)
        """)
    deep.lostWithdrawals = try count(
      """
      withdrawn AS w LEFT JOIN series AS s ON s.id = w.series
      WHERE NOT EXISTS (
        SELECT 1 FROM reading AS r WHERE r.partition = s.partition AND r.position = w.position AND r.series = w.series
          AND r.value_bucket = w.value_bucket AND r.occurrence = w.occurrence)
      """)
    deep.unreachableReadings = Int(
      try file.number(
        "SELECT count(*) FROM reading AS r WHERE r.uploaded = 0 AND \(PendingSchema.isInNoRange)") ?? 0)
    for row in try file.rows("SELECT digest FROM blob WHERE held = size") {
      guard let digest = row[0] else { continue }
      let sum = try file.sum("SELECT bytes FROM blob_part WHERE digest = ? ORDER BY start", digest)
      if sum != digest { deep.wrongContents += 1 }
    }
    return deep
  }

  /// The tables with rows that violate their CHECK constraints, each with the number of such rows. SQLite's
  /// own checks ignore these constraints on a read-only connection, so SQL queries check them here.
  private func brokenRules(_ file: ExaminedFile) throws -> [String] {
    // This program does not know the constraints of an older schema, so it does not check them.
    guard try file.number("PRAGMA user_version") == Int64(Schema.schema.version) else { return [] }
    let sql = "SELECT name || char(10) || sql FROM sqlite_schema WHERE type = 'table'"
    let tables = try SchemaComparison.ofNewStore { try String.fetchAll($0, sql: sql) }.map { text in
      (name: text.prefix { $0 != "\n" }, rules: Self.rules(in: text))
    }
    return try tables.filter { !$0.rules.isEmpty }.compactMap { table in
      let all = table.rules.map { "(\($0))" }.joined(separator: " AND ")
      let rows = try file.number("SELECT count(*) FROM \(table.name) WHERE NOT (\(all))") ?? 0
      return rows > 0 ? "\(table.name) (\(rows))" : nil
    }
  }

  /// The conditions of all CHECK constraints in a CREATE TABLE statement.
  static func rules(in statement: String) -> [String] {
    let text = statement.replacing(/--[^\n]*/, with: "")
    return text.ranges(of: "CHECK (").map { start in
      var (depth, isQuoted) = (1, false)
      return String(
        text[start.upperBound...].prefix { character in
          if character == "'" { isQuoted.toggle() }
          if !isQuoted, character == "(" { depth += 1 }
          if !isQuoted, character == ")" { depth -= 1 }
          return depth > 0
        })
    }
  }
}

/// The findings about a store that was read without writing anything.
package struct StoreExamination: Sendable {
  /// The additional findings of a deep check.
  package struct DeepFindings: Sendable {
    /// The number of rows with a foreign key that refers to no row.
    package var brokenReferences = 0
    /// The tables with rows that violate CHECK constraints, each with the number of these rows.
    package var brokenRules: [String] = []
    /// The number of series whose stored count of readings is wrong, plus the number of series that readings
    /// refer to and that do not exist.
    package var misplacedSeries = 0
    /// The number of rows that hide a reading which is not in the store.
    package var lostWithdrawals = 0
    /// The number of attachments whose content does not have the stored SHA-256.
    package var wrongContents = 0
    /// The number of pending readings outside all stored ranges of pending readings. An upload would never
    /// find them.
    package var unreachableReadings = 0

    /// The findings of a deep check that found nothing.
    package init() {}
  }

  /// The damage that SQLite finds in the file; empty for a sound file.
  package var damage: [String] = []
  /// Tables, indexes, triggers and views that are missing or were changed.
  package var changedSchema: [String] = []
  /// Triggers and indexes that glucoport did not create. They would run when a program writes to the store.
  package var foreignSchema: [String] = []
  /// The number of imports that have not ended: interrupted and running imports.
  package var unfinishedImports = 0
  /// The number of records in conflict.
  package var conflicts = 0
  /// The number of readings and records that are hidden but still stored.
  package var hidden = 0
  /// The number of readings and records that the remote refused permanently.
  package var refused = 0
  /// When the last import ended, in UTC seconds; nil if none has ended.
  package var lastImport: Int64?
  /// The remote of the store; nil without one.
  package var remote: ExaminedRemote?
  /// The sources of the store whose settings this program can read.
  package var sources: [SourceSetting] = []
  /// The findings of a deep check; nil if it was not requested.
  package var deep: DeepFindings?
  /// The differences from another copy of the store; nil if no copy was given.
  package var comparison: StoreComparison?
  /// The version number of the schema.
  package var schema = 0

  /// An examination without findings.
  package init() {}

  /// Why the content of this store must not be merged into another one; nil if nothing is wrong. Only a deep
  /// check examines the rows.
  package var defect: String? {
    if let first = damage.first { return first }
    guard let deep else { return nil }
    if let table = deep.brokenRules.first { return "rows have values that the store never writes: \(table)" }
    if deep.brokenReferences > 0 { return "\(deep.brokenReferences) rows refer to rows that do not exist" }
    return deep.misplacedSeries > 0 ? "\(deep.misplacedSeries) series do not have their readings" : nil
  }
}

/// The remote of a store, as the file states it.
package struct ExaminedRemote: Hashable, Sendable {
  package var access: RemoteAccess
  /// The id of the logbook on the remote.
  package var logbook: String
  /// When an upload last succeeded, in UTC seconds.
  package var lastSuccess: Int64?
  /// When the next attempt to upload is due, in UTC seconds.
  package var nextAttempt: Int64?
  /// Why the last upload failed; nil if it succeeded.
  package var lastError: String?
  /// When the logbook was removed permanently on the remote, in UTC seconds.
  package var purgedAt: Int64?

  /// A remote that no upload has reached yet.
  package init(access: RemoteAccess, logbook: String) {
    self.access = access
    self.logbook = logbook
  }
}
