// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

/// The positions of readings that become pending, as ranges of positions in one partition of the table
/// `reading`.
///
/// Positions that are far apart are in separate ranges. So a search for pending readings skips uploaded ones
/// that are between the first and the last reading of an import.
struct PendingPositions {
  private(set) var ranges: [(partition: Int64, positions: ClosedRange<Int64>)] = []

  /// The maximum distance of two neighbouring positions in one range. For shown times and instants, it is a
  /// day: a sensor has at most 1,440 readings in a day. For counts of a device, it is 1,000.
  static func maxDistance(in partition: Int64) -> Int64 {
    partition < 0 ? 86_400_000 : partition <= 4 ? 86_400 : 1000
  }

  /// Whether a range that ends at `end` can be extended to `position`.
  @inline(__always)
  static func isNear(_ end: Int64, _ position: Int64, in partition: Int64) -> Bool {
    let (distance, overflow) = position.subtractingReportingOverflow(end)
    return !overflow && distance <= maxDistance(in: partition)
  }

  /// Adds the position of a pending reading. The last range is extended if it is in the same partition of the
  /// table and near; otherwise a new range begins.
  @inline(__always)
  mutating func append(_ partition: Int64, _ position: Int64) {
    if let last = ranges.last, last.partition == partition, position >= last.positions.lowerBound,
      position <= last.positions.upperBound
        || Self.isNear(last.positions.upperBound, position, in: partition)
    {
      ranges[ranges.count - 1].positions =
        last.positions.lowerBound...max(last.positions.upperBound, position)
    } else {
      ranges.append((partition, position...position))
    }
  }

  /// Adds the positions of readings.
  mutating func append(_ items: ArraySlice<BatchOrder.Item>, of readings: [Reading], in series: [Series]) {
    for item in items { append(series[item.series].partition, readings[item.index].position) }
  }

  /// Adds the positions to the ranges in the store, and empties this value.
  mutating func save(_ database: Database) throws {
    guard !ranges.isEmpty else { return }
    let stored = try PendingRanges(database)
    for range in ranges { try stored.cover(range.positions, in: range.partition) }
    ranges.removeAll(keepingCapacity: true)
  }
}

/// Reads and writes the table `pending_range`; see `PendingSchema`.
struct PendingRanges {
  private let database: Database
  private let before: RawStatement
  private let after: RawStatement
  private let extend: RawStatement
  private let insert: RawStatement

  init(_ database: Database) throws {
    self.database = database
    before = try RawStatement(
      keptBy: database,
      """
      SELECT first_position, last_position FROM pending_range WHERE partition = ?1 AND first_position <= ?2
      ORDER BY first_position DESC, last_position DESC LIMIT 1
      """)
    after = try RawStatement(
      keptBy: database,
      """
      SELECT first_position FROM pending_range WHERE partition = ?1 AND first_position > ?2 AND first_position <= ?3
      ORDER BY first_position LIMIT 1
      """)
    extend = try RawStatement(
      keptBy: database,
      """
      UPDATE pending_range SET last_position = ?4
      WHERE partition = ?1 AND first_position = ?2 AND last_position = ?3
      """)
    insert = try RawStatement(
      keptBy: database, "INSERT INTO pending_range VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING")
  }

  /// Makes the stored ranges contain all positions of a range. The nearest stored range before these
  /// positions is extended, or new ranges are added.
  func cover(_ positions: ClosedRange<Int64>, in partition: Int64) throws {
    var start = positions.lowerBound
    while true {
      let nearest = try range(before: start, in: partition)
      if let nearest, nearest.upperBound >= start {
        guard nearest.upperBound < positions.upperBound else { return }
        start = nearest.upperBound + 1
        continue
      }
      let next = try firstPosition(after: start, upTo: positions.upperBound, in: partition)
      let end = next.map { $0 - 1 } ?? positions.upperBound
      if let nearest, PendingPositions.isNear(nearest.upperBound, start, in: partition) {
        extend.bind(partition, at: 1)
        extend.bind(nearest.lowerBound, at: 2)
        extend.bind(nearest.upperBound, at: 3)
        extend.bind(end, at: 4)
        _ = try extend.run()
      } else {
        try add(start...end, in: partition)
      }
      guard let next else { return }
      start = next
    }
  }

  /// Adds ranges for all readings in the store, before all of them become pending.
  func coverAll() throws {
    let rows = try Row.fetchAll(
      database,
      sql: """
        SELECT min(id), partition, min(first_position), max(last_position) FROM series
        WHERE first_position IS NOT NULL GROUP BY partition
        """)
    for row in rows {
      let row = StoredRow(row, of: "series")
      let (first, last): (Int64, Int64) = (try row[2], try row[3])
      guard first <= last else { throw row.damage(3) }
      try cover(first...last, in: try row[1])
    }
  }

  private func range(before position: Int64, in partition: Int64) throws -> ClosedRange<Int64>? {
    before.bind(partition, at: 1)
    before.bind(position, at: 2)
    guard try before.step() else { return nil }
    defer { before.reset() }
    // The table refuses a range whose end is before its start. In a damaged file, such a range counts as one
    // position.
    return before.integer(0)...max(before.integer(0), before.integer(1))
  }

  private func firstPosition(after start: Int64, upTo end: Int64, in partition: Int64) throws -> Int64? {
    after.bind(partition, at: 1)
    after.bind(start, at: 2)
    after.bind(end, at: 3)
    guard try after.step() else { return nil }
    defer { after.reset() }
    return after.integer(0)
  }

  private func add(_ positions: ClosedRange<Int64>, in partition: Int64) throws {
    insert.bind(partition, at: 1)
    insert.bind(positions.lowerBound, at: 2)
    insert.bind(positions.upperBound, at: 3)
    _ = try insert.run()
  }
}

// MARK: - Uploaded readings

extension PendingRanges {
  /// Shortens, splits or removes stored ranges after readings were marked as uploaded.
  ///
  /// - Parameters:
  ///   - marked: the positions of the marked readings, in order.
  ///   - remaining: the positions between the first and the last marked one that are still pending, in order.
  ///     Neighbouring pending positions are one range if no marked position is between them.
  func removeUploaded(_ marked: [Int64], remaining: [ClosedRange<Int64>], in partition: Int64) throws {
    guard let first = marked.first, let last = marked.last else { return }
    var (place, rest) = (0, 0)
    for range in try ranges(first...last, in: partition) {
      while place < marked.count, marked[place] < range.lowerBound { place += 1 }
      guard place < marked.count, marked[place] <= range.upperBound else { continue }
      var parts: [ClosedRange<Int64>] = []
      if range.lowerBound < first, let position = try lastPending(range.lowerBound..<first, in: partition) {
        parts.append(range.lowerBound...position)
      }
      while rest < remaining.count, remaining[rest].upperBound < range.lowerBound { rest += 1 }
      parts += remaining[rest...].prefix { $0.lowerBound <= range.upperBound }.map { $0.clamped(to: range) }
      let next =
        range.upperBound > last ? try firstPending(after: last, upTo: range.upperBound, in: partition) : nil
      try replace(range, by: parts, andFrom: next, in: partition)
    }
  }

  private func replace(
    _ range: ClosedRange<Int64>, by parts: [ClosedRange<Int64>], andFrom next: Int64?, in partition: Int64
  ) throws {
    for part in parts { try add(part, in: partition) }
    let key = "WHERE partition = ?1 AND first_position = ?2 AND last_position = ?3"
    let statement: RawStatement
    if let next {
      statement = try RawStatement(
        keptBy: database, "UPDATE OR REPLACE pending_range SET first_position = ?4 \(key)")
      statement.bind(next, at: 4)
    } else {
      guard !parts.contains(range) else { return }
      statement = try RawStatement(keptBy: database, "DELETE FROM pending_range \(key)")
    }
    statement.bind(partition, at: 1)
    statement.bind(range.lowerBound, at: 2)
    statement.bind(range.upperBound, at: 3)
    _ = try statement.run()
  }

  private func ranges(_ positions: ClosedRange<Int64>, in partition: Int64) throws -> [ClosedRange<Int64>] {
    let statement = try RawStatement(
      keptBy: database,
      """
      SELECT first_position, last_position FROM pending_range
      WHERE partition = ?1 AND first_position <= ?3 AND last_position >= ?2 ORDER BY first_position, last_position
      """)
    statement.bind(partition, at: 1)
    statement.bind(positions.lowerBound, at: 2)
    statement.bind(positions.upperBound, at: 3)
    var ranges: [ClosedRange<Int64>] = []
    while try statement.step() {
      ranges.append(statement.integer(0)...max(statement.integer(0), statement.integer(1)))
    }
    return ranges
  }

  private func lastPending(_ positions: Range<Int64>, in partition: Int64) throws -> Int64? {
    let statement = try RawStatement(
      keptBy: database,
      """
      SELECT position FROM reading WHERE partition = ?1 AND position >= ?2 AND position < ?3 AND uploaded = 0
      ORDER BY partition DESC, position DESC LIMIT 1
      """)
    return try position(statement, partition, positions.lowerBound, positions.upperBound)
  }

  private func firstPending(after start: Int64, upTo end: Int64, in partition: Int64) throws -> Int64? {
    let statement = try RawStatement(
      keptBy: database,
      """
      SELECT position FROM reading WHERE partition = ?1 AND position > ?2 AND position <= ?3 AND uploaded = 0
      ORDER BY partition, position LIMIT 1
      """)
    return try position(statement, partition, start, end)
  }

  private func position(
    _ statement: RawStatement, _ partition: Int64, _ first: Int64, _ last: Int64
  ) throws -> Int64? {
    statement.bind(partition, at: 1)
    statement.bind(first, at: 2)
    statement.bind(last, at: 3)
    guard try statement.step() else { return nil }
    defer { statement.reset() }
    return statement.integer(0)
  }
}
