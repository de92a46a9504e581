// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookAPI

/// Stores new readings: one SQL statement for a whole batch, with an array for each column.
///
/// `COPY` into a temporary table is not faster, since each transaction then creates an entry in the system
/// catalog. In Tests/Benchmarks/postgres-insert.py it stores 0.85 times as many new readings per second in
/// batches of 1000, and 0.89 times as many in batches of 10,000.
struct PostgresReadingWriter {
  /// The maximum size of a batch that is inserted by one SQL statement.
  private static let maxAtOnce = 1000
  /// The number of readings of a larger batch that are inserted first, to find out whether the logbook
  /// already has them.
  private static let maxTried = 500

  private let writer: PostgresWriter
  private var logbook: SQLValue { .integer(writer.entry.logbook) }

  init(_ writer: PostgresWriter) { self.writer = writer }

  /// Stores a batch. The sequence number for each reading is the last assigned number plus the reading's
  /// index in the batch, counted from 1. This number is reserved even if the reading is known.
  ///
  /// - Returns: the response, and the sequence number of the last change.
  func store(_ batch: ReadingBatch) throws -> (answer: ReadingAnswer, last: Int64) {
    var answer = ReadingAnswer(stored: 0, known: 0, position: writer.entry.position)
    let readings = batch.readings
    guard !readings.isEmpty else { return (answer, writer.entry.last) }
    let series = try SeriesWriter(writer).numbers(of: batch)
    let all = Array(readings.indices)
    let tried = Array(all.prefix(all.count > Self.maxAtOnce ? Self.maxTried : all.count))
    var rest = Array(all.dropFirst(tried.count))
    var new = try insert(tried, readings, series)
    var refused = tried.filter { !new.contains(number(of: $0)) }
    if new.isEmpty {
      // All tried readings were known, so another node probably sends readings that the logbook already has.
      // It is then faster to look up all rows first than to insert them.
      let found = try stored(all, readings, series)
      answer.differing = found.differing
      (refused, rest) = ([], rest.filter { !found.known.contains($0) })
    }
    new.formUnion(try insert(rest, readings, series))
    // Readings that were not inserted were known, or occur twice in the batch.
    refused += rest.filter { !new.contains(number(of: $0)) }
    answer.differing += try stored(refused, readings, series).differing
    answer.differing.sort()
    answer.stored = new.count
    answer.known = readings.count - new.count
    guard let last = new.max() else { return (answer, writer.entry.last) }
    answer.position = PositionText.text(last, tag: try writer.beginEpoch())
    return (answer, last)
  }

  private func number(of index: Int) -> Int64 { writer.entry.last + 1 + Int64(index) }

  /// Inserts the readings with these indexes. Returns the sequence numbers of the new readings.
  private func insert(_ indices: [Int], _ readings: [Reading], _ series: [Int64]) throws -> Set<Int64> {
    guard !indices.isEmpty else { return [] }
    let inserted = indices.map { readings[$0] }
    let measured = inserted.map { StoredColumns($0.measurement) }
    let rows = try writer.transaction.rows(
      """
      INSERT INTO glucoport.reading (logbook, seq, series, position, value_bucket, occurrence, device_time,
        utc_offset, offset_source, value, unit, range_flag, threshold, marks, node)
      SELECT $1, seq, series, position, bucket, occurrence, time, utc_offset, source, value, unit, flag, threshold, marks, $3
      FROM unnest($2::int8[], $4::int8[], $5::int8[], $6::int8[], $7::int8[], $8::int8[], $9::int8[], $10::int8[],
        $11::float8[], $12::int8[], $13::int8[], $14::float8[], $15::int8[])
        AS i(seq, series, position, bucket, occurrence, time, utc_offset, source, value, unit, flag, threshold, marks)
      ORDER BY seq
      ON CONFLICT (logbook, series, position, value_bucket, occurrence) DO NOTHING RETURNING seq
      """, logbook, .integers(indices.map(number)), .integer(writer.node),
      .integers(indices.map { series[$0] }), .integers(inserted.map(\.position)),
      .integers(inserted.map(\.valueBucket)), .integers(inserted.map { Int64($0.occurrence) }),
      .integers(inserted.map(\.deviceTime.seconds)),
      .integers(inserted.map { Int64($0.placement.utcOffset) }),
      .integers(inserted.map { Int64($0.placement.source.rawValue) }), .numbers(measured.map(\.value)),
      .integers(measured.map(\.unit)), .integers(measured.map(\.flag)), .numbers(measured.map(\.threshold)),
      .integers(inserted.map { Int64($0.marks.rawValue) }))
    var stored: Set<Int64> = []
    stored.reserveCapacity(rows.count)
    for row in 0..<rows.count { stored.insert(try rows.integer(row, 0)) }
    return stored
  }

  /// Finds which of the readings with these indexes are stored, and which of them have another value.
  ///
  /// Each reading is looked up separately. ORDER BY and LIMIT make the planner use the primary key. With only
  /// equality conditions, it would read the whole logbook if the statistics do not contain the logbook yet.
  private func stored(
    _ indices: [Int], _ readings: [Reading], _ series: [Int64]
  ) throws -> (known: Set<Int>, differing: [Int]) {
    guard !indices.isEmpty else { return ([], []) }
    let rows = try writer.transaction.rows(
      """
      SELECT i.ord, r.value, r.unit, r.range_flag, r.threshold
      FROM unnest($2::int8[], $3::int8[], $4::int8[], $5::int8[])
        WITH ORDINALITY AS i(series, position, bucket, occurrence, ord)
      CROSS JOIN LATERAL (
        SELECT value, unit, range_flag, threshold FROM glucoport.reading r
        WHERE r.logbook = $1 AND r.series = i.series AND r.position >= i.position AND r.position <= i.position
          AND r.value_bucket = i.bucket AND r.occurrence = i.occurrence ORDER BY r.position LIMIT 1
      ) r
      """, logbook, .integers(indices.map { series[$0] }), .integers(indices.map { readings[$0].position }),
      .integers(indices.map { readings[$0].valueBucket }),
      .integers(indices.map { Int64(readings[$0].occurrence) }))
    var (known, differing) = (Set<Int>(minimumCapacity: rows.count), [Int]())
    for row in 0..<rows.count {
      let index = indices[Int(try rows.integer(row, 0)) - 1]
      known.insert(index)
      let found = try StoredColumns(rows, row, from: 1).measurement()
      if !found.agrees(with: readings[index].measurement) { differing.append(index) }
    }
    return (known, differing)
  }
}

/// A measurement in four columns: value, unit, range flag, threshold.
struct StoredColumns {
  let value: Double?
  let unit: Int64
  /// 0 for a value within the device's range, 1 for LO, 2 for HI.
  let flag: Int64
  let threshold: Double?

  init(_ measurement: Measurement) {
    switch measurement {
    case .value(let quantity): (value, flag, threshold) = (quantity.number, 0, nil)
    case .low(let below, _): (value, flag, threshold) = (nil, 1, below)
    case .high(let above, _): (value, flag, threshold) = (nil, 2, above)
    }
    unit = Int64(measurement.unit.rawValue)
  }

  init(value: Double?, unit: Int64, flag: Int64, threshold: Double?) {
    (self.value, self.unit, self.flag, self.threshold) = (value, unit, flag, threshold)
  }

  init(_ rows: DatabaseRows, _ row: Int, from column: Int) throws(DatabaseError) {
    value = try rows.number(row, column)
    unit = try rows.integer(row, column + 1)
    flag = try rows.integer(row, column + 2)
    threshold = try rows.number(row, column + 3)
  }

  func measurement() throws(DatabaseError) -> Measurement {
    guard let code = UInt8(exactly: unit), let unit = GlucoseUnit(rawValue: code) else {
      throw .unexpected("a reading has the unknown unit \(self.unit)")
    }
    for number in [value, threshold].compactMap(\.self) where !PlausibleAmounts.stated.contains(number) {
      throw .unexpected("a reading has an impossible value")
    }
    switch (flag, value) {
    case (0, let value?): return .value(Quantity(value, unit))
    case (1, _): return .low(below: threshold, unit)
    case (2, _): return .high(above: threshold, unit)
    default: throw .unexpected("a reading has the unknown range flag \(flag)")
    }
  }
}

/// The numbers that a logbook assigned to series. A series has the readings of one device and one kind,
/// placed either all by ticks or all by shown times (`PositionKind`).
private struct SeriesWriter {
  private struct SeriesKey: Hashable {
    let device: Int64
    let kind: Int64
    let positionKind: Int64
  }

  private let writer: PostgresWriter
  private var logbook: SQLValue { .integer(writer.entry.logbook) }

  init(_ writer: PostgresWriter) { self.writer = writer }

  /// The number of the series of each reading in a batch, in the order of the readings. Unknown series are
  /// added.
  func numbers(of batch: ReadingBatch) throws -> [Int64] {
    let devices = try deviceNumbers(batch.devices)
    let keys = batch.readings.map { reading in
      SeriesKey(
        device: devices[Int(reading.device.number)], kind: Int64(reading.kind.rawValue),
        positionKind: Int64(reading.positionKind.rawValue))
    }
    var (unique, known) = ([SeriesKey](), Set<SeriesKey>())
    for key in keys where known.insert(key).inserted { unique.append(key) }
    var numbers = try find(unique)
    let missing = unique.filter { numbers[$0] == nil }
    if !missing.isEmpty {
      try writer.transaction.rows(
        """
        INSERT INTO glucoport.series (logbook, id, device, kind, position_kind)
        SELECT $1, (SELECT coalesce(max(id), 0) FROM glucoport.series WHERE logbook = $1) + ord, device, kind, position_kind
        FROM unnest($2::int8[], $3::int8[], $4::int8[]) WITH ORDINALITY AS i(device, kind, position_kind, ord)
        """, logbook, .integers(missing.map(\.device)), .integers(missing.map(\.kind)),
        .integers(missing.map(\.positionKind)))
      numbers.merge(try find(missing)) { first, _ in first }
    }
    return try keys.map { key in
      guard let number = numbers[key] else { throw DatabaseError.unexpected("a series is missing") }
      return number
    }
  }

  private func find(_ keys: [SeriesKey]) throws(DatabaseError) -> [SeriesKey: Int64] {
    let rows = try writer.transaction.rows(
      """
      SELECT i.ord, s.id FROM unnest($2::int8[], $3::int8[], $4::int8[])
        WITH ORDINALITY AS i(device, kind, position_kind, ord)
      JOIN glucoport.series s ON s.logbook = $1 AND s.device = i.device AND s.kind = i.kind
        AND s.position_kind = i.position_kind
      """, logbook, .integers(keys.map(\.device)), .integers(keys.map(\.kind)),
      .integers(keys.map(\.positionKind)))
    var found: [SeriesKey: Int64] = [:]
    for row in 0..<rows.count { found[keys[Int(try rows.integer(row, 0)) - 1]] = try rows.integer(row, 1) }
    return found
  }

  /// The number of each device. Unknown devices are added. Two devices of a batch can be the same device in
  /// the database.
  private func deviceNumbers(_ devices: [Device]) throws -> [Int64] {
    var numbers = try find(devices)
    var (missing, known) = ([Device](), Set<String>())
    for (device, number) in zip(devices, numbers) where number == nil {
      if known.insert(ReadingIdentity.text(of: device)).inserted { missing.append(device) }
    }
    if !missing.isEmpty {
      try writer.transaction.rows(
        """
        INSERT INTO glucoport.device (logbook, id, vendor, model, serial, format)
        SELECT $1, (SELECT coalesce(max(id), 0) FROM glucoport.device WHERE logbook = $1) + ord, vendor, model, serial, format
        FROM unnest($2::bytea[], $3::bytea[], $4::bytea[], $5::bytea[]) WITH ORDINALITY
          AS i(vendor, model, serial, format, ord)
        """, logbook, .data(missing.map { Array($0.vendor.utf8) }),
        .data(missing.map { Array($0.model.utf8) }),
        .data(missing.map { Array($0.serial.utf8) }), .data(missing.map { Array($0.format.utf8) }))
      numbers = try find(devices)
    }
    return try numbers.map { number in
      guard let number else { throw DatabaseError.unexpected("a device is missing") }
      return number
    }
  }

  private func find(_ devices: [Device]) throws(DatabaseError) -> [Int64?] {
    let rows = try writer.transaction.rows(
      """
      WITH i AS MATERIALIZED (SELECT * FROM unnest($2::bytea[], $3::bytea[], $4::bytea[], $5::bytea[])
        WITH ORDINALITY AS i(vendor, model, serial, format, ord))
      SELECT i.ord, d.id FROM i JOIN glucoport.device d
        ON d.logbook = $1 AND d.vendor = i.vendor AND d.serial = i.serial AND d.serial <> ''
      UNION ALL SELECT i.ord, d.id FROM i JOIN glucoport.device d
        ON d.logbook = $1 AND d.format = i.format AND d.model = i.model AND d.serial = '' AND i.serial = ''
      """, logbook, .data(devices.map { Array($0.vendor.utf8) }), .data(devices.map { Array($0.model.utf8) }),
      .data(devices.map { Array($0.serial.utf8) }), .data(devices.map { Array($0.format.utf8) }))
    var numbers = [Int64?](repeating: nil, count: devices.count)
    for row in 0..<rows.count { numbers[Int(try rows.integer(row, 0)) - 1] = try rows.integer(row, 1) }
    return numbers
  }
}
