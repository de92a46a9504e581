// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

/// Merges another store of the same person into a store. Readings are matched by identity, records by id. An
/// item that one of the stores hides becomes visible if an import of the other store contains it. Otherwise
/// it stays hidden. The result is the same as after an upload of both stores to one remote.
package struct StoreMerge {
  /// The format id with which merges are listed, the same as for glucoport's exports.
  package static let format = "glucoport"

  /// A private copy of the other store, so that it cannot change during the merge.
  private let other: Store
  /// The path of the store that is merged.
  package let name: String
  private let now: Int64

  /// - Parameters:
  ///   - original: the store to be merged, which does not change.
  ///   - name: its path, for messages and the list of imports.
  ///   - now: the host's clock in UTC seconds.
  /// - Throws: `Failure` as for opening a store.
  package init(_ original: Store, named name: String, at now: Int64) throws {
    (self.name, self.now) = (name, now)
    other = try Store.scratch(copyOf: original, zone: original.timezone())
  }

  /// Merges the whole store, in one transaction.
  ///
  /// - Parameter store: a store with the role `importer`.
  /// - Returns: the number of the import in the store, and the counts of the items.
  /// - Throws: `Failure` of category `configuration` if both stores have different base zones. Then nothing
  ///   has changed.
  package func run(into store: Store) throws -> (ingest: Int64, counts: IngestCounts) {
    let zone = try commonZone(with: store)
    try copyWithdrawals(of: store)
    let source = IngestSource(
      name: name, format: Self.format, startedAt: now, modifiedAt: nil, decisions: [],
      zone: InputZone(zone, isGiven: false, placesReadings: false), acceptsPerson: true, isMerge: true)
    var result: (ingest: Int64, counts: IngestCounts)?
    try store.ingest(source, isAtomic: true) { writer in
      try writer.mergeRecords(of: other, store.batch, at: now)
      writer.merged = try other.read { try MergedReadings($0) }
      try forEachBatch { _ = try writer.write($0) }
      try writer.withdrawCorrected(by: other)
      try writer.finish(
        end: .whole, digest: nil, generatedAt: nil, finishedAt: now, decisions: [])
      result = (writer.ingestID, writer.counts)
    }
    guard let result else { throw Failure(.inputOutput, "\(store.path): cannot write to the store") }
    return result
  }

  /// Checks whether the zones of both stores allow a merge.
  ///
  /// - Throws: `Failure` of category `configuration` if both stores have different base zones.
  package func requireCommonZone(with store: Store) throws { _ = try commonZone(with: store) }

  /// The base zone for both stores. A zone that a person gave has precedence over a zone of the system.
  private func commonZone(with store: Store) throws -> LogbookZone {
    let (mine, theirs) = (try store.read { try LogbookZones($0) }, try other.read { try LogbookZones($0) })
    guard mine.base != theirs.base, (mine.origin == .given) == (theirs.origin == .given) else {
      return try (theirs.origin == .given ? other : store).timezone()
    }
    throw Failure(
      .configuration,
      "\(name): the logbook there has the time zone \(theirs.base.name), and this one \(mine.base.name); set the right one with 'glucoport config timezone', and import again"
    )
  }

  /// Applies the withdrawals of the store to `other`, the private copy of the other store. The copy then
  /// states which of the hidden items its own imports contain.
  private func copyWithdrawals(of store: Store) throws {
    let withdrawals = try store.read { try AgedRecord.page(after: "", .only, limit: .max, $0) }
    try other.write { database in
      let merge = RecordMerge(database, other.batch, ingest: nil)
      for record in withdrawals { _ = try merge.merge(record) }
      try StatedContents(database).restoreReplaced(at: now)
      try SyncTransaction(database, other.batch).stateBrought(at: now)
    }
  }

  private func forEachBatch(_ body: (IngestBatch) throws -> Void) throws {
    var key: ReadingKey?
    while true {
      let page = try other.read {
        try SyncTransaction($0, other.batch).readings(
          "reading AS r", "TRUE", after: key, limit: IngestBatch.size)
      }
      guard let last = page.last else { return }
      var batch = IngestBatch()
      batch.devices = page.batch.devices
      batch.readings = page.batch.readings.map { reading in
        var reading = reading
        reading.occurrenceIsStated = true
        return reading
      }
      try body(batch)
      key = last
    }
  }
}

/// A record of the other store, with the age of its content.
private struct AgedRecord {
  /// Which records a page has, with regard to those of kind `withdrawal`.
  enum Withdrawals { case only, none }

  let record: SyncRecord
  let age: RecordAge
  /// Whether an import of the other store that is not undone contains the record with this content.
  let isImportedThere: Bool

  /// At most `limit` records with a guid after `guid`, in the order of their guids.
  ///
  /// - Parameter withdrawals: whether only withdrawals or only other records are read.
  static func page(
    after guid: String, _ withdrawals: Withdrawals, limit: Int, _ database: Database
  ) throws -> [AgedRecord] {
    try Row.fetchAll(
      database.cachedStatement(
        sql: """
          SELECT \(SyncRecord.columns), \(isImportedHere) AS is_imported FROM record WHERE guid > ?1 AND (kind = ?2) = ?3 ORDER BY guid LIMIT ?4
          """), arguments: [guid, RecordKind.withdrawal.rawValue, withdrawals == .only, limit]
    ).map { row in
      let record = try SyncRecord(row)
      return AgedRecord(
        record: record, age: try RecordAge(of: record, database),
        isImportedThere: try StoredRow(row, of: "record")["is_imported"])
    }
  }

  /// The SQL condition that an import of the queried store contains a record with its present content.
  /// Contents that this store got from a remote or by a merge do not count, since they may come from the
  /// merging store.
  private static let isImportedHere = """
    (\(ContentExport.isImported) AND NOT \(ContentExport.isFromRemote) AND EXISTS (
      SELECT 1 FROM ingest AS w WHERE w.id = record.ingest AND w.digest IS NOT NULL
        AND NOT \(ImportContribution.isUndone(of: "w"))))
    """
}

/// When the content of a record was written: by a person, or by the export from which it was imported.
private struct RecordAge {
  /// When a person wrote the content, in UTC seconds; nil if only imports wrote it.
  let editedAt: Int64?
  /// When the export was made, when its file was changed and when the import began, in UTC seconds; 0 if
  /// unknown.
  let export: WritingAge

  init(of record: SyncRecord, _ database: Database) throws {
    let row = try Row.fetchOne(
      database.cachedStatement(
        sql: """
          SELECT record.edited_at, coalesce(i.generated_at, 0), coalesce(i.modified_at, i.started_at, 0), coalesce(i.started_at, 0)
          FROM record LEFT JOIN ingest AS i ON i.id = record.ingest WHERE record.guid = ?
          """), arguments: [record.guid])
    guard let row = row.map({ StoredRow($0, of: "record") }) else {
      (editedAt, export) = (nil, WritingAge())
      return
    }
    editedAt = try row.optionalSeconds(0)
    let own = WritingAge(
      generatedAt: try row.seconds(1), modifiedAt: try row.seconds(2), startedAt: try row.seconds(3))
    // An import of another store may have written the content. This store does not know when that import
    // began, so it uses the time of the file.
    if let age = record.state.export, age != ExportAge(generated: own.generatedAt, modified: own.modifiedAt) {
      export = WritingAge(age)
    } else {
      export = own
    }
  }
}

extension IngestWriter {
  private static let pageRecords = 1000

  /// Merges the records of another store, the contents of its attachments, and the statements about the
  /// person.
  fileprivate func mergeRecords(of other: Store, _ batch: BatchTable, at now: Int64) throws {
    try inTransaction {
      // With this outcome and without a digest, `BroughtItems` does not count this ingest as an import of an
      // input.
      try database.executeCached(
        sql: "UPDATE ingest SET outcome = 'whole' WHERE id = ?", arguments: [ingestID])
      // Contents come before records, since each record of an attachment queues the download of a missing
      // content.
      try other.read { try MergedContents($0, database).merge() }
      let merge = RecordMerge(database, batch, ingest: ingestID)
      // Withdrawals come first, since they decide which of two imported contents is hidden.
      try mergeRecords(from: other, .only, by: merge)
      try SyncTransaction(database, batch).stateBrought(at: now)
      merge.visibility = try Visibility(WithdrawalChanges.items(database))
      try mergeRecords(from: other, .none, by: merge)
      try adoptBaseZone(of: other)
      try other.read { theirs in
        try StatedPersons(database).add(StatedPersons(theirs), ingest: ingestID)
      }
      try StatedContents(database).restoreReplaced(at: now)
      try SyncTransaction(database, batch).stateBrought(at: now)
      try saveCounts()
    }
  }

  /// Merges the withdrawals of another store, or all other records.
  private func mergeRecords(from other: Store, _ withdrawals: AgedRecord.Withdrawals, by merge: RecordMerge)
    throws
  {
    var last = ""
    while true {
      let page = try other.read {
        try AgedRecord.page(after: last, withdrawals, limit: Self.pageRecords, $0)
      }
      for record in page { count(try merge.merge(record)) }
      guard page.count == Self.pageRecords, let guid = page.last?.record.guid else { break }
      last = guid
    }
  }

  /// Withdraws readings that an export of this or the other store corrects.
  fileprivate func withdrawCorrected(by other: Store) throws {
    try inTransaction { try other.read { try Corrections.write(mergedWith: $0, database) } }
  }

  /// Adopts a base zone that a person gave to the other store, if no record of the other store states this
  /// zone yet.
  private func adoptBaseZone(of other: Store) throws {
    let theirs = try other.read { database in
      try LogbookZones.isUnjoined(database) ? LogbookZones(database) : nil
    }
    guard let theirs, theirs.origin == .given, try LogbookZones(database).origin != .given else { return }
    try ZoneRecords.setBase(theirs.base, at: source.startedAt, database)
  }
}

/// Copies the contents of attachments that another store has completely.
private struct MergedContents {
  private let theirs: Database
  private let database: Database

  init(_ theirs: Database, _ database: Database) { (self.theirs, self.database) = (theirs, database) }

  func merge() throws {
    let rows = try Row.fetchAll(
      theirs, sql: "SELECT digest, size FROM blob WHERE held = size ORDER BY digest")
    for row in rows {
      let row = StoredRow(row, of: "blob")
      let (digest, size): (String, Int64) = (try row[0], try row[1])
      let held = try Bool.fetchOne(
        database.cachedStatement(sql: "SELECT held = size FROM blob WHERE digest = ?"), arguments: [digest])
      let parts = ContentParts(database: theirs, digest: digest)
      // A content that does not match its digest is not copied.
      guard held != true, try parts.sum() == digest else { continue }
      try merge(parts, digest, size, isNew: held == nil)
    }
  }

  private func merge(_ parts: ContentParts, _ digest: String, _ size: Int64, isNew: Bool) throws {
    let own = ContentParts(database: database, digest: digest)
    try own.removeAll()
    if isNew {
      try database.executeCached(
        sql: "INSERT INTO blob (digest, size, held) VALUES (?, ?, 0)", arguments: [digest, size])
    }
    var start: Int64 = 0
    try parts.forEach { bytes in
      try own.insert(Array(bytes), at: start)
      start += Int64(bytes.count)
    }
    try database.executeCached(
      sql: "UPDATE blob SET size = ?, held = ? WHERE digest = ?", arguments: [size, size, digest])
  }
}

/// Merges records of another store of the same person, in one transaction. The result is the same, whichever
/// store is merged into the other. The exception is a record that is deleted in this store: it stays deleted
/// until a person restores it.
private final class RecordMerge {
  private let transaction: SyncTransaction
  /// The number of the merge's ingest; nil for the withdrawals that the private copy gets.
  private let ingest: Int64?
  /// The withdrawals of both stores. They are complete before other records are merged.
  var visibility = Visibility([])
  private var origins: [WritingAge: Int64] = [:]
  private var database: Database { transaction.database }

  init(_ database: Database, _ batch: BatchTable, ingest: Int64?) {
    transaction = SyncTransaction(database, batch)
    self.ingest = ingest
  }

  /// Whether the other store's content replaces the content of this store. Content that a person wrote or
  /// deleted has precedence over imported content, then later content over earlier. Of two imported contents,
  /// one that undone imports hide never replaces a visible one. Otherwise, that of the later export is used,
  /// as if both were imported into this store. At equal times the content with the larger digest
  /// is used, so that both stores choose the same. If the other store's content is already stored as the
  /// remote's state in a conflict, the record stays in conflict until a person decides.
  private func isPreferred(_ theirs: AgedRecord, over mine: SyncRecord) throws -> Bool {
    if mine.state.isDeleted { return false }
    if try transaction.remoteSide(of: mine)?.state.agrees(with: theirs.record.state) == true { return false }
    let age = try RecordAge(of: mine, database)
    let isDeletion = theirs.record.state.isDeleted
    let isByPerson = (age.editedAt != nil, theirs.age.editedAt != nil || isDeletion)
    if isByPerson.0 != isByPerson.1 { return isByPerson.1 }
    if isByPerson.0 {
      let times = (age.editedAt ?? 0, theirs.age.editedAt ?? 0)
      if times.0 != times.1 { return times.0 < times.1 }
    } else if isWithdrawn(mine) != isWithdrawn(theirs.record) {
      return isWithdrawn(mine)
    } else if age.export != theirs.age.export {
      return age.export < theirs.age.export
    }
    return isDeletion || mine.state.digest < theirs.record.state.digest
  }

  /// Whether only undone imports state the content of a record.
  private func isWithdrawn(_ record: SyncRecord) -> Bool {
    visibility.listedRecords[record.guid]?.contains(record.state.withdrawalDigest) == true
  }

  /// Merges a record. The result states how the store changed.
  func merge(_ aged: AgedRecord) throws -> RecordWriter.RecordCounts {
    let theirs = aged.record
    var outcome = RecordWriter.RecordCounts()
    guard let mine = try transaction.record(theirs.guid) else {
      if theirs.guid == LogbookZones.baseGuid, try !adoptsBase(theirs.state) {
        outcome.kept = 1
        return outcome
      }
      try insert(aged)
      try SourceDeletions.storeValid(besides: theirs.state, of: theirs.guid, database)
      outcome.new = 1
      return outcome
    }
    if mine.state.agrees(with: theirs.state) {
      if aged.isImportedThere { try storeKnown(aged) }
      if theirs.state.addsProvenance(to: mine.state), !mine.state.isDeleted { try storeProvenance(theirs) }
      outcome.known = 1
    } else if try isPreferred(aged, over: mine) {
      try StatedContents(database).storeContent(of: mine, replacedBy: theirs.state)
      try write(aged)
      outcome.updated = 1
    } else {
      if mine.state.importAge != nil, theirs.state.importAge != nil, !isWithdrawn(theirs) {
        try StatedContents(database).storeUnadopted(theirs.state, of: mine, ingest: origin(aged.age.export))
      }
      outcome.kept = 1
    }
    return outcome
  }

  /// Whether the base zone of the other store may replace that of this store, because no person gave the zone
  /// of this store.
  private func adoptsBase(_ state: RecordState) throws -> Bool {
    try !state.isDeleted && LogbookZones(database).origin != .given
  }

  /// The state to store. If only imports wrote the content, `editedAt` of the other store's record is the age
  /// of the export. So it is replaced by the stored time of an edit.
  private func stored(_ aged: AgedRecord) -> RecordState {
    var state = aged.record.state
    if aged.record.isImportedOnly { state.editedAt = aged.age.editedAt }
    return state
  }

  /// Stores which import of the other store contains a record that this store already had. An undo of an
  /// import of this store then leaves the record visible.
  private func storeKnown(_ aged: AgedRecord) throws {
    guard ingest != nil, aged.record.state.kind.details?.isListed == true, !isWithdrawn(aged.record) else {
      return
    }
    let origin = try origin(aged.age.export)
    try database.executeCached(
      sql: "INSERT INTO ingest_record (ingest, guid) VALUES (?, ?) ON CONFLICT DO NOTHING",
      arguments: [origin, aged.record.guid])
    try StatedContents(database).storeKnown(aged.record.guid, by: origin)
  }

  private func imported(_ theirs: SyncRecord) -> String? {
    theirs.isImportedOnly ? RecordContent(theirs.state).text : nil
  }

  private func ingest(of aged: AgedRecord) throws -> Int64? {
    let state = aged.record.state
    let isExported = state.export != nil && state.isWithdrawalByImport
    guard let ingest, state.kind.details?.isListed == true || isExported else { return nil }
    guard state.export != nil else { return ingest }
    return try origin(aged.age.export)
  }

  private func origin(_ age: WritingAge) throws -> Int64 {
    if let known = origins[age] { return known }
    let ingest = try ExportOrigin.ingest(of: age, database)
    origins[age] = ingest
    return ingest
  }

  private func insert(_ aged: AgedRecord) throws {
    let state = stored(aged)
    try database.executeCached(
      sql: RecordColumns.insertion(with: ["imported", "ingest"]),
      arguments: try RecordColumns.insertionArguments(state, transaction.placer) + [
        "guid": aged.record.guid, "kind": state.kind.rawValue, "imported": imported(aged.record),
        "ingest": ingest(of: aged),
      ])
  }

  private func write(_ aged: AgedRecord) throws {
    try RecordEditor.write(stored(aged), to: aged.record.guid, database)
    try database.executeCached(
      sql: "UPDATE record SET imported = coalesce(?, imported), ingest = coalesce(?, ingest) WHERE guid = ?",
      arguments: [
        imported(aged.record), aged.record.isImportedOnly ? ingest(of: aged) : nil, aged.record.guid,
      ])
  }

  private func storeProvenance(_ theirs: SyncRecord) throws {
    try database.executeCached(
      sql: "UPDATE record SET \(RecordColumns.provenanceLearned), version = version + 1 WHERE guid = :guid",
      arguments: RecordColumns.arguments(theirs.state.provenance) + ["guid": theirs.guid])
  }
}

/// The readings that imports of a merged store contain. Undone imports do not count. Neither do readings that
/// the merged store got from a remote or by a merge: they may come from the merging store.
struct MergedReadings {
  private var points: [SeriesName: PointRuns] = [:]

  /// Reads each reading of the merged store once, since the store may have thousands of imports.
  init(_ other: Database) throws {
    let invalid = try ImportContribution.undone(other).union(
      Int64.fetchAll(other, sql: "SELECT id FROM ingest WHERE digest IS NULL AND meter IS NULL"))
    for series in try Int64.fetchAll(other, sql: "SELECT id FROM series") {
      var known = KnownRunCursor(try KnownRun.fetch(of: series, besides: invalid, other))
      var builder = PointRuns.Builder()
      let rows = try RawStatement(keptBy: other, ContributedReading.ofSeries)
      rows.bind(series, at: 1)
      while try rows.step() {
        let reading = ContributedReading(rows)
        if !invalid.contains(reading.ingest) || known.contains(reading) { builder.append(reading.point) }
      }
      let found = builder.finish()
      if !found.isEmpty { points[try SeriesName.stored(series, other)] = found }
    }
  }

  /// Those of these readings of one series that an import of the merged store contains.
  ///
  /// - Parameters:
  ///   - all: the readings in order.
  ///   - series: the series in the merging store.
  func imported(_ all: [SeriesPoint], of series: Series, _ database: Database) throws -> [SeriesPoint] {
    guard let known = points[try SeriesName.stored(series.id, database)], let first = all.first else {
      return []
    }
    var cursor = PointRuns.Cursor(known, from: first)
    return all.filter { cursor.contains($0) }
  }
}
