// SPDX-License-Identifier: Apache-2.0

import GRDB
import SQLiteRows

/// Marks readings as uploaded, those that are named and no others: what an import put between them meanwhile stays
/// pending.
///
/// Neighbours are marked by one statement for all of them, which changes each row where it is: 33 % of the time of
/// statements that look every row up. SQLite does so only without triggers, because it has to collect the rows of a
/// statement with triggers first. So for many readings those of the role are switched off, and the uploads are counted
/// here.
struct UploadMarks {
  /// From so many readings on the triggers are switched off. To do so makes SQLite prepare every statement of the
  /// connection again, which takes as long as to mark some hundreds.
  static let many = 1000

  let database: Database

  /// Readings without another pending one between them.
  private struct Stretch {
    let first: ReadingKey
    var last: ReadingKey
    var count = 1
  }

  /// What is to be marked in one partition.
  private struct Marks {
    let partition: Int64
    let keys: ArraySlice<ReadingKey>
    var stretches: [Stretch] = []
    /// How many readings of each series are marked.
    var counts: [Int64: Int] = [:]
    /// What stays pending between the keys.
    var remaining: [ClosedRange<Int64>] = []

    /// Notes a position that stays pending.
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

  /// Marks those of the readings that are pending, inside the caller's transaction.
  func set(_ keys: some Sequence<ReadingKey>) throws {
    let sorted = keys.sorted()
    var marks: [Marks] = []
    var start = sorted.startIndex
    while start < sorted.endIndex {
      let partition = sorted[start...].prefix { $0.partition == sorted[start].partition }
      marks.append(try self.marks(of: partition))
      start = partition.endIndex
    }
    let stretches = marks.flatMap(\.stretches)
    if sorted.count < Self.many {
      try stretches.forEach(set)
    } else {
      try Roles.withoutUploadTriggers(database) { try stretches.forEach(set) }
      try count(marks)
    }
    let ranges = try PendingRanges(database)
    for marks in marks {
      try ranges.cut(marks.keys.map(\.position), remaining: marks.remaining, in: marks.partition)
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
  /// The stretches of sorted keys of one partition, and what is pending between them.
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
        marks.stretches[marks.stretches.count - 1].last = key
        marks.stretches[marks.stretches.count - 1].count += 1
      case (true, false): marks.stretches.append(Stretch(first: key, last: key))
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

  private func set(_ stretch: Stretch) throws {
    // OR FAIL: else the statement copies the pages that it changes into its own journal. The plain comparisons
    // of partition and position lead to the rows; a comparison of the whole keys doubles the time.
    let update = try RawStatement(
      keptBy: database,
      """
      UPDATE OR FAIL reading NOT INDEXED SET uploaded = 1
      WHERE uploaded = 0 AND partition = ?1 AND position >= ?2 AND position <= ?7 AND ?6 = ?1
        AND (position > ?2 OR (series, value_bucket, occurrence) >= (?3, ?4, ?5))
        AND (position < ?7 OR (series, value_bucket, occurrence) <= (?8, ?9, ?10))
      """)
    update.bind(stretch.first, at: 1)
    update.bind(stretch.last, at: 6)
    guard try update.run() == stretch.count else {
      throw DatabaseError(
        resultCode: .SQLITE_INTERNAL, message: "other readings were marked than those that were sent")
    }
  }
}
