// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import LogbookAPI

/// Reads the changes behind a place in their order: readings and records, merged by their numbers.
struct ChangeScan {
  /// The most changes that one page passes over, so that a long stretch of the node's own writing is no long wait.
  private static let mostScanned = 50_000
  /// Records stop a page before its body is larger than a client takes.
  private static let mostRecordBytes = Wire.mostBodyBytes / 2

  private let database: Database
  private let node: Int64
  private let limit: Int
  private var readings: [Reading] = []
  private var devices: [Device] = []
  private var series: [Int64: (device: DeviceIndex, kind: ReadingKind, axis: Axis)] = [:]
  private var records: [RemoteRecord] = []
  private var recordBytes = 0
  private var place: Int64

  /// - Parameter limit: the most items on the page, of which it takes at least one.
  init(_ database: Database, node: Int64, after place: Int64, limit: Int) {
    self.database = database
    self.node = node
    self.place = place
    self.limit = min(max(limit, 1), Wire.mostReadings)
  }

  /// The page, in the caller's transaction; nil when nothing stands behind the place.
  mutating func page() throws -> ChangePage? {
    let positions = Positions(database: database)
    let last = try positions.last()
    guard place < last else { return nil }
    try scan()
    return ChangePage(
      readings: ReadingBatch(devices: devices, readings: readings), records: records,
      cursor: try positions.text(place), hasMore: place < last)
  }
}

extension ChangeScan {
  private mutating func scan() throws {
    let rows = try ChangeRows(database, after: place)
    defer { rows.close() }
    var scanned = 0
    while scanned < Self.mostScanned, readings.count + records.count < limit {
      switch try rows.next() {
      case .reading(let seq)?:
        if rows.readingNode != node { try add(rows.reading) }
        place = seq
      case .record(let seq, let record)?:
        if record.node != node {
          guard try add(record) else { return }
        }
        place = seq
      case nil: return
      }
      scanned += 1
    }
  }

  private mutating func add(_ row: RawRow) throws {
    let (device, kind, axis) = try series(row.integer(1))
    let source = OffsetSource(rawValue: UInt8(truncatingIfNeeded: row.integer(7))) ?? .stated
    var reading = Reading(
      device: device, kind: kind, at: DeviceTime(seconds: row.integer(5)),
      placement: Placement(utcOffset: Int32(truncatingIfNeeded: row.integer(6)), source: source),
      MeasurementColumns(row, from: 8).measurement,
      marks: ReadingMarks(rawValue: UInt16(truncatingIfNeeded: row.integer(12))), line: 0)
    reading.axis = axis
    reading.position = row.integer(2)
    reading.occurrence = Int32(truncatingIfNeeded: row.integer(4))
    reading.occurrenceIsStated = true
    readings.append(reading)
  }

  private mutating func series(
    _ number: Int64
  ) throws -> (device: DeviceIndex, kind: ReadingKind, axis: Axis) {
    if let known = series[number] { return known }
    let found = try SeriesTable(database: database).series(number)
    let index = DeviceIndex(Int32(devices.count))
    devices.append(found.device)
    series[number] = (index, found.kind, found.axis)
    return (index, found.kind, found.axis)
  }

  /// Takes a record; false when the page has no room for it.
  private mutating func add(_ row: ChangeRows.RecordRow) throws -> Bool {
    recordBytes += row.state.utf8.count
    let isFull = recordBytes > Self.mostRecordBytes && !records.isEmpty
    guard !isFull, records.count < Wire.mostRecords else { return false }
    records.append(
      RemoteRecord(guid: row.guid, revision: row.revision, state: try RecordWire.state(row.state)))
    return true
  }
}
