// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

/// Updates which readings of one series are hidden, in the table `withdrawn`.
///
/// One SQL statement writes all adjacent readings with the same result. So an import of a million readings
/// needs few statements.
struct WithdrawnReadings {
  /// The maximum number of changes in memory before they are written, so that the use of memory does not grow
  /// with the series.
  private static let maxChanges = 4096

  private let series: Int64
  private let visibility: SeriesVisibility
  private let database: Database

  init(_ series: Int64, _ visibility: SeriesVisibility, _ database: Database) {
    (self.series, self.visibility, self.database) = (series, visibility, database)
  }

  /// Updates the visibility of all readings in a range of positions.
  func update(_ positions: ClosedRange<Int64>) throws {
    var rest: ClosedRange<Int64>? = positions
    var ordered = visibility.ordered
    while let range = rest {
      var found = FoundChanges()
      let last = try collect(&found, in: range, &ordered)
      try write(found.finish())
      rest = last.flatMap { $0 < range.upperBound ? $0 + 1...range.upperBound : nil }
    }
  }

  /// Counts the readings in a range that would become hidden or visible, without writing.
  func count(in positions: ClosedRange<Int64>, _ tally: inout VisibilityTally) throws {
    let readings = try readings(in: positions)
    var (ordered, causes) = (visibility.ordered, try StoredCauses(series, positions, database))
    var place: [PlacedReading] = []
    func countPlace() throws {
      let verdicts =
        place.count == 1
        ? [place[0].isHidden ? SeriesVisibility.Verdict.withdrawn : .shown]
        : visibility.judge(try items(place), isHidden: place.map(\.isHidden))
      for (reading, verdict) in zip(place, verdicts) {
        tally.add(wasShown: reading.stored == 0, isShown: verdict == .shown, isUploaded: reading.isUploaded)
      }
      place.removeAll(keepingCapacity: true)
    }
    while try readings.step() {
      let point = readings.point(from: 0)
      if let last = place.last?.point.position, last != point.position { try countPlace() }
      let time = DeviceTime(seconds: try readings.seconds(3, in: name(of: point)))
      place.append(
        PlacedReading(
          point: point, deviceTime: time, isHidden: ordered.hides(point, shownAt: time),
          stored: try causes.cause(of: point), measurement: StoredMeasurement(readings, from: 4),
          offset: offset(readings), isUploaded: readings.integer(8) == 1))
    }
    try countPlace()
  }

  /// Collects changes until there are `maxChanges`. Returns the position at which to continue; nil at the end
  /// of the range.
  private func collect(
    _ found: inout FoundChanges, in positions: ClosedRange<Int64>,
    _ ordered: inout SeriesVisibility.VisibilityCursor
  ) throws -> Int64? {
    let readings = try readings(in: positions)
    var causes = try StoredCauses(series, positions, database)
    var place: [PlacedReading] = []
    while try readings.step() {
      let point = readings.point(from: 0)
      if let last = place.last?.point.position, last != point.position {
        try update(place, &found)
        place.removeAll(keepingCapacity: true)
        if found.count >= Self.maxChanges { return last }
      }
      let time = DeviceTime(seconds: try readings.seconds(3, in: name(of: point)))
      place.append(
        PlacedReading(
          point: point, deviceTime: time, isHidden: ordered.hides(point, shownAt: time),
          stored: try causes.cause(of: point), measurement: StoredMeasurement(readings, from: 4),
          offset: offset(readings)))
    }
    try update(place, &found)
    return nil
  }

  /// The description of a reading in an error message.
  private func name(of point: SeriesPoint) -> String {
    StoredPlace(
      series: series, position: point.position, valueBucket: point.valueBucket, occurrence: point.occurrence
    ).name
  }

  /// Collects the changes of the readings at one position.
  @inline(__always)
  private func update(_ place: [PlacedReading], _ found: inout FoundChanges) throws {
    if place.isEmpty { return }
    // Nearly every position has only one reading, which needs no comparison with others.
    guard place.count > 1 else {
      let verdict: SeriesVisibility.Verdict = place[0].isHidden ? .withdrawn : .shown
      return found.add(
        place[0].point, verdict, isChanged: place[0].stored != verdict.rawValue, isAlone: true)
    }
    let verdicts = visibility.judge(try items(place), isHidden: place.map(\.isHidden))
    let areChanged = zip(place, verdicts).map { $0.stored != $1.rawValue }
    if verdicts.allSatisfy({ $0 == verdicts[0] }) {
      found.add(place[0].point, verdicts[0], isChanged: areChanged.contains(true), isAlone: false)
    } else {
      for (index, reading) in place.enumerated() where areChanged[index] {
        found.add(only: reading.point, verdicts[index])
      }
      found.endRange()
    }
  }

  private func items(_ place: [PlacedReading]) throws -> [SeriesVisibility.JudgedReading] {
    try place.map { reading in
      let measurement = try reading.measurement.measurement(in: "reading (series \(series))")
      return SeriesVisibility.JudgedReading(
        reading.point, at: reading.deviceTime, measurement, offset: reading.offset)
    }
  }

  private func offset(_ row: RawStatement) -> (seconds: Int32, isStated: Bool) {
    (Int32(clamping: row.integer(9)), row.integer(10) == 1)
  }

  private func readings(in positions: ClosedRange<Int64>) throws -> RawStatement {
    let readings = try RawStatement(
      keptBy: database,
      """
      SELECT r.position, r.value_bucket, r.occurrence, r.device_time, r.value, r.unit, r.range_flag, r.threshold,
        r.uploaded, coalesce(r.stated_offset, r.derived_offset), r.stated_offset IS NOT NULL
      FROM series AS s CROSS JOIN reading AS r ON r.partition = s.partition AND r.series = s.id
      WHERE s.id = ?1 AND r.position >= ?2 AND r.position <= ?3
      """)
    readings.bind(series, at: 1)
    readings.bind(positions.lowerBound, at: 2)
    readings.bind(positions.upperBound, at: 3)
    return readings
  }

  private func write(_ changes: [FoundChanges.VerdictRange]) throws {
    let hide = try RawStatement(
      keptBy: database,
      """
      INSERT OR REPLACE INTO withdrawn
      SELECT r.series, r.position, r.value_bucket, r.occurrence, ?4
      FROM series AS s CROSS JOIN reading AS r ON r.partition = s.partition AND r.series = s.id
      WHERE s.id = ?1 AND r.position >= ?2 AND r.position <= ?3
      """)
    let show = try RawStatement(
      keptBy: database, "DELETE FROM withdrawn WHERE series = ?1 AND position >= ?2 AND position <= ?3")
    let hideOne = try RawStatement(
      keptBy: database, "INSERT OR REPLACE INTO withdrawn VALUES (?1, ?2, ?3, ?4, ?5)")
    let showOne = try RawStatement(
      keptBy: database,
      "DELETE FROM withdrawn WHERE series = ?1 AND position = ?2 AND value_bucket = ?3 AND occurrence = ?4")
    for change in changes {
      let isHidden = change.verdict != .shown
      if let point = change.point {
        let statement = isHidden ? hideOne : showOne
        statement.bind(series, at: 1)
        statement.bind(point.position, at: 2)
        statement.bind(point.valueBucket, at: 3)
        statement.bind(point.occurrence, at: 4)
        if isHidden { statement.bind(change.verdict.rawValue, at: 5) }
        _ = try statement.run()
      } else {
        let statement = isHidden ? hide : show
        statement.bind(series, at: 1)
        statement.bind(change.positions.lowerBound, at: 2)
        statement.bind(change.positions.upperBound, at: 3)
        if isHidden { statement.bind(change.verdict.rawValue, at: 4) }
        _ = try statement.run()
      }
    }
  }
}

/// One of the readings at a position.
private struct PlacedReading {
  let point: SeriesPoint
  let deviceTime: DeviceTime
  let isHidden: Bool
  /// The column `cause` of the stored row that hides the reading; 0 if the reading is visible.
  let stored: Int64
  let measurement: StoredMeasurement
  let offset: (seconds: Int32, isStated: Bool)
  var isUploaded = false
}

/// The changes to be written, as ranges of positions. In a range, all readings get the same verdict.
private struct FoundChanges {
  struct VerdictRange {
    /// The only reading of the change, if another reading at its position gets another verdict; nil for all
    /// readings at the positions.
    let point: SeriesPoint?
    let positions: ClosedRange<Int64>
    let verdict: SeriesVisibility.Verdict
  }

  /// The maximum number of consecutive unchanged positions that are written again within a range. After more
  /// of them, another range begins.
  private static let maxIdle = 4

  private var changes: [VerdictRange] = []
  private var open: VerdictRange?
  /// The number of unchanged positions with the same verdict after the end of the open range.
  private var idle = 0

  var count: Int { changes.count }

  /// Adds the next position, at which all readings get the same verdict.
  @inline(__always)
  mutating func add(
    _ point: SeriesPoint, _ verdict: SeriesVisibility.Verdict, isChanged: Bool, isAlone: Bool
  ) {
    if let last = open, last.verdict == verdict {
      idle = isChanged ? 0 : idle + 1
      if isChanged {
        open = VerdictRange(
          point: nil, positions: last.positions.lowerBound...point.position, verdict: verdict)
      }
      if idle > Self.maxIdle { endRange() }
    } else {
      endRange()
      if isChanged {
        open = VerdictRange(
          point: isAlone ? point : nil, positions: point.position...point.position, verdict: verdict)
      }
    }
  }

  /// Adds one reading of a position at which another reading gets a different verdict.
  mutating func add(only point: SeriesPoint, _ verdict: SeriesVisibility.Verdict) {
    endRange()
    changes.append(VerdictRange(point: point, positions: point.position...point.position, verdict: verdict))
  }

  /// Ends the range that `open` holds, if there is one, and adds it to the changes.
  mutating func endRange() {
    if let open { changes.append(open) }
    (open, idle) = (nil, 0)
  }

  mutating func finish() -> [VerdictRange] {
    endRange()
    return changes
  }
}

/// Reads the stored column `cause` for the hidden readings of one series. Callers ask in the order of the
/// readings.
private struct StoredCauses {
  private let rows: RawStatement
  private var next: SeriesPoint?

  init(_ series: Int64, _ positions: ClosedRange<Int64>, _ database: Database) throws {
    rows = try RawStatement(
      keptBy: database,
      """
      SELECT position, value_bucket, occurrence, cause FROM withdrawn
      WHERE series = ?1 AND position >= ?2 AND position <= ?3 ORDER BY position, value_bucket, occurrence
      """)
    rows.bind(series, at: 1)
    rows.bind(positions.lowerBound, at: 2)
    rows.bind(positions.upperBound, at: 3)
    next = try rows.step() ? rows.point(from: 0) : nil
  }

  /// The stored `cause` of a hidden reading; 0 if the reading is visible. Callers must ask for readings in
  /// ascending order.
  mutating func cause(of point: SeriesPoint) throws -> Int64 {
    while let row = next, row < point { next = try rows.step() ? rows.point(from: 0) : nil }
    return next == point ? rows.integer(3) : 0
  }
}

/// Readings of an input in any order, packed by series to save memory: a file may have millions of withdrawn
/// readings.
struct KnownReadings {
  /// The maximum number of readings of a series that are collected before they are packed.
  private static let maxOpen = 16_384

  private var packed: [Int64: [PointRuns]] = [:]
  private var open: [Int64: [SeriesPoint]] = [:]

  mutating func add(_ point: SeriesPoint, of series: Int64) {
    open[series, default: []].append(point)
    if open[series]?.count == Self.maxOpen { pack(series) }
  }

  /// All readings, as one or more lists for each series, by id.
  mutating func lists() -> [Int64: [PointRuns]] {
    for series in open.keys { pack(series) }
    return packed
  }

  private mutating func pack(_ series: Int64) {
    guard let points = open.removeValue(forKey: series) else { return }
    packed[series, default: []].append(PointRuns(Set(points).sorted()))
  }
}
