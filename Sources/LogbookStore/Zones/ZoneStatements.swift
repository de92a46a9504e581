// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

/// Applies zone records, in the transaction that changed one of them. First it determines the zone of each
/// reading that statements about the zones of imports list. Then it derives all offsets that may change.
struct ZoneStatements {
  private let database: Database
  /// The positions at which the zone of readings may change, by series.
  private var ranges: [SeriesName: [ClosedRange<Int64>]] = [:]
  private var records: Set<String> = []
  /// Whether the base zone or a period changed, which may affect every item.
  private var changesAll = false

  private init(_ database: Database) { self.database = database }

  /// Applies changes of these records. They are zone records, or records that a zone statement lists.
  static func apply(_ guids: [String], _ database: Database) throws -> DerivedOffsets.Moved {
    var changes = ZoneStatements(database)
    for guid in guids { try changes.applyChange(of: guid) }
    try changes.storeNewReadings()
    let moved = try changes.applyChanges()
    // The calculation itself marked these records as changed. They need not be applied again.
    try database.executeCached(sql: "DELETE FROM changed_statement WHERE kind = 'zone'")
    return moved
  }

  /// Applies every zone record again.
  static func applyAll(_ database: Database) throws {
    let guids = try String.fetchAll(database, sql: "SELECT guid FROM record WHERE kind = 'zone'")
    _ = try apply(guids + [LogbookZones.baseGuid], database)
  }

  /// Whether there are new readings that a statement about the zone of an import may list.
  static func hasNewReadings(_ database: Database) throws -> Bool {
    try database.hasRow(in: "changed_zone_series")
  }
}

extension ZoneStatements {
  private mutating func applyChange(of guid: String) throws {
    let kind = try String.fetchOne(
      database.cachedStatement(sql: "SELECT kind FROM record WHERE guid = ?"), arguments: [guid])
    guard kind == RecordKind.zone.rawValue || guid == LogbookZones.baseGuid else {
      records.insert(guid)
      return
    }
    let former = try ItemZoneTables.remove(guid, database)
    let statement = try ItemZoneTables.statement(guid, database)
    for range in former.ranges { ranges[range.series, default: []].append(range.positions) }
    records.formUnion(former.records)
    if let statement {
      try ItemZoneTables.insert(statement, database)
      for (series, points) in statement.points {
        if let positions = points.positions { ranges[series, default: []].append(positions) }
      }
      records.formUnion(statement.records)
    } else if former.ranges.isEmpty, former.records.isEmpty {
      changesAll = true
    }
  }

  private mutating func storeNewReadings() throws {
    guard try Self.hasNewReadings(database) else { return }
    let rows = try Row.fetchAll(
      database.cachedStatement(
        sql:
          "SELECT series, min(first_position), max(last_position) FROM changed_zone_series GROUP BY series"))
    for row in rows {
      let row = StoredRow(row, of: "changed_zone_series")
      ranges[try SeriesName.stored(try row[0], database), default: []].append(try row.range(1))
    }
    try database.executeCached(sql: "DELETE FROM changed_zone_series")
  }

  private mutating func applyChanges() throws -> DerivedOffsets.Moved {
    let zones = try LogbookZones(database)
    if changesAll {
      try ItemZoneTables.set(zones.periods, database)
      // A period may have precedence over earlier statements about the zones of imports, so all readings in
      // these statements are checked.
      for range in try ItemZoneTables.ranges("TRUE", [], database) {
        ranges[range.series, default: []].append(range.positions)
      }
    }
    var changed: [DerivedOffsets.Block] = []
    for (name, positions) in ranges {
      guard let id = try name.stored(database) else { continue }
      for block in Self.joined(positions) where try applyChanges(id, name, block, zones) {
        changed.append(try self.block(id, block))
      }
    }
    if changesAll { return try DerivedOffsets.derive(.all, database) }
    // Usually no statement lists the new readings, so nothing must be derived.
    guard changed.isEmpty, records.isEmpty else { return try derive(changed) }
    try UnknownZones.storeNames(of: zones, database)
    return DerivedOffsets.Moved()
  }

  private func block(_ series: Int64, _ positions: ClosedRange<Int64>) throws -> DerivedOffsets.Block {
    let row = try Row.fetchOne(
      database.cachedStatement(sql: "SELECT partition, device FROM series WHERE id = ?"), arguments: [series])
    guard let row = row.map({ StoredRow($0, of: "series") }) else {
      throw DamagedRow("series (id \(series))", "missing")
    }
    return DerivedOffsets.Block(
      series: series, partition: try row[0], device: try row[1], positions: positions)
  }

  /// Derives the offsets of the readings in these blocks, and of `records`.
  private func derive(_ blocks: [DerivedOffsets.Block]) throws -> DerivedOffsets.Moved {
    try database.execute(sql: "CREATE TEMP TABLE placed_record (guid TEXT PRIMARY KEY) WITHOUT ROWID")
    for guid in records {
      try database.executeCached(sql: "INSERT INTO temp.placed_record VALUES (?)", arguments: [guid])
    }
    let moved = try DerivedOffsets.derive(.listed(blocks, hasRecords: !records.isEmpty), database)
    try database.execute(sql: "DROP TABLE temp.placed_record")
    return moved
  }

  /// Merges ranges that overlap.
  private static func joined(_ ranges: [ClosedRange<Int64>]) -> [ClosedRange<Int64>] {
    var all: [ClosedRange<Int64>] = []
    for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if let open = all.last, range.lowerBound <= open.upperBound {
        all[all.count - 1] = open.lowerBound...max(open.upperBound, range.upperBound)
      } else {
        all.append(range)
      }
    }
    return all
  }

  /// Stores the zone of each reading in a range. Returns whether one has changed.
  private func applyChanges(
    _ series: Int64, _ name: SeriesName, _ positions: ClosedRange<Int64>, _ zones: LogbookZones
  ) throws -> Bool {
    var hasChanged = false
    var said = ItemZones(of: name, try ItemZoneTables.statements(of: name, positions, database), zones)
    let ids = try Dictionary(
      ItemZoneTables.names(database).map { ($0.zone.name, $0.id) }, uniquingKeysWith: { first, _ in first })
    let rows = try RawStatement(
      keptBy: database,
      """
      SELECT r.position, r.value_bucket, r.occurrence, r.device_time, coalesce(r.zone, 0), r.partition,
        r.derived_offset, r.offset_source
      FROM series AS s CROSS JOIN reading AS r ON r.partition = s.partition AND r.series = s.id
      WHERE s.id = ?1 AND r.position >= ?2 AND r.position <= ?3 AND r.offset_source <> 0
      """)
    rows.bind(series, at: 1)
    rows.bind(positions.lowerBound, at: 2)
    rows.bind(positions.upperBound, at: 3)
    let write = try RawStatement(
      keptBy: database,
      """
      UPDATE reading SET zone = nullif(?6, 0)
      WHERE partition = ?1 AND position = ?2 AND series = ?3 AND value_bucket = ?4 AND occurrence = ?5
      """)
    while try rows.step() {
      let point = rows.point(from: 0)
      let place = StoredPlace(
        series: series, position: point.position, valueBucket: point.valueBucket, occurrence: point.occurrence
      )
      let zone = said.zone(
        of: point, shownAt: DeviceTime(seconds: try rows.seconds(3, in: place.name)),
        try rows.placement(6, in: place.name))
      let id = zone.flatMap { ids[$0.name] } ?? 0
      guard id != rows.integer(4) else { continue }
      let key = ReadingKey(
        partition: rows.integer(5), position: point.position, series: series, valueBucket: point.valueBucket,
        occurrence: point.occurrence)
      write.bind(key, at: 1)
      write.bind(id, at: 6)
      _ = try write.run()
      hasChanged = true
    }
    return hasChanged
  }
}
