// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

/// Recomputes what follows from the zone records: the offsets that no source states.
enum DerivedOffsets {
  /// How many items another offset, or another reason for it, was derived for.
  struct Moved {
    var readings = 0
    var records = 0
  }

  /// A year outside of these is a clock that was never set. Years between them cost nothing worth saving.
  private static let usualYears = 1970...2100

  /// Recalculates every derived offset, inside the transaction that changed a zone record.
  static func derive(_ database: Database) throws -> Moved {
    let zones = try LogbookZones(database)
    try UnknownZones.note(zones, database)
    try makeTables(zones, database)
    let site = try SiteMoves(database)
    try site?.queue(stretch: stretch, ruleOfReading: ruleOfReading)
    var moved = Moved()
    try database.executeCached(sql: replacement("reading", offset: "derived_offset", rule: ruleOfReading))
    moved.readings = database.changesCount
    try database.executeCached(sql: replacement("record", offset: "utc_offset", rule: "0"))
    moved.records = database.changesCount
    try database.execute(sql: "DROP TABLE temp.stretch; DROP TABLE temp.series_rule")
    try RepeatedHours(database, zones).settle(devices: nil)
    try site?.forgetUnmoved()
    return moved
  }

  private static let ruleOfReading =
    "coalesce((SELECT rule FROM temp.series_rule WHERE series = reading.series), 0)"

  /// One statement for all rows: those whose stretch says what they have already are only looked up.
  private static func replacement(_ table: String, offset: String, rule: String) -> String {
    """
    UPDATE \(table) SET (\(offset), offset_source) = \(stretch("s.placed, s.source", table, rule: rule))
    WHERE \(table).offset_source <> 0
      AND \(table).\(offset) * 8 + \(table).offset_source <> \(stretch("s.placed * 8 + s.source", table, rule: rule))
    """
  }

  /// What holds for a row of a table by its rule.
  private static func stretch(_ columns: String, _ table: String, rule: String) -> String {
    """
    (SELECT \(columns) FROM temp.stretch AS s WHERE s.rule = \(rule) AND s.start <= \(table).device_time
      ORDER BY s.start DESC LIMIT 1)
    """
  }

  /// The stretches of each rule: rule 0 for records and for devices that no period names, one for those that the same
  /// periods name.
  private static func makeTables(_ zones: LogbookZones, _ database: Database) throws {
    try database.execute(
      sql: """
        CREATE TEMP TABLE stretch (rule INTEGER NOT NULL, start INTEGER NOT NULL, placed INTEGER NOT NULL,
          source INTEGER NOT NULL, PRIMARY KEY (rule, start)) WITHOUT ROWID;
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
      if isHere { rules.append((rules.count, zones.zone(of: group[0]))) }
    }
    for (rule, zone) in rules {
      for year in years {
        for stretch in zone.makeStretches(of: year) {
          try database.executeCached(
            sql: "INSERT OR REPLACE INTO temp.stretch VALUES (?, ?, ?, ?)",
            arguments: [
              rule, stretch.from, Int(stretch.placement.utcOffset), Int(stretch.placement.source.rawValue),
            ])
        }
      }
    }
  }

  private static func yearsInUse(_ database: Database) throws -> [Int] {
    let ranges = try Row.fetchAll(
      database,
      sql: """
        SELECT first_time, last_time FROM series WHERE first_time IS NOT NULL
        UNION ALL SELECT min(device_time), max(device_time) FROM record HAVING count(*) > 0
        """
    ).map { (DeviceTime(seconds: $0[0]).parts.year, DeviceTime(seconds: $0[1]).parts.year) }
    var years: Set<Int> = []
    for (first, last) in ranges where first <= last {
      years.formUnion(first...last)
    }
    if years.allSatisfy(usualYears.contains) { return years.sorted() }
    return try Int.fetchAll(
      database,
      sql: """
        SELECT DISTINCT CAST(strftime('%Y', device_time, 'unixepoch') AS INTEGER) FROM reading
        UNION SELECT DISTINCT CAST(strftime('%Y', device_time, 'unixepoch') AS INTEGER) FROM record
        """)
  }
}
