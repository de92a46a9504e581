// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import LogbookAPI

/// Gathers the readings and records of one page.
struct PageBuilder {
  /// Records stop a page before its body is larger than a client takes.
  private static let mostRecordBytes = Wire.mostBodyBytes / 2

  private let database: Database
  private(set) var readings: [Reading] = []
  private(set) var records: [RemoteRecord] = []
  private var devices: [Device] = []
  private var series: [Int64: (device: DeviceIndex, kind: ReadingKind, axis: Axis)] = [:]
  private var recordBytes = 0

  init(_ database: Database) { self.database = database }

  /// How many items there are.
  var count: Int { readings.count + records.count }

  /// The page that ends here.
  func page(cursor: String, hasMore: Bool) -> ChangePage {
    ChangePage(
      readings: ReadingBatch(devices: devices, readings: readings), records: records, cursor: cursor,
      hasMore: hasMore)
  }

  /// Takes a row with `ChangeRows.readingColumns`.
  mutating func add(_ row: RawRow) throws {
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

  /// Takes a record; false when the page has no room for it.
  mutating func add(_ row: ChangeRows.RecordRow) throws -> Bool {
    recordBytes += row.state.utf8.count
    let isFull = recordBytes > Self.mostRecordBytes && !records.isEmpty
    guard !isFull, records.count < Wire.mostRecords else { return false }
    records.append(
      RemoteRecord(guid: row.guid, revision: row.revision, state: try RecordWire.state(row.state)))
    return true
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
}
