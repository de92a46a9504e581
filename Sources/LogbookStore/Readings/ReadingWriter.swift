// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

/// Stores each reading once. This is the inner loop of every import.
///
/// Readings outside the stored range of positions are new, so only those inside it are looked up. Because
/// known readings are found first, every insert of a chunk succeeds completely. A second import of a file
/// only reads.
final class ReadingWriter {
  private let database: Database
  private let ingest: Int64
  private let isUploaded: Bool
  private let chunk: BatchTable
  private let insert: RawStatement
  private let insertAlike: RawStatement
  private let find: RawStatement
  private let stored: RawStatement
  private let list: RawStatement
  private var order = BatchOrder()
  private var table: SeriesTable
  private var outcome = ReadingCounts()
  /// Readings of the batch that the store has with a different value.
  private var differing: [BatchOrder.Item] = []
  /// The indexes of the current chunk's items whose identities the store may already have.
  private var candidates: [Int] = []
  private var isKnown: [Bool] = []
  /// The positions of new readings in the chunk, which the remote does not have yet.
  private var pending = PendingPositions()
  /// The positions of the batch whose values another store may number differently; see `ValueSets`.
  private var numbered: [PlaceOfValues: ReadingKind] = [:]
  /// Readings of the batch that were stored before this import, by the indexes of their series.
  private var knownPoints: [[SeriesPoint]] = []
  /// If a chunk has at least this number of new readings, the trigger for new readings is dropped until the
  /// end of the batch. Dropping and creating the trigger takes 0.5 ms, as long as the trigger takes for 500
  /// readings. A batch has up to 40 chunks.
  private static let manyReadings = BatchTable.capacity / 2
  /// Whether the trigger for new readings is dropped, since the batch stores many of them.
  private var storesMany = false

  struct ReadingCounts {
    var new = 0
    var known = 0
    var repeated = 0
    var changed = 0
    /// The number of known values that have another occurrence number in the store than the input states.
    var renumbered = 0
    /// Shown times for which a sensor has a second, new value, although no zone repeats these times.
    /// `isClockSetBack` states whether other times within an hour have two values as well.
    var doubled: [(time: DeviceTime, isClockSetBack: Bool)] = []
    var newByKind: [ReadingKind: Int] = [:]
    /// For each series, the range of positions in which new readings were stored.
    var stretches: [NewRange] = []
    /// Indexes of readings in the batch whose tick a stored reading of another day already has.
    var restarted: [Int] = []
    /// The number of known readings that a withdrawal hides.
    var withdrawn = 0
    /// The known readings, by series.
    var knownPoints: [(series: Series, points: [SeriesPoint])] = []
    /// The known readings that a withdrawal hides, each with the id of its series.
    var knownWithdrawn: [(series: Int64, point: SeriesPoint)] = []
  }

  /// - Parameter isUploaded: whether the remote already has the readings, because they were downloaded from
  ///   it.
  init(_ database: Database, _ chunk: BatchTable, ingest: Int64, isUploaded: Bool = false) throws {
    self.database = database
    self.ingest = ingest
    self.isUploaded = isUploaded
    table = SeriesTable(database, deviceIDs: [])
    self.chunk = chunk
    // With OR FAIL, SQLite needs no journal to undo a single failed statement. This makes the insert faster.
    insert = try RawStatement(
      keptBy: database,
      """
      INSERT OR FAIL INTO reading (\(ReadingRow.columns), ingest, uploaded)
      SELECT \(ReadingRow.columns), ?1, ?2 FROM batch
      """)
    // This SQL statement is used if all readings of a chunk are alike, which is usual. SQLite then reads half
    // as many columns.
    insertAlike = try RawStatement(
      keptBy: database,
      """
      INSERT OR FAIL INTO reading (\(ReadingRow.columns), ingest, uploaded)
      SELECT \(ReadingRow.valuesIfAlike), ?1, ?2 FROM batch
      """)
    for statement in [insert, insertAlike] {
      statement.bind(ingest, at: 1)
      statement.bind(isUploaded ? 1 : 0 as Int64, at: 2)
    }
    find = try RawStatement(
      keptBy: database,
      """
      SELECT b.rowid, r.value, r.unit, r.range_flag, r.ingest, r.device_time, \(Withdrawn.readingByStatement), r.marks
      FROM batch AS b CROSS JOIN reading AS r ON r.partition = b.partition AND r.position = b.position
        AND r.series = b.series AND r.value_bucket = b.value_bucket AND r.occurrence = b.occurrence
      """)
    stored = try RawStatement(
      keptBy: database,
      """
      SELECT r.occurrence, r.value, r.unit, r.range_flag, r.ingest, r.device_time, \(Withdrawn.reading), r.marks,
        coalesce(r.stated_offset, r.derived_offset)
      FROM reading AS r WHERE r.partition = ?1 AND r.position = ?2 AND r.series = ?3 AND r.value_bucket = ?4
      ORDER BY r.occurrence
      """)
    list = try RawStatement(
      keptBy: database,
      """
      INSERT INTO revision (ingest, series, position, value_bucket, occurrence, value, unit, range_flag)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT DO NOTHING
      """)
  }

  /// Stores a batch inside the caller's transaction.
  ///
  /// - Parameters:
  ///   - devices: the devices to which the readings refer.
  ///   - deviceIDs: the ids of these devices in the store.
  ///   - zone: the zone from which the offsets of the readings were derived; nil if another store derived
  ///     them.
  func write(
    _ readings: [Reading], of devices: [Device], deviceIDs: [Int64], placedBy zone: LogbookZone?
  ) throws -> ReadingCounts {
    var placer = try ReadingPlacer(database, devices)
    if placer.agrees(with: zone) {
      return try write(readings, deviceIDs: deviceIDs, zones: placer.all)
    }
    var placed = readings
    placer.deriveOffsets(of: &placed)
    return try write(placed, deviceIDs: deviceIDs, zones: placer.all)
  }

  private func write(_ readings: [Reading], deviceIDs: [Int64], zones: LogbookZones) throws -> ReadingCounts {
    outcome = ReadingCounts()
    storesMany = false
    differing.removeAll(keepingCapacity: true)
    pending = PendingPositions()
    knownPoints.removeAll(keepingCapacity: true)
    numbered.removeAll(keepingCapacity: true)
    table = SeriesTable(database, deviceIDs: deviceIDs)
    try order.arrange(readings, in: &table)
    outcome.repeated = order.repeated
    outcome.restarted = order.restarted
    for start in stride(from: 0, to: order.items.count, by: BatchTable.capacity) {
      try writeChunk(order.items[start..<min(start + BatchTable.capacity, order.items.count)], readings)
    }
    for items in (differing + order.changed).map({ [$0] }) { try storeVariant(items, readings) }
    for (index, items) in order.together.enumerated() {
      try storeVariant(items, readings, isClockSetBack: isOfTurnedClock(index, readings))
    }
    // The trigger for new readings must exist again before the end of the transaction. If the batch fails,
    // the rollback restores the trigger.
    if storesMany { try Roles.createReadingTriggers(database) }
    outcome.newByKind = try table.save(isUploaded: isUploaded)
    outcome.stretches = table.stretches
    try completeValueSets(statesIdentities: readings.first?.occurrenceIsStated == true)
    for (series, points) in zip(table.all, knownPoints) where !points.isEmpty {
      outcome.knownPoints.append((series, points))
    }
    let counted = table.devicesWithNewTicks
    if !counted.isEmpty { try RepeatedHours(database, zones).update(devices: counted) }
    return outcome
  }
}

extension ReadingWriter {
  private func completeValueSets(statesIdentities: Bool) throws {
    guard !numbered.isEmpty else { return }
    let sets = ValueSets(database, ingest: ingest, statesIdentities: statesIdentities)
    let places = numbered.sorted {
      ($0.key.series, $0.key.position) < ($1.key.series, $1.key.position)
    }
    for (place, kind) in places {
      let change = try sets.complete(place)
      outcome.new += change.new
      outcome.changed -= min(outcome.changed, change.new)
      if change.new > 0 { outcome.newByKind[kind, default: 0] += change.new }
    }
  }

  @inline(__always)
  private func addNumbered(_ item: BatchOrder.Item, _ readings: [Reading]) {
    let reading = readings[item.index]
    guard reading.isNumberedAtPosition else { return }
    let series = table.all[item.series]
    let place = PlaceOfValues(
      partition: series.partition, series: series.id, position: reading.position,
      valueBucket: item.valueBucket)
    numbered[place] = reading.kind
  }

  private func writeChunk(_ items: ArraySlice<BatchOrder.Item>, _ readings: [Reading]) throws {
    let known = try findKnown(items, readings)
    guard known < items.count else { return }
    chunk.removeAll()
    let new = known == 0 ? items : ArraySlice(zip(items, isKnown).filter { !$1 }.map(\.0))
    chunk.append(new, of: readings, in: table.all)
    for item in new where item.occurrence > 0 { addNumbered(item, readings) }
    if !isUploaded { pending.append(new, of: readings, in: table.all) }
    try insertChunk()
    table.count(new, of: readings)
  }

  /// Finds the items of a chunk whose identities are in the store. Returns their number.
  private func findKnown(_ items: ArraySlice<BatchOrder.Item>, _ readings: [Reading]) throws -> Int {
    isKnown.removeAll(keepingCapacity: true)
    isKnown.append(contentsOf: repeatElement(false, count: items.count))
    candidates.removeAll(keepingCapacity: true)
    table.candidates(of: items, readings, &candidates)
    guard !candidates.isEmpty else { return 0 }
    chunk.removeAll()
    for place in candidates { append(items[place], readings) }
    var known = 0
    while try find.step() {
      let place = candidates[Int(find.integer(0))]
      let item = items[place]
      isKnown[place - items.startIndex] = true
      known += 1
      let isWithdrawn = find.integer(6) == 1
      if CounterReset.isAnother(readings[item.index], thanShownAt: find.integer(5)) {
        // A withdrawn reading with the same tick does not prove that the device started to count again, so
        // only its value counts as changed.
        if isWithdrawn { differing.append(item) } else { outcome.restarted.append(item.index) }
      } else if !agrees(find, readings[item.index]) {
        differing.append(item)
      } else if find.integer(4) == ingest {
        outcome.repeated += 1
      } else {
        countKnown(item, readings, occurrence: item.occurrence, isWithdrawn: isWithdrawn)
      }
    }
    return known
  }

  /// Counts a reading of the input that was in the store before this import.
  private func countKnown(
    _ item: BatchOrder.Item, _ readings: [Reading], occurrence: Int64, isWithdrawn: Bool
  ) {
    outcome.known += 1
    let point = SeriesPoint(
      position: readings[item.index].position, valueBucket: item.valueBucket, occurrence: occurrence)
    if isWithdrawn {
      outcome.withdrawn += 1
      outcome.knownWithdrawn.append((table.all[item.series].id, point))
    }
    while knownPoints.count <= item.series { knownPoints.append([]) }
    knownPoints[item.series].append(point)
  }

  private func insertChunk() throws {
    if !storesMany, chunk.count >= Self.manyReadings {
      try Roles.dropReadingTriggers(database)
      storesMany = true
    }
    try pending.save(database)
    let statement: RawStatement
    if let pattern = chunk.pattern {
      pattern.bindShared(to: insertAlike)
      statement = insertAlike
    } else {
      statement = insert
    }
    let inserted = try statement.run()
    guard inserted == chunk.count else {
      throw DatabaseError(resultCode: .SQLITE_INTERNAL, message: "a part of a batch was not stored")
    }
    outcome.new += inserted
  }

  /// Whether a stored reading with the same identity has the same value. A control test never agrees with a
  /// reading of a person.
  @inline(__always)
  private func agrees(_ stored: RawStatement, _ reading: Reading) -> Bool {
    StoredMeasurement.agrees(stored, from: 1, with: reading.measurement)
      && isControlTest(stored) == reading.isControlTest
  }

  private func isControlTest(_ stored: RawStatement) -> Bool {
    stored.integer(7) & Int64(ReadingMarks.controlSolution.rawValue) != 0
  }

  /// Whether another time within an hour has two values as well. This shows that the clock was set back, and
  /// that the device did not just take two readings in one minute.
  private func isOfTurnedClock(_ index: Int, _ readings: [Reading]) -> Bool {
    let item = order.together[index][0]
    guard readings[item.index].kind == .cbg else { return false }
    return [index - 1, index + 1].contains { other in
      guard order.together.indices.contains(other), case let neighbour = order.together[other][0] else {
        return false
      }
      return neighbour.series == item.series
        && abs(readings[neighbour.index].position - readings[item.index].position) <= 3600
    }
  }

  @inline(__always)
  private func append(_ item: BatchOrder.Item, _ readings: [Reading], marks: ReadingMarks = []) {
    var reading = readings[item.index]
    reading.marks.formUnion(marks)
    chunk.append(ReadingRow(item, reading, table.all[item.series]))
  }

  /// Compares the input's readings at one position with the stored readings at this position. A reading is
  /// known if the store has its value under any occurrence number. Otherwise, if the store has a value that
  /// the input lacks, the reading is a change at the source. All further readings get free numbers. Withdrawn
  /// readings can be known, too, but are never replaced.
  ///
  /// - Parameter isClockSetBack: whether these readings exist because a clock was set back.
  private func storeVariant(
    _ items: [BatchOrder.Item], _ readings: [Reading], isClockSetBack: Bool = false
  ) throws {
    var place = try storedAtPosition(of: items, readings)
    let timeCanRepeat = items.contains { readings[$0.index].timeCanRepeat }
    for (item, known) in zip(items, place.known) {
      let reading = readings[item.index]
      if let known {
        if known.isOwn {
          outcome.repeated += 1
        } else {
          countKnown(item, readings, occurrence: known.occurrence, isWithdrawn: known.isWithdrawn)
        }
        if reading.occurrenceIsStated, known.occurrence != item.occurrence {
          outcome.renumbered += 1
          try listRevision(item, reading)
          addNumbered(item, readings)
        }
      } else if place.holdsAnotherDay {
        outcome.restarted.append(item.index)
      } else if place.useEarlierValue(for: reading) || reading.occurrenceIsStated
        || (place.isTaken && reading.positionKind == .tick && !reading.kind.valueIsPartOfIdentity)
      {
        outcome.changed += 1
        try listRevision(item, reading)
        if reading.occurrenceIsStated { addNumbered(item, readings) }
      } else {
        let isSecond = place.isTaken && reading.kind == .cbg && !timeCanRepeat
        if isSecond { outcome.doubled.append((reading.deviceTime, isClockSetBack)) }
        if place.isTaken { addNumbered(item, readings) }
        chunk.removeAll()
        append(
          BatchOrder.Item(
            index: item.index, series: item.series, valueBucket: item.valueBucket,
            occurrence: place.occurrences.useNextNumber()),
          readings, marks: isSecond && isClockSetBack ? .clockSetBack : [])
        if !isUploaded { pending.append(table.all[item.series].partition, reading.position) }
        try insertChunk()
        table.count(reading, at: item.series)
        place.isTaken = true
      }
    }
  }

  /// A stored reading that has the position and the value of an item of the input.
  private struct KnownValue {
    let occurrence: Int64
    let isWithdrawn: Bool
    /// Whether this import stored the reading.
    let isOwn: Bool
  }

  /// The stored readings at one position, compared with the items of the input.
  private struct StoredAtPosition {
    /// For each item, the stored reading with its value; nil if the value is not stored.
    var known: [KnownValue?]
    /// The number of visible readings of other imports whose value no item has. Control tests are counted
    /// separately.
    var replaced = 0
    var replacedControlTests = 0
    /// Whether a visible reading is stored at the position.
    var isTaken = false
    /// Whether a visible reading with the same tick was taken on another day.
    var holdsAnotherDay = false
    var occurrences = UsedOccurrences()

    /// Uses one of the stored readings that the input lacks as the earlier value of `reading`. Returns
    /// false if none is left.
    mutating func useEarlierValue(for reading: Reading) -> Bool {
      let count = reading.isControlTest ? \StoredAtPosition.replacedControlTests : \StoredAtPosition.replaced
      guard self[keyPath: count] > 0 else { return false }
      self[keyPath: count] -= 1
      return true
    }
  }

  private func storedAtPosition(of items: [BatchOrder.Item], _ readings: [Reading]) throws -> StoredAtPosition
  {
    let series = table.all[items[0].series]
    stored.bind(series.partition, at: 1)
    stored.bind(readings[items[0].index].position, at: 2)
    stored.bind(series.id, at: 3)
    stored.bind(items[0].valueBucket, at: 4)
    var place = StoredAtPosition(known: items.map { _ in nil })
    while try stored.step() {
      place.occurrences.insert(stored.integer(0))
      let known = KnownValue(
        occurrence: stored.integer(0), isWithdrawn: stored.integer(6) == 1, isOwn: stored.integer(4) == ingest
      )
      let isAnotherDay = CounterReset.isAnother(readings[items[0].index], thanShownAt: stored.integer(5))
      let match =
        isAnotherDay
        ? nil
        : match(stored, among: items, readings)
      // If a visible and a withdrawn stored reading have the same value, the visible one is used.
      if let match, place.known[match]?.isWithdrawn != false { place.known[match] = known }
      if known.isWithdrawn { continue }
      place.isTaken = true
      if isAnotherDay { place.holdsAnotherDay = true }
      if !known.isOwn, match == nil {
        if isControlTest(stored) { place.replacedControlTests += 1 } else { place.replaced += 1 }
      }
    }
    return place
  }

  /// The index of the item with the value of a stored reading. If several items have it, as in the two passes
  /// of a repeated hour, it is the one with the same instant.
  private func match(
    _ stored: RawStatement, among items: [BatchOrder.Item], _ readings: [Reading]
  ) -> Int? {
    let equal = items.indices.filter { agrees(stored, readings[items[$0].index]) }
    guard equal.count > 1 else { return equal.first }
    return equal.first { Int64(readings[items[$0].index].placement.utcOffset) == stored.integer(8) }
  }

  private func listRevision(_ item: BatchOrder.Item, _ reading: Reading) throws {
    let parts = StoredMeasurement(reading.measurement)
    list.bind(ingest, at: 1)
    list.bind(table.all[item.series].id, at: 2)
    list.bind(reading.position, at: 3)
    list.bind(item.valueBucket, at: 4)
    list.bind(item.occurrence, at: 5)
    list.bind(parts.value, at: 6)
    list.bind(parts.unit, at: 7)
    list.bind(parts.rangeFlag, at: 8)
    _ = try list.run()
  }
}

/// Detects that a device started to count again from the beginning. After such a reset, the same tick
/// identifies two different readings.
enum CounterReset {
  /// Whether a reading is another one than the stored reading with the same tick. Their shown times then
  /// differ by more than a change of zone can cause.
  @inline(__always)
  static func isAnother(_ reading: Reading, thanShownAt stored: Int64) -> Bool {
    reading.positionKind == .tick && abs(reading.deviceTime.seconds - stored) > DeviceTime.largestDifference
  }

  /// Rejects a reading whose tick the store has for a different reading. If the device has a serial number,
  /// only this reading is rejected. Without a serial number, the whole input is refused, since a person can
  /// import it as another device with `--device`.
  ///
  /// - Throws: `Failure` of category `badInput` for a device without a serial number.
  static func refuse(_ reading: Reading, of device: Device, from source: String) throws -> Rejection {
    guard device.serial.isEmpty else {
      return Rejection(
        line: reading.line,
        reason:
          "this record number of its device already belongs to a reading of another day: the device was "
          + "probably reset")
    }
    throw Failure(
      .badInput,
      "\(source):\(reading.line): this record number already belongs to a reading of another day: the device was probably "
        + "replaced or reset. Give it its own name with --device")
  }
}
