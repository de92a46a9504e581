// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

/// Collects readings and their devices from rows.
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

  /// Adds the reading in a statement's current row.
  mutating func add(_ row: RawStatement) throws {
    let place = try StoredPlace(checking: row, from: 1, seq: row.integer(0))
    let series = try series(place.series)
    do {
      readings.append(try row.reading(at: place, of: series, from: 5, named: ""))
    } catch {
      // The error states only the number: the server's log must not contain times and values of people.
      throw DamagedRow("reading", ["seq": row.integer(0)], error.reason)
    }
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

extension StoredPlace {
  /// Reads four columns from this one on, of the reading with this number.
  init(checking row: RawStatement, from column: Int32, seq: Int64) throws(DamagedRow) {
    for place in column..<column + 4 {
      if let reason = row.misfit(asInteger: place) { throw DamagedRow("reading", ["seq": seq], reason) }
    }
    self.init(row, from: column)
  }
}
