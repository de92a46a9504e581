// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook

/// Stores readings once: the hot loop of every import.
///
/// Many rows go into one statement, which halves the time of an import. Whether a chunk is expected to be new or
/// known follows the last one, so that a second import of a file reads and hardly writes.
final class ReadingWriter {
  /// Rows in one statement: more gain nothing.
  static let chunkSizes = [100, 10, 1]

  private struct Statements {
    let insert: RawStatement
    let match: RawStatement
  }

  private let database: Database
  private let ingest: Int64
  private var statements: [Int: Statements] = [:]
  private let stored: RawStatement
  private let list: RawStatement
  private var order = BatchOrder()
  private var expectsKnown = false
  private var outcome = Outcome()
  private var tallies: [TallyKey: TallyChange] = [:]

  struct Outcome {
    var new = 0
    var known = 0
    var repeated = 0
    var changed = 0
    var newByKind: [ReadingKind: Int] = [:]
  }

  private struct TallyKey: Hashable {
    let device: Int64
    let kind: ReadingKind
  }

  private struct TallyChange {
    var new = 0
    var first = Int64.max
    var last = Int64.min
  }

  init(_ database: Database, ingest: Int64) throws {
    self.database = database
    self.ingest = ingest
    stored = try RawStatement(
      database,
      """
      SELECT occurrence, value, unit, beyond, ingest FROM reading
      WHERE device = ?1 AND kind = ?2 AND axis = ?3 AND position = ?4 AND level = ?5 ORDER BY occurrence
      """)
    list = try RawStatement(
      database,
      """
      INSERT INTO revision (ingest, device, kind, axis, position, level, occurrence, value, unit, beyond)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) ON CONFLICT DO NOTHING
      """)
  }

  /// Stores a batch inside the caller's transaction. `deviceIDs` maps the batch's device indexes to stored ids.
  func write(_ readings: [Reading], deviceIDs: [Int64]) throws -> Outcome {
    outcome = Outcome()
    tallies.removeAll(keepingCapacity: true)
    order.arrange(readings, deviceIDs: deviceIDs)
    outcome.repeated = order.repeated
    for (series, range) in order.stretches {
      var start = range.lowerBound
      for size in Self.chunkSizes {
        let statements = try prepared(size)
        while range.upperBound - start >= size {
          try writeChunk(start..<start + size, series, readings, statements)
          start += size
        }
      }
    }
    for items in order.changed.map({ [$0] }) + order.together {
      let reading = readings[items[0].index]
      let device = deviceIDs[Int(reading.device.number)]
      let series = BatchOrder.Series(device: device, kind: reading.kind, axis: reading.axis)
      try settleDifference(items, readings, series)
    }
    try writeTallies()
    return outcome
  }

  private func prepared(_ size: Int) throws -> Statements {
    if let known = statements[size] { return known }
    let made = Statements(
      insert: try RawStatement(database, Self.insertSQL(rows: size)),
      match: try RawStatement(database, Self.matchSQL(rows: size)))
    statements[size] = made
    return made
  }

  /// Parameters 1 to 4 serve the whole chunk; each row adds eleven.
  private static func insertSQL(rows: Int) -> String {
    let row = { (index: Int) in
      let first = 5 + index * 11
      return "(?1,?2,?3," + (first..<first + 11).map { "?\($0)" }.joined(separator: ",") + ",?4)"
    }
    // OR FAIL with DO NOTHING passes over known keys alone; OR IGNORE would swallow broken constraints, too.
    return """
      INSERT INTO reading (device, kind, axis, position, level, occurrence, device_time, utc_offset,
        offset_source, value, unit, beyond, threshold, marks, ingest)
      VALUES \((0..<rows).map(row).joined(separator: ",")) ON CONFLICT DO NOTHING
      """
  }

  private static func matchSQL(rows: Int) -> String {
    let row = { (index: Int) in "(\(index),?\(4 + index * 3),?\(5 + index * 3),?\(6 + index * 3))" }
    return """
      SELECT v.column1, r.ingest, r.value, r.unit, r.beyond, r.device_time
      FROM (VALUES \((0..<rows).map(row).joined(separator: ","))) AS v CROSS JOIN reading AS r
      WHERE r.device = ?1 AND r.kind = ?2 AND r.axis = ?3
        AND r.position = v.column2 AND r.level = v.column3 AND r.occurrence = v.column4
      """
  }

  private func writeChunk(
    _ range: Range<Int>, _ series: BatchOrder.Series, _ readings: [Reading], _ statements: Statements
  ) throws {
    if expectsKnown {
      let match = try match(range, series, readings, statements.match)
      if match.found == range.count {
        outcome.known += match.fromOthers
        outcome.repeated += range.count - match.fromOthers - match.differing.count
        try settle(match.differing, series, readings)
        return
      }
      expectsKnown = false
    }
    let inserted = try insert(range, series, readings, statements.insert)
    outcome.new += inserted
    guard inserted < range.count else {
      let times = range.lazy.map { [order] in readings[order.items[$0].index].deviceTime.seconds }
      return tally(series, new: inserted, times: times)
    }
    expectsKnown = inserted == 0
    let match = try match(range, series, readings, statements.match)
    tally(series, new: inserted, times: match.ownTimes)
    outcome.known += match.fromOthers
    outcome.repeated += range.count - inserted - match.fromOthers - match.differing.count
    try settle(match.differing, series, readings)
  }

  private func insert(
    _ range: Range<Int>, _ series: BatchOrder.Series, _ readings: [Reading], _ statement: RawStatement
  ) throws -> Int {
    bind(series, to: statement)
    statement.bind(ingest, at: 4)
    var parameter: Int32 = 5
    for place in range {
      let item = order.items[place]
      bindRow(item, readings[item.index], to: statement, from: parameter)
      parameter += 11
    }
    return try statement.run()
  }

  @inline(__always)
  private func bindRow(
    _ item: BatchOrder.Item, _ reading: Reading, to statement: RawStatement, from first: Int32
  ) {
    let parts = StoredMeasurement(reading.measurement)
    statement.bind(reading.position, at: first)
    statement.bind(item.level, at: first + 1)
    statement.bind(item.occurrence, at: first + 2)
    statement.bind(reading.deviceTime.seconds, at: first + 3)
    statement.bind(Int64(reading.placement.utcOffset), at: first + 4)
    statement.bind(Int64(reading.placement.source.rawValue), at: first + 5)
    statement.bind(parts.value, at: first + 6)
    statement.bind(parts.unit, at: first + 7)
    statement.bind(parts.beyond, at: first + 8)
    statement.bind(parts.threshold, at: first + 9)
    statement.bind(Int64(reading.marks.rawValue), at: first + 10)
  }

  private struct Match {
    /// Rows of the chunk that stand in the store.
    var found = 0
    /// Those that agree and came by another ingest.
    var fromOthers = 0
    /// Items that stand there with another value.
    var differing: [BatchOrder.Item] = []
    /// The stored times of those that came by this ingest.
    var ownTimes: [Int64] = []
  }

  private func match(
    _ range: Range<Int>, _ series: BatchOrder.Series, _ readings: [Reading], _ statement: RawStatement
  ) throws -> Match {
    bind(series, to: statement)
    var parameter: Int32 = 4
    for place in range {
      let item = order.items[place]
      statement.bind(readings[item.index].position, at: parameter)
      statement.bind(item.level, at: parameter + 1)
      statement.bind(item.occurrence, at: parameter + 2)
      parameter += 3
    }
    var match = Match()
    while try statement.step() {
      let item = order.items[range.lowerBound + Int(statement.integer(0))]
      match.found += 1
      if statement.integer(1) == ingest { match.ownTimes.append(statement.integer(5)) }
      if agrees(statement, firstColumn: 2, with: readings[item.index].measurement) {
        if statement.integer(1) != ingest { match.fromOthers += 1 }
      } else {
        match.differing.append(item)
      }
    }
    return match
  }

  private func bind(_ series: BatchOrder.Series, to statement: RawStatement) {
    statement.bind(series.device, at: 1)
    statement.bind(Int64(series.kind.rawValue), at: 2)
    statement.bind(Int64(series.axis.rawValue), at: 3)
  }

  /// Whether the value, unit and range flag in three columns say what this measurement says.
  private func agrees(_ row: RawStatement, firstColumn: Int32, with measurement: Measurement) -> Bool {
    let parts = StoredMeasurement(measurement)
    guard row.integer(firstColumn + 2) == parts.beyond else { return false }
    guard let value = parts.value else { return true }
    let number = row.double(firstColumn)
    if row.integer(firstColumn + 1) == parts.unit { return number == value }
    let unit: GlucoseUnit = parts.unit == 0 ? .millimolesPerLitre : .milligramsPerDecilitre
    return Quantity(number, unit).tenthsOfMillimole == measurement.level
  }

  private func settle(_ items: [BatchOrder.Item], _ series: BatchOrder.Series, _ readings: [Reading]) throws {
    for item in items { try settleDifference([item], readings, series) }
  }

  /// Settles different readings of one place where the store has, or may have, others: known under any occurrence;
  /// changed at the source, as many as the place holds that this input no longer gives; else a further occurrence.
  private func settleDifference(
    _ items: [BatchOrder.Item], _ readings: [Reading], _ series: BatchOrder.Series
  ) throws {
    let place = try place(of: items, readings, series)
    var replaced = place.fromOthers.count { !$0 }
    var next = place.nextOccurrence
    for (item, known) in zip(items, place.known) {
      let reading = readings[item.index]
      switch known {
      case .byOther: outcome.known += 1
      case .byThis: outcome.repeated += 1
      case nil where replaced > 0 || !canRepeat(reading):
        replaced -= 1
        outcome.changed += 1
        try listRevision(item, reading, series)
      case nil:
        let further = BatchOrder.Item(index: item.index, level: item.level, occurrence: next)
        try insertFurther(further, reading, series)
        next += 1
      }
    }
  }

  private enum Origin { case byThis, byOther }

  /// What the store holds at one place.
  private struct Place {
    /// By which ingest each item is known; nil for one whose value is not there.
    var known: [Origin?]
    /// For each stored reading of another ingest, whether an item agrees with it.
    var fromOthers: [Bool] = []
    var nextOccurrence: Int64 = 0
  }

  private func place(
    of items: [BatchOrder.Item], _ readings: [Reading], _ series: BatchOrder.Series
  ) throws -> Place {
    bind(series, to: stored)
    stored.bind(readings[items[0].index].position, at: 4)
    stored.bind(items[0].level, at: 5)
    var place = Place(known: items.map { _ in nil })
    while try stored.step() {
      place.nextOccurrence = stored.integer(0) + 1
      let origin: Origin = stored.integer(4) == ingest ? .byThis : .byOther
      let match = items.firstIndex { agrees(stored, firstColumn: 1, with: readings[$0.index].measurement) }
      if let match { place.known[match] = origin }
      if origin == .byOther { place.fromOthers.append(match != nil) }
    }
    return place
  }

  /// Whether another value at the same place is another reading.
  private func canRepeat(_ reading: Reading) -> Bool {
    !reading.occurrenceIsStated
      && (reading.timeCanRepeat || (reading.axis == .time && reading.kind.valueIsPartOfIdentity))
  }

  private func insertFurther(_ item: BatchOrder.Item, _ reading: Reading, _ series: BatchOrder.Series) throws
  {
    let insert = try prepared(1).insert
    bind(series, to: insert)
    insert.bind(ingest, at: 4)
    bindRow(item, reading, to: insert, from: 5)
    let inserted = try insert.run()
    outcome.new += inserted
    tally(series, new: inserted, times: [reading.deviceTime.seconds])
  }

  private func listRevision(_ item: BatchOrder.Item, _ reading: Reading, _ series: BatchOrder.Series) throws {
    let parts = StoredMeasurement(reading.measurement)
    list.bind(ingest, at: 1)
    list.bind(series.device, at: 2)
    list.bind(Int64(series.kind.rawValue), at: 3)
    list.bind(Int64(series.axis.rawValue), at: 4)
    list.bind(reading.position, at: 5)
    list.bind(item.level, at: 6)
    list.bind(item.occurrence, at: 7)
    list.bind(parts.value, at: 8)
    list.bind(parts.unit, at: 9)
    list.bind(parts.beyond, at: 10)
    _ = try list.run()
  }

  // MARK: Tallies

  /// Counts new readings whose stored times these are.
  private func tally(_ series: BatchOrder.Series, new: Int, times: some Sequence<Int64>) {
    guard new > 0 else { return }
    let key = TallyKey(device: series.device, kind: series.kind)
    var change = tallies[key] ?? TallyChange()
    for time in times {
      change.first = min(change.first, time)
      change.last = max(change.last, time)
    }
    change.new += new
    tallies[key] = change
    outcome.newByKind[series.kind, default: 0] += new
  }

  private func writeTallies() throws {
    for (key, change) in tallies {
      try database.execute(
        sql: """
          INSERT INTO tally (device, kind, readings, pending, first_time, last_time)
          VALUES (:device, :kind, :new, :new, :first, :last)
          ON CONFLICT (device, kind) DO UPDATE SET
            readings = readings + excluded.readings, pending = pending + excluded.pending,
            first_time = min(first_time, excluded.first_time), last_time = max(last_time, excluded.last_time)
          """,
        arguments: [
          "device": key.device, "kind": Int(key.kind.rawValue), "new": change.new, "first": change.first,
          "last": change.last,
        ])
    }
  }
}

/// A measurement as the columns of the store hold it.
struct StoredMeasurement {
  let value: Double?
  let unit: Int64
  /// 0 within the device's range, 1 below, 2 above.
  let beyond: Int64
  let threshold: Double?

  @inline(__always) init(_ measurement: Measurement) {
    switch measurement {
    case .value(let quantity): (value, beyond, threshold) = (quantity.number, 0, nil)
    case .low(let below, _): (value, beyond, threshold) = (nil, 1, below)
    case .high(let above, _): (value, beyond, threshold) = (nil, 2, above)
    }
    unit = Int64(measurement.unit.rawValue)
  }

  /// The measurement that these columns hold.
  static func measurement(value: Double?, unit: Int, beyond: Int, threshold: Double?) -> Measurement {
    let unit = GlucoseUnit(rawValue: UInt8(unit)) ?? .milligramsPerDecilitre
    if beyond == 1 { return .low(below: threshold, unit) }
    if beyond == 2 { return .high(above: threshold, unit) }
    return .value(Quantity(value ?? 0, unit))
  }
}
