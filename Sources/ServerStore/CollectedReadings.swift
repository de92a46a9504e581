// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

/// Readings with their devices, taken from rows one by one.
struct CollectedReadings {
  /// What a row has to begin with, in this order.
  static let columns =
    "seq, series, position, value_bucket, occurrence, \(RawStatement.readingColumns.joined(separator: ", "))"

  private let database: Database
  private var readings: [Reading] = []
  private var devices: [Device] = []
  private var known: [Int64: StoredSeries] = [:]

  init(_ database: Database) { self.database = database }

  var count: Int { readings.count }

  var batch: ReadingBatch { ReadingBatch(devices: devices, readings: readings) }

  /// Takes the reading of the row that a statement is at.
  mutating func add(_ row: RawStatement) throws {
    let place = StoredPlace(row, from: 1)
    readings.append(try row.reading(at: place, of: series(place.series), from: 5))
  }

  private mutating func series(_ number: Int64) throws -> StoredSeries {
    if let series = known[number] { return series }
    let found = try SeriesTable(database: database).series(number)
    let series = StoredSeries(
      device: DeviceIndex(Int32(devices.count)), kind: found.kind, positionKind: found.positionKind)
    devices.append(found.device)
    known[number] = series
    return series
  }
}
