// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

/// A series as it is stored: the readings of one device and one kind with one `PositionKind`. The positions
/// are either all ticks or all shown times.
struct Series {
  let id: Int64
  let device: Int64
  let positionKind: PositionKind
  /// The partition of the table `reading` that contains the readings; see the schema.
  let partition: Int64
  let kind: ReadingKind
  /// The range of stored positions; nil without readings.
  let positions: ClosedRange<Int64>?

  /// Whether the ticks of the series are instants in milliseconds. They have a separate partition for each
  /// kind.
  var isInstant: Bool { partition < 0 }
}

/// The series of one batch's readings, and the changes of their counters.
///
/// It is created for each transaction, because another process may store readings between two transactions.
struct SeriesTable {
  private struct SeriesCounts {
    var new = 0
    var positions = (first: Int64.max, last: Int64.min)
    var times = (first: Int64.max, last: Int64.min)
    var hasStrays = false
    var hasInstants = false
  }

  private let database: Database
  private let deviceIDs: [Int64]
  /// Every series found so far. The keys and items of `BatchOrder` refer to a series by its index in this
  /// list.
  private(set) var all: [Series] = []
  private var changes: [SeriesCounts] = []
  /// Indexes in `all`, by the number that `code` returns; -1 for a series that `all` does not have yet.
  private var places: [Int] = []

  /// - Parameter deviceIDs: the ids in the store, by the batch's device indexes.
  init(_ database: Database, deviceIDs: [Int64]) {
    self.database = database
    self.deviceIDs = deviceIDs
  }

  /// The index in `all` of a reading's series, which is added if necessary.
  @inline(__always)
  mutating func index(of reading: Reading) throws -> Int {
    let code = Self.code(reading)
    if code < places.count, places[code] >= 0 { return places[code] }
    return try addSeries(of: reading, code)
  }

  /// Adds the series of a batch, beginning with the one that has the fewest readings. New series get their
  /// ids in this order. Readings with counts as positions are stored in the order of these ids (see the
  /// schema). So most readings are appended at the end of the table, whichever device comes first.
  mutating func addSeries(of readings: [Reading]) throws {
    var groups: [(first: Int, count: Int)] = []
    var groupsByCode: [Int] = []
    for (index, reading) in readings.enumerated() {
      let code = Self.code(reading)
      while groupsByCode.count <= code { groupsByCode.append(-1) }
      if groupsByCode[code] < 0 {
        groupsByCode[code] = groups.count
        groups.append((index, 0))
      }
      groups[groupsByCode[code]].count += 1
    }
    for group in groups.sorted(by: { ($0.count, $0.first) < ($1.count, $1.first) }) {
      _ = try index(of: readings[group.first])
    }
  }

  /// Whether the store may have a reading with this position in the series.
  @inline(__always)
  func mayHold(_ place: Int, position: Int64) -> Bool {
    guard let positions = all[place].positions else { return false }
    return positions.contains(position)
  }

  /// Adds to `places` the indexes of the items that may already be stored.
  func candidates(of items: ArraySlice<BatchOrder.Item>, _ readings: [Reading], _ places: inout [Int]) {
    for (place, item) in zip(items.indices, items)
    where mayHold(item.series, position: readings[item.index].position) {
      places.append(place)
    }
  }

  /// Counts new readings, to be added to the store's counters.
  mutating func count(_ items: ArraySlice<BatchOrder.Item>, of readings: [Reading]) {
    for item in items { count(readings[item.index], at: item.series) }
  }

  /// Counts one new reading of a series, to be added to the store's counters.
  @inline(__always)
  mutating func count(_ reading: Reading, at place: Int) {
    let time = reading.deviceTime.seconds
    changes[place].new += 1
    changes[place].positions.first = min(changes[place].positions.first, reading.position)
    changes[place].positions.last = max(changes[place].positions.last, reading.position)
    changes[place].times.first = min(changes[place].times.first, time)
    changes[place].times.last = max(changes[place].times.last, time)
    if reading.placement.source == .instant { changes[place].hasInstants = true }
    if all[place].isInstant, !PositionSpan.isNear(reading.position, time) { changes[place].hasStrays = true }
  }

  /// The ids in the store of the devices that have new readings with ticks.
  var devicesWithNewTicks: Set<Int64> {
    Set(zip(all, changes).filter { $0.positionKind == .tick && $1.new > 0 }.map { $0.0.device })
  }

  /// For each series, the ranges of positions and times of its new readings.
  var stretches: [NewRange] {
    zip(all, changes).filter { $1.new > 0 }.map { series, change in
      NewRange(
        series, count: change.new, positions: change.positions.first...change.positions.last,
        times: change.times.first...change.times.last)
    }
  }

  /// Adds the counts to the counters in the store. Returns the number of new readings by kind.
  func save(isUploaded: Bool) throws -> [ReadingKind: Int] {
    var newByKind: [ReadingKind: Int] = [:]
    let hasItemZones = try ItemZoneTables.listReadings(database)
    for (series, change) in zip(all, changes) where change.new > 0 {
      newByKind[series.kind, default: 0] += change.new
      try database.executeCached(
        sql: """
          UPDATE series SET readings = readings + ?2, pending = pending + ?3,
            first_position = min(coalesce(first_position, ?4), ?4),
            last_position = max(coalesce(last_position, ?5), ?5),
            first_time = min(coalesce(first_time, ?6), ?6), last_time = max(coalesce(last_time, ?7), ?7),
            has_strays = max(has_strays, ?8), has_instants = max(has_instants, ?9)
          WHERE id = ?1
          """,
        arguments: [
          series.id, change.new, isUploaded ? 0 : change.new, change.positions.first, change.positions.last,
          change.times.first, change.times.last, change.hasStrays, change.hasInstants,
        ])
      // A withdrawal may hide the new readings. So their range is noted, and checked at the end of the
      // transaction.
      try database.executeCached(
        sql: """
          INSERT INTO changed_series (series, first_position, last_position) SELECT ?, ?, ?
          WHERE EXISTS (SELECT 1 FROM record INDEXED BY record_withdrawing WHERE kind = 'withdrawal')
          """, arguments: [series.id, change.positions.first, change.positions.last])
      if hasItemZones {
        try ItemZoneTables.markSeriesChanged(
          series.id, change.positions.first...change.positions.last, database)
      }
    }
    return newByKind
  }
}

extension SeriesTable {
  /// The device index, kind and position kind, combined into one number.
  @inline(__always)
  private static func code(_ reading: Reading) -> Int {
    Int(reading.device.number) << 4 | Int(reading.kind.rawValue) << 1 | Int(reading.positionKind.rawValue)
  }

  private mutating func addSeries(of reading: Reading, _ code: Int) throws -> Int {
    let series = try stored(reading)
    // Two devices of the input may be one device in the store, so their readings may share a series.
    let place = all.firstIndex { $0.id == series.id } ?? all.count
    if place == all.count {
      all.append(series)
      changes.append(SeriesCounts())
    }
    while places.count <= code { places.append(-1) }
    places[code] = place
    return place
  }

  private func stored(_ reading: Reading) throws -> Series {
    let (kind, positionKind) = (Int(reading.kind.rawValue), Int(reading.positionKind.rawValue))
    let device = deviceIDs[Int(reading.device.number)]
    let find = """
      SELECT id, partition, first_position, last_position FROM series WHERE device = ? AND kind = ? AND position_kind = ?
      """
    if let row = try Row.fetchOne(
      database.cachedStatement(sql: find), arguments: [device, kind, positionKind])
    {
      let row = StoredRow(row, of: "series")
      let (first, last): (Int64?, Int64?) = (try row[2], try row[3])
      guard first ?? 0 <= last ?? 0 else { throw row.damage(3) }
      let positions = first.flatMap { first in last.map { first...$0 } }
      return Series(
        id: try row[0], device: device, positionKind: reading.positionKind, partition: try row[1],
        kind: reading.kind, positions: positions)
    }
    try database.executeCached(
      sql: "INSERT INTO series (device, kind, position_kind, is_instant) VALUES (?, ?, ?, ?)",
      arguments: [device, kind, positionKind, reading.isPlacedByInstant])
    return try stored(reading)
  }
}

extension Reading {
  /// Whether the position is an instant in milliseconds since 1970. Devices whose positions are instants
  /// share a partition. The lower limit is above all counts of devices, and below all plausible instants. The
  /// upper limit excludes typed readings, whose ticks are random.
  var isPlacedByInstant: Bool {
    positionKind == .tick && position >= 100_000_000_000 && position < Device.typedTicks.lowerBound
  }
}

extension Device {
  /// The id of this device in the store, which is added if it is missing.
  func addedID(_ database: Database) throws -> Int64 {
    if let known = try storedID(database) { return known }
    try database.executeCached(
      sql: "INSERT INTO device (vendor, model, serial, format, identity) VALUES (?, ?, ?, ?, ?)",
      arguments: [vendor, model, serial, format, ReadingIdentity.text(of: self)])
    return database.lastInsertedRowID
  }
}
