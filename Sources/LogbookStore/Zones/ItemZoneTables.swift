// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

/// The tables of zone statements: records that give the items of an import a zone.
enum ItemZoneTables {
  /// A series with readings that a zone statement lists, and the range of their positions.
  struct ZoneRange {
    let series: SeriesName
    let positions: ClosedRange<Int64>
  }

  /// The SQL expression for the id of the zone that a person stated for the import of a row of `record`. It
  /// is NULL if no zone was stated, or if a zone period that contains the row's time was stated later. Then
  /// the period applies.
  static let zoneOfRecord = """
    (SELECT iif(i.made_at < (SELECT max(p.made_at) FROM zone_period AS p
          WHERE iif(record.offset_source = 5,
            p.first_instant <= record.device_time - record.utc_offset AND p.end_instant > record.device_time - record.utc_offset,
            p.first_time <= record.device_time AND p.end_time > record.device_time)), NULL, n.id)
      FROM item_zone_record AS l JOIN item_zone AS i ON i.guid = l.guid JOIN item_zone_name AS n ON n.name = i.zone
      WHERE l.record = record.guid AND i.is_known = 1
      ORDER BY i.made_at DESC, i.import_group DESC, i.guid DESC LIMIT 1)
    """

  /// Writes the table of periods with which `zoneOfRecord` compares statements. Periods of devices do not
  /// apply to records.
  static func set(_ periods: [ZonePeriod], _ database: Database) throws {
    try database.executeCached(sql: "DELETE FROM zone_period")
    for period in periods where period.devices.isEmpty {
      try database.executeCached(
        sql: "INSERT INTO zone_period VALUES (?, ?, ?, ?, ?, ?)",
        arguments: [
          period.guid, period.first, period.end, period.instants.first, period.instants.end, period.madeAt,
        ])
    }
  }

  /// Whether any statement about the zone of an import lists readings.
  static func listReadings(_ database: Database) throws -> Bool {
    try database.hasRow(in: "item_zone_series")
  }

  /// The zones that were stated for imports, with their ids.
  static func names(_ database: Database) throws -> [(id: Int64, zone: NamedZone)] {
    try Row.fetchAll(database.cachedStatement(sql: "SELECT id, name FROM item_zone_name ORDER BY id"))
      .compactMap { row in
        let row = StoredRow(row, of: "item_zone_name")
        let id = try row.number(0, in: StoredBounds.count)
        return NamedZone(known: try row[1]).map { (id, $0) }
      }
  }

  /// The id of a zone; nil if it was not stated for an import.
  static func id(of name: String, _ database: Database) throws -> Int64? {
    try Int64.fetchOne(
      database.cachedStatement(sql: "SELECT id FROM item_zone_name WHERE name = ?"), arguments: [name])
  }

  /// When the latest statement about the zone of an import was made, in UTC seconds; nil if there is none.
  /// Withdrawn statements are left out.
  static func latest(_ database: Database) throws -> Int64? {
    try StoredRow.seconds(
      database.cachedStatement(sql: "SELECT max(made_at) AS made_at FROM item_zone"), of: "item_zone")
  }

  /// Notes that a series has new readings at these positions, if a statement about the zone of an import may
  /// list them.
  static func markSeriesChanged(_ series: Int64, _ positions: ClosedRange<Int64>, _ database: Database) throws
  {
    try database.executeCached(
      sql: """
        INSERT INTO changed_zone_series (series, first_position, last_position) SELECT s.id, ?2, ?3
        FROM series AS s JOIN device AS d ON d.id = s.device WHERE s.id = ?1 AND EXISTS (
          SELECT 1 FROM item_zone_series AS l WHERE l.device = d.identity AND l.kind = s.kind
            AND l.position_kind = s.position_kind AND l.last_position >= ?2 AND l.first_position <= ?3)
        """, arguments: [series, positions.lowerBound, positions.upperBound])
  }

  /// Stores a zone statement with the items that it lists.
  static func insert(_ statement: ItemZone, _ database: Database) throws {
    let isKnown = NamedZone(known: statement.zoneName) != nil
    if isKnown {
      try database.executeCached(
        sql: "INSERT INTO item_zone_name (name) VALUES (?) ON CONFLICT DO NOTHING",
        arguments: [statement.zoneName])
    }
    try database.executeCached(
      sql: "INSERT INTO item_zone VALUES (?, ?, ?, ?, ?)",
      arguments: [statement.guid, statement.zoneName, isKnown, statement.madeAt, statement.group])
    for (series, points) in statement.points {
      guard let positions = points.positions else { continue }
      try database.executeCached(
        sql: "INSERT INTO item_zone_series VALUES (?, ?, ?, ?, ?, ?)",
        arguments: [
          statement.guid, series.device, Int(series.kind.rawValue), Int(series.positionKind.rawValue),
          positions.lowerBound, positions.upperBound,
        ])
    }
    for record in statement.records {
      try database.executeCached(
        sql: "INSERT INTO item_zone_record VALUES (?, ?)", arguments: [record, statement.guid])
    }
  }

  /// Removes a zone statement, and returns the items that it listed.
  static func remove(_ guid: String, _ database: Database) throws -> (ranges: [ZoneRange], records: [String])
  {
    let listed = try ranges("guid = ?", [guid], database)
    let records = try String.fetchAll(
      database.cachedStatement(sql: "SELECT record FROM item_zone_record WHERE guid = ?"), arguments: [guid])
    for table in ["item_zone", "item_zone_series", "item_zone_record"] {
      try database.executeCached(sql: "DELETE FROM \(table) WHERE guid = ?", arguments: [guid])
    }
    return (listed, records)
  }

  /// The ranges of readings in zone statements that meet an SQL condition.
  static func ranges(
    _ condition: String, _ arguments: StatementArguments, _ database: Database
  ) throws -> [ZoneRange] {
    try Row.fetchAll(
      database.cachedStatement(
        sql: """
          SELECT guid, device, kind, position_kind, first_position, last_position FROM item_zone_series
          WHERE \(condition)
          """), arguments: arguments
    ).map { row in
      let row = StoredRow(row, of: "item_zone_series", key: 0..<4)
      return ZoneRange(
        series: SeriesName(device: try row[1], kind: try row.code(2), positionKind: try row.code(3)),
        positions: try row.range(4))
    }
  }

  /// The zone statements that may list readings of a series between two positions.
  static func statements(
    of series: SeriesName, _ positions: ClosedRange<Int64>, _ database: Database
  ) throws -> [ItemZone] {
    try Row.fetchAll(
      database.cachedStatement(
        sql: """
          SELECT record.guid, record.device_time, CASE offset_source WHEN 0 THEN utc_offset ELSE 0 END, record.fields
          FROM item_zone_series AS l JOIN item_zone AS i ON i.guid = l.guid CROSS JOIN record ON record.guid = l.guid
          WHERE l.device = ?1 AND l.kind = ?2 AND l.position_kind = ?3 AND l.last_position >= ?4
            AND l.first_position <= ?5 AND i.is_known = 1
          """),
      arguments: [
        series.device, Int(series.kind.rawValue), Int(series.positionKind.rawValue), positions.lowerBound,
        positions.upperBound,
      ]
    ).compactMap { try statement($0) }
  }

  /// The statement in a record about the zone of an import. Nil if the record is deleted or withdrawn, or
  /// states something else.
  static func statement(_ guid: String, _ database: Database) throws -> ItemZone? {
    try Row.fetchOne(
      database.cachedStatement(
        sql: """
          SELECT guid, device_time, CASE offset_source WHEN 0 THEN utc_offset ELSE 0 END, fields FROM record
          WHERE guid = ? AND kind = 'zone' AND deleted = 0 AND json_extract(fields, '$.group') IS NOT NULL
            AND guid NOT IN (SELECT guid FROM listed_record WHERE is_withdrawn = 1)
          """), arguments: [guid]
    ).flatMap { try statement($0) }
  }

  private static func statement(_ row: Row) throws -> ItemZone? {
    let row = StoredRow(row, of: "record")
    let guid: String = try row[0]
    return ItemZone(
      guid: guid,
      RecordState(
        kind: .zone, entryGuid: nil, deviceTime: try row.deviceTime(1),
        placement: Placement(utcOffset: try row.offset(2), source: .stated),
        fields: try RecordFields(stored: try row[3], of: guid), isDeleted: false))
  }
}

extension ItemZone {
  /// The zone statements for these items, divided so that each fits in a record.
  static func parts(of whole: WithdrawnInput, in zoneName: String, madeAt: Int64) -> [ItemZone] {
    whole.parts.enumerated().map { number, part in
      ItemZone(
        guid: Digest.uuid(of: ["zone", part.group, String(number)]), group: part.group, zoneName: zoneName,
        madeAt: madeAt, points: part.points, records: Set(part.records.keys))
    }
  }
}
