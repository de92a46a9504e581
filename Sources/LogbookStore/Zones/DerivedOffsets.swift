// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

/// Recalculates the offsets that are derived from the zone records.
enum DerivedOffsets {
  /// The numbers of items whose offset, or the way in which it was found, has changed.
  struct Moved {
    var readings = 0
    var records = 0
  }

  /// The years for which offsets are always calculated, since they take little time. A year outside comes
  /// from a clock that was never set, and is added if a row has it.
  private static let usualYears = 1970...2100

  /// A range of positions in one series.
  struct Block {
    let series: Int64
    let partition: Int64
    let device: Int64
    let positions: ClosedRange<Int64>
  }

  /// The rows that a change of zones may affect, as SQL conditions. Only few different texts are used, since
  /// the connection caches their prepared statements.
  struct Part {
    let readings: String
    /// The parameters of the condition for readings. The SQL statement runs once for each element.
    let places: [StatementArguments]
    let records: String
    /// The ids of the devices that took the readings; nil for all devices.
    let devices: Set<Int64>?

    /// All readings and records of the store.
    static let all = Part(readings: "TRUE", places: [[]], records: "TRUE", devices: nil)

    /// The readings of these blocks, and the records in the table `placed_record`. No other rows are read:
    /// each daily import may change statements about zones, and reading the whole store would take long.
    static func listed(_ blocks: [Block], hasRecords: Bool) -> Part {
      Part(
        readings: """
          reading.partition = ?1 AND reading.position >= ?2 AND reading.position <= ?3 AND reading.series = ?4
          """,
        places: blocks.map { [$0.partition, $0.positions.lowerBound, $0.positions.upperBound, $0.series] },
        records: hasRecords ? "record.guid IN (SELECT guid FROM temp.placed_record)" : "FALSE",
        devices: Set(blocks.map(\.device)))
    }
  }

  /// A table with derived offsets.
  enum ItemTable: String {
    case reading, record

    /// The column of the offset.
    fileprivate var offset: String { self == .reading ? "derived_offset" : "utc_offset" }

    /// The SQL expression for the time by which the row of `stretch` for an item is found. It is the shown
    /// time, or the instant if the source states only the instant.
    fileprivate var time: String {
      "iif(\(rawValue).offset_source = 5, \(rawValue).device_time - \(rawValue).\(offset), \(rawValue).device_time)"
    }

    /// The SQL expression for the `rule` of an item in the table `stretch`; see `makeTables`. A number below
    /// 0 means the zone that was stated for the import of the item.
    fileprivate var rule: String {
      switch self {
      case .reading:
        """
        CASE WHEN reading.zone IS NULL
          THEN coalesce((SELECT rule FROM temp.series_rule WHERE series = reading.series), 0) ELSE -reading.zone END
        """
      case .record: "coalesce(-\(ItemZoneTables.zoneOfRecord), 0)"
      }
    }
  }

  /// Recalculates derived offsets. Must be called in the transaction that changed a zone record.
  static func derive(_ part: Part, _ database: Database) throws -> Moved {
    let zones = try LogbookZones(database)
    try UnknownZones.storeNames(of: zones, database)
    try makeTables(zones, database)
    let site = try SiteMoves(database)
    try site?.queue(stretch: stretch, in: part)
    var moved = Moved()
    for place in part.places {
      try database.executeCached(sql: replacement(.reading, part.readings), arguments: place)
      moved.readings += database.changesCount
    }
    try database.executeCached(sql: replacement(.record, part.records))
    moved.records = database.changesCount
    try database.execute(sql: "DROP TABLE temp.stretch; DROP TABLE temp.series_rule")
    if moved.readings > 0 { try updateInstantRanges(part, database) }
    try RepeatedHours(database, zones).update(devices: part.devices)
    try site?.forgetUnmoved()
    return moved
  }

  /// An SQL statement that updates the items that meet the condition `part`. Items that already have the
  /// right offset are not written.
  private static func replacement(_ table: ItemTable, _ part: String) -> String {
    let name = table.rawValue
    return """
      UPDATE \(name) SET (device_time, \(table.offset), offset_source) = \(stretch(
        "iif(s.source = 5, \(table.time) + s.placed, \(name).device_time), s.placed, s.source", table))
      WHERE \(name).offset_source <> 0 AND \(part)
        AND \(name).\(table.offset) * 8 + \(name).offset_source <> \(stretch("s.placed * 8 + s.source", table))
      """
  }

  /// The SQL expression for columns of the row of `stretch` that applies to an item. This row has the item's
  /// rule, and is the last row that starts at or before the item's time.
  private static func stretch(_ columns: String, _ table: ItemTable) -> String {
    """
    (SELECT \(columns) FROM temp.stretch AS s
      WHERE s.is_instant = (\(table.rawValue).offset_source = 5) AND s.rule = \(table.rule) AND s.start <= \(table.time)
      ORDER BY s.start DESC LIMIT 1)
    """
  }

  /// Updates what depends on shown times that were derived from instants. This is the first and the last time
  /// of their series, and the readings that are hidden by a range of shown times.
  private static func updateInstantRanges(_ part: Part, _ database: Database) throws {
    let devices = part.devices.map {
      "AND device IN (\($0.sorted().map(String.init).joined(separator: ",")))"
    }
    try database.execute(
      sql: """
        UPDATE series SET (first_time, last_time) = (
          SELECT min(r.device_time), max(r.device_time) FROM reading AS r
          WHERE r.partition = series.partition AND r.series = series.id)
        WHERE has_instants = 1 \(devices ?? "");
        INSERT INTO changed_series (series, first_position, last_position)
        SELECT id, first_position, last_position FROM series WHERE has_instants = 1 \(devices ?? "")
          AND EXISTS (SELECT 1 FROM record INDEXED BY record_withdrawing WHERE kind = 'withdrawal')
        """)
  }

  /// Creates the tables `stretch` and `series_rule`. Each row of `stretch` is the start of a period in which
  /// one offset applies. There is a rule for each set of such periods. Rule 0 is for records and for devices
  /// that no zone period names. Each group of devices with the same zone periods has a rule, and so has each
  /// zone that was stated for an import.
  private static func makeTables(_ zones: LogbookZones, _ database: Database) throws {
    try database.execute(
      sql: """
        CREATE TEMP TABLE stretch (is_instant INTEGER NOT NULL, rule INTEGER NOT NULL, start INTEGER NOT NULL,
          placed INTEGER NOT NULL, source INTEGER NOT NULL, PRIMARY KEY (is_instant, rule, start)) WITHOUT ROWID;
        CREATE TEMP TABLE series_rule (series INTEGER PRIMARY KEY, rule INTEGER NOT NULL);
        """)
    let years = try yearsInUse(database)
    var rules: [(rule: Int, zone: LogbookZone)] = [(0, zones.zone())]
    for group in zones.deviceGroups {
      var isHere = false
      for device in group {
        try database.executeCached(
          sql: """
            INSERT INTO temp.series_rule SELECT s.id, ?1 FROM series AS s JOIN device AS d ON d.id = s.device
            WHERE d.identity = ?2
            """, arguments: [rules.count, device])
        if database.changesCount > 0 { isHere = true }
      }
      if isHere, let device = group.first { rules.append((rules.count, zones.zone(of: device))) }
    }
    for (id, zone) in try ItemZoneTables.names(database) {
      rules.append((Int(-id), LogbookZone(base: zone, periods: [])))
    }
    for (rule, zone) in rules {
      for year in years {
        for stretch in zone.makeStretches(of: year) {
          try insert(rule, stretch.from, stretch.placement, database)
        }
        for stretch in zone.makeInstantStretches(of: year) {
          try insert(
            rule, stretch.start, Placement(utcOffset: stretch.utcOffset, source: .instant), database)
        }
      }
    }
  }

  private static func insert(
    _ rule: Int, _ start: Int64, _ placement: Placement, _ database: Database
  ) throws {
    try database.executeCached(
      sql: "INSERT OR REPLACE INTO temp.stretch VALUES (?, ?, ?, ?, ?)",
      arguments: [
        placement.source == .instant, rule, start, Int(placement.utcOffset), Int(placement.source.rawValue),
      ])
  }

  private static func yearsInUse(_ database: Database) throws -> [Int] {
    var ranges = try Row.fetchAll(
      database, sql: "SELECT id, first_time, last_time FROM series WHERE first_time IS NOT NULL"
    ).map { row in
      let row = StoredRow(row, of: "series")
      return (try row.deviceTime(1).parts.year, try row.deviceTime(2).parts.year)
    }
    let records = try ["ASC", "DESC"].compactMap { order in
      try Row.fetchOne(
        database, sql: "SELECT guid, device_time FROM record ORDER BY device_time \(order) LIMIT 1"
      ).map { try StoredRow($0, of: "record").deviceTime(1).parts.year }
    }
    if let first = records.min(), let last = records.max() { ranges.append((first, last)) }
    var years: Set<Int> = []
    for (first, last) in ranges where first <= last {
      years.formUnion(first...last)
    }
    if years.allSatisfy(usualYears.contains) { return years.sorted() }
    // SQLite has no year for a time outside the years 0 to 9999. All such times form one group, and an error
    // names one of its rows.
    let year = "CAST(strftime('%Y', device_time, 'unixepoch') AS INTEGER) AS year"
    let readings = try Row.fetchAll(
      database, sql: "SELECT series, position, \(year) FROM reading GROUP BY year"
    ).map { try StoredRow($0, of: "reading", key: 0..<2).number(2, in: 0...9999) }
    let others = try Row.fetchAll(database, sql: "SELECT guid, \(year) FROM record GROUP BY year")
      .map { try StoredRow($0, of: "record").number(1, in: 0...9999) }
    return Set(readings + others).map { Int($0) }
  }
}

/// The two columns of the table `reading` for the offset. One has the offset that the source states, which
/// never changes. The other has the offset derived from the zones. Exactly one of them is NULL.
enum StoredOffset {
  /// The SQL expression for the offset of a reading.
  ///
  /// - Parameter row: the alias of the table in the SQL statement.
  static func sql(_ row: String = "reading") -> String {
    "coalesce(\(row).stated_offset, \(row).derived_offset)"
  }

  /// The columns of a row of `reading` that `RawStatement.reading` reads.
  static func columns(_ row: String) -> String {
    RawStatement.readingColumns.map { $0 == "utc_offset" ? "\(sql(row)) AS utc_offset" : "\(row).\($0)" }
      .joined(separator: ", ")
  }
}

extension LogbookZones {
  /// The zones in the zone records of the store. Before the first contact with a remote, the base zone is in
  /// a setting, since the remote's logbook may have another one.
  init(_ database: Database) throws {
    let rows = try Row.fetchAll(
      database.cachedStatement(
        sql: """
          SELECT guid, device_time, CASE offset_source WHEN 0 THEN utc_offset ELSE 0 END, fields, deleted
          FROM record INDEXED BY record_statement
          WHERE kind = 'zone' AND json_extract(fields, '$.group') IS NULL ORDER BY guid
          """))
    var records = try rows.map { row in
      let row = StoredRow(row, of: "record")
      let guid: String = try row[0]
      let state = RecordState(
        kind: .zone, entryGuid: nil, deviceTime: try row.deviceTime(1),
        placement: Placement(utcOffset: try row.offset(2), source: .stated),
        fields: try RecordFields(stored: try row[3], of: guid), isDeleted: try row[4])
      return (guid: guid, state: state)
    }
    if !records.contains(where: { $0.guid == Self.baseGuid && !$0.state.isDeleted }) {
      records.removeAll { $0.guid == Self.baseGuid }
      records.append((Self.baseGuid, try Self.unjoinedBase(database)))
    }
    let fallback = try Store.setting(.timezone, database).flatMap(NamedZone.init(known:))
    let unknown = try Set(
      String.fetchAll(
        database.cachedStatement(sql: "SELECT DISTINCT zone FROM item_zone WHERE is_known = 0")))
    self.init(records: records, fallback: fallback ?? .utc, unknownNames: unknown)
  }

  /// Whether no record states the base zone, since the store has not joined a remote.
  static func isUnjoined(_ database: Database) throws -> Bool {
    try Bool.fetchOne(
      database.cachedStatement(sql: "SELECT NOT EXISTS (SELECT 1 FROM record WHERE guid = ?)"),
      arguments: [baseGuid]) ?? true
  }

  /// The base zone in the settings, as the state of a record.
  static func unjoinedBase(_ database: Database) throws -> RecordState {
    guard let zone = try Store.setting(.timezone, database) else {
      throw DamagedRow("setting (name timezone)", "missing")
    }
    let origin = try Store.value(of: .timezoneOrigin, database) { Origin(rawValue: $0) }
    return baseState(named: zone, origin ?? .system)
  }
}

/// Derives the offsets of records that state none, and the shown times of instants. It reads the zones when
/// it is first used, and keeps them in `zone`. If the transaction changes zones later, the offsets are
/// derived again at the end of the transaction.
final class RecordPlacer {
  private let database: Database
  private(set) var zone: LogbookZone?

  init(_ database: Database) { self.database = database }

  /// The time and the placement to store: what the source states, and what the zones derive from it.
  func recalculated(_ time: DeviceTime, _ placement: Placement) throws -> (DeviceTime, Placement) {
    if placement.source == .stated { return (time, placement) }
    var zone = try self.zone ?? LogbookZones(database).zone()
    defer { self.zone = zone }
    return zone.recalculated(time, placement)
  }
}
