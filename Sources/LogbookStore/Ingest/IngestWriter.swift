// SPDX-License-Identifier: Apache-2.0

import GRDB
package import Logbook
import SQLiteRows

/// Writes one ingest into the store, batch by batch.
package final class IngestWriter {
  /// The maximum number of rejections that are stored for an ingest; all of them are counted.
  static let maxRejections = 1000

  /// The part of the writer's state that a rollback of a transaction restores.
  struct WriterState {
    var counts = IngestCounts()
    var deviceIDs: [Int64] = []
    var devices: [Device] = []
    var storedRejections = 0
    var notes = ImportNotes(ingest: 0)
    /// The input's readings that the store has and that are withdrawn, by series. They count as known
    /// readings.
    var knownWithdrawn = KnownReadings()
    /// Whether the input itself states the identities of its readings, as an export of a store does.
    var statesIdentities = false
    /// Whether the input is undone, so that its items stay hidden. Known at the end of the input.
    var isUndone = false
    /// The items that get the zone which a person gave for the input.
    var given = GivenItems()
    /// The base zone that an export of another store states; nil while none was read.
    var baseOfExport: FieldValue?
    var doubled = DoubledTimes()
    /// The range of positions at which the ingest stored new readings, by the ids of their series.
    var stretches: [Int64: NewRange] = [:]
    /// What the input states about its person, as far as it is already stored.
    var persons: Set<StatedPerson> = []
  }

  /// What the input states about its person, as far as it has been read.
  package var persons: [StatedPerson] = []

  /// A sentence for each day on which a sensor had two values at one shown time.
  package var doubledDays: [String] { state.doubled.sentences }
  /// A sentence about rows that were not stored because another table has records at their times; nil without
  /// such rows.
  package var otherTable: String? { records?.otherTable?.warning }
  /// A sentence about doses that may be stored twice because their use was corrected at the source; nil
  /// without such doses. Known at the end of the input.
  package var doubtfulUses: String? { retyped?.warning }
  /// The counts so far.
  package var counts: IngestCounts { state.counts }
  var state = WriterState()
  let database: Database
  var connection: Database { database }
  /// The number of this ingest.
  package var ingestID: Int64 { id }
  let isAtomic: Bool
  let source: IngestSource
  private(set) var id: Int64 = 0
  /// The id of the import, which is the same in every copy of the store; nil before the first write.
  private var guid: String?
  private(set) var unsortedSpool: UnsortedSpool?
  /// Whether unsorted readings are buffered until the end. It becomes false if there is no space for them.
  private var spoolsUnsorted: Bool
  var readings: ReadingWriter?
  var records: RecordWriter?
  var corrections: Corrections?
  /// The readings that imports of a merged store contain; nil without a merge.
  var merged: MergedReadings?
  var deletions: SourceDeletions?
  var otherKind: KindMismatch?
  /// The doses of this input that another export states with another use; set at the end of the input.
  var retyped: RetypedDoses?
  private var sensors: SensorComparison?
  /// The decoded withdrawals. All batches share them, so that no batch decodes them again.
  let withdrawals = WithdrawalCache()

  init(
    _ database: Database, _ batch: BatchTable, _ source: IngestSource, isAtomic: Bool
  ) throws {
    self.database = database
    self.source = source
    self.isAtomic = isAtomic
    spoolsUnsorted = source.mayWait
    do {
      if isAtomic { try database.beginTransaction(.immediate) }
      try inTransaction { try begin() }
      readings = try ReadingWriter(database, batch, ingest: id)
      records = try RecordWriter(
        database, ingest: id, format: source.format, collectsBrought: try listsItems(),
        repeatsRows: source.repeatsRows,
        namesColumns: source.decisions.contains { $0.subject == Decision.columns },
        earlierSheets: source.earlierSheets ?? [])
      corrections = try Corrections(database, ingest: id)
      deletions = try SourceDeletions(database, ingest: id)
      otherKind = try KindMismatch(database, ingest: id, source.decisions)
      sensors = try SensorComparison(database, ingest: id, source)
    } catch {
      abandon()
      throw error
    }
  }

  /// Creates the temporary tables that hold data of an input until its end. They are created once per
  /// connection: a new table makes SQLite prepare every SQL statement again.
  static func makeTables(_ database: Database) throws {
    try database.execute(
      sql: RecordOrdinals.tables + RecordWriter.tables + Corrections.tables + SourceDeletions.tables)
  }

  /// Creates the temporary tables if the connection lacks them, since it has imported nothing.
  static func requireTables(_ database: Database) throws {
    let hasTables = try Bool.fetchOne(
      database, sql: "SELECT EXISTS (SELECT 1 FROM temp.sqlite_schema WHERE name = 'record_change')")
    if hasTables != true { try makeTables(database) }
  }

  private func begin() throws {
    persons = source.persons
    try requirePerson()
    if let zone = source.zone?.given { try StatedZone(zone, ingest: id, database).requireCapacity() }
    try database.executeCached(
      sql: """
        INSERT INTO ingest (source, format, decisions, started_at, modified_at)
        VALUES (?, ?, ?, ?, ?)
        """,
      arguments: [
        source.name, source.format, try decisionsJSON(source.decisions), source.startedAt,
        // Some file systems store any 64 bits as a time. A time out of range shows nothing about the age of
        // an export, so it is not stored.
        source.modifiedAt.flatMap { StoredBounds.seconds.contains($0) ? $0 : nil },
      ])
    id = database.lastInsertedRowID
    guid = try String.fetchOne(
      database.cachedStatement(sql: "SELECT guid FROM ingest WHERE id = ?"), arguments: [id])
    state.notes = ImportNotes(ingest: id)
  }

  /// Stores a batch in one transaction. If the source allows it, unsorted readings are buffered for
  /// `storeSpooled` instead. A batch with the newest readings first is buffered, too, if it has a reading
  /// that is later than all stored ones. After the first buffered batch, the readings of all later batches
  /// are buffered as well. If two readings have one identity, the first one must be stored.
  ///
  /// - Returns: the readings that the store rejects. Items that the batch already lists as rejected are not
  ///   included.
  @discardableResult
  package func write(_ batch: IngestBatch) throws -> [Rejection] {
    guard !batch.isEmpty else { return [] }
    let waits = try spoolsUnsorted && (unsortedSpool != nil || shouldSortFirst(batch.readings))
    var refused: [Rejection] = []
    try inTransaction(then: { try self.countMovedTimes(in: batch) }) {
      try requireZone(for: batch)
      try statePerson()
      for device in batch.devices[state.deviceIDs.count...] {
        state.deviceIDs.append(try device.addedID(database))
      }
      state.devices = batch.devices
      if !waits { refused = try write(batch.readings) }
      if batch.records.contains(where: { $0.guid != nil }) { state.statesIdentities = true }
      if let outcome = try records?.write(batch.records) {
        count(outcome)
        if outcome.new > 0 { extendCountedRange(by: batch.records) }
        state.counts.deletedRecords += try deletions?.hideNew(outcome.deleted) ?? 0
      }
      try write(batch.rejections)
      state.counts.countRejections(batch.rejections)
      state.counts.skipped.merge(batch.skipped, uniquingKeysWith: +)
      try saveCounts()
    }
    if waits, !spool(batch.readings) {
      try storeSpooled { refused += $0 }
      try inTransaction {
        refused += try write(batch.readings)
        try saveCounts()
      }
    }
    return refused
  }

  /// Whether the buffer of unsorted readings is full, so that they must be stored before the next batch.
  package var isSpoolFull: Bool { unsortedSpool?.isFull == true }

  /// Stores the buffered readings, batch by batch.
  ///
  /// - Parameter onBatch: receives the readings that the store rejects, after each batch.
  package func storeSpooled(_ onBatch: ([Rejection]) throws -> Void) throws {
    guard let waiting = unsortedSpool.take() else { return }
    try waiting.merge(of: state.deviceIDs) { readings in
      var refused: [Rejection] = []
      try inTransaction {
        refused = try write(readings)
        try saveCounts()
      }
      try onBatch(refused)
    }
  }

  /// Discards the buffered readings, since a person who interrupts an import does not want to wait for them.
  package func discardSpool() { unsortedSpool = nil }

  /// Extends `firstCounted` and `lastCounted` by the doses and meals of a batch that has new records. In this
  /// range, the caller looks for the same items from other sources.
  private func extendCountedRange(by records: [ImportedRecord]) {
    for record in records where record.kind == .insulin || record.kind == .food {
      state.counts.extendCountedRange(to: record.deviceTime.seconds)
    }
  }

  func count(_ outcome: RecordWriter.RecordCounts) {
    state.counts.newRecords += outcome.new
    state.counts.knownRecords += outcome.known
    state.counts.repeatedRecords += outcome.repeated
    state.counts.add(equalRows: outcome.equalRows)
    state.counts.updatedRecords += outcome.updated
    state.counts.keptRecords += outcome.kept
  }

  /// Runs `work`, applies the zones and withdrawals that records state, and then runs `last`.
  private func apply(_ work: () throws -> Void, _ last: () throws -> Void) throws {
    try work()
    try Statements.applyChanges(database, withdrawals)
    try last()
  }

  /// Throws if the batch has times that need a zone and the logbook has no known zone.
  private func requireZone(for batch: IngestBatch) throws {
    guard source.zone?.isGiven == false,
      batch.readings.contains(where: { $0.placement.source.placesShownTime })
        || batch.records.contains(where: { $0.placement.source.placesShownTime }),
      // An export of a store may contain the record of the base zone. The zone is then known.
      !batch.records.contains(where: { $0.guid == LogbookZones.baseGuid && !$0.deleted }),
      case let zones = try LogbookZones(database), !zones.isKnown
    else { return }
    throw StatedZone.missing(source.name, zones.unknownBase)
  }

  /// Throws if the store was replaced by a backup during the import. The ids of devices and of this import
  /// would then refer to other rows.
  private func requireOwnStore() throws {
    guard try isOwnStore() else {
      throw Failure(
        .temporary, "\(source.name): the store was restored from a backup meanwhile; import again")
    }
  }

  /// Whether the store still has the row of this import.
  func isOwnStore() throws -> Bool {
    guard let guid else { return true }
    return try guid
      == String.fetchOne(
        database.cachedStatement(sql: "SELECT guid FROM ingest WHERE id = ?"), arguments: [id])
  }

  /// Throws if the input is of another person than the store.
  private func requirePerson() throws {
    guard !source.acceptsPerson,
      case .other(let ingest, _, _) = try StatedPersons(database).verdict(on: persons)
    else { return }
    throw Failure(
      .badInput,
      "\(source.name): this input states another person than import \(ingest) did; nothing more of it was imported. If it is the same person, add --yes"
    )
  }

  /// Refuses sensor values that are those of another person's sensor.
  private func requireOwnSensor(_ batch: [Reading]) throws {
    guard try sensors?.findsOther(in: batch, of: state.devices) == true,
      // If an export states the same person as earlier inputs, it is not refused because of its values. What
      // this input itself stated is stored already, and so is what a refused one stated.
      try !source.isExport || StatedPersons(database, finishedBefore: id).verdict(on: persons) != .same
    else { return }
    let stored = isAtomic ? 0 : counts.newReadings + counts.newRecords
    let end =
      stored == 0
      ? "nothing of it was imported"
      : "\(counted(stored, "item before it is", "items before it are")) stored, which 'glucoport undo' rolls back"
    throw Failure(
      .badInput,
      "\(source.name): other sensor values at the same times as in the store, as those of another person or device, or "
        + "of another time zone; \(end). \(source.adviceOnOtherSensor)")
  }

  private func statePerson() throws {
    let new = persons.filter { !state.persons.contains($0) }
    guard !new.isEmpty else { return }
    try requirePerson()
    let stated = StatedPersons(database)
    if let former = try stated.importOfOtherAccount(than: new) {
      state.counts.newAccount = IngestCounts.NewAccount(former: former, ingest: id)
    }
    try stated.add(new, ingest: id)
    state.persons.formUnion(new)
  }

  /// Runs `work` in a transaction, or in the caller's transaction if there is one. If `work` fails, `state`
  /// gets its earlier value.
  ///
  /// - Parameter last: runs at the end of the transaction, after the zones and withdrawals in records were
  ///   applied.
  func inTransaction(then last: () throws -> Void = {}, _ work: () throws -> Void) throws {
    let before = state
    do {
      if database.isInsideTransaction { return try apply(work, last) }
      try database.inTransaction(.immediate) {
        try requireOwnStore()
        try apply(work, last)
        return .commit
      }
    } catch {
      state = before
      throw error
    }
  }

  /// Whether it is faster to sort the readings before storing them. For readings with the newest first, this
  /// is true only if one of them is later than all stored ones. If all of them fall between stored readings,
  /// sorting saves no time.
  private func shouldSortFirst(_ readings: [Reading]) throws -> Bool {
    if UnsortedSpool.areUnsorted(readings) { return true }
    guard UnsortedSpool.areNewestFirst(readings) else { return false }
    let last = try Int64.fetchOne(database.cachedStatement(sql: "SELECT max(last_time) FROM series"))
    return readings.contains { $0.deviceTime.seconds > last ?? .min }
  }

  /// Buffers readings until the end. Returns false if there is no space. The readings are then stored as they
  /// come, which only takes longer.
  private func spool(_ batch: [Reading]) -> Bool {
    guard !batch.isEmpty else { return true }
    do {
      if unsortedSpool == nil { unsortedSpool = try UnsortedSpool() }
      try unsortedSpool?.add(batch, of: state.deviceIDs)
    } catch {
      spoolsUnsorted = false
    }
    return spoolsUnsorted
  }

  /// Stores readings, except those that the store already has as another kind; see `KindMismatch`.
  private func write(_ batch: [Reading]) throws -> [Rejection] {
    guard let otherKind, case let places = try otherKind.stored(in: batch, deviceIDs: state.deviceIDs),
      !places.isEmpty
    else { return try store(batch) }
    let refused = places.sorted().map { otherKind.rejection(of: batch[$0]) }
    try write(refused)
    state.counts.countRejections(refused)
    return try refused + store(batch.indices.filter { !places.contains($0) }.map { batch[$0] })
  }

  private func store(_ batch: [Reading]) throws -> [Rejection] {
    guard !batch.isEmpty else { return [] }
    try requireOwnSensor(batch)
    guard
      let outcome = try readings?.write(
        batch, of: state.devices, deviceIDs: state.deviceIDs, placedBy: source.zone?.placing)
    else {
      return []
    }
    state.counts.newReadings += outcome.new
    state.counts.knownReadings += outcome.known
    state.counts.repeatedReadings += outcome.repeated
    state.counts.changedReadings += outcome.changed
    for stretch in outcome.stretches { addNewRange(stretch) }
    for (time, isClockSetBack) in outcome.doubled { state.doubled.add(time, isClockSetBack) }
    state.counts.withdrawnReadings += outcome.withdrawn
    for (series, points) in outcome.knownPoints {
      try state.notes.add(merged?.imported(points, of: series, database) ?? points, of: series, database)
      guard source.zone?.isGiven == true else { continue }
      for point in points { state.given.knownReadings.add(point, of: series.id) }
    }
    for (series, point) in outcome.knownWithdrawn { state.knownWithdrawn.add(point, of: series) }
    if batch[0].occurrenceIsStated { state.statesIdentities = true }
    for (kind, count) in outcome.newByKind { state.counts.newByKind[kind.name, default: 0] += count }
    if outcome.newByKind.keys.contains(where: { $0 == .smbg || $0 == .ketone }) {
      for reading in batch where reading.kind == .smbg || reading.kind == .ketone {
        state.counts.extendCountedRange(to: reading.deviceTime.seconds)
      }
    }
    var (first, last) = (state.counts.firstTime ?? .max, state.counts.lastTime ?? .min)
    var (ambiguous, doubtful) = (0, 0)
    // Swift checks each access to a property of this object at run time, so they are read once before the
    // loop.
    let (corrections, deviceIDs) = (corrections, state.deviceIDs)
    let haveSerial = state.devices.map { !$0.serial.isEmpty }
    for reading in batch {
      first = min(first, reading.deviceTime.seconds)
      last = max(last, reading.deviceTime.seconds)
      let device = Int(reading.device.number)
      try corrections?.storeIfHandTyped(reading, device: deviceIDs[device], hasSerial: haveSerial[device])
      switch reading.placement.source {
      case .zoneGap, .zoneOverlap: ambiguous += 1
      case .stated, .zone, .ticks, .instant: break
      }
      if reading.marks.contains(.doubtfulTime) { doubtful += 1 }
    }
    state.counts.ambiguousTimes += ambiguous
    state.counts.doubtfulTimes += doubtful
    (state.counts.firstTime, state.counts.lastTime) = (first, last)
    let refused = try outcome.restarted.map { index in
      let reading = batch[index]
      return try CounterReset.refuse(
        reading, of: state.devices[Int(reading.device.number)], from: source.name)
    }
    try write(refused)
    state.counts.countRejections(refused)
    return refused
  }

  private func addNewRange(_ stretch: NewRange) {
    guard state.stretches[stretch.series.id]?.add(stretch) == nil else { return }
    state.stretches[stretch.series.id] = stretch
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
