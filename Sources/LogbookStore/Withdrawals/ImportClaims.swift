// SPDX-License-Identifier: Apache-2.0

import GRDB
import HeapModule
import Logbook
import SQLiteRows

/// A reading that an import brought: it stored it, or met it in the store.
struct ClaimedReading {
  let point: SeriesPoint
  /// The import that stored it.
  let ingest: Int64
  let isUploaded: Bool
}

/// What an import brought, with what others brought, too.
struct ImportClaims {
  let ingest: Int64
  private let database: Database

  init(_ ingest: Int64, _ database: Database) {
    (self.ingest, self.database) = (ingest, database)
  }

  /// Imports whose withdrawals are there and not taken back.
  static func undone(_ database: Database) throws -> Set<Int64> {
    try Set(
      Int64.fetchAll(
        database.cachedStatement(sql: "SELECT ingest FROM undone WHERE \(isUndone("undone.withdrawal"))")))
  }

  /// Whether the withdrawals of a group hold.
  static func isUndone(_ group: String) -> String {
    """
    EXISTS (SELECT 1 FROM record INDEXED BY record_withdrawal_group
      WHERE kind = 'withdrawal' AND json_extract(fields, '$.group') = \(group) AND deleted = 0
        AND json_extract(fields, '$.hidden') = 1)
    """
  }

  // MARK: Readings

  /// The readings of the import by series, in order, each once.
  func readings() throws -> [Int64: [ClaimedReading]] {
    var claimed: [Int64: [ClaimedReading]] = [:]
    try addStored(to: &claimed)
    try addMet(to: &claimed)
    for (series, readings) in claimed {
      let sorted =
        zip(readings, readings.dropFirst()).allSatisfy { $0.point < $1.point }
        ? readings : readings.sorted { $0.point < $1.point }
      var last: SeriesPoint?
      claimed[series] = sorted.filter { reading in
        defer { last = reading.point }
        return reading.point != last
      }
    }
    return claimed
  }

  /// Those that no import brought, too, which is not undone.
  func soleReadings() throws -> [Int64: [ClaimedReading]] {
    let undone = try Self.undone(database).union([ingest])
    var sole: [Int64: [ClaimedReading]] = [:]
    for (series, readings) in try readings() {
      var others = try OtherRuns(series, besides: undone, database)
      sole[series] = readings.filter { undone.contains($0.ingest) && !others.cover($0) }
    }
    return sole.filter { !$0.value.isEmpty }
  }

  private func addStored(to claimed: inout [Int64: [ClaimedReading]]) throws {
    let statement = try RawStatement(
      keptBy: database,
      "SELECT position, value_bucket, occurrence, uploaded, series FROM reading WHERE ingest = ?1")
    statement.bind(ingest, at: 1)
    while try statement.step() {
      claimed[statement.integer(4), default: []].append(
        ClaimedReading(
          point: statement.point(from: 0), ingest: ingest, isUploaded: statement.integer(3) == 1))
    }
  }

  private func addMet(to claimed: inout [Int64: [ClaimedReading]]) throws {
    for run in try MetRun.fetch(database, "ingest = ?", ingest) {
      let statement = try RawStatement(
        keptBy: database,
        """
        SELECT r.position, r.value_bucket, r.occurrence, r.uploaded, r.ingest
        FROM series AS s CROSS JOIN reading AS r ON r.partition = s.partition AND r.series = s.id
        WHERE s.id = ?1 AND r.position >= ?2 AND r.position <= ?3 AND r.ingest <= ?4 AND r.ingest <> ?5
        """)
      statement.bind(run.series, at: 1)
      statement.bind(run.first.position, at: 2)
      statement.bind(run.last.position, at: 3)
      statement.bind(run.latest, at: 4)
      statement.bind(ingest, at: 5)
      while try statement.step() {
        let point = statement.point(from: 0)
        guard point >= run.first, point <= run.last else { continue }
        claimed[run.series, default: []].append(
          ClaimedReading(point: point, ingest: statement.integer(4), isUploaded: statement.integer(3) == 1))
      }
    }
  }

  // MARK: Records

  var connection: Database { database }

  /// The ids of the records that the import brought.
  func recordGuids() throws -> [String] {
    try String.fetchAll(
      database.cachedStatement(
        sql: """
          SELECT guid FROM record WHERE ingest = ?1 UNION SELECT guid FROM ingest_record WHERE ingest = ?1
          """), arguments: [ingest])
  }

  /// The ids of the records that the import brought and that no import brought, too, which is not undone.
  func soleRecords() throws -> [String] {
    let undone = try Self.undone(database).union([ingest]).map(String.init).joined(separator: ",")
    return try String.fetchAll(
      database,
      sql: """
        SELECT guid FROM (
          SELECT guid FROM record WHERE ingest = ?1
          UNION SELECT guid FROM ingest_record WHERE ingest = ?1) AS brought
        WHERE NOT EXISTS (SELECT 1 FROM ingest_record AS o
            WHERE o.guid = brought.guid AND o.ingest NOT IN (\(undone)))
          AND NOT EXISTS (SELECT 1 FROM record AS r
            WHERE r.guid = brought.guid AND r.ingest NOT IN (\(undone)))
        ORDER BY guid
        """, arguments: [ingest])
  }
}

/// A run of readings that an import met.
struct MetRun {
  let series: Int64
  let first: SeriesPoint
  let last: SeriesPoint
  let latest: Int64

  /// The runs for which a condition holds, in order.
  static func fetch(_ database: Database, _ condition: String, _ argument: Int64) throws -> [MetRun] {
    try Row.fetchAll(
      database,
      sql: """
        SELECT series, first_position, first_bucket, first_occurrence, last_position, last_bucket, last_occurrence,
          latest
        FROM ingest_run WHERE \(condition) ORDER BY series, first_position, first_bucket, first_occurrence
        """, arguments: [argument]
    ).map { row in
      let row = StoredRow(row, of: "ingest_run", key: 0..<4)
      return MetRun(
        series: try row[0],
        first: SeriesPoint(position: try row[1], valueBucket: try row[2], occurrence: try row[3]),
        last: SeriesPoint(position: try row[4], valueBucket: try row[5], occurrence: try row[6]),
        latest: try row[7])
    }
  }
}

/// What imports met in one series, asked for readings in order.
private struct OtherRuns {
  private struct Open: Comparable {
    let latest: Int64
    let last: SeriesPoint

    static func < (left: Self, right: Self) -> Bool { left.latest < right.latest }
  }

  private let runs: [MetRun]
  private var next = 0
  /// Runs that have begun; the one that counts the latest readings first.
  private var open = Heap<Open>()

  init(_ series: Int64, besides undone: Set<Int64>, _ database: Database) throws {
    let list = undone.map(String.init).joined(separator: ",")
    runs = try MetRun.fetch(database, "series = ? AND ingest NOT IN (\(list))", series)
  }

  mutating func cover(_ reading: ClaimedReading) -> Bool {
    while next < runs.count, runs[next].first <= reading.point {
      open.insert(Open(latest: runs[next].latest, last: runs[next].last))
      next += 1
    }
    while let best = open.max, best.last < reading.point { open.removeMax() }
    return open.max.map { $0.latest >= reading.ingest } ?? false
  }
}
