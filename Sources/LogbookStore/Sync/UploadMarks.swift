// SPDX-License-Identifier: Apache-2.0

import GRDB
import SQLiteRows

/// Marks exactly these readings as uploaded. Readings that an import inserts between them stay pending.
///
/// One SQL statement marks all neighbouring readings and changes each row in place. It takes 33 % of the time
/// of SQL statements that look up every row. With triggers, SQLite would first collect all rows. So for many
/// readings the triggers of the role are dropped, and this type counts the uploads itself.
struct UploadMarks {
  /// The minimum number of readings for which the triggers are dropped. Dropping them makes SQLite prepare
  /// every SQL statement of the connection again. This takes as long as marking some hundred readings.
  static let many = 1000

  let database: Database

  /// A range of marked readings between which no reading stays pending.
  private struct MarkedRange {
    let first: ReadingKey
    var last: ReadingKey
    var count = 1
  }

  /// The readings to mark in one partition.
  private struct Marks {
    let partition: Int64
    let keys: ArraySlice<ReadingKey>
    var ranges: [MarkedRange] = []
    /// The number of marked readings in each series, by id.
    var counts: [Int64: Int] = [:]
    /// The ranges of positions between the first and the last marked reading that stay pending.
    var remaining: [ClosedRange<Int64>] = []

    /// Adds a position that stays pending.
    ///
    /// - Parameter isNext: whether no marked reading is between this position and the last one that stays
    ///   pending.
    mutating func addRemaining(_ position: Int64, isNext: Bool) {
      if let last = remaining.last, isNext || last.upperBound == position {
        remaining[remaining.count - 1] = last.lowerBound...position
      } else {
        remaining.append(position...position)
      }
    }
  }

  /// Marks those of these readings that are pending, inside the caller's transaction.
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
      try count(marks.map(\.counts).reduce(into: [:]) { $0.merge($1, uniquingKeysWith: +) })
    }
    let pendingRanges = try PendingRanges(database)
    for marks in marks {
      try pendingRanges.removeUploaded(
        marks.keys.map(\.position), remaining: marks.remaining, in: marks.partition)
    }
  }

  /// Marks the readings of a batch without looking them up first, which would take a third of the time of
  /// marking them. In each partition, the batch must have all pending readings from its first to its last
  /// reading.
  ///
  /// All readings of the batch must still be pending. Then the number of marked rows proves that exactly
  /// these readings were marked.
  ///
  /// - Returns: false if a pending reading between them is not in the batch. It is also false for few
  ///   readings, for which the triggers are not dropped. Then nothing was changed.
  func setWhole(_ pending: PendingReadings) throws -> Bool {
    guard pending.inStoreOrder.count >= Self.many else { return false }
    var parts: [ArraySlice<ReadingKey>] = []
    var rest = pending.inStoreOrder[...]
    while let first = rest.first {
      parts.append(rest.prefix { $0.partition == first.partition })
      rest = rest.dropFirst(parts[parts.count - 1].count)
    }
    var isExact = true
    try database.inSavepoint {
      try Roles.withoutUploadTriggers(database) {
        for part in parts where isExact { isExact = try mark(part) == part.count }
      }
      return isExact ? .commit : .rollback
    }
    guard isExact else { return false }
    try count(Self.countBySeries(pending.keys))
    let pendingRanges = try PendingRanges(database)
    for part in parts {
      try pendingRanges.removeUploaded(
        part.map(\.position), remaining: [], in: part[part.startIndex].partition)
    }
    return true
  }

  /// Marks the pending readings from the first of sorted keys to the last one. Returns their number.
  private func mark(_ part: ArraySlice<ReadingKey>) throws -> Int {
    guard let first = part.first, let last = part.last else { return 0 }
    return try mark(first, last)
  }

  /// The number of keys of each series, by its id. Keys of one series are mostly adjacent.
  private static func countBySeries(_ keys: [ReadingKey]) -> [Int64: Int] {
    var counts: [Int64: Int] = [:]
    var start = keys.startIndex
    for index in keys.indices where index + 1 == keys.endIndex || keys[index + 1].series != keys[index].series
    {
      counts[keys[index].series, default: 0] += index + 1 - start
      start = index + 1
    }
    return counts
  }

  private func count(_ counts: [Int64: Int]) throws {
    for (series, count) in counts {
      try database.executeCached(
        sql: "UPDATE series SET pending = pending - ? WHERE id = ?", arguments: [count, series])
    }
  }
}

extension UploadMarks {
  /// Groups sorted keys of one partition into ranges, and finds the pending positions between these keys.
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
      // Ranges that another program wrote may overlap. A reading is then found twice, and ignored the second
      // time.
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
      case (false, _): marks.addRemaining(key.position, isNext: isOpen == isMarked)
      }
      if isMarked { marks.counts[key.series, default: 0] += 1 }
    }
    return marks
  }

  /// The SQL query for the pending readings of a partition between two positions, in the order of the table.
  static let pending = """
    SELECT r.partition, r.position, r.series, r.value_bucket, r.occurrence
    FROM pending_range AS p CROSS JOIN reading AS r ON r.partition = p.partition
      AND r.position >= max(p.first_position, ?2) AND r.position <= min(p.last_position, ?3)
    WHERE p.partition = ?1 AND p.first_position <= ?3 AND p.last_position >= ?2 AND r.uploaded = 0
    ORDER BY p.first_position, p.last_position, r.position, r.series, r.value_bucket, r.occurrence
    """

  private func set(_ range: MarkedRange) throws {
    guard try mark(range.first, range.last) == range.count else {
      throw DatabaseError(
        resultCode: .SQLITE_INTERNAL, message: "other readings were marked than those that were sent")
    }
  }

  /// Marks the pending readings from the first key to the last one, which are in one partition. Returns their
  /// number.
  private func mark(_ first: ReadingKey, _ last: ReadingKey) throws -> Int {
    // With OR FAIL, the statement does not copy changed pages to its own journal. Partition and position are
    // compared separately to find the rows; comparing whole keys would double the time.
    let update = try RawStatement(
      keptBy: database,
      """
      UPDATE OR FAIL reading NOT INDEXED SET uploaded = 1
      WHERE uploaded = 0 AND partition = ?1 AND position >= ?2 AND position <= ?7 AND ?6 = ?1
        AND (position > ?2 OR (series, value_bucket, occurrence) >= (?3, ?4, ?5))
        AND (position < ?7 OR (series, value_bucket, occurrence) <= (?8, ?9, ?10))
      """)
    update.bind(first, at: 1)
    update.bind(last, at: 6)
    return try update.run()
  }
}
