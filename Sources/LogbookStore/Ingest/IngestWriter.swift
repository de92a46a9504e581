// SPDX-License-Identifier: Apache-2.0

import GRDB
package import Logbook
import SQLiteRows

/// Writes one ingest into the store, batch by batch.
package final class IngestWriter {
  /// The most rejections kept with an ingest; all are counted.
  static let maxRejections = 1000

  /// What is undone with a transaction that is rolled back.
  struct State {
    var counts = IngestCounts()
    var deviceIDs: [Int64] = []
    var devices: [Device] = []
    var storedRejections = 0
    var notes = ImportNotes(ingest: 0)
    /// What the input gave that is there and withdrawn, by its series: this is known, too, where there are no notes.
    var metWithdrawn = MetReadings()
    /// Whether the input states its readings' identities itself: it comes from a store.
    var statesIdentities = false
    /// What it gave that is known and whose zone a person gave.
    var given = GivenItems()
    var doubled = DoubledTimes()
  }

  /// A sentence for each day on which a sensor's shown times had two values.
  package var doubledDays: [String] { state.doubled.sentences }
  /// What became of the items so far.
  package var counts: IngestCounts { state.counts }
  var state = State()
  let database: Database
  var connection: Database { database }
  /// The number of this ingest.
  package var ingestID: Int64 { id }
  /// The ids of this ingest's devices, for an IN list.
  var deviceList: String { state.deviceIDs.map(String.init).joined(separator: ",") }
  let isAtomic: Bool
  let source: IngestSource
  private(set) var id: Int64 = 0
  private(set) var scattered: ScatteredReadings?
  /// Whether scattered readings are kept for the end, as long as there is room for them.
  private var keepsScattered: Bool
  var readings: ReadingWriter?
  var records: RecordWriter?
  var corrections: Corrections?
  var otherKind: OtherKind?
  /// What withdrawals say, decoded once for all batches.
  let withdrawals = KnownWithdrawals()

  init(
    _ database: Database, _ batch: BatchTable, _ source: IngestSource, isAtomic: Bool
  ) throws {
    self.database = database
    self.source = source
    self.isAtomic = isAtomic
    keepsScattered = source.mayWait
    do {
      if isAtomic { try database.beginTransaction(.immediate) }
      try inTransaction { try begin() }
      readings = try ReadingWriter(database, batch, ingest: id)
      records = try RecordWriter(
        database, ingest: id, format: source.format, zoneIsGiven: source.zone?.given != nil)
      corrections = try Corrections(database, ingest: id)
      otherKind = try OtherKind(database, ingest: id, source.decisions)
    } catch {
      abandon()
      throw error
    }
  }

  /// Makes the tables of a connection that hold what an input gives until its end. With each ingest, SQLite would
  /// prepare every statement again.
  static func makeTables(_ database: Database) throws {
    try database.execute(sql: RecordOrdinals.tables + RecordWriter.tables + Corrections.tables)
  }

  private func begin() throws {
    if let zone = source.zone?.given { try StatedZone(zone, ingest: id, database).requireRoom() }
    try database.executeCached(
      sql: """
        INSERT INTO ingest (source, format, decisions, started_at, modified_at)
        VALUES (?, ?, ?, ?, ?)
        """,
      arguments: [
        source.name, source.format, try decisionsJSON(source.decisions), source.startedAt,
        // Some file systems keep any 64 bits; such a time says nothing of the age of an export.
        source.modifiedAt.flatMap { StoredBounds.seconds.contains($0) ? $0 : nil },
      ])
    id = database.lastInsertedRowID
    state.notes = ImportNotes(ingest: id)
  }

  /// Stores a batch in one transaction. Where the source may wait, readings in no order do so for `storeScattered`, those with
  /// the newest first as well if the store holds no later ones, and all behind them: of two readings of one identity the first
  /// in the input stays.
  ///
  /// - Returns: readings that the store itself does not take. The batch's own rejections are not among them.
  @discardableResult
  package func write(_ batch: IngestBatch) throws -> [Rejection] {
    guard !batch.isEmpty else { return [] }
    let waits = try keepsScattered && (scattered != nil || gainsByWaiting(batch.readings))
    var refused: [Rejection] = []
    try inTransaction {
      try requireZone(for: batch)
      for device in batch.devices[state.deviceIDs.count...] {
        state.deviceIDs.append(try device.addedID(database))
      }
      state.devices = batch.devices
      if !waits { refused = try write(batch.readings) }
      if batch.records.contains(where: { $0.guid != nil }) { state.statesIdentities = true }
      if let outcome = try records?.write(batch.records) {
        count(outcome)
        if outcome.new > 0 { noteCounted(batch.records) }
      }
      try write(batch.rejections)
      state.counts.note(batch.rejections)
      state.counts.skipped.merge(batch.skipped, uniquingKeysWith: +)
      try saveCounts()
    }
    if waits, !keep(batch.readings) {
      try storeScattered { refused += $0 }
      try inTransaction {
        refused += try write(batch.readings)
        try saveCounts()
      }
    }
    return refused
  }

  /// Whether so many readings are held back that they are to be stored before the next batch.
  package var hasEnoughScattered: Bool { scattered?.isFull == true }

  /// Stores the readings that were held back, batch by batch.
  ///
  /// - Parameter onBatch: receives after each batch which readings the store itself does not take.
  package func storeScattered(_ onBatch: ([Rejection]) throws -> Void) throws {
    guard let waiting = scattered.take() else { return }
    try waiting.merge(of: state.deviceIDs) { readings in
      var refused: [Rejection] = []
      try inTransaction {
        refused = try write(readings)
        try saveCounts()
      }
      try onBatch(refused)
    }
  }

  /// Leaves out the readings that were held back: whoever interrupts an import does not wait for them.
  package func dropScattered() { scattered = nil }

  /// Where another source may state the same as a batch that brought something new.
  private func noteCounted(_ records: [ImportedRecord]) {
    for record in records where record.kind == .insulin || record.kind == .food {
      state.counts.noteCounted(record.deviceTime.seconds)
    }
  }

  func count(_ outcome: RecordWriter.Outcome) {
    state.counts.newRecords += outcome.new
    state.counts.knownRecords += outcome.known
    state.counts.repeatedRecords += outcome.repeated
    state.counts.updatedRecords += outcome.updated
    state.counts.keptRecords += outcome.kept
  }

  /// Works, and applies what the records then state.
  private func apply(_ work: () throws -> Void) throws {
    try work()
    try Statements.applyChanges(database, withdrawals)
  }

  /// Refuses times that need a zone, as long as nobody knows it.
  private func requireZone(for batch: IngestBatch) throws {
    guard source.zone?.isGiven == false,
      batch.readings.contains(where: { $0.placement.source.isDerived })
        || batch.records.contains(where: { $0.placement.source.isDerived }),
      // An export of a store brings its base zone with it.
      !batch.records.contains(where: { $0.guid == LogbookZones.baseGuid && !$0.deleted }),
      case let zones = try LogbookZones(database), !zones.isKnown
    else { return }
    throw StatedZone.missing(source.name, zones.unknownBase)
  }

  func inTransaction(_ work: () throws -> Void) throws {
    let before = state
    do {
      if database.isInsideTransaction { return try apply(work) }
      try database.inTransaction(.immediate) {
        try apply(work)
        return .commit
      }
    } catch {
      state = before
      throw error
    }
  }

  /// Whether readings are stored faster in the order of time. Those with the newest first only where they then come behind
  /// all others: what goes between others costs the same in any order.
  private func gainsByWaiting(_ readings: [Reading]) throws -> Bool {
    if ScatteredReadings.areScattered(readings) { return true }
    guard ScatteredReadings.areNewestFirst(readings) else { return false }
    let last = try Int64.fetchOne(database.cachedStatement(sql: "SELECT max(last_time) FROM series"))
    return readings.contains { $0.deviceTime.seconds > last ?? .min }
  }

  /// Keeps readings for the end; false where there is no room. They can be stored as they come, too, only slower.
  private func keep(_ batch: [Reading]) -> Bool {
    guard !batch.isEmpty else { return true }
    do {
      if scattered == nil { scattered = try ScatteredReadings() }
      try scattered?.add(batch, of: state.deviceIDs)
    } catch {
      keepsScattered = false
    }
    return keepsScattered
  }

  /// Stores readings, but for those that are stored as another kind.
  private func write(_ batch: [Reading]) throws -> [Rejection] {
    guard let otherKind, case let places = try otherKind.stored(in: batch, deviceIDs: state.deviceIDs),
      !places.isEmpty
    else { return try store(batch) }
    let refused = places.sorted().map { otherKind.rejection(of: batch[$0]) }
    try write(refused)
    state.counts.note(refused)
    return try refused + store(batch.indices.filter { !places.contains($0) }.map { batch[$0] })
  }

  private func store(_ batch: [Reading]) throws -> [Rejection] {
    guard !batch.isEmpty,
      let outcome = try readings?.write(
        batch, of: state.devices, deviceIDs: state.deviceIDs, placedBy: source.zone?.placing)
    else {
      return []
    }
    state.counts.newReadings += outcome.new
    state.counts.knownReadings += outcome.known
    state.counts.repeatedReadings += outcome.repeated
    state.counts.changedReadings += outcome.changed
    for (time, isClockSetBack) in outcome.doubled { state.doubled.add(time, isClockSetBack) }
    state.counts.withdrawnReadings += outcome.withdrawn
    for (series, points) in outcome.met {
      try state.notes.add(points, of: series, database)
      guard source.zone?.isGiven == true else { continue }
      for point in points { state.given.met.add(point, of: series.id) }
    }
    for (series, point) in outcome.metWithdrawn { state.metWithdrawn.add(point, of: series) }
    if batch[0].occurrenceIsStated { state.statesIdentities = true }
    for (kind, count) in outcome.newByKind { state.counts.newByKind[kind.name, default: 0] += count }
    if outcome.newByKind.keys.contains(where: { $0 == .smbg || $0 == .ketone }) {
      for reading in batch where reading.kind == .smbg || reading.kind == .ketone {
        state.counts.noteCounted(reading.deviceTime.seconds)
      }
    }
    var (first, last) = (state.counts.firstTime ?? .max, state.counts.lastTime ?? .min)
    for reading in batch {
      first = min(first, reading.deviceTime.seconds)
      last = max(last, reading.deviceTime.seconds)
      try corrections?.note(reading, device: state.deviceIDs[Int(reading.device.number)])
      switch reading.placement.source {
      case .zoneGap, .zoneOverlap: state.counts.ambiguousTimes += 1
      case .stated, .zone, .ticks: break
      }
      if reading.marks.contains(.doubtfulTime) { state.counts.doubtfulTimes += 1 }
    }
    (state.counts.firstTime, state.counts.lastTime) = (first, last)
    let refused = try outcome.restarted.map { index in
      let reading = batch[index]
      return try TickSession.refuse(reading, of: state.devices[Int(reading.device.number)], from: source.name)
    }
    try write(refused)
    state.counts.note(refused)
    return refused
  }

  private func write(_ rejections: [Rejection]) throws {
    for rejection in rejections.prefix(Self.maxRejections - state.storedRejections) {
      try database.executeCached(
        sql: "INSERT INTO rejection (ingest, line, reason) VALUES (?, ?, ?)",
        arguments: [id, rejection.line, rejection.reason])
      state.storedRejections += 1
    }
  }

  func saveCounts() throws {
    try database.executeCached(
      sql: "UPDATE ingest SET counts = ? WHERE id = ?", arguments: [try OrderedJSON.text(state.counts), id])
  }

  func decisionsJSON(_ decisions: [Decision]) throws -> String {
    try OrderedJSON.text(decisions.map(StoredDecision.init))
  }
}
