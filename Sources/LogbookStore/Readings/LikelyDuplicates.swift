// SPDX-License-Identifier: Apache-2.0

import GRDB
package import Logbook
import SQLiteRows

/// Two devices with the same readings: one sensor under two serial numbers, or the same readings from two
/// sources.
package struct LikelyDuplicate: Hashable, Sendable {
  /// The kind of the readings.
  package let kind: ReadingKind
  /// The name of the device of this ingest.
  package let device: String
  /// The name of the other device.
  package let other: String
  /// The number of readings of this ingest that have the same shown minute and value on the other device.
  package let readings: Int
}

/// The range of one series in which an ingest stored new readings.
struct NewRange {
  let series: Series
  private(set) var count: Int
  private(set) var positions: ClosedRange<Int64>
  /// The range of shown times, in civil seconds.
  private(set) var times: ClosedRange<Int64>

  init(_ series: Series, count: Int, positions: ClosedRange<Int64>, times: ClosedRange<Int64>) {
    (self.series, self.count, self.positions, self.times) = (series, count, positions, times)
  }

  /// Adds the readings that a later batch of the ingest stored in the series.
  mutating func add(_ next: NewRange) {
    count += next.count
    positions =
      min(
        positions.lowerBound, next.positions.lowerBound)...max(
        positions.upperBound, next.positions.upperBound)
    times = min(times.lowerBound, next.times.lowerBound)...max(times.upperBound, next.times.upperBound)
  }
}

extension IngestWriter {
  /// The maximum number of pairs of devices that one ingest compares.
  private static let maxPairs = 100

  private struct PairOfDevices: Hashable {
    let kind: ReadingKind
    let lower: Int64
    let upper: Int64
  }

  /// Devices whose readings match the readings that this ingest stored. They are reported, but never merged.
  ///
  /// The new readings are compared with those of other devices at the same times. So the cost grows with the
  /// import, not with the store.
  package func likelyDuplicates() throws -> [LikelyDuplicate] {
    var found: [LikelyDuplicate] = []
    var (left, known): (Int, Set<PairOfDevices>) = (Self.maxPairs, [])
    let stretches = state.stretches.values.filter { $0.count >= SameMinutes.minEqual }
    for stretch in stretches.sorted(by: { $0.series.id < $1.series.id }) {
      for other in try others(than: stretch, limit: left) {
        left -= 1
        let devices = (stretch.series.device, other.device)
        let pair = PairOfDevices(
          kind: stretch.series.kind, lower: min(devices.0, devices.1), upper: max(devices.0, devices.1))
        guard !known.contains(pair) else { continue }
        var comparison = SameMinutes(connection, ingest: ingestID, stretch, with: other)
        guard let readings = try comparison.count() else { continue }
        known.insert(pair)
        found.append(
          LikelyDuplicate(
            kind: stretch.series.kind, device: try name(of: devices.0), other: try name(of: devices.1),
            readings: readings))
      }
    }
    return found
  }

  /// The series of other devices with readings of the same kind in the same range of time.
  private func others(than stretch: NewRange, limit: Int) throws -> [SameMinutes.Other] {
    let rows = try Row.fetchAll(
      database.cachedStatement(
        sql: """
          SELECT id, device, partition, position_kind, is_instant, first_time, last_time FROM series
          WHERE kind = ?1 AND device <> ?2 AND first_time <= ?3 AND last_time >= ?4 ORDER BY id LIMIT ?5
          """),
      arguments: [
        stretch.series.kind.rawValue, stretch.series.device, stretch.times.upperBound + SameMinutes.reach,
        stretch.times.lowerBound - SameMinutes.reach, limit,
      ])
    return try rows.map { row in
      let row = StoredRow(row, of: "series")
      let (first, last): (Int64, Int64) = (try row[5], try row[6])
      guard first <= last else { throw row.damage(6) }
      let order: SameMinutes.Order = try row[3] == 0 as Int64 ? .shown : try row[4] ? .instants : .counter
      return SameMinutes.Other(
        id: try row[0], device: try row[1], partition: try row[2], order: order, times: first...last)
    }
  }

  private func name(of device: Int64) throws -> String {
    try String.fetchOne(
      connection, sql: "SELECT vendor || ' ' || model || ' ' || serial FROM device WHERE id = ?",
      arguments: [device]) ?? ""
  }
}
