// SPDX-License-Identifier: Apache-2.0

import GRDB
import SQLiteRows

/// Marks exactly these readings as uploaded. Readings that an import inserted between them meanwhile stay
/// pending.
///
/// One statement marks all neighbours and changes each row in place: 33 % of the time of statements that look
/// up every row. SQLite does so only without triggers, since for a statement with triggers it collects the
/// rows first. So for many readings the triggers of the role are dropped, and this type counts the uploads.
struct UploadMarks {
  /// The number of readings from which the triggers are dropped. Dropping them makes SQLite prepare every
  /// statement of the connection again, which takes as long as marking some hundreds.
  static let many = 1000

  let database: Database

  /// Readings without another pending one between them.
  private struct MarkedRange {
    let first: ReadingKey
    var last: ReadingKey
    var count = 1
  }

  /// The marks that an upload sets in one partition.
  private struct Marks {
    let partition: Int64
    let keys: ArraySlice<ReadingKey>
    var ranges: [MarkedRange] = []
    /// The number of marked readings of each series.
    var counts: [Int64: Int] = [:]
    /// The positions between the keys that stay pending.
    var remaining: [ClosedRange<Int64>] = []

    /// Adds a position that stays pending.
    ///
    /// - Parameter isNext: whether no marked reading is between it and the last such position.
    mutating func keep(_ position: Int64, isNext: Bool) {
      if let last = remaining.last, isNext || last.upperBound == position {
        remaining[remaining.count - 1] = last.lowerBound...position
      } else {
        remaining.append(position...position)
      }
    }
  }

  /// Marks the pending ones of these readings, inside the caller's transaction.
  func set(_ keys: some Sequence<ReadingKey>) throws {
    let sorted = keys.sorted()
    var marks: [Marks] = []
    var start = sorted.startIndex
    while start < sorted.endIndex {
      let partition = sorted[start...].prefix { $0.partition == sorted[start].partition }
      marks.append(try self.marks(of: partition))
      start = partition.endIndex
    }
    let ranges = marks.flatMap(\.ranges)
    if sorted.count < Self.many {
      try ranges.forEach(set)
    } else {
      try Roles.withoutUploadTriggers(database) { try ranges.forEach(set) }
      try count(marks)
    }
    let pendingRanges = try PendingRanges(database)
    for marks in marks {
      try pendingRanges.cut(marks.keys.map(\.position), remaining: marks.remaining, in: marks.partition)
    }
  }

  private func count(_ marks: [Marks]) throws {
    let counts = marks.map(\.counts).reduce(into: [:]) { $0.merge($1, uniquingKeysWith: +) }
    for (series, count) in counts {
      try database.executeCached(
        sql: "UPDATE series SET pending = pending - ? WHERE id = ?", arguments: [count, series])
    }
  }
}

extension UploadMarks {
  /// The runs of sorted keys of one partition, and the pending positions between them.
  private func marks(of keys: ArraySlice<ReadingKey>) throws -> Marks {
    guard let first = keys.first, let last = keys.last else { return Marks(partition: 0, keys: keys) }
    var marks = Marks(partition: first.partition, keys: keys)
    let pending = try RawStatement(keptBy: database, Self.pending)
    pending.bind(first.partition, at: 1)
    pending.bind(first.position, at: 2)
    pending.bind(last.position, at: 3)
    var isOpen: Bool?
    var previous: ReadingKey?
    var place = keys.startIndex
    while try pending.step() {
      let key = pending.key(from: 0)
      // Ranges that another program wrote may overlap.
      if let previous, key <= previous { continue }
      previous = key
      while place < keys.endIndex, keys[place] < key { place += 1 }
      let isMarked = place < keys.endIndex && keys[place] == key
      defer { isOpen = isMarked }
      switch (isMarked, isOpen == isMarked) {
      case (true, true):
        marks.ranges[marks.ranges.count - 1].last = key
        marks.ranges[marks.ranges.count - 1].count += 1
      case (true, false): marks.ranges.append(MarkedRange(first: key, last: key))
      case (false, _): marks.keep(key.position, isNext: isOpen == isMarked)
      }
      if isMarked { marks.counts[key.series, default: 0] += 1 }
    }
    return marks
  }

  /// The pending readings of a partition between two positions, in the order of the table.
  static let pending = """
    SELECT r.partition, r.position, r.series, r.value_bucket, r.occurrence
    FROM pending_range AS p CROSS JOIN reading AS r ON r.partition = p.partition
      AND r.position >= max(p.first_position, ?2) AND r.position <= min(p.last_position, ?3)
    WHERE p.partition = ?1 AND p.first_position <= ?3 AND p.last_position >= ?2 AND r.uploaded = 0
    ORDER BY p.first_position, p.last_position, r.position, r.series, r.value_bucket, r.occurrence
    """

  private func set(_ range: MarkedRange) throws {
    // With OR FAIL, the statement does not copy the pages that it changes into its own journal. The separate
    // comparisons of partition and position find the rows; comparing the whole keys would double the time.
    let update = try RawStatement(
      keptBy: database,
      """
      UPDATE OR FAIL reading NOT INDEXED SET uploaded = 1
      WHERE uploaded = 0 AND partition = ?1 AND position >= ?2 AND position <= ?7 AND ?6 = ?1
        AND (position > ?2 OR (series, value_bucket, occurrence) >= (?3, ?4, ?5))
        AND (position < ?7 OR (series, value_bucket, occurrence) <= (?8, ?9, ?10))
      """)
    update.bind(range.first, at: 1)
    update.bind(range.last, at: 6)
    guard try update.run() == range.count else {
      throw DatabaseError(
        resultCode: .SQLITE_INTERNAL, message: "other readings were marked than those that were sent")
    }
  }
}
