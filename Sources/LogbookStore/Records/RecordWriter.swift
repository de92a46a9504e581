// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

/// Stores each record of an export once. If the source changed a row, its record is changed, too. A record
/// that a person edited in this store is not changed.
///
/// Changes are in a TEMP table until the end of the input, since only then is it known when the export was
/// made. If two exports have the same age, the content of the one that was imported last is used. A person
/// usually imports exports in the order in which they were made.
final class RecordWriter {
  private let database: Database
  private let ingest: Int64
  private let format: String
  private let repeatsRows: Bool
  private let namesColumns: Bool
  private let earlierSheets: [Int64]
  /// The number of records so far that the store already had with equal content.
  private var knownCount = 0
  /// The other table whose records this input would have changed; nil without one.
  private(set) var otherTable: OtherTable?
  /// The records whose shown times are equal to those of their rows. The zone that a person gave for the
  /// input applies only to these records. Nil if no statement will list them.
  private(set) var brought: Set<String>?
  /// The records that differ from their rows and that the import may leave unchanged.
  private(set) var kept: Set<String> = []
  /// The records of this input about which the times of two files contradict their newest items.
  private(set) var contradiction = FileContradiction()
  /// The doses of this input that may be retyped doses of another export.
  private(set) var retypedPairs: [RetypedDoses.DosePair] = []
  private static let maxKept = 1000
  /// The size of the connection's cache once it writes records. The guids of records are random. With the
  /// small cache of an import, each record would write pages to the disk and read them again.
  private static let cacheKiB = 4096
  private var hasCache = false
  private let ordinals: RecordOrdinals
  private let insertions: RecordInsertions
  /// The zone with which this writer derived offsets so far.
  private var placing: LogbookZone?
  /// Whether the imports of any record differ, so that `StatedContents` has rows.
  private let importsDiffer: Bool
  /// Whether another process changed the zones during this import.
  private var isPlacedByAnother = false

  struct RecordCounts {
    var new = 0
    var known = 0
    var repeated = 0
    var updated = 0
    var kept = 0
    /// The numbers of further equal rows of doses and meals, by the guids of their records. Two equal doses
    /// or meals in one minute look like one repeated row. It is empty for a source that is known to repeat
    /// rows.
    var equalRows: [String: Int] = [:]
    /// The guids of the records that the source states as deleted.
    var deleted: [String] = []
  }

  /// - Parameters:
  ///   - collectsBrought: whether to collect `brought`.
  ///   - repeatsRows: whether the source is known to repeat rows.
  ///   - namesColumns: whether a person named the columns of the input; see `OtherTable`.
  ///   - earlierSheets: the imports of other sheets of the same workbook; see `OtherTable`.
  init(
    _ database: Database, ingest: Int64, format: String, collectsBrought: Bool = false,
    repeatsRows: Bool = false, namesColumns: Bool = false, earlierSheets: [Int64] = []
  ) throws {
    brought = collectsBrought ? [] : nil
    self.repeatsRows = repeatsRows
    (self.namesColumns, self.earlierSheets) = (namesColumns, earlierSheets)
    self.database = database
    self.ingest = ingest
    self.format = format
    ordinals = try RecordOrdinals(database)
    insertions = RecordInsertions(database, ingest: ingest)
    importsDiffer = try StatedContents(database).hasAny
    try database.executeCached(sql: "DELETE FROM temp.record_change")
  }

  /// The SQL for the TEMP tables that each connection creates before its first ingest.
  static let tables = """
    CREATE TEMP TABLE record_change
      (guid TEXT PRIMARY KEY, device_time INTEGER, utc_offset INTEGER, offset_source INTEGER, fields TEXT,
       imported TEXT) WITHOUT ROWID;
    """

  /// Stores records inside the caller's transaction.
  func write(_ records: [ImportedRecord]) throws -> RecordCounts {
    var outcome = RecordCounts()
    if records.isEmpty { return outcome }
    // Only a failed batch leaves records that were not inserted. Its transaction was rolled back.
    insertions.discard()
    if !hasCache {
      try database.execute(sql: "PRAGMA cache_size = -\(Self.cacheKiB)")
      hasCache = true
    }
    var rows: [(key: RowKey, row: RecordRow)] = []
    let placer = RecordPlacer(database)
    for record in records {
      if record.isDeletedAtSource {
        // Without an id, another row could have the same key.
        guard !record.sourceID.isEmpty else { continue }
        outcome.deleted.append(Digest.uuid(of: ["record", format, record.sourceID]))
        if record.fields.values.isEmpty { continue }
      }
      let (time, placement) = try placer.recalculated(record.deviceTime, record.placement)
      let row = RecordRow(record, format: format, at: time, placement)
      if let guid = record.guid {
        try store(row, guid: guid, &outcome)
      } else if !record.sourceID.isEmpty {
        try store(row, guid: Digest.uuid(of: ["record", format, record.sourceID]), &outcome)
      } else {
        rows.append((RowKey(record, format: format), row))
      }
    }
    try insertions.flush()
    // The rows are sorted by content, so that their order in an export does not determine their ordinals.
    let order = rows.indices.sorted { first, second in
      let (first, second) = (rows[first], rows[second])
      return first.key.base == second.key.base
        ? first.row.content.text < second.row.content.text : first.key.base < second.key.base
    }
    for index in order { try write(rows[index].row, rows[index].key, &outcome) }
    try insertions.flush()
    rememberZone(placer.zone)
    knownCount += outcome.known
    return outcome
  }

  private func rememberZone(_ zone: LogbookZone?) {
    guard let zone else { return }
    if let placing, placing != zone { isPlacedByAnother = true }
    placing = zone
  }

  /// Ends the input: decides about undecided rows, and then applies the changes of rows. A change is applied
  /// if this export is later than the one that wrote the record, and if the record was not edited after that.
  /// Must be called in the last transaction, when the times of the ingest are stored.
  ///
  /// - Parameter keepsRecords: whether no record is changed, since the input is undone.
  /// - Parameter restoresWithdrawn: whether a withdrawn record may also be changed by an export that is not
  ///   later than the one that wrote it.
  /// - Parameter deleted: the guids of records that are withdrawn because their source deleted them. Only a
  ///   later export may change them.
  func finish(
    keepsRecords: Bool = false, restoresWithdrawn: Bool = false, deleted: [String] = []
  ) throws -> RecordCounts {
    var outcome = RecordCounts()
    if placing != nil { rememberZone(try LogbookZones(database).zone()) }
    // Another process changed the zones, so the offsets from earlier transactions must be derived again at
    // the end of this transaction.
    if isPlacedByAnother { try ZoneRecords.markChanged(LogbookZones.baseGuid, database) }
    try ordinals.assign(
      known: { try store($0, guid: $1, &outcome) },
      new: { row, guid in
        try insert(row, guid: guid)
        outcome.new += 1
      }, equal: { try countEqual($0, guid: $1, $2, &outcome) })
    try insertions.flush()
    if namesColumns,
      let other = try OtherTable(
        database, ingest: ingest, known: knownCount + outcome.known, earlierSheets: earlierSheets)
    {
      try other.dropChanges(database)
      outcome.kept += other.rows
      otherTable = other
    }
    let waiting =
      try Int.fetchOne(database.cachedStatement(sql: "SELECT count(*) FROM temp.record_change")) ?? 0
    if keepsRecords {
      try database.executeCached(sql: "DELETE FROM temp.record_change")
      outcome.kept += waiting
    } else if waiting > 0 {
      let updated = try applyChanges(restoresWithdrawn: restoresWithdrawn, deleted)
      outcome.updated += updated
      outcome.kept += waiting - updated
    }
    retypedPairs = try RetypedDoses.pairs(database, ingest: ingest)
    return outcome
  }
}

extension RecordWriter {
  private func write(_ row: RecordRow, _ key: RowKey, _ outcome: inout RecordCounts) throws {
    switch try ordinals.find(key, row.content) {
    case .repeated(let guid):
      outcome.repeated += 1
      try countEqual(row, guid: guid, 1, &outcome)
    case .stored(let guid): try store(row, guid: guid, &outcome)
    case .free(let ordinal):
      try insert(row, guid: key.guid(ordinal: ordinal))
      try ordinals.markUsed(ordinal, of: key, for: row.content)
      outcome.new += 1
    case .open:
      if try !ordinals.bufferUndecided(row, key) { outcome.repeated += 1 }
    }
  }

  /// Counts rows that are equal to a row of this input, if they are doses or meals.
  private func countEqual(_ row: RecordRow, guid: String, _ copies: Int, _ outcome: inout RecordCounts) throws
  {
    if !repeatsRows, try isAmount(row) { outcome.equalRows[guid, default: 0] += copies }
  }

  /// Whether a row is a dose or a meal. A basal rate does not count as a dose, since a pump has only one rate
  /// at a time.
  private func isAmount(_ row: RecordRow) throws -> Bool {
    guard row.kind != RecordKind.food.rawValue else { return true }
    guard row.kind == RecordKind.insulin.rawValue else { return false }
    return try RecordFields(stored: row.content.fields, of: "a row of an import")["rate"] == nil
  }

  private func store(_ row: RecordRow, guid: String, _ outcome: inout RecordCounts) throws {
    let select = try database.cachedStatement(
      sql: """
        SELECT guid, fields, device_time, deleted, imported, utc_offset, offset_source, provenance_format FROM record WHERE guid = ?
        """)
    if insertions.contains(guid) { try insertions.flush() }
    guard let found = try Row.fetchOne(select, arguments: [guid]).map({ StoredRow($0, of: "record") }) else {
      if guid == LogbookZones.baseGuid {
        if row.content.isDeleted {
          outcome.kept += 1
          return
        }
        let own = try LogbookZones.unjoinedBase(database)
        if row.content.isStated(by: RecordContent(own)) {
          outcome.known += 1
          return
        }
        // A base zone that a person stated is not replaced.
        if try LogbookZones(database).origin == .given {
          outcome.kept += 1
          return
        }
      }
      outcome.new += 1
      return try insert(row, guid: guid)
    }
    let stored = RecordContent(
      fields: try found[1], deviceTime: try found[2], utcOffset: try found[5], offsetSource: try found[6],
      isDeleted: try found[3])
    if row.provenance != nil, try found[7] as String? == nil, !stored.isDeleted {
      try storeProvenance(row.provenance, of: guid)
    }
    if row.content.deviceTime == stored.deviceTime { brought?.insert(guid) }
    if row.content.isStated(by: stored) {
      outcome.known += 1
      try database.executeCached(
        sql: "INSERT INTO ingest_record (ingest, guid) VALUES (?, ?) ON CONFLICT DO NOTHING",
        arguments: [ingest, guid])
      if importsDiffer { try StatedContents(database).storeKnown(guid, by: ingest) }
    } else if let imported: String = try found[4], imported == stored.text, !stored.isDeleted {
      try bufferChange(row, guid: guid, &outcome)
    } else {
      outcome.kept += 1
      addKept(guid)
    }
  }

  /// Whether `kept` contains all these records. Above `maxKept`, no further records are added, so that memory
  /// does not grow with the input.
  var namesAllKept: Bool { kept.count <= Self.maxKept }

  private func addKept(_ guid: String) { if namesAllKept { kept.insert(guid) } }

  private func insert(_ row: RecordRow, guid: String) throws {
    brought?.insert(guid)
    try insertions.add(guid, row)
  }

  /// Stores the provenance of a record that has none. This counts as an edit, so that other nodes receive it.
  private func storeProvenance(_ provenance: Provenance?, of guid: String) throws {
    try database.executeCached(
      sql: "UPDATE record SET \(RecordColumns.provenanceLearned), version = version + 1 WHERE guid = :guid",
      arguments: RecordColumns.arguments(provenance) + ["guid": guid])
  }

  /// Collects a change until the end of the input. If several different rows have the same id, the first one
  /// is used.
  private func bufferChange(_ row: RecordRow, guid: String, _ outcome: inout RecordCounts) throws {
    addKept(guid)
    let statement = try database.cachedStatement(
      sql: "INSERT INTO temp.record_change VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING")
    try statement.execute(arguments: [
      guid, row.deviceTime, row.utcOffset, row.offsetSource, row.content.fields, row.content.text,
    ])
    guard database.changesCount == 0 else { return }
    let first = try String.fetchOne(
      database.cachedStatement(sql: "SELECT imported FROM temp.record_change WHERE guid = ?"),
      arguments: [guid])
    if first == row.content.text { outcome.repeated += 1 } else { outcome.kept += 1 }
  }

  /// The SQL expression for the position of an import in the order of exports by age. At equal age, the
  /// import that came first has the lower position, even if its input is imported again.
  static func ageOrder(_ table: String) -> String {
    """
    (\(ExportAge.generated(table)), \(ExportAge.modified(table)), \(importOrder(table)))
    """
  }

  static func importOrder(_ table: String) -> String {
    """
    coalesce((SELECT min(same.id) FROM ingest AS same WHERE same.digest = \(table).digest AND same.digest <> ''),
      \(table).id)
    """
  }

  /// The position of the import that wrote a record in the order of `ageOrder`. An import of another store
  /// has the lowest position of its age.
  private static let orderOfRecord = """
    (\(ContentExport.generated), \(ContentExport.modified), CASE WHEN \(ContentExport.isFromRemote) THEN 0 ELSE
      (SELECT \(importOrder("earlier")) FROM ingest AS earlier WHERE earlier.id = record.ingest) END)
    """

  /// The SQL condition that an export which is not older than this one states the content of a record.
  private static let isStatedLater = """
    EXISTS (SELECT 1 FROM ingest AS w
      WHERE \(ContentExport.isStatement) AND w.id <> this.id AND \(ageOrder("w")) >= \(ageOrder("this")))
    """

  /// The SQL condition that the content of a record is of an earlier export than that of the import `this`.
  /// No import of a later export may have stated the content.
  static let isOfEarlierExport = "(\(ageOrder("this")) > \(orderOfRecord) AND NOT \(isStatedLater))"

  /// The SQL condition that an undone import wrote the content of a visible record, which other imports
  /// state, too. No import of a later export than that of the import `this` may be among them.
  private static let isLeftByUndoneImport = """
    (\(ContentExport.isOfUndoneImport) AND NOT \(Withdrawn.record) AND NOT \(isStatedLater))
    """

  /// The SQL condition for a record that a row of this import may change. It is true if only imports of older
  /// exports wrote or stated its content, in this or another store. A withdrawn record counts as older than
  /// any export.
  static let isOutdated = """
    record.guid = c.guid AND this.id = :ingest AND record.deleted = 0 AND \(ContentExport.isImported)
      AND (\(isOfEarlierExport) OR \(isLeftByUndoneImport)
        OR (:restoresWithdrawn AND record.guid NOT IN (SELECT value FROM json_each(:deleted))
          AND EXISTS (SELECT 1 FROM listed_record AS l WHERE l.guid = record.guid AND l.is_withdrawn = 1)))
    """

  private func applyChanges(restoresWithdrawn: Bool, _ deleted: [String]) throws -> Int {
    let arguments: StatementArguments = [
      "ingest": ingest, "restoresWithdrawn": restoresWithdrawn,
      "deleted": "[\(deleted.map { "\"\($0)\"" }.joined(separator: ","))]",
    ]
    try contradiction.countReplaced(database, arguments)
    try StatedContents(database).storeChanges(by: ingest)
    try database.executeCached(
      sql: """
        UPDATE record SET
          fields = c.fields, device_time = c.device_time, utc_offset = c.utc_offset,
          offset_source = c.offset_source, imported = c.imported, edited_at = NULL, ingest = :ingest,
          version = version + 1
        FROM temp.record_change AS c, ingest AS this
        WHERE \(Self.isOutdated)
        """, arguments: arguments)
    let updated = database.changesCount
    try contradiction.countKept(database, ingest: ingest)
    try database.executeCached(sql: "DELETE FROM temp.record_change")
    return updated
  }
}
