// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import LogbookAPI
import SQLiteRows

/// Reads readings from a logbook's file for comparisons with a client's store.
extension ReadingBuckets {
  /// Adds the readings of the file that are not yet included.
  mutating func extend(_ database: Database) throws {
    var keys = ReadingKeys()
    let table = SeriesNumbers(database: database)
    let row = try RawStatement(
      keptBy: database,
      "SELECT series, position, value_bucket, occurrence, seq FROM reading WHERE seq > ?1 ORDER BY seq")
    row.bind(last, at: 1)
    while try row.step() {
      let place = try StoredPlace(checking: row, from: 0, seq: row.integer(4))
      let key = try keys.key(
        of: place.series, position: place.position, valueBucket: place.valueBucket,
        occurrence: place.occurrence
      ) { try table.series(place.series) }
      insert(key, seq: row.integer(4))
    }
  }

  /// The readings in these buckets of `IdentityDigests`; nil if they are more than one response can contain.
  /// Only the rows of these readings are read.
  func readings(in wanted: Set<Int>, _ database: Database) throws -> ReadingBatch? {
    guard let numbers = numbers(in: wanted) else { return nil }
    var collected = CollectedReadings(database)
    let row = try RawStatement(
      keptBy: database, "SELECT \(CollectedReadings.columns) FROM reading WHERE seq = ?1")
    for number in numbers {
      row.reset()
      row.bind(number, at: 1)
      if try row.step() { try collected.add(row) }
    }
    return collected.batch
  }
}

/// Reads all records for a comparison, row by row. Readings are much more numerous, so `ReadingBuckets` keeps
/// what was read of them.
struct DigestScan {
  let database: Database

  func recordDigests() throws -> IdentityDigests {
    var digests = IdentityDigests()
    let rows = try Row.fetchCursor(database.cachedStatement(sql: "SELECT guid, state FROM record"))
    while let row = try rows.next() {
      let record = StoredRow(row, of: "record")
      digests.insert(try record.guid(0), try record.state(1))
    }
    return digests
  }

  /// A page of the records in these buckets of `IdentityDigests`, beginning after this id. It has at least
  /// one record if there is any.
  func records(in buckets: Set<Int>, after guid: String?) throws -> RecordPage {
    var page = PageRecords()
    let rows = try Row.fetchCursor(
      database.cachedStatement(sql: "SELECT guid, revision, state FROM record WHERE guid > ? ORDER BY guid"),
      arguments: [guid ?? ""])
    while let row = try rows.next() {
      let record = StoredRow(row, of: "record")
      let (guid, state): (String, String) = (try record.guid(0), try record[2])
      guard buckets.contains(IdentityDigests.bucket(ofRecord: guid)) else { continue }
      guard page.fits(stateBytes: state.utf8.count) else {
        return RecordPage(records: page.records, hasMore: true)
      }
      page.append(RemoteRecord(guid: guid, revision: try record[1], state: try record.state(2)))
    }
    return RecordPage(records: page.records, hasMore: false)
  }
}

/// Reads a page of one `ChangePart` of a logbook. For readings and for all records, changes that the
/// requesting node made are left out. Items are in the order of their changes, so that a page continues
/// exactly where the previous one ended.
struct PartScan {
  private let database: Database
  private let node: Int64
  private let limit: Int

  /// - Parameter limit: the maximum number of items on the page; at least one item is allowed.
  init(_ database: Database, node: Int64, limit: Int) {
    self.database = database
    self.node = node
    self.limit = PageLimits.items(limit)
  }

  /// Reads the page after a sequence number, inside the caller's transaction.
  func page(of part: ChangePart, after place: Int64) throws -> ChangePage {
    switch part {
    case .readings(let from, let until): try readings(from: from, until: until, after: place)
    case .records: try records(after: place)
    case .record(let guid): try record(guid)
    }
  }

  private func readings(from: Int64, until: Int64, after place: Int64) throws -> ChangePage {
    let row = try RawStatement(
      keptBy: database,
      """
      SELECT \(ChangeRows.readingColumns) FROM reading
      WHERE seq > ?1 AND device_time >= ?2 AND device_time < ?3 AND node <> ?4 ORDER BY seq LIMIT ?5
      """)
    for (index, value) in [place, from, until, node, Int64(limit)].enumerated() {
      row.bind(value, at: Int32(index + 1))
    }
    var builder = PageBuilder(database)
    var last = place
    while try row.step() {
      try builder.add(row)
      last = row.integer(0)
    }
    let positions = Positions(database: database)
    guard builder.count < limit else {
      return builder.page(cursor: try positions.text(last), hasMore: true)
    }
    return builder.page(cursor: try positions.text(positions.last()), hasMore: false)
  }

  private func records(after place: Int64) throws -> ChangePage {
    let statement = try database.cachedStatement(
      sql: "SELECT \(ChangeRows.ChangedRecord.columns) FROM record WHERE seq > ? AND node <> ? ORDER BY seq")
    let rows = try Row.fetchCursor(statement, arguments: [place, node])
    let positions = Positions(database: database)
    var builder = PageBuilder(database)
    var last = place
    while let row = try rows.next() {
      let stored = StoredRow(row, of: "record", key: 1..<2)
      guard builder.count < limit, try builder.add(ChangeRows.ChangedRecord(stored)) else {
        return builder.page(cursor: try positions.text(last), hasMore: true)
      }
      last = try stored[0]
    }
    return builder.page(cursor: try positions.text(positions.last()), hasMore: false)
  }

  private func record(_ guid: String) throws -> ChangePage {
    var builder = PageBuilder(database)
    let statement = try database.cachedStatement(
      sql: "SELECT \(ChangeRows.ChangedRecord.columns) FROM record WHERE guid = ?")
    if let row = try Row.fetchOne(statement, arguments: [guid]) {
      _ = try builder.add(ChangeRows.ChangedRecord(StoredRow(row, of: "record", key: 1..<2)))
    }
    let positions = Positions(database: database)
    return builder.page(cursor: try positions.text(positions.last()), hasMore: false)
  }
}

/// Reads the changes after a sequence number. Readings and records share these numbers, and are returned in
/// the order of these numbers.
struct ChangeScan {
  private let database: Database
  private let node: Int64
  private let limit: Int
  private var builder: PageBuilder
  private var place: Int64

  /// - Parameter limit: the maximum number of items on the page; at least one item is allowed.
  init(_ database: Database, node: Int64, after place: Int64, limit: Int) {
    self.database = database
    self.node = node
    self.place = place
    builder = PageBuilder(database)
    self.limit = PageLimits.items(limit)
  }

  /// Reads the page inside the caller's transaction; nil if there are no more changes.
  mutating func page() throws -> ChangePage? {
    let positions = Positions(database: database)
    let last = try positions.last()
    guard place < last else { return nil }
    try scan()
    return builder.page(cursor: try positions.text(place), hasMore: place < last)
  }
}

extension ChangeScan {
  private mutating func scan() throws {
    let rows = try ChangeRows(database, after: place)
    var scanned = 0
    while scanned < PageLimits.maxScanned, builder.count < limit {
      switch try rows.next() {
      case .reading(let seq)?:
        if rows.readingNode != node { try builder.add(rows.reading) }
        place = seq
      case .record(let seq, let record)?:
        if record.node != node {
          guard try builder.add(record) else { return }
        }
        place = seq
      case nil: return
      }
      scanned += 1
    }
  }
}

/// Reads the rows of readings and records after a sequence number, in the order of these numbers.
final class ChangeRows {
  struct ChangedRecord {
    let guid: String
    let revision: String
    let state: RecordState
    /// The size of the state as JSON, in bytes.
    let stateBytes: Int
    let node: Int64

    static let columns = "seq, guid, revision, state, node"

    init(_ row: StoredRow) throws {
      (guid, revision, node) = (try row.guid(1), try row[2], try row[4])
      (state, stateBytes) = (try row.state(3), (try row[3] as String).utf8.count)
    }
  }

  enum RowChange {
    /// A reading. Its row can be read in `ChangeRows.reading` until the next change is requested.
    case reading(seq: Int64)
    case record(seq: Int64, ChangedRecord)
  }

  /// The columns of each row of readings: those of `CollectedReadings`, then the node that wrote the reading.
  static let readingColumns = "\(CollectedReadings.columns), node"

  /// The SQL statement whose current row is the reading that `next` returned last.
  let reading: RawStatement
  private let records: RowCursor
  private var nextReading: Int64?
  private var nextRecord: (seq: Int64, row: ChangedRecord)?
  private var mustStep = false

  init(_ database: Database, after place: Int64) throws {
    reading = try RawStatement(
      keptBy: database,
      "SELECT \(Self.readingColumns) FROM reading WHERE seq > ?1 ORDER BY seq")
    let statement = try database.cachedStatement(
      sql: "SELECT \(ChangedRecord.columns) FROM record WHERE seq > ? ORDER BY seq")
    records = try Row.fetchCursor(statement, arguments: [place])
    reading.bind(place, at: 1)
    nextReading = try reading.step() ? reading.integer(0) : nil
    nextRecord = try readRecord()
  }

  /// The number of the node that wrote the reading which `next` returned last.
  var readingNode: Int64 { reading.integer(13) }

  /// Moves to the next change; nil at the end.
  func next() throws -> RowChange? {
    if mustStep { nextReading = try reading.step() ? reading.integer(0) : nil }
    mustStep = false
    if let seq = nextReading, nextRecord.map({ seq < $0.seq }) ?? true {
      mustStep = true
      return .reading(seq: seq)
    }
    guard let record = nextRecord else { return nil }
    nextRecord = try readRecord()
    return .record(seq: record.seq, record.row)
  }

  private func readRecord() throws -> (seq: Int64, row: ChangedRecord)? {
    guard let row = try records.next() else { return nil }
    let stored = StoredRow(row, of: "record", key: 1..<2)
    return (try stored[0], try ChangedRecord(stored))
  }
}

/// Collects the readings and records of one page of changes.
struct PageBuilder {
  private var readings: CollectedReadings
  private var records = PageRecords()

  init(_ database: Database) { readings = CollectedReadings(database) }

  var count: Int { readings.count + records.count }

  /// A page with the items that were added.
  func page(cursor: String, hasMore: Bool) -> ChangePage {
    ChangePage(
      readings: readings.batch, records: records.records, cursor: cursor, hasMore: hasMore)
  }

  /// Adds the reading in a row with the columns `ChangeRows.readingColumns`.
  mutating func add(_ row: RawStatement) throws { try readings.add(row) }

  /// Adds a record. Returns false if the record does not fit on the page.
  mutating func add(_ row: ChangeRows.ChangedRecord) throws -> Bool {
    guard records.fits(stateBytes: row.stateBytes) else { return false }
    records.append(RemoteRecord(guid: row.guid, revision: row.revision, state: row.state))
    return true
  }
}

/// Collects readings from rows, together with the devices of their series.
struct CollectedReadings {
  /// The columns with which each row must begin, in this order.
  static let columns =
    "seq, series, position, value_bucket, occurrence, \(RawStatement.readingColumns.joined(separator: ", "))"

  private let database: Database
  private var readings: [Reading] = []
  private var devices: [Device] = []
  private var known: [Int64: StoredSeries] = [:]

  init(_ database: Database) { self.database = database }

  var count: Int { readings.count }

  var batch: ReadingBatch { ReadingBatch(devices: devices, readings: readings) }

  /// Adds the reading in the current row of an SQL statement.
  mutating func add(_ row: RawStatement) throws {
    let place = try StoredPlace(checking: row, from: 1, seq: row.integer(0))
    let series = try series(place.series)
    do {
      readings.append(try row.reading(at: place, of: series, from: 5, named: ""))
    } catch {
      // The error names only the sequence number, since the server's log must contain no health data.
      throw DamagedRow("reading", ["seq": row.integer(0)], error.reason)
    }
  }

  private mutating func series(_ number: Int64) throws -> StoredSeries {
    if let series = known[number] { return series }
    let found = try SeriesNumbers(database: database).series(number)
    let series = StoredSeries(
      device: DeviceIndex(Int32(devices.count)), kind: found.kind, positionKind: found.positionKind)
    devices.append(found.device)
    known[number] = series
    return series
  }
}

extension StoredPlace {
  /// Reads four columns of a reading, beginning with `column`. `seq` is the sequence number for the error.
  init(checking row: RawStatement, from column: Int32, seq: Int64) throws(DamagedRow) {
    for place in column..<column + 4 {
      if let reason = row.typeProblem(asInteger: place) { throw DamagedRow("reading", ["seq": seq], reason) }
    }
    self.init(row, from: column)
  }
}
