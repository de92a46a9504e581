// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook

/// Readings with their devices, taken from rows one by one.
struct CollectedReadings {
  /// What a row has to begin with, in this order.
  static let columns = """
    seq, series, position, value_bucket, occurrence, device_time, utc_offset, offset_source, value, unit, range_flag, threshold,
    marks
    """

  private let database: Database
  private var readings: [Reading] = []
  private var devices: [Device] = []
  private var known: [Int64: (device: DeviceIndex, kind: ReadingKind, positionKind: PositionKind)] = [:]

  init(_ database: Database) { self.database = database }

  var count: Int { readings.count }

  var batch: ReadingBatch { ReadingBatch(devices: devices, readings: readings) }

  /// Takes the reading of the row on which a statement stands.
  mutating func add(_ row: RawRow) throws {
    let (device, kind, positionKind) = try series(row.integer(1))
    let source = OffsetSource(rawValue: UInt8(truncatingIfNeeded: row.integer(7))) ?? .stated
    var reading = Reading(
      device: device, kind: kind, at: DeviceTime(seconds: row.integer(5)),
      placement: Placement(utcOffset: Int32(truncatingIfNeeded: row.integer(6)), source: source),
      MeasurementColumns(row, from: 8).measurement,
      marks: ReadingMarks(rawValue: UInt16(truncatingIfNeeded: row.integer(12))), line: 0)
    reading.positionKind = positionKind
    reading.position = row.integer(2)
    reading.occurrence = Int32(truncatingIfNeeded: row.integer(4))
    reading.occurrenceIsStated = true
    readings.append(reading)
  }

  private mutating func series(
    _ number: Int64
  ) throws -> (device: DeviceIndex, kind: ReadingKind, positionKind: PositionKind) {
    if let series = known[number] { return series }
    let found = try SeriesTable(database: database).series(number)
    let index = DeviceIndex(Int32(devices.count))
    devices.append(found.device)
    known[number] = (index, found.kind, found.positionKind)
    return (index, found.kind, found.positionKind)
  }
}
