// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

/// Determines for stored readings with ticks whether they are in the first or the second pass of a repeated
/// hour. All readings of a device near the hour are processed in the order of ticks. So the result does not
/// depend on the order in which they were stored.
struct RepeatedHours {
  /// The maximum distance of two readings that concern the same change of clocks, in seconds.
  private static let longestChange: Int64 = 6 * 3600

  private struct TickSeries {
    let id: Int64
    let partition: Int64
  }

  /// A reading that can be compared with others by its tick.
  private struct TickReading: Comparable {
    let key: ReadingKey
    let time: DeviceTime
    let placement: Placement
    /// The id of the zone that was stated for the import of the reading; 0 without one.
    let itemZone: Int64

    static func < (left: TickReading, right: TickReading) -> Bool {
      (left.key.position, left.time.seconds, left.key.series, left.key.valueBucket, left.key.occurrence)
        < (
          right.key.position, right.time.seconds, right.key.series, right.key.valueBucket,
          right.key.occurrence
        )
    }

    static func == (left: TickReading, right: TickReading) -> Bool { left.key == right.key }
  }

  private let database: Database
  private let zones: LogbookZones

  init(_ database: Database, _ zones: LogbookZones) {
    self.database = database
    self.zones = zones
  }

  /// Updates the repeated hours of these devices, or of all devices if nil. Typed readings are left out,
  /// since their ticks are random.
  func update(devices: Set<Int64>?) throws {
    let found = try GRDB.Row.fetchAll(
      database.cachedStatement(
        sql: """
          SELECT s.device, d.identity, r.device_time, r.position
          FROM series AS s JOIN device AS d ON d.id = s.device
            CROSS JOIN reading AS r INDEXED BY reading_repeated ON r.series = s.id
          WHERE s.position_kind = 1 AND r.offset_source >= 3 AND r.offset_source <= 4 AND d.format <> ? ORDER BY s.device, r.device_time
          """), arguments: [Device.typed.format])
    var change: (device: Int64, identity: String, last: Int64, positions: ClosedRange<Int64>)?
    for row in found {
      let row = StoredRow(row, of: "reading", key: 0..<4)
      let (device, time, position): (Int64, Int64, Int64) = (try row[0], try row.seconds(2), try row[3])
      guard devices?.contains(device) ?? true else { continue }
      if let known = change, known.device == device, time - known.last <= Self.longestChange {
        let (first, last) = (known.positions.lowerBound, known.positions.upperBound)
        change = (device, known.identity, time, min(first, position)...max(last, position))
      } else {
        if let change { try update(change.device, change.identity, change.positions) }
        change = (device, try row[1], time, position...position)
      }
    }
    if let change { try update(change.device, change.identity, change.positions) }
  }

  /// Updates the readings around one change of clocks. `positions` is the range of their ticks.
  private func update(_ device: Int64, _ identity: String, _ positions: ClosedRange<Int64>) throws {
    let series = try GRDB.Row.fetchAll(
      database.cachedStatement(
        sql: "SELECT id, partition FROM series WHERE device = ? AND position_kind = 1"),
      arguments: [device]
    ).map { row in
      let row = StoredRow(row, of: "series")
      return TickSeries(id: try row[0], partition: try row[1])
    }
    var rows = try series.compactMap { try lastBefore(positions.lowerBound, of: $0) }.max().map { [$0] } ?? []
    for each in series { rows += try self.rows(positions, of: each) }
    var (clock, placing) = (TickClock(), [Int64(0): zones.zone(of: identity)])
    if rows.contains(where: { $0.itemZone != 0 }) {
      for (id, zone) in try ItemZoneTables.names(database) {
        placing[id] = LogbookZone(base: zone, periods: [])
      }
    }
    for row in rows.sorted() {
      guard var zone = placing[row.itemZone] else { continue }
      defer { placing[row.itemZone] = zone }
      let isPlaced = row.placement.source.placesShownTime
      let first = isPlaced ? zone.placement(of: row.time) : row.placement
      let placement = clock.placement(of: row.time, tick: row.key.position, as: first, in: zone)
      if isPlaced, placement != row.placement { try set(placement, of: row.key) }
    }
  }

  /// The last reading of a series before this tick whose offset is certain. Readings are left out if a clock
  /// change skipped or repeated their shown time.
  private func lastBefore(_ position: Int64, of series: TickSeries) throws -> TickReading? {
    let statement = try RawStatement(
      keptBy: database,
      """
      SELECT \(Self.columns) FROM reading WHERE partition = ?1 AND position < ?2 AND series = ?3
        AND offset_source NOT BETWEEN 2 AND 4
      ORDER BY partition DESC, position DESC LIMIT 1
      """)
    statement.bind(series.partition, at: 1)
    statement.bind(position, at: 2)
    statement.bind(series.id, at: 3)
    return try statement.step() ? try Self.row(statement) : nil
  }

  private func rows(_ positions: ClosedRange<Int64>, of series: TickSeries) throws -> [TickReading] {
    let statement = try RawStatement(
      keptBy: database,
      """
      SELECT \(Self.columns) FROM reading
      WHERE partition = ?1 AND position >= ?2 AND position <= ?3 AND series = ?4
      """)
    statement.bind(series.partition, at: 1)
    statement.bind(positions.lowerBound, at: 2)
    statement.bind(positions.upperBound, at: 3)
    statement.bind(series.id, at: 4)
    var rows: [TickReading] = []
    while try statement.step() { rows.append(try Self.row(statement)) }
    return rows
  }

  private func set(_ placement: Placement, of key: ReadingKey) throws {
    let statement = try RawStatement(
      keptBy: database,
      """
      UPDATE reading SET derived_offset = ?6, offset_source = ?7
      WHERE partition = ?1 AND position = ?2 AND series = ?3 AND value_bucket = ?4 AND occurrence = ?5
      """)
    statement.bind(key, at: 1)
    statement.bind(Int64(placement.utcOffset), at: 6)
    statement.bind(Int64(placement.source.rawValue), at: 7)
    _ = try statement.run()
  }

  private static let columns = """
    partition, position, series, value_bucket, occurrence, device_time, \(StoredOffset.sql()), offset_source,
    coalesce(zone, 0)
    """

  private static func row(_ statement: RawStatement) throws -> TickReading {
    let key = statement.key(from: 0)
    return TickReading(
      key: key, time: DeviceTime(seconds: try statement.seconds(5, in: key.place.name)),
      placement: try statement.placement(6, in: key.place.name), itemZone: statement.integer(8))
  }
}
