// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

/// A series whose readings are listed.
struct ListedSeries {
  let id: Int64
  let deviceID: Int64
  let device: Device
  let kind: ReadingKind
  let positionKind: PositionKind
  let partition: Int64
  private let isInstant: Bool
  private let hasStrays: Bool
  /// The ranges of the positions and shown times in the series, as the store's counters state them; nil
  /// without counters.
  private let positions: ClosedRange<Int64>?
  private let times: ClosedRange<Int64>?

  /// The meaning of the positions in a series.
  enum PositionMeaning: Hashable {
    /// The shown time.
    case time
    /// The instant in milliseconds.
    case instant
    /// A count that does not follow from times, such as a record number.
    case count
  }

  static let columns = """
    s.id AS series, s.device, s.kind, s.position_kind, s.is_instant, s.partition,
    s.first_position, s.last_position, s.first_time, s.last_time, s.has_strays, \(Device.storedColumns)
    """

  init(_ row: Row) throws {
    let row = StoredRow(row, of: "series")
    (id, deviceID, kind, positionKind) = (try row[0], try row[1], try row.code(2), try row.code(3))
    (isInstant, partition) = (try row[4], try row[5])
    positions = try Self.range(row, 6)
    times = try Self.range(row, 8)
    for column in 8...9 { _ = try row.optionalSeconds(column) }
    hasStrays = try row[10]
    device = try Device(row, from: 11)
  }

  private static func range(_ row: StoredRow, _ column: Int) throws -> ClosedRange<Int64>? {
    guard let first: Int64 = try row[column], let last: Int64 = try row[column + 1] else { return nil }
    guard first <= last else { throw row.damage(column) }
    return first...last
  }

  /// The meaning of the positions. They are instants only if each one is near the shown time of its reading.
  /// Otherwise such large numbers are counts or composed numbers, such as a date in digits.
  var positionMeaning: PositionMeaning {
    if positionKind == .time { return .time }
    guard isInstant, !hasStrays, positions != nil else { return .count }
    return .instant
  }

  /// A range that contains the instants of all readings; all possible instants if unknown.
  var instants: ClosedRange<Int64> {
    let times = times ?? StoredBounds.seconds
    return times.lowerBound - PositionSpan.maxOffset...times.upperBound + PositionSpan.maxOffset
  }

  /// A range that contains the positions of all readings; all possible positions if unknown.
  var bounds: ClosedRange<Int64> { positions ?? .min...(.max) }
}

/// The series of a listing. If readings have the same instant, they are listed in the order of these series.
struct SeriesList {
  let all: [ListedSeries]
  /// The data with which the rows of each series are read, with the same indexes as `all`.
  let stored: [StoredSeries]
  /// For each series id below 4096, the index in `all`; -1 for a series that is not listed. Nearly all ids
  /// are so small. An array is used, since hashing an id for each row would take as much time as reading some
  /// of its columns.
  private let indexesOfSmallIDs: [Int]
  private let indexesOfLargeIDs: [Int64: Int]
  private static let nearNumbers: Range<Int64> = 0..<4096

  /// The series with readings that the filter selects.
  init(_ database: Database, _ filter: ItemFilter) throws {
    let chosen = try Row.fetchAll(
      database,
      sql: """
        SELECT \(ListedSeries.columns) FROM series AS s CROSS JOIN device AS d ON d.id = s.device
        WHERE \(filter.readingKindCondition) ORDER BY s.device, s.kind, s.position_kind
        """
    ).map(ListedSeries.init)
    all = chosen.filter { filter.includesDevice?($0.device) ?? true }
    stored = all.enumerated().map {
      StoredSeries(
        device: DeviceIndex(Int32($0.offset)), kind: $0.element.kind, positionKind: $0.element.positionKind)
    }
    var near: [Int] = []
    var far: [Int64: Int] = [:]
    for (place, series) in all.enumerated() {
      guard Self.nearNumbers.contains(series.id) else {
        far[series.id] = place
        continue
      }
      near += Array(repeating: -1, count: max(0, Int(series.id) + 1 - near.count))
      near[Int(series.id)] = place
    }
    (indexesOfSmallIDs, indexesOfLargeIDs) = (near, far)
  }

  /// The index in `all` of the series with this id; nil if it is not listed.
  @inline(__always)
  func index(of series: Int64) -> Int? {
    guard UInt64(bitPattern: series) < UInt64(indexesOfSmallIDs.count) else {
      return indexesOfLargeIDs[series]
    }
    let place = indexesOfSmallIDs[Int(series)]
    return place < 0 ? nil : place
  }
}
