// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

/// The offset of a reading in the table `reading`. One column has the offset that the source states, which
/// never changes. The other has the offset that is derived from the zones. Exactly one of them is NULL.
enum StoredOffset {
  /// The SQL for the offset of a row of `reading`.
  ///
  /// - Parameter row: the name of the table in the statement.
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
  /// The zones in the zone records of the store. Before the first contact with a remote, a setting has the
  /// base zone, since the remote's logbook may have another one.
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

  /// Whether no record states the base zone yet.
  static func isUnjoined(_ database: Database) throws -> Bool {
    try Bool.fetchOne(
      database.cachedStatement(sql: "SELECT NOT EXISTS (SELECT 1 FROM record WHERE guid = ?)"),
      arguments: [baseGuid]) ?? true
  }

  /// The base zone from the settings, in the form of a record.
  static func unjoinedBase(_ database: Database) throws -> RecordState {
    guard let zone = try Store.setting(.timezone, database) else {
      throw DamagedRow("setting (name timezone)", "missing")
    }
    let origin = try Store.value(of: .timezoneOrigin, database) { Origin(rawValue: $0) }
    return baseState(named: zone, origin ?? .system)
  }
}

/// Derives the offsets of records that state none. It uses the zones at its first use in the transaction:
/// `zone`, which is nil before. Later statements of the transaction about zones are applied at its end.
final class RecordPlacer {
  private let database: Database
  private(set) var zone: LogbookZone?

  init(_ database: Database) { self.database = database }

  /// The offset that the store keeps for a state.
  func place(_ state: RecordState) throws -> Placement {
    state.placement.source.isDerived ? try place(state.deviceTime) : state.placement
  }

  /// The offset of a time that states none.
  func place(_ time: DeviceTime) throws -> Placement {
    var zone = try self.zone ?? LogbookZones(database).zone()
    defer { self.zone = zone }
    return zone.place(time)
  }
}
