// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

/// The known readings of an import, as runs of readings that are adjacent in the store. A run ends before a
/// reading of the store that the input does not contain.
struct ImportNotes {
  /// The maximum number of runs. If an input has more, no runs are stored.
  static let maxRuns = 10_000

  private struct NotedRun {
    let series: Int64
    var first: SeriesPoint
    var last: SeriesPoint
  }

  private let ingest: Int64
  private var runs: [NotedRun] = []
  /// The index of the last run of each series, by id.
  private var open: [Int64: Int] = [:]
  /// Whether the input has more runs than the maximum.
  private var isFull = false

  init(ingest: Int64) { self.ingest = ingest }

  /// Adds the known readings of one series in a batch. Must be called in the transaction that stores the
  /// batch.
  mutating func add(_ points: [SeriesPoint], of series: Series, _ database: Database) throws {
    guard !isFull, !points.isEmpty else { return }
    var points = points
    if zip(points, points.dropFirst()).contains(where: { $1 < $0 }) { points.sort() }
    let range = points[0].position...points[points.count - 1].position
    if try count(range, of: series, database) == points.count {
      try append(points[0], points[points.count - 1], series, database)
      return
    }
    try walk(range, points, of: series, database)
  }

  /// Counts the stored readings in a range, without those that this import stored.
  private func count(_ range: ClosedRange<Int64>, of series: Series, _ database: Database) throws -> Int {
    let statement = try RawStatement(
      keptBy: database,
      """
      SELECT count(*) FROM reading WHERE partition = ?1 AND position >= ?2 AND position <= ?3 AND series = ?4
        AND ingest <> ?5
      """)
    bind(range, of: series, to: statement)
    var count = 0
    while try statement.step() { count = Int(statement.integer(0)) }
    return count
  }

  /// Reads the stored readings in a range, and forms runs from those that are in `points`.
  private mutating func walk(
    _ range: ClosedRange<Int64>, _ points: [SeriesPoint], of series: Series, _ database: Database
  ) throws {
    let statement = try RawStatement(
      keptBy: database,
      """
      SELECT position, value_bucket, occurrence FROM reading
      WHERE partition = ?1 AND position >= ?2 AND position <= ?3 AND series = ?4 AND ingest <> ?5
      ORDER BY position, series, value_bucket, occurrence
      """)
    bind(range, of: series, to: statement)
    var (next, found) = (0, [NotedRun]())
    var isOpen = false
    while try statement.step() {
      let point = statement.point(from: 0)
      while next < points.count, points[next] < point { next += 1 }
      guard next < points.count, points[next] == point else {
        isOpen = false
        continue
      }
      if isOpen {
        found[found.count - 1].last = point
      } else {
        found.append(NotedRun(series: series.id, first: point, last: point))
        isOpen = true
      }
    }
    for run in found { try append(run.first, run.last, series, database) }
  }

  private mutating func append(
    _ first: SeriesPoint, _ last: SeriesPoint, _ series: Series, _ database: Database
  ) throws {
    guard !isFull else { return }
    if let index = open[series.id], runs[index].last < first,
      try count(runs[index].last.position...first.position, of: series, database)
        == (runs[index].last.position == first.position ? 0 : 2)
    {
      runs[index].last = last
      return
    }
    open[series.id] = runs.count
    runs.append(NotedRun(series: series.id, first: first, last: last))
    if runs.count > Self.maxRuns {
      isFull = true
      runs = []
    }
  }

  private func bind(_ range: ClosedRange<Int64>, of series: Series, to statement: RawStatement) {
    statement.bind(series.partition, at: 1)
    statement.bind(range.lowerBound, at: 2)
    statement.bind(range.upperBound, at: 3)
    statement.bind(series.id, at: 4)
    statement.bind(ingest, at: 5)
  }

  /// Stores the runs, inside the caller's transaction.
  func save(_ database: Database) throws {
    if isFull {
      try database.executeCached(sql: "UPDATE ingest SET is_noted = 0 WHERE id = ?", arguments: [ingest])
    }
    let latest = try Int64.fetchOne(database.cachedStatement(sql: "SELECT max(id) FROM ingest")) ?? ingest
    for run in runs {
      try database.executeCached(
        sql: "INSERT OR REPLACE INTO ingest_run VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        arguments: [
          ingest, run.series, run.first.position, run.first.valueBucket, run.first.occurrence,
          run.last.position, run.last.valueBucket, run.last.occurrence, latest,
        ])
    }
  }
}
