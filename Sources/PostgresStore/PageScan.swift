// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookAPI

/// Reads one page of changes: readings and records, in the order of the sequence numbers that they share.
struct PageScan {
  private let transaction: DatabaseTransaction
  private let entry: PostgresEntry
  private let node: Int64
  private let limit: Int
  private var readings: PageReadings
  private var records = PageRecords()
  private var place: Int64

  private var logbook: SQLValue { .integer(entry.logbook) }

  /// The maximum number of windows (ranges of sequence numbers) that one page reads without finding a change
  /// of other nodes. Gaps between the numbers can be long.
  private static let maxWindows = 200

  /// - Parameter limit: the maximum number of items on the page; at least one item is allowed.
  init(_ transaction: DatabaseTransaction, _ entry: PostgresEntry, node: Int64, limit: Int) {
    self.transaction = transaction
    self.entry = entry
    self.node = node
    self.limit = PageLimits.items(limit)
    readings = PageReadings(transaction, entry.logbook)
    place = entry.cursor
  }

  /// Reads the page of all changes; nil if there are no more changes.
  mutating func page() throws -> ChangePage? {
    guard place < entry.last else { return nil }
    var (scanned, windows) = (0, 0)
    while place < entry.last, readings.count + records.count < limit, scanned < PageLimits.maxScanned,
      windows < Self.maxWindows
    {
      // Usually the numbers have no gaps, so a window of `limit` numbers fills the page.
      let width = windows == 0 ? limit : PageLimits.maxScanned
      let until = min(entry.last, place + Int64(width))
      let start = place
      guard try scan(until: until) else { break }
      windows += 1
      guard place < entry.last, readings.count + records.count < limit else { break }
      scanned += try count(after: start, until: until)
    }
    return try finish(cursor: place, hasMore: place < entry.last)
  }

  /// Reads the page of one `ChangePart` of the logbook.
  func page(of part: ChangePart) throws -> ChangePage {
    var scan = self
    switch part {
    case .readings(let from, let until): return try scan.readings(from: from, until: until)
    case .records: return try scan.allRecords()
    case .record(let guid): return try scan.record(guid)
    }
  }
}

extension PageScan {
  /// Adds the changes of other nodes up to the number `until`.
  ///
  /// - Returns: whether all of them fit on the page.
  private mutating func scan(until: Int64) throws -> Bool {
    let room = limit - readings.count - records.count
    let rows = try transaction.rows(
      """
      SELECT \(PageReadings.columns) FROM glucoport.reading
      WHERE logbook = $1 AND seq > $2 AND seq <= $3 AND node <> $4 ORDER BY seq LIMIT $5
      """, logbook, .integer(place), .integer(until), .integer(node), .integer(Int64(room)))
    let others = try RecordRows(transaction, entry.logbook, after: place, until: until, notOf: node)
    var next = 0
    for row in 0..<rows.count {
      let seq = try rows.integer(row, 0)
      while next < others.count, others[next].seq < seq {
        guard try add(others[next]) else { return false }
        next += 1
      }
      if next == others.count, others.isTruncated { return false }
      guard readings.count + records.count < limit else { return false }
      try readings.add(rows, row)
      place = seq
    }
    // If not all readings of the window were read, the records after the last reading belong to the next
    // page.
    guard rows.count < room else { return false }
    while next < others.count {
      guard try add(others[next]) else { return false }
      next += 1
    }
    guard !others.isTruncated else { return false }
    place = until
    return true
  }

  private mutating func add(_ row: RecordRows.ScannedRecord) throws -> Bool {
    guard readings.count + records.count < limit, records.fits(stateBytes: row.stateBytes) else {
      return false
    }
    records.append(row.record)
    place = row.seq
    return true
  }

  /// The number of changes with sequence numbers above `after`, up to and including `until`.
  private func count(after: Int64, until: Int64) throws -> Int {
    let rows = try transaction.rows(
      """
      SELECT (SELECT count(*) FROM glucoport.reading WHERE logbook = $1 AND seq > $2 AND seq <= $3)
        + (SELECT count(*) FROM glucoport.record WHERE logbook = $1 AND seq > $2 AND seq <= $3)
      """, logbook, .integer(after), .integer(until))
    return Int(try rows.integer(0, 0))
  }

  private mutating func finish(cursor: Int64, hasMore: Bool) throws -> ChangePage {
    ChangePage(
      readings: try readings.batch(), records: records.records, cursor: try entry.text(cursor, transaction),
      hasMore: hasMore)
  }

  private mutating func readings(from: Int64, until: Int64) throws -> ChangePage {
    let rows = try transaction.rows(
      """
      SELECT \(PageReadings.columns) FROM glucoport.reading
      WHERE logbook = $1 AND seq > $2 AND device_time >= $3 AND device_time < $4 AND node <> $5 ORDER BY seq LIMIT $6
      """, logbook, .integer(place), .integer(from), .integer(until), .integer(node), .integer(Int64(limit)))
    for row in 0..<rows.count {
      try readings.add(rows, row)
      place = try rows.integer(row, 0)
    }
    return rows.count == limit
      ? try finish(cursor: place, hasMore: true) : try finish(cursor: entry.last, hasMore: false)
  }

  private mutating func allRecords() throws -> ChangePage {
    let rows = try RecordRows(transaction, entry.logbook, after: place, until: entry.last, notOf: node)
    for row in 0..<rows.count where !(try add(rows[row])) {
      return try finish(cursor: place, hasMore: true)
    }
    return rows.isTruncated
      ? try finish(cursor: place, hasMore: true) : try finish(cursor: entry.last, hasMore: false)
  }

  private mutating func record(_ guid: String) throws -> ChangePage {
    let rows = try RecordRows(transaction, entry.logbook, guid)
    if rows.count == 1 { _ = try add(rows[0]) }
    return try finish(cursor: entry.last, hasMore: false)
  }
}

/// Records in the order of their sequence numbers, up to the number that fits on a page.
struct RecordRows {
  struct ScannedRecord {
    let seq: Int64
    let record: RemoteRecord
    /// The size of the state as JSON, in bytes.
    let stateBytes: Int
  }

  private var rows: [ScannedRecord] = []
  /// Whether there are more records in the requested range of numbers.
  private(set) var isTruncated = false

  var count: Int { rows.count }
  subscript(_ index: Int) -> ScannedRecord { rows[index] }

  /// Reads the records of other nodes in a range of sequence numbers. The database itself stops at the size
  /// of a page, so that no further states are transferred.
  init(
    _ transaction: DatabaseTransaction, _ logbook: Int64, after: Int64, until: Int64, notOf node: Int64
  ) throws {
    try read(
      try transaction.rows(
        """
        SELECT seq, guid, revision, state FROM (
          SELECT seq, guid, revision, state,
            sum(octet_length(state)) OVER (ORDER BY seq) - octet_length(state) AS before
          FROM glucoport.record WHERE logbook = $1 AND seq > $2 AND seq <= $3 AND node <> $4 ORDER BY seq LIMIT $5
        ) r WHERE before <= $6 ORDER BY seq
        """, .integer(logbook), .integer(after), .integer(until), .integer(node),
        .integer(Int64(WireProtocol.maxRecords + 1)), .integer(Int64(PageRecords.maxBytes))))
    isTruncated =
      count > WireProtocol.maxRecords || rows.reduce(0) { $0 + $1.stateBytes } > PageRecords.maxBytes
  }

  /// Reads the record with this guid, if it exists.
  init(_ transaction: DatabaseTransaction, _ logbook: Int64, _ guid: String) throws {
    try read(
      try transaction.rows(
        "SELECT seq, guid, revision, state FROM glucoport.record WHERE logbook = $1 AND guid = $2",
        .integer(logbook), .text(guid)))
  }

  private mutating func read(_ found: DatabaseRows) throws {
    for row in 0..<found.count {
      rows.append(
        ScannedRecord(
          seq: try found.integer(row, 0),
          record: RemoteRecord(
            guid: try found.text(row, 1), revision: try found.text(row, 2), state: try found.state(row, 3)),
          stateBytes: try found.text(row, 3).utf8.count))
    }
  }
}

/// Collects readings from rows, and reads the devices of their series.
struct PageReadings {
  private struct PageSeries {
    let device: Device
    let kind: ReadingKind
    let positionKind: PositionKind
  }

  private let transaction: DatabaseTransaction
  private let logbook: Int64
  private var rows: [(series: Int64, reading: Reading, valueBucket: Int64)] = []

  init(_ transaction: DatabaseTransaction, _ logbook: Int64) {
    self.transaction = transaction
    self.logbook = logbook
  }

  var count: Int { rows.count }

  /// The columns that `add` reads. Several small values are combined into one number, since receiving a value
  /// takes as much time as several additions. CHECK constraints of the table limit these values.
  static let columns = """
    seq, (series::int8 << 32) + value_bucket, position, device_time, value, threshold, (occurrence::int8 << 32) + marks, \
    ((utc_offset + \(maxOffset)) << 6) + (offset_source << 3) + (unit << 2) + range_flag
    """
  private static let maxOffset: Int64 = 86_400

  /// Adds the reading in a row. Its device is read later, by `batch`.
  mutating func add(_ found: DatabaseRows, _ row: Int) throws(DatabaseError) {
    let (series, bucket) = Self.halves(try found.integer(row, 1))
    let (occurrence, marks) = Self.halves(try found.integer(row, 6))
    let bits = try found.integer(row, 7)
    guard let source = OffsetSource(rawValue: UInt8(bits >> 3 & 7)) else {
      throw .unexpected("reading \(try found.integer(row, 0)) has an unknown offset source")
    }
    let offset = Int32(clamping: (bits >> 6) - Self.maxOffset)
    let stored = StoredColumns(
      value: try found.number(row, 4), unit: bits >> 2 & 1, flag: bits & 3,
      threshold: try found.number(row, 5))
    var reading = Reading(
      device: DeviceIndex(0), kind: .cbg, at: DeviceTime(seconds: try found.integer(row, 3)),
      placement: Placement(utcOffset: offset, source: source), try stored.measurement(),
      marks: ReadingMarks(rawValue: UInt16(clamping: marks)), line: 0)
    reading.position = try found.integer(row, 2)
    reading.occurrence = Int32(clamping: occurrence)
    reading.occurrenceIsStated = true
    rows.append((series, reading, bucket))
  }

  /// Splits a sum into the two numbers that it combines. The sum is the first number times 2^32, plus the
  /// second number, which has 32 bits and can be negative.
  private static func halves(_ sum: Int64) -> (Int64, Int64) {
    let second = Int64(Int32(truncatingIfNeeded: sum))
    return ((sum - second) >> 32, second)
  }

  /// The collected readings with their devices, which are in the order of their first use.
  func batch() throws -> ReadingBatch {
    guard !rows.isEmpty else { return ReadingBatch() }
    let known = try Self.series(Set(rows.map(\.series)), transaction, logbook)
    var batch = ReadingBatch()
    var indices: [Int64: DeviceIndex] = [:]
    batch.readings.reserveCapacity(rows.count)
    for (number, row, bucket) in rows {
      guard let series = known[number] else { throw DatabaseError.unexpected("series \(number) is missing") }
      var reading = row
      if let index = indices[number] {
        reading.device = index
      } else {
        reading.device = DeviceIndex(Int32(batch.devices.count))
        indices[number] = reading.device
        batch.devices.append(series.device)
      }
      reading.kind = series.kind
      reading.positionKind = series.positionKind
      // The stored value bucket must match the value. Otherwise other stores would compute another identity.
      guard reading.valueBucket == bucket else {
        throw DatabaseError.unexpected("the bucket of a reading does not match its value")
      }
      batch.readings.append(reading)
    }
    return batch
  }

  /// The devices, kinds and position kinds of the series with these numbers.
  private static func series(
    _ numbers: Set<Int64>, _ transaction: DatabaseTransaction, _ logbook: Int64
  ) throws(DatabaseError) -> [Int64: PageSeries] {
    let rows = try transaction.rows(
      """
      SELECT s.id, d.vendor, d.model, d.serial, d.format, s.kind, s.position_kind FROM glucoport.series s
      JOIN glucoport.device d ON d.logbook = $1 AND d.id = s.device
      WHERE s.logbook = $1 AND s.id = ANY ($2::int8[])
      """, .integer(logbook), .integers(Array(numbers)))
    var found: [Int64: PageSeries] = [:]
    for row in 0..<rows.count {
      guard let kind = ReadingKind(rawValue: UInt8(clamping: try rows.integer(row, 5))),
        let positionKind = PositionKind(rawValue: UInt8(clamping: try rows.integer(row, 6)))
      else { throw .unexpected("a series has an unknown kind") }
      found[try rows.integer(row, 0)] = PageSeries(
        device: Device(
          vendor: try rows.text(row, 1), model: try rows.text(row, 2), serial: try rows.text(row, 3),
          format: try rows.text(row, 4)), kind: kind, positionKind: positionKind)
    }
    return found
  }
}

/// Reads the rows that a comparison of a logbook with a store needs.
struct DigestReader {
  private let transaction: DatabaseTransaction
  private let logbook: Int64

  /// The number of readings that one SQL statement returns, which limits the use of memory.
  private static let chunk = 50_000
  private static let recordChunk = 500

  init(_ transaction: DatabaseTransaction, _ logbook: Int64) {
    self.transaction = transaction
    self.logbook = logbook
  }

  /// Adds the readings that are not yet included, up to the sequence number `last`.
  func extend(_ buckets: inout ReadingBuckets, until last: Int64) throws {
    guard buckets.last < last else { return }
    let devices = try transaction.rows(
      """
      SELECT s.id, d.vendor, d.model, d.serial, d.format, s.kind, s.position_kind FROM glucoport.series s
      JOIN glucoport.device d ON d.logbook = $1 AND d.id = s.device WHERE s.logbook = $1
      """, .integer(logbook))
    var series: [Int64: (device: Device, kind: ReadingKind, positionKind: PositionKind)] = [:]
    for row in 0..<devices.count {
      guard let kind = ReadingKind(rawValue: UInt8(clamping: try devices.integer(row, 5))),
        let positionKind = PositionKind(rawValue: UInt8(clamping: try devices.integer(row, 6)))
      else { throw DatabaseError.unexpected("a series has an unknown kind") }
      series[try devices.integer(row, 0)] = (
        Device(
          vendor: try devices.text(row, 1), model: try devices.text(row, 2),
          serial: try devices.text(row, 3),
          format: try devices.text(row, 4)), kind, positionKind
      )
    }
    var keys = ReadingKeys()
    while true {
      let rows = try transaction.rows(
        """
        SELECT series, position, value_bucket, occurrence, seq FROM glucoport.reading
        WHERE logbook = $1 AND seq > $2 ORDER BY seq LIMIT $3
        """, .integer(logbook), .integer(buckets.last), .integer(Int64(Self.chunk)))
      for row in 0..<rows.count {
        let number = try rows.integer(row, 0)
        let key = try keys.key(
          of: number, position: try rows.integer(row, 1), valueBucket: try rows.integer(row, 2),
          occurrence: try rows.integer(row, 3)
        ) {
          guard let found = series[number] else { throw DatabaseError.unexpected("a series is missing") }
          return found
        }
        buckets.insert(key, seq: try rows.integer(row, 4))
      }
      guard rows.count == Self.chunk else { return }
    }
  }

  /// The readings with these sequence numbers.
  func readings(_ numbers: [Int64]) throws -> ReadingBatch {
    let rows = try transaction.rows(
      """
      SELECT \(PageReadings.columns)
      FROM unnest($2::int8[]) AS i(number)
      CROSS JOIN LATERAL (
        SELECT * FROM glucoport.reading r
        WHERE r.logbook = $1 AND r.seq >= i.number AND r.seq <= i.number ORDER BY r.seq LIMIT 1
      ) r
      """, .integer(logbook), .integers(numbers.sorted()))
    var collector = PageReadings(transaction, logbook)
    for row in 0..<rows.count { try collector.add(rows, row) }
    return try collector.batch()
  }

  func recordDigests() throws -> IdentityDigests {
    var digests = IdentityDigests()
    try forEachRecord(after: "") { guid, _, state, _ in
      digests.insert(guid, state)
      return true
    }
    return digests
  }

  /// A page of the records in these buckets of `IdentityDigests`, beginning after this id. It has at least
  /// one record if there is any.
  func records(in buckets: Set<Int>, after guid: String?) throws -> RecordPage {
    var page = PageRecords()
    var hasMore = false
    try forEachRecord(after: guid ?? "") { guid, revision, state, bytes in
      guard buckets.contains(IdentityDigests.bucket(ofRecord: guid)) else { return true }
      guard page.fits(stateBytes: bytes) else {
        hasMore = true
        return false
      }
      page.append(RemoteRecord(guid: guid, revision: revision, state: state))
      return true
    }
    return RecordPage(records: page.records, hasMore: hasMore)
  }

  /// Passes records to `body`, ordered by guid, until it returns false.
  private func forEachRecord(
    after: String,
    _ body: (_ guid: String, _ revision: String, _ state: RecordState, _ bytes: Int) throws -> Bool
  ) throws {
    var after = after
    while true {
      // Each SQL query returns some megabytes at most, but at least one record.
      let rows = try transaction.rows(
        """
        SELECT guid, revision, state FROM (
          SELECT guid, revision, state,
            sum(octet_length(state)) OVER (ORDER BY guid) - octet_length(state) AS before
          FROM glucoport.record WHERE logbook = $1 AND guid > $2 ORDER BY guid LIMIT $3
        ) r WHERE before <= $4 ORDER BY guid
        """, .integer(logbook), .text(after), .integer(Int64(Self.recordChunk)),
        .integer(Int64(PageRecords.maxBytes)))
      guard rows.count > 0 else { return }
      for row in 0..<rows.count {
        after = try rows.text(row, 0)
        let bytes = try rows.text(row, 2).utf8.count
        guard try body(after, try rows.text(row, 1), try rows.state(row, 2), bytes) else { return }
      }
    }
  }
}
