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
  private let name: String
  private let now: Int64

  /// - Parameters:
  ///   - original: the store to be merged, which does not change.
  ///   - now: the host's clock in UTC seconds.
  /// - Throws: `Failure` as for opening a store.
  package init(_ original: Store, at now: Int64) throws {
    name = original.path
    self.now = now
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
        end: .whole, digest: nil, generatedAt: newestExport(), finishedAt: now, decisions: [])
      result = (writer.ingestID, writer.counts)
    }
    guard let result else { throw Failure(.inputOutput, "\(store.path): cannot write to the store") }
    return result
  }

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
    let withdrawals = try store.read { try SyncRecord.page(after: "", kind: kind, limit: .max, $0) }
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

  /// When the newest export was made that the other store has: records that it wrote are as new.
  private func newestExport() throws -> Int64? {
    try other.read { try Int64.fetchOne($0, sql: "SELECT max(generated_at) FROM ingest") }
  }
}

extension SyncRecord {
  /// Records in the order of their ids.
  ///
  /// - Parameter kind: only those of a kind; nil for all.
  static func page(
    after guid: String, kind: String? = nil, limit: Int, _ database: Database
  ) throws -> [SyncRecord] {
    try Row.fetchAll(
      database.cachedStatement(
        sql: """
          SELECT \(columns) FROM record WHERE guid > ?1 AND (?2 IS NULL OR kind = ?2) ORDER BY guid LIMIT ?3
          """), arguments: [guid, kind, limit]
    ).map(SyncRecord.init)
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
      let merge = RecordMerge(database, batch, ingest: ingestID)
      var last = ""
      while true {
        let page = try other.read { try SyncRecord.page(after: last, limit: Self.pageRecords, $0) }
        for record in page { count(try merge.take(record)) }
        guard page.count == Self.pageRecords, let guid = page.last?.guid else { break }
        last = guid
      }
      try takeBaseZone(of: other)
      try other.read { theirs in
        try MergedContents(theirs, database).take()
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
