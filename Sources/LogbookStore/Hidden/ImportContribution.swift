// SPDX-License-Identifier: Apache-2.0

import GRDB
import HeapModule
import Logbook
import SQLiteRows

/// A reading that an import stored, or that it contained and the store already had.
struct ContributedReading {
  let point: SeriesPoint
  /// The number of the import that stored the reading.
  let ingest: Int64
  let isUploaded: Bool
}

extension ContributedReading {
  /// The SQL query for all readings of the series ?1, in their order.
  static let ofSeries = """
    SELECT r.position, r.value_bucket, r.occurrence, r.uploaded, r.ingest
    FROM series AS s CROSS JOIN reading AS r ON r.partition = s.partition AND r.series = s.id
    WHERE s.id = ?1 ORDER BY r.position, r.series, r.value_bucket, r.occurrence
    """

  /// The reading in a row of `ofSeries`.
  init(_ row: RawStatement) {
    self.init(point: row.point(from: 0), ingest: row.integer(4), isUploaded: row.integer(3) == 1)
  }
}

/// Readings of one series that an import contained.
struct BroughtReadings {
  var points: PointRuns
  /// The number of readings in `points` that the remote has.
  var uploaded: Int
}

/// The items of an import, with the means to find those that no other import contains.
struct ImportContribution {
  let ingest: Int64
  private let database: Database
  private let stored: [Int64: ClosedRange<Int64>]?

  /// - Parameter stored: for each series, the range of positions in which the import stored readings. If it
  ///   is nil, the whole table is read.
  init(_ ingest: Int64, _ database: Database, stored: [Int64: ClosedRange<Int64>]? = nil) {
    (self.ingest, self.database, self.stored) = (ingest, database, stored)
  }

  /// The numbers of undone imports: those with valid withdrawals.
  static func undone(_ database: Database) throws -> Set<Int64> {
    try Set(Int64.fetchAll(database.cachedStatement(sql: "SELECT id FROM ingest WHERE \(isUndone)")))
  }

  /// The SQL condition that an import is undone: it has valid withdrawals, which may have been made in any
  /// copy of the store.
  static let isUndone = isUndone(of: "ingest")

  /// The same condition as `isUndone`, for an import with another alias in the SQL statement. The plus sign
  /// takes the affinity from the column, since SQLite would otherwise read the whole index.
  static func isUndone(of table: String) -> String {
    """
    EXISTS (SELECT 1 FROM record AS u INDEXED BY record_withdrawal_import
      WHERE u.kind = 'withdrawal' AND json_extract(u.fields, '$.import') = +\(table).guid AND u.deleted = 0
        AND json_extract(u.fields, '$.hidden') = 1)
    """
  }

  /// Whether the import had no items: none was stored, changed or known. If its known readings had too many
  /// runs to be stored, it is not empty.
  ///
  /// Searching its readings reads the whole table. So this is done last, and with CASE, since SQLite
  /// evaluates both sides of AND.
  func hasNoItems() throws -> Bool {
    try Bool.fetchOne(
      database.cachedStatement(
        sql: """
          SELECT CASE WHEN (
            SELECT is_noted = 1 AND coalesce(json_extract(counts, '$.new'), 0) = 0 FROM ingest WHERE id = ?1)
            AND NOT EXISTS (SELECT 1 FROM ingest_run WHERE ingest = ?1)
            AND NOT EXISTS (SELECT 1 FROM ingest_record WHERE ingest = ?1)
            AND NOT EXISTS (SELECT 1 FROM stated_content WHERE ingest = ?1)
            AND NOT EXISTS (SELECT 1 FROM record WHERE ingest = ?1)
          THEN NOT EXISTS (SELECT 1 FROM reading WHERE ingest = ?1) ELSE FALSE END
          """), arguments: [ingest]) ?? false
  }

  // MARK: Readings

  /// A function that returns whether to include a reading. It is called in the order of the readings of one
  /// series.
  typealias Choice = (ContributedReading) -> Bool

  /// All readings of the import, by the ids of their series.
  func readings() throws -> [Int64: BroughtReadings] { try readings { _ in { _ in true } } }

  /// The readings that no other import contains. Undone imports do not count. Readings that withdrawals hide
  /// are included, since a withdrawal may end. A reading in a document of another program on a site counts as
  /// an import of the site, which is never undone.
  func readingsOnlyFromThisImport() throws -> [Int64: BroughtReadings] {
    let undone = try Self.undone(database).union([ingest])
    return try readings { series in
      var others = KnownRunCursor(try KnownRun.fetch(of: series, besides: undone, database))
      let site = try onSite(series)
      var held = site.ends.map { PointRuns.Cursor(site, from: $0.lowerBound) }
      return { reading in
        undone.contains(reading.ingest) && !others.contains(reading) && held?.contains(reading.point) != true
      }
    }
  }

  /// The readings of this series that the remote of the store also has in a document that another program
  /// wrote. An undo of the import does not hide them.
  private func onSite(_ series: Int64) throws -> PointRuns {
    let rows = try RawStatement(
      keptBy: database,
      """
      SELECT DISTINCT position, value_bucket, occurrence FROM same_as WHERE series = ?1
      ORDER BY position, value_bucket, occurrence
      """)
    rows.bind(series, at: 1)
    var builder = PointRuns.Builder()
    while try rows.step() { builder.append(rows.point(from: 0)) }
    return builder.finish()
  }

  /// Reads the readings one by one and packs them, since an import may have millions.
  ///
  /// - Parameter choice: returns the function that chooses readings in one pass over a series.
  private func readings(_ choice: (Int64) throws -> Choice) throws -> [Int64: BroughtReadings] {
    let (stored, known) = (try storedReadings(choice), try knownReadings(choice))
    return stored.merging(known) {
      BroughtReadings(points: $0.points.union($1.points), uploaded: $0.uploaded + $1.uploaded)
    }
  }

  private func storedReadings(_ choice: (Int64) throws -> Choice) throws -> [Int64: BroughtReadings] {
    if let stored { return try readings(between: stored, choice) }
    let statement = try RawStatement(
      keptBy: database,
      "SELECT position, value_bucket, occurrence, uploaded, series FROM reading WHERE ingest = ?1")
    statement.bind(ingest, at: 1)
    var series: [Int64: ReadingCollector] = [:]
    var last: ReadingCollector?
    while try statement.step() {
      let id = statement.integer(4)
      if last?.series != id {
        last = try series[id] ?? ReadingCollector(id, choice(id))
        series[id] = last
      }
      last?.add(
        ContributedReading(
          point: statement.point(from: 0), ingest: ingest, isUploaded: statement.integer(3) == 1))
    }
    return series.mapValues { $0.finish() }
  }

  /// Reads the readings of the import at these positions only. A device may have a hundred million readings,
  /// while an import may have only those of a day.
  private func readings(
    between stored: [Int64: ClosedRange<Int64>], _ choice: (Int64) throws -> Choice
  ) throws -> [Int64: BroughtReadings] {
    let statement = try RawStatement(
      keptBy: database,
      """
      SELECT r.position, r.value_bucket, r.occurrence, r.uploaded
      FROM series AS s CROSS JOIN reading AS r ON r.partition = s.partition AND r.series = s.id
      WHERE s.id = ?1 AND r.position >= ?2 AND r.position <= ?3 AND r.ingest = ?4
      """)
    var found: [Int64: BroughtReadings] = [:]
    for (series, positions) in stored {
      let collector = ReadingCollector(series, try choice(series))
      statement.bind(series, at: 1)
      statement.bind(positions.lowerBound, at: 2)
      statement.bind(positions.upperBound, at: 3)
      statement.bind(ingest, at: 4)
      while try statement.step() {
        collector.add(
          ContributedReading(
            point: statement.point(from: 0), ingest: ingest, isUploaded: statement.integer(3) == 1))
      }
      found[series] = collector.finish()
    }
    return found
  }

  private func knownReadings(_ choice: (Int64) throws -> Choice) throws -> [Int64: BroughtReadings] {
    let runs = try KnownRun.fetch(database, "ingest = ?", ingest)
    return try Dictionary(grouping: runs, by: \.series).reduce(into: [:]) { found, next in
      let (series, runs) = next
      let collector = ReadingCollector(series, try choice(series))
      var cover = KnownRunCursor(runs)
      for positions in KnownRun.positions(of: runs) { try add(positions, in: &cover, to: collector) }
      found[series] = collector.finish()
    }
  }

  /// Adds those readings between two positions that the runs in `cover` contain.
  private func add(
    _ positions: ClosedRange<Int64>, in cover: inout KnownRunCursor, to collector: ReadingCollector
  ) throws {
    let statement = try RawStatement(
      keptBy: database,
      """
      SELECT r.position, r.value_bucket, r.occurrence, r.uploaded, r.ingest
      FROM series AS s CROSS JOIN reading AS r ON r.partition = s.partition AND r.series = s.id
      WHERE s.id = ?1 AND r.position >= ?2 AND r.position <= ?3 AND r.ingest <> ?4
      """)
    statement.bind(collector.series, at: 1)
    statement.bind(positions.lowerBound, at: 2)
    statement.bind(positions.upperBound, at: 3)
    statement.bind(ingest, at: 4)
    while try statement.step() {
      let reading = ContributedReading(
        point: statement.point(from: 0), ingest: statement.integer(4), isUploaded: statement.integer(3) == 1)
      if cover.contains(reading) { collector.add(reading) }
    }
  }

  // MARK: Records

  var connection: Database { database }

  /// The guids of the records that the import contained.
  func recordGuids() throws -> [String] {
    try String.fetchAll(
      database.cachedStatement(
        sql: """
          SELECT guid FROM record WHERE ingest = ?1 UNION SELECT guid FROM ingest_record WHERE ingest = ?1
          """), arguments: [ingest])
  }

  /// The guids of the records whose present content no other import stated, or whose imports differ. Undone
  /// imports do not count.
  func soleRecords() throws -> [String] {
    let undone = try Self.undone(database).union([ingest]).map(String.init).joined(separator: ",")
    return try String.fetchAll(
      database,
      sql: """
        SELECT guid FROM (
          SELECT guid FROM record WHERE ingest = ?1
          UNION SELECT guid FROM ingest_record WHERE ingest = ?1
          UNION SELECT guid FROM stated_content WHERE ingest = ?1) AS brought
        WHERE CASE WHEN EXISTS (SELECT 1 FROM stated_content AS s WHERE s.guid = brought.guid) THEN
          NOT EXISTS (SELECT 1 FROM stated_content AS s CROSS JOIN record ON record.guid = s.guid
            WHERE s.guid = brought.guid AND s.ingest NOT IN (\(undone)) AND NOT \(ContentExport.isImported))
        ELSE
          NOT EXISTS (SELECT 1 FROM ingest_record AS o WHERE o.guid = brought.guid AND o.ingest NOT IN (\(undone)))
          AND NOT EXISTS (SELECT 1 FROM record AS r WHERE r.guid = brought.guid AND r.ingest NOT IN (\(undone)))
        END
        ORDER BY guid
        """, arguments: [ingest])
  }
}

/// A run of adjacent readings that an import contained and the store already had.
struct KnownRun {
  let ingest: Int64
  let series: Int64
  let first: SeriesPoint
  let last: SeriesPoint
  let latest: Int64

  /// The runs of a series in order, without those of the given imports.
  static func fetch(of series: Int64, besides imports: Set<Int64>, _ database: Database) throws -> [KnownRun]
  {
    let list = imports.map(String.init).joined(separator: ",")
    return try fetch(database, "series = ? AND ingest NOT IN (\(list))", series)
  }

  /// The positions in the runs of one series, as ordered ranges that do not overlap.
  static func positions(of runs: [KnownRun]) -> [ClosedRange<Int64>] {
    var all: [ClosedRange<Int64>] = []
    for run in runs {
      let (first, last) = (run.first.position, run.last.position)
      if let open = all.last, first <= open.upperBound {
        all[all.count - 1] = open.lowerBound...max(open.upperBound, last)
      } else {
        all.append(first...last)
      }
    }
    return all
  }

  /// The runs that meet an SQL condition, in order.
  static func fetch(_ database: Database, _ condition: String, _ argument: Int64) throws -> [KnownRun] {
    try Row.fetchAll(
      database,
      sql: """
        SELECT series, first_position, first_bucket, first_occurrence, last_position, last_bucket, last_occurrence,
          latest, ingest
        FROM ingest_run WHERE \(condition) ORDER BY series, first_position, first_bucket, first_occurrence
        """, arguments: [argument]
    ).map { row in
      let row = StoredRow(row, of: "ingest_run", key: 0..<4)
      let run = KnownRun(
        ingest: try row[8], series: try row[0],
        first: SeriesPoint(position: try row[1], valueBucket: try row[2], occurrence: try row[3]),
        last: SeriesPoint(position: try row[4], valueBucket: try row[5], occurrence: try row[6]),
        latest: try row[7])
      guard run.first.position <= run.last.position else { throw row.damage(4) }
      return run
    }
  }
}

/// Packs the chosen readings of one series. They must be added in order.
private final class ReadingCollector {
  let series: Int64
  private let isChosen: ImportContribution.Choice
  private var builder = PointRuns.Builder()
  private var uploaded = 0

  init(_ series: Int64, _ isChosen: @escaping ImportContribution.Choice) {
    (self.series, self.isChosen) = (series, isChosen)
  }

  func add(_ reading: ContributedReading) {
    guard isChosen(reading) else { return }
    builder.append(reading.point)
    if reading.isUploaded { uploaded += 1 }
  }

  func finish() -> BroughtReadings { BroughtReadings(points: builder.finish(), uploaded: uploaded) }
}

/// Finds the imports whose runs contain a reading of one series. Its functions must be called with readings
/// in order.
struct KnownRunCursor {
  private struct Open: Comparable {
    let latest: Int64
    let last: SeriesPoint
    let ingest: Int64

    static func < (left: Self, right: Self) -> Bool { left.latest < right.latest }
  }

  private let runs: [KnownRun]
  private var next = 0
  /// The runs that have begun. The one with the largest `latest` is first.
  private var open = Heap<Open>()

  /// - Parameter runs: the runs, ordered by their first readings.
  init(_ runs: [KnownRun]) { self.runs = runs }

  mutating func contains(_ reading: ContributedReading) -> Bool {
    advance(to: reading.point)
    return open.max.map { $0.latest >= reading.ingest } ?? false
  }

  /// The first import whose runs contain the reading, among those that `counts` accepts.
  mutating func firstImport(of reading: ContributedReading, _ counts: (Int64) -> Bool) -> Int64? {
    imports(of: reading).filter(counts).min()
  }

  /// The imports whose runs contain the reading.
  mutating func imports(of reading: ContributedReading) -> [Int64] {
    advance(to: reading.point)
    return open.unordered.filter { $0.last >= reading.point && $0.latest >= reading.ingest }.map(\.ingest)
  }

  private mutating func advance(to point: SeriesPoint) {
    while next < runs.count, runs[next].first <= point {
      open.insert(Open(latest: runs[next].latest, last: runs[next].last, ingest: runs[next].ingest))
      next += 1
    }
    while let best = open.max, best.last < point { open.removeMax() }
  }
}
