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

  /// Marks those of the readings that are pending, inside the caller's transaction.
  func set(_ keys: some Sequence<ReadingKey>) throws {
    let sorted = keys.sorted()
    var stretches: [Stretch] = []
    var counts: [Int64: Int] = [:]
    var start = sorted.startIndex
    while start < sorted.endIndex {
      let partition = sorted[start...].prefix { $0.partition == sorted[start].partition }
      stretches += try self.stretches(of: partition, &counts)
      start = partition.endIndex
    }
    guard sorted.count >= Self.many else { return try stretches.forEach(set) }
    try Roles.withoutUploadTriggers(database) { try stretches.forEach(set) }
    for (series, count) in counts {
      try database.executeCached(
        sql: "UPDATE series SET pending = pending - ? WHERE id = ?", arguments: [count, series])
    }
  }
}

extension UploadMarks {
  /// The stretches of sorted keys of one partition, and how many readings of each series they hold.
  private func stretches(
    of keys: ArraySlice<ReadingKey>, _ counts: inout [Int64: Int]
  ) throws -> [Stretch] {
    guard let first = keys.first, let last = keys.last else { return [] }
    let pending = try RawStatement(
      keptBy: database,
      """
      SELECT partition, position, series, value_bucket, occurrence FROM reading INDEXED BY reading_pending
      WHERE uploaded = 0 AND partition = ?1 AND position >= ?2 AND position <= ?3
      ORDER BY partition, position, series, value_bucket, occurrence
      """)
    pending.bind(first.partition, at: 1)
    pending.bind(first.position, at: 2)
    pending.bind(last.position, at: 3)
    var stretches: [Stretch] = []
    var isOpen = false
    var place = keys.startIndex
    while try pending.step() {
      let key = pending.key(from: 0)
      while place < keys.endIndex, keys[place] < key { place += 1 }
      guard place < keys.endIndex, keys[place] == key else {
        isOpen = false
        continue
      }
      counts[key.series, default: 0] += 1
      if isOpen {
        stretches[stretches.count - 1].last = key
        stretches[stretches.count - 1].count += 1
      } else {
        stretches.append(Stretch(first: key, last: key))
        isOpen = true
      }
    }
    return stretches
  }

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
