// SPDX-License-Identifier: Apache-2.0

import GRDB
package import Logbook
import SQLiteRows

/// Compares new readings of one device with those of another device by shown minute and value.
///
/// Minutes are compared, since a table may truncate or round times to minutes, while a web service returns
/// seconds. Two sensors can share some minutes and values by chance, but not a quarter of them.
struct SameMinutes {
  /// How the positions of a series are related to its shown times.
  enum Order {
    /// The positions are the shown times.
    case shown
    /// The positions are instants in milliseconds.
    case instants
    /// The positions are counts of the device.
    case counter
  }

  /// A series of another device.
  struct Other {
    let id: Int64
    let device: Int64
    let partition: Int64
    let order: Order
    /// The range of shown times, in civil seconds.
    let times: ClosedRange<Int64>
  }

  /// The minimum number of equal readings for which two devices are probably the same.
  static let minEqual = 12
  /// The maximum distance of two times that can be the same minute, in seconds.
  static let reach: Int64 = 60
  /// The number of stored rows that are compared together as one chunk.
  private static let chunkRows = 1000
  /// The maximum number of chunks that are read before the sample is large enough for a verdict.
  private static let maxSampleChunks = 5
  /// The maximum number of rows that may be read for each new reading. Rows of other readings can be between
  /// the new readings.
  private static let rowsPerReading = 20
  /// The number of newest rows that are read of a series whose positions are counts. Their order is not that
  /// of shown times, so the rows of a period cannot be selected by position.
  private static let counterRows = 2000
  /// The maximum distance of neighbouring times in a chunk that one SQL query covers, in seconds.
  private static let joinSeconds: Int64 = 3600

  private struct MinuteValue: Hashable {
    let minute: Int64
    let value: Double
    let unit: Int64
  }

  private struct TimedValue {
    let time: Int64
    let value: Double
    let unit: Int64

    /// Whether the time may come from a table with whole minutes.
    var isWhole: Bool { time % 60 == 0 }
    var cut: MinuteValue { MinuteValue(minute: Self.minute(time), value: value, unit: unit) }
    var rounded: MinuteValue { MinuteValue(minute: Self.minute(time + 30), value: value, unit: unit) }

    private static func minute(_ time: Int64) -> Int64 { DeviceTime.startOfMinute(time) / 60 }
  }

  private let database: Database
  private let ingest: Int64
  private let stretch: NewRange
  private let other: Other
  /// The newest readings of the other series, if its positions are counts.
  private var counted: [TimedValue]?
  private var comparedCount = 0
  /// The numbers of equal readings under three assumptions: both devices truncate times to minutes, this
  /// device rounds them, or the other device rounds them.
  private var (cut, ownRounded, otherRounded) = (0, 0, 0)

  init(_ database: Database, ingest: Int64, _ stretch: NewRange, with other: Other) {
    (self.database, self.ingest, self.stretch, self.other) = (database, ingest, stretch, other)
  }

  private var agreed: Int { max(cut, ownRounded, otherRounded) }

  /// The number of new readings that the other device also has; nil if they are too few for the same sensor.
  mutating func count() throws -> Int? {
    let maxChunks = Self.maxSampleChunks + stretch.count * Self.rowsPerReading / Self.chunkRows
    var (next, chunks, isLikely) = (firstPosition, 0, false)
    while let from = next, chunks < maxChunks {
      chunks += 1
      let end = try end(ofChunkFrom: from)
      try compare(try ownValues(from...end))
      if comparedCount >= Self.minEqual, !isLikely {
        guard agreed * 4 >= comparedCount else { return nil }
        isLikely = true
      }
      if chunks >= Self.maxSampleChunks, !isLikely { return nil }
      next = end < stretch.positions.upperBound ? end + 1 : nil
    }
    return agreed >= Self.minEqual ? agreed : nil
  }

  /// The first position of new readings whose shown times the other device may also have; nil if there is
  /// none.
  private var firstPosition: Int64? {
    let first = stretch.positions.lowerBound
    let reached = other.times.lowerBound - Self.reach
    let position =
      if stretch.series.isInstant {
        max(first, (reached - PositionSpan.maxOffset) * 1000)
      } else {
        stretch.series.positionKind == .time ? max(first, reached) : first
      }
    return position <= stretch.positions.upperBound ? position : nil
  }

  /// The last position of a chunk. The chunk has more than `chunkRows` rows only if several rows share one
  /// position.
  private func end(ofChunkFrom first: Int64) throws -> Int64 {
    let last = stretch.positions.upperBound
    let after = try Int64.fetchOne(
      database.cachedStatement(
        sql: """
          SELECT position FROM reading WHERE partition = ?1 AND position BETWEEN ?2 AND ?3
          ORDER BY partition, position LIMIT 1 OFFSET \(Self.chunkRows)
          """), arguments: [stretch.series.partition, first, last])
    return after.map { max(first, $0 - 1) } ?? last
  }

  /// The new readings at these positions with shown times at which the other device has readings.
  private func ownValues(_ positions: ClosedRange<Int64>) throws -> [TimedValue] {
    try values(
      """
      SELECT device_time, value, unit FROM reading
      WHERE partition = ?1 AND position BETWEEN ?2 AND ?3 AND series = ?4 AND ingest = ?7 AND value IS NOT NULL
        AND device_time BETWEEN ?5 AND ?6
      """,
      [
        stretch.series.partition, positions.lowerBound, positions.upperBound, stretch.series.id,
        other.times.lowerBound - Self.reach, other.times.upperBound + Self.reach, ingest,
      ])
  }

  private mutating func compare(_ own: [TimedValue]) throws {
    comparedCount += own.count
    var (cut, whole, rounded): (Set<MinuteValue>, Set<MinuteValue>, Set<MinuteValue>) = ([], [], [])
    for times in Self.ranges(of: own.map(\.time)) {
      for value in try otherValues(times) {
        cut.insert(value.cut)
        if value.isWhole { whole.insert(value.cut) }
        rounded.insert(value.rounded)
      }
    }
    for value in own {
      if cut.contains(value.cut) { self.cut += 1 }
      if whole.contains(value.rounded) { ownRounded += 1 }
      if value.isWhole, rounded.contains(value.cut) { otherRounded += 1 }
    }
  }

  /// The readings of the other device whose device times are in this range.
  private mutating func otherValues(_ times: ClosedRange<Int64>) throws -> [TimedValue] {
    let (first, last) = (times.lowerBound, times.upperBound)
    let slack = PositionSpan.maxOffset
    switch other.order {
    case .shown: return try values(Self.byPosition, [other.partition, first, last, other.id, first, last])
    case .instants:
      return try values(
        Self.byPosition,
        [other.partition, (first - slack) * 1000, (last + slack) * 1000, other.id, first, last])
    case .counter:
      let newest = try counted ?? newest()
      counted = newest
      return newest.filter { times.contains($0.time) }
    }
  }

  private func newest() throws -> [TimedValue] {
    try values(
      """
      SELECT device_time, value, unit FROM (
        SELECT device_time, value, unit FROM reading WHERE partition = ?1 AND series = ?2
        ORDER BY position DESC LIMIT \(Self.counterRows))
      WHERE device_time BETWEEN ?3 AND ?4 AND value IS NOT NULL
      """,
      [
        other.partition, other.id, stretch.times.lowerBound - Self.reach,
        stretch.times.upperBound + Self.reach,
      ])
  }

  private static let byPosition = """
    SELECT device_time, value, unit FROM reading
    WHERE partition = ?1 AND position BETWEEN ?2 AND ?3 AND series = ?4 AND device_time BETWEEN ?5 AND ?6
      AND value IS NOT NULL
    """

  private func values(_ sql: String, _ arguments: StatementArguments) throws -> [TimedValue] {
    try Row.fetchAll(database.cachedStatement(sql: sql), arguments: arguments).map { row in
      let row = StoredRow(row, of: "reading")
      return TimedValue(time: try row[0], value: try row[1], unit: try row[2])
    }
  }

  /// Ranges that contain the times and everything within `reach` of them. Ranges that are near each other are
  /// joined, so that few SQL queries are needed.
  private static func ranges(of times: [Int64]) -> [ClosedRange<Int64>] {
    var ranges: [ClosedRange<Int64>] = []
    for time in times.sorted() {
      let range = time - reach...time + reach
      if let last = ranges.last, range.lowerBound - last.upperBound <= joinSeconds {
        ranges[ranges.count - 1] = last.lowerBound...range.upperBound
      } else {
        ranges.append(range)
      }
    }
    return ranges
  }
}

/// Two devices with the same readings: one sensor under two serial numbers, or the same readings from two
/// sources.
package struct LikelyDuplicate: Hashable, Sendable {
  package let kind: ReadingKind
  /// The name of the device of this ingest.
  package let device: String
  /// The name of the other device.
  package let other: String
  /// The number of readings of this ingest that have the same shown minute and value on the other device.
  package let readings: Int
}

/// The two devices in `import --json`.
extension LikelyDuplicate: Encodable {
  private enum CodingKeys: String, CodingKey { case kind, device, other, readings }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(kind.name, forKey: .kind)
    try container.encode(device, forKey: .device)
    try container.encode(other, forKey: .other)
    try container.encode(readings, forKey: .readings)
  }
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
