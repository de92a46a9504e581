// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

/// A series of a listing.
struct ListedSeries {
  let id: Int64
  let deviceID: Int64
  let device: Device
  let kind: ReadingKind
  let positionKind: PositionKind
  let partition: Int64
  private let isInstant: Bool
  private let hasStrays: Bool
  /// The bounds of its positions and shown times, as counted by the store; nil if no import of glucoport
  /// stored a reading.
  private let positions: ClosedRange<Int64>?
  private let times: ClosedRange<Int64>?

  /// The meaning of the positions.
  enum Place: Hashable {
    /// The shown time.
    case time
    /// The instant in milliseconds.
    case instant
    /// A count without relation to times.
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

  /// A number as large as an instant can also be something that a source counts or composes, such as a date
  /// in digits. The positions of a series are instants if each is near the time that its reading shows.
  var place: Place {
    if positionKind == .time { return .time }
    guard isInstant, !hasStrays, positions != nil else { return .count }
    return .instant
  }

  /// The bounds of its instants; all possible instants if they are unknown.
  var instants: ClosedRange<Int64> {
    let times = times ?? StoredBounds.seconds
    return times.lowerBound - PositionSpan.maxOffset...times.upperBound + PositionSpan.maxOffset
  }

  /// The bounds of its positions; all possible positions if they are unknown.
  var bounds: ClosedRange<Int64> { positions ?? .min...(.max) }
}

/// The series of a listing, in the order in which readings of one instant are listed.
struct SeriesList {
  let all: [ListedSeries]
  /// The facts for reading rows, by the indexes in `all`.
  let stored: [StoredSeries]
  /// The indexes of series with small numbers, which nearly all have; -1 for a series that is not listed.
  /// Readings of several series alternate, and hashing each number would cost as much as reading some of its
  /// columns.
  private let nearPlaces: [Int]
  private let farPlaces: [Int64: Int]
  private static let nearNumbers: Range<Int64> = 0..<4096

  /// The series that the filter selects.
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
    (nearPlaces, farPlaces) = (near, far)
  }

  /// The index of a series; nil if it is not listed.
  @inline(__always)
  func place(of series: Int64) -> Int? {
    guard UInt64(bitPattern: series) < UInt64(nearPlaces.count) else { return farPlaces[series] }
    let place = nearPlaces[Int(series)]
    return place < 0 ? nil : place
  }
}
