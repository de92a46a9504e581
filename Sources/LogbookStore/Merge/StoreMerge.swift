// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

/// Another store of the same person, of which all is taken into a store: readings by their identity, records by their id.
/// What is hidden in one of both stays hidden, unless an import of the other brought it, as after an upload of both.
package struct StoreMerge {
  /// The id under which merges are listed: that of glucoport's own exports.
  package static let format = "glucoport"

  /// A copy that nothing else sees, so that it stays as it is meanwhile.
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

  /// Takes everything in, in one transaction.
  ///
  /// - Parameter store: a store with the role `importer`.
  /// - Returns: the number of the import, and what became of the items.
  /// - Throws: `Failure`: `configuration` where both have other time zones; nothing has changed then.
  package func run(into store: Store) throws -> (ingest: Int64, counts: IngestCounts) {
    let zone = try commonZone(with: store)
    try learnWithdrawals(of: store)
    let source = IngestSource(
      name: name, format: Self.format, startedAt: now, modifiedAt: nil, decisions: [],
      zone: InputZone(zone, isGiven: false, placesReadings: false), acceptsPerson: true, isMerge: true)
    var result: (ingest: Int64, counts: IngestCounts)?
    try store.ingest(source, isAtomic: true) { writer in
      try writer.take(recordsOf: other, store.batch, at: now)
      try forEachBatch { _ = try writer.write($0) }
      try writer.finish(
        end: .whole, digest: nil, generatedAt: nil, finishedAt: now, decisions: [])
      result = (writer.ingestID, writer.counts)
    }
    guard let result else { throw Failure(.inputOutput, "\(store.path): cannot write to the store") }
    return result
  }

  /// Checks that the store can take it in.
  ///
  /// - Throws: `Failure` of category `configuration` where both have other time zones.
  package func requireCommonZone(with store: Store) throws { _ = try commonZone(with: store) }

  /// What a person gave goes before what a system has.
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

  /// Applies what the store hides to the copy, which then states which of it its own imports brought.
  private func learnWithdrawals(of store: Store) throws {
    let kind = RecordKind.withdrawal.rawValue
    let withdrawals = try store.read { try AgedRecord.page(after: "", kind: kind, limit: .max, $0) }
    try other.write { database in
      let merge = RecordMerge(database, other.batch, ingest: nil)
      for record in withdrawals { _ = try merge.take(record) }
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

/// A record of a store that is merged, and the age of its content there.
private struct AgedRecord {
  let record: SyncRecord
  let age: RecordAge

  /// Records in the order of their ids.
  ///
  /// - Parameter kind: only those of a kind; nil for all.
  static func page(
    after guid: String, kind: String? = nil, limit: Int, _ database: Database
  ) throws -> [AgedRecord] {
    try Row.fetchAll(
      database.cachedStatement(
        sql: """
          SELECT \(SyncRecord.columns) FROM record WHERE guid > ?1 AND (?2 IS NULL OR kind = ?2) ORDER BY guid LIMIT ?3
          """), arguments: [guid, kind, limit]
    ).map { row in
      let record = try SyncRecord(row)
      return AgedRecord(record: record, age: try RecordAge(of: record.guid, database))
    }
  }
}

/// When the content of a record was written: by a person, or in the export from which an import took it.
private struct RecordAge {
  /// When a person wrote it, in UTC seconds; nil for what only imports wrote.
  let editedAt: Int64?
  /// When the export was made, when its file was changed, and when the import began, in UTC seconds; 0 where unknown.
  let export: WritingAge
  /// The import that wrote it; nil for none.
  let ingest: Int64?

  init(of guid: String, _ database: Database) throws {
    let row = try Row.fetchOne(
      database.cachedStatement(
        sql: """
          SELECT record.edited_at, coalesce(i.generated_at, 0), coalesce(i.modified_at, i.started_at, 0), coalesce(i.started_at, 0), i.id
          FROM record LEFT JOIN ingest AS i ON i.id = record.ingest WHERE record.guid = ?
          """), arguments: [guid])
    guard let row = row.map({ StoredRow($0, of: "record") }) else {
      (editedAt, export, ingest) = (nil, WritingAge(), nil)
      return
    }
    editedAt = try row.optionalSeconds(0)
    export = WritingAge(
      generatedAt: try row.seconds(1), modifiedAt: try row.seconds(2), startedAt: try row.seconds(3))
    ingest = try row[4]
  }
}

/// The age of an export, as corrections compare it.
private struct WritingAge: Hashable, Comparable {
  var generatedAt: Int64 = 0
  var modifiedAt: Int64 = 0
  var startedAt: Int64 = 0

  static func < (one: WritingAge, other: WritingAge) -> Bool {
    (one.generatedAt, one.modifiedAt, one.startedAt) < (other.generatedAt, other.modifiedAt, other.startedAt)
  }
}

extension IngestWriter {
  private static let pageRecords = 1000

  /// Takes the records of another store, the contents of its attachments, and what its imports stated about the person.
  fileprivate func take(recordsOf other: Store, _ batch: BatchTable, at now: Int64) throws {
    try inTransaction {
      // An import that read no input is none of this store's; see `BroughtItems`.
      try database.executeCached(
        sql: "UPDATE ingest SET outcome = 'whole' WHERE id = ?", arguments: [ingestID])
      // Before the records: the content of an attachment is queued with its record.
      try other.read { try MergedContents($0, database).take() }
      let merge = RecordMerge(database, batch, ingest: ingestID)
      var last = ""
      while true {
        let page = try other.read { try AgedRecord.page(after: last, limit: Self.pageRecords, $0) }
        for record in page { count(try merge.take(record)) }
        guard page.count == Self.pageRecords, let guid = page.last?.record.guid else { break }
        last = guid
      }
      try takeBaseZone(of: other)
      try other.read { theirs in
        try StatedPersons(database).add(StatedPersons(theirs), ingest: ingestID)
      }
      try SyncTransaction(database, batch).stateBrought(at: now)
      try saveCounts()
    }
  }

  /// A base zone that a person gave to the other store, and of which no record states it yet.
  private func takeBaseZone(of other: Store) throws {
    let theirs = try other.read { database in
      try LogbookZones.isUnjoined(database) ? LogbookZones(database) : nil
    }
    guard let theirs, theirs.origin == .given, try LogbookZones(database).origin != .given else { return }
    try ZoneRecords.setBase(theirs.base, at: source.startedAt, database)
  }
}

/// The contents of attachments that another store has whole.
private struct MergedContents {
  private let theirs: Database
  private let database: Database

  init(_ theirs: Database, _ database: Database) { (self.theirs, self.database) = (theirs, database) }

  func take() throws {
    let rows = try Row.fetchAll(
      theirs, sql: "SELECT digest, size FROM blob WHERE held = size ORDER BY digest")
    for row in rows {
      let row = StoredRow(row, of: "blob")
      let (digest, size): (String, Int64) = (try row[0], try row[1])
      let held = try Bool.fetchOne(
        database.cachedStatement(sql: "SELECT held = size FROM blob WHERE digest = ?"), arguments: [digest])
      let parts = ContentParts(database: theirs, digest: digest)
      // A damaged content is worth nothing.
      guard held != true, try parts.sum() == digest else { continue }
      try take(parts, digest, size, isNew: held == nil)
    }
  }

  private func take(_ parts: ContentParts, _ digest: String, _ size: Int64, isNew: Bool) throws {
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

/// Adds records of another store of the same person to a store, inside a transaction. The result is the same in either
/// direction, except for a record that is deleted in the store: only a person brings it back.
private final class RecordMerge {
  private let transaction: SyncTransaction
  /// The import of the merge; nil for records that state something about others.
  private let ingest: Int64?
  private var origins: [WritingAge: Int64] = [:]
  private var database: Database { transaction.database }

  init(_ database: Database, _ batch: BatchTable, ingest: Int64?) {
    transaction = SyncTransaction(database, batch)
    self.ingest = ingest
  }

  /// Which content stays of two different ones. What a person wrote or deleted goes before what imports wrote, and then
  /// the later one. Of two exports it is the later one, as if both were imported here. At equal times the digest decides,
  /// as in the other store. What is here already as the remote's side of a conflict is left to the person who resolves it.
  private func takes(_ theirs: AgedRecord, over mine: SyncRecord) throws -> Bool {
    if mine.state.isDeleted { return false }
    if try transaction.remoteSide(of: mine)?.state.agrees(with: theirs.record.state) == true { return false }
    let age = try RecordAge(of: mine.guid, database)
    let isDeletion = theirs.record.state.isDeleted
    let isByPerson = (age.editedAt != nil, theirs.age.editedAt != nil || isDeletion)
    if isByPerson.0 != isByPerson.1 { return isByPerson.1 }
    if isByPerson.0 {
      let times = (age.editedAt ?? 0, theirs.age.editedAt ?? 0)
      if times.0 != times.1 { return times.0 < times.1 }
    } else if age.export != theirs.age.export {
      return age.export < theirs.age.export
    }
    return isDeletion || mine.state.digest < theirs.record.state.digest
  }

  /// Takes a record, and returns what became of it.
  func take(_ aged: AgedRecord) throws -> RecordWriter.Outcome {
    let theirs = aged.record
    var outcome = RecordWriter.Outcome()
    guard let mine = try transaction.record(theirs.guid) else {
      if theirs.guid == LogbookZones.baseGuid, try !adoptsBase(theirs.state) {
        outcome.kept = 1
        return outcome
      }
      try insert(aged)
      outcome.new = 1
      return outcome
    }
    if mine.state.agrees(with: theirs.state) {
      if theirs.state.teachesProvenance(to: mine.state), !mine.state.isDeleted { try learn(theirs) }
      outcome.known = 1
    } else if try takes(aged, over: mine) {
      try write(aged)
      outcome.updated = 1
    } else {
      outcome.kept = 1
    }
    return outcome
  }

  /// Whether a base zone replaces one that no record states yet.
  private func adoptsBase(_ state: RecordState) throws -> Bool {
    try !state.isDeleted && LogbookZones(database).origin != .given
  }

  /// The content as it is stored. What only imports wrote bears no time of an edit.
  private func stored(_ aged: AgedRecord) -> RecordState {
    var state = aged.record.state
    if aged.record.isImportedOnly { state.editedAt = aged.age.editedAt }
    return state
  }

  private func imported(_ theirs: SyncRecord) -> String? {
    theirs.isImportedOnly ? RecordContent(theirs.state).text : nil
  }

  private func ingest(of aged: AgedRecord) throws -> Int64? {
    guard let ingest, aged.record.state.kind.details?.isListed == true else { return nil }
    guard aged.record.isImportedOnly, aged.age.ingest != nil else { return ingest }
    return try origin(aged.age.export)
  }

  /// A row that keeps the age of an export, by which a later one corrects its records. It is not an import of this store.
  private func origin(_ age: WritingAge) throws -> Int64 {
    if let known = origins[age] { return known }
    let arguments: StatementArguments = [
      "format": StoreMerge.format, "started": age.startedAt,
      "generated": age.generatedAt == 0 ? nil : age.generatedAt,
      "modified": age.modifiedAt == 0 ? nil : age.modifiedAt,
    ]
    let known = try Int64.fetchOne(
      database.cachedStatement(
        sql: """
          SELECT id FROM ingest WHERE \(UndoPlan.isOrigin) AND started_at = :started AND generated_at IS :generated
            AND modified_at IS :modified AND format = :format
          """), arguments: arguments)
    if let known {
      origins[age] = known
      return known
    }
    try database.executeCached(
      sql: """
        INSERT INTO ingest (source, format, started_at, generated_at, modified_at, outcome)
        VALUES ('', :format, :started, :generated, :modified, 'whole')
        """, arguments: arguments)
    origins[age] = database.lastInsertedRowID
    return database.lastInsertedRowID
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

  private func learn(_ theirs: SyncRecord) throws {
    try database.executeCached(
      sql: "UPDATE record SET \(RecordColumns.provenanceLearned), version = version + 1 WHERE guid = :guid",
      arguments: RecordColumns.arguments(theirs.state.provenance) + ["guid": theirs.guid])
  }
}
