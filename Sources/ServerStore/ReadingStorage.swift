// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

/// Stores new readings, with many rows in each SQL statement.
struct ReadingStorage {
  /// The possible numbers of rows in one SQL statement. Larger statements are not faster.
  private static let chunkSizes = [100, 10, 1]
  private static let columns: Int32 = 13
  /// The minimum batch size for which the trigger `reading_is_not_replaced` is dropped. Dropping and creating
  /// it takes as long as its look-ups for some hundred readings.
  private static let manyReadings = 500

  private let database: Database
  private let node: Int64
  /// The sequence number for the first reading of a batch. The number for each reading is the sum of
  /// `firstSeq` and the reading's index, even if the reading is known and gets no row.
  private let firstSeq: Int64

  /// - Parameter last: the sequence number of the last change before the batch.
  init(_ database: Database, node: Int64, after last: Int64) {
    self.database = database
    self.node = node
    firstSeq = last + 1
  }

  /// Stores a batch, inside the caller's transaction.
  func store(_ batch: ReadingBatch) throws -> ReadingAnswer {
    let series = try SeriesNumbers(database: database).numbers(of: batch)
    guard batch.readings.count >= Self.manyReadings else { return try store(batch, series) }
    return try LogbookFileRules.withoutLookUps(database) { try store(batch, series) }
  }
}

extension ReadingStorage {
  private func store(_ batch: ReadingBatch, _ series: [Int64]) throws -> ReadingAnswer {
    var answer = ReadingAnswer(stored: 0, known: 0)
    var start = 0
    for size in Self.chunkSizes where batch.readings.count - start >= size {
      let insert = try RawStatement(keptBy: database, Self.insertSQL(rows: size))
      let match = try RawStatement(keptBy: database, Self.matchSQL(rows: size))
      while batch.readings.count - start >= size {
        let chunk = start..<start + size
        let stored = try self.insert(chunk, batch.readings, series, insert)
        answer.stored += stored
        if stored < size {
          answer.known += size - stored
          answer.differing += try differing(chunk, batch.readings, series, match)
        }
        start += size
      }
    }
    return answer
  }

  private static func insertSQL(rows: Int) -> String {
    let row = { (index: Int) in
      let first = 2 + index * Int(columns)
      return "(" + (first..<first + Int(columns)).map { "?\($0)" }.joined(separator: ",") + ",?1)"
    }
    // With OR FAIL, SQLite needs no journal to undo a single failed statement. A failure ends the whole
    // transaction.
    return """
      INSERT OR FAIL INTO reading (seq, series, position, value_bucket, occurrence, device_time, utc_offset, offset_source, value,
        unit, range_flag, threshold, marks, node)
      VALUES \((0..<rows).map(row).joined(separator: ","))
      ON CONFLICT (series, position, value_bucket, occurrence) DO NOTHING
      """
  }

  private static func matchSQL(rows: Int) -> String {
    let row = { (index: Int) in
      "(\(index),?\(1 + index * 4),?\(2 + index * 4),?\(3 + index * 4),?\(4 + index * 4))"
    }
    return """
      SELECT v.column1, r.seq, r.value, r.unit, r.range_flag, r.threshold
      FROM (VALUES \((0..<rows).map(row).joined(separator: ","))) AS v CROSS JOIN reading AS r
      WHERE r.series = v.column2 AND r.position = v.column3 AND r.value_bucket = v.column4 AND r.occurrence = v.column5
      ORDER BY v.column1
      """
  }

  /// Inserts the rows of a chunk. Returns the number of readings that were new.
  private func insert(
    _ chunk: Range<Int>, _ readings: [Reading], _ series: [Int64], _ row: RawStatement
  ) throws -> Int {
    row.bind(node, at: 1)
    var parameter: Int32 = 2
    for place in chunk {
      bind(readings[place], firstSeq + Int64(place), series[place], to: row, from: parameter)
      parameter += Self.columns
    }
    return try row.run()
  }

  @inline(__always)
  private func bind(
    _ reading: Reading, _ seq: Int64, _ series: Int64, to row: RawStatement, from first: Int32
  ) {
    row.bind(seq, at: first)
    row.bind(series, at: first + 1)
    row.bind(reading.position, at: first + 2)
    row.bind(reading.valueBucket, at: first + 3)
    row.bind(Int64(reading.occurrence), at: first + 4)
    row.bind(reading.deviceTime.seconds, at: first + 5)
    row.bind(Int64(reading.placement.utcOffset), at: first + 6)
    row.bind(Int64(reading.placement.source.rawValue), at: first + 7)
    StoredMeasurement(reading.measurement).bind(to: row, from: first + 8)
    row.bind(Int64(reading.marks.rawValue), at: first + 12)
  }

  /// The indexes of readings in the chunk that are stored with another value. The other value may come from
  /// the same batch.
  private func differing(
    _ chunk: Range<Int>, _ readings: [Reading], _ series: [Int64], _ row: RawStatement
  ) throws -> [Int] {
    var parameter: Int32 = 1
    for place in chunk {
      row.bind(series[place], at: parameter)
      row.bind(readings[place].position, at: parameter + 1)
      row.bind(readings[place].valueBucket, at: parameter + 2)
      row.bind(Int64(readings[place].occurrence), at: parameter + 3)
      parameter += 4
    }
    var places: [Int] = []
    while try row.step() {
      let place = chunk.lowerBound + Int(row.integer(0))
      let isOwn = row.integer(1) == firstSeq + Int64(place)
      let name = DamagedRow("reading", ["seq": row.integer(1)], "").row
      for column: Int32 in 3...4 {
        if let reason = row.typeProblem(asInteger: column) { throw DamagedRow(name, reason) }
      }
      let stored = try StoredMeasurement(row, from: 2).measurement(in: name)
      if !isOwn, !stored.agrees(with: readings[place].measurement) { places.append(place) }
    }
    return places
  }
}

/// The ids that a logbook assigned to series. A series has the readings of one device and one kind, placed
/// either all by ticks or all by shown times (`PositionKind`).
struct SeriesNumbers {
  let database: Database

  /// The id of the series of each reading in a batch, in the order of the readings. Unknown series are added.
  func numbers(of batch: ReadingBatch) throws -> [Int64] {
    var known: [SeriesKey: Int64] = [:]
    var last: (key: SeriesKey, number: Int64)?
    return try batch.readings.map { reading in
      let key = SeriesKey(device: reading.device, kind: reading.kind, positionKind: reading.positionKind)
      if let last, last.key == key { return last.number }
      let number = try known[key] ?? add(key, batch.devices[Int(reading.device.number)])
      known[key] = number
      last = (key, number)
      return number
    }
  }

  /// The device, kind and position kind of the series with this id.
  func series(_ number: Int64) throws -> (device: Device, kind: ReadingKind, positionKind: PositionKind) {
    let statement = try database.cachedStatement(
      sql: """
        SELECT s.id, \(Device.storedColumns), s.kind, s.position_kind
        FROM series s JOIN device d ON d.id = s.device WHERE s.id = ?
        """)
    guard let row = try Row.fetchOne(statement, arguments: [number]) else {
      throw DamagedRow("series", ["id": number], "readings belong to it, and it is not there")
    }
    let stored = StoredRow(row, of: "series")
    return (try Device(stored, from: 1), try stored.code(5), try stored.code(6))
  }
}

extension SeriesNumbers {
  private struct SeriesKey: Hashable {
    let device: DeviceIndex
    let kind: ReadingKind
    let positionKind: PositionKind
  }

  private func add(_ key: SeriesKey, _ device: Device) throws -> Int64 {
    let device = try add(device)
    let (kind, positionKind) = (Int64(key.kind.rawValue), Int64(key.positionKind.rawValue))
    let found = try database.cachedStatement(
      sql: "SELECT id FROM series WHERE device = ? AND kind = ? AND position_kind = ?")
    if let number = try Int64.fetchOne(found, arguments: [device, kind, positionKind]) { return number }
    let insert = try database.cachedStatement(
      sql: "INSERT INTO series (device, kind, position_kind) VALUES (?, ?, ?)")
    try insert.execute(arguments: [device, kind, positionKind])
    return database.lastInsertedRowID
  }

  private func add(_ device: Device) throws -> Int64 {
    if let number = try device.storedID(database) { return number }
    let insert = try database.cachedStatement(
      sql: "INSERT INTO device (vendor, model, serial, format) VALUES (?, ?, ?, ?)")
    try insert.execute(arguments: [device.vendor, device.model, device.serial, device.format])
    return database.lastInsertedRowID
  }
}
