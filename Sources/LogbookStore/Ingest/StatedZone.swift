// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Logbook
import SQLiteRows

/// The items of an input with a given zone, apart from its new readings.
struct GivenItems {
  /// Readings that were already in the store.
  var met = MetReadings()
  /// The ids of its records.
  var records: Set<String> = []
}

/// Stores the zone that a person gave for an input as a statement about the items of this import. The
/// statement lists its readings and records by their identities, and nothing else.
struct StatedZone {
  private let zone: NamedZone
  private let ingest: Int64
  private let database: Database

  init(_ zone: LogbookZone, ingest: Int64, _ database: Database) {
    (self.zone, self.ingest, self.database) = (zone.base, ingest, database)
  }

  /// Refuses the input before anything of it is stored, if the logbook has the maximum number of statements.
  func requireRoom() throws {
    let count = try Int.fetchOne(database.cachedStatement(sql: "SELECT count(*) FROM item_zone")) ?? 0
    guard count >= ItemZone.maxRecords else { return }
    throw Failure(
      .configuration,
      "this logbook has \(ItemZone.maxRecords) statements of --timezone, and no more count; import without --timezone, "
        + "in the zone of the logbook")
  }

  /// Makes the zone the base if the logbook has none. Otherwise returns the records that state it for the
  /// items of the import.
  func state(_ given: GivenItems, of devices: [Int64], at now: Int64) throws -> [ImportedRecord] {
    let zones = try LogbookZones(database)
    // A zone that only this system does not know is not replaced by the zone of an input.
    guard zones.isKnown || zones.unknownBase != nil else {
      try ZoneRecords.setBase(zone, at: now, database)
      try Store.set(.baseOfImport, "1", database)
      return []
    }
    if zones.base == zone, try Store.setting(.baseOfImport, database) != nil { return [] }
    var brought = try readings(given, of: devices)
    try add(given.records, to: &brought)
    guard !brought.whole.points.isEmpty || !brought.whole.records.isEmpty else { return [] }
    if brought.isStated, try claim(brought.whole) { return [] }
    let madeAt = max(now, try ZoneRecords.nextMoment(zones, database))
    return ItemZone.parts(of: brought.whole, in: zone.name, madeAt: madeAt).map(record)
  }

  /// Items with offsets that are derived from zones.
  private struct Brought {
    var whole = WithdrawnInput(group: UUID().uuidString.lowercased())
    /// Whether the newest statement about every item is this zone.
    var isStated = true
  }

  private func readings(_ given: GivenItems, of devices: [Int64]) throws -> Brought {
    var (brought, met) = (Brought(), given.met)
    let lists = met.lists()
    let id = try ItemZoneTables.id(of: zone.name, database)
    let rows = try RawStatement(
      keptBy: database,
      """
      SELECT r.position, r.value_bucket, r.occurrence, r.ingest, coalesce(r.zone, 0)
      FROM series AS s CROSS JOIN reading AS r ON r.partition = s.partition AND r.series = s.id
      WHERE s.id = ?1 AND r.offset_source <> 0
      """)
    for series in try self.series(of: devices) {
      let known = (lists[series] ?? []).reduce(PointRuns([])) { $0.union($1) }
      var cursor = known.ends.map { PointRuns.Cursor(known, from: $0.lowerBound) }
      var builder = PointRuns.Builder()
      rows.bind(series, at: 1)
      while try rows.step() {
        let point = rows.point(from: 0)
        let isNew = rows.integer(3) == ingest
        let isMet = known.ends?.contains(point) == true && cursor?.contains(point) == true
        guard isNew || isMet else { continue }
        builder.append(point)
        if rows.integer(4) != id { brought.isStated = false }
      }
      let points = builder.finish()
      if !points.isEmpty { brought.whole.points[try SeriesName.stored(series, database)] = points }
    }
    return brought
  }

  private func series(of devices: [Int64]) throws -> [Int64] {
    let list = devices.map(String.init).joined(separator: ",")
    return try Int64.fetchAll(
      database, sql: "SELECT id FROM series WHERE device IN (\(list)) ORDER BY id")
  }

  private func add(_ guids: Set<String>, to brought: inout Brought) throws {
    let id = try ItemZoneTables.id(of: zone.name, database)
    for guid in guids {
      let row = try Row.fetchOne(
        database.cachedStatement(
          sql: """
            SELECT \(ItemZoneTables.zoneOfRecord) FROM record
            WHERE guid = ? AND offset_source <> 0 AND deleted = 0 AND NOT \(Withdrawn.isStatement)
            """), arguments: [guid])
      guard let row else { continue }
      brought.whole.records[guid] = ""
      let stated: Int64? = try StoredRow(row, of: "record (guid \(guid))", key: 0..<0)[0]
      if stated != id { brought.isStated = false }
    }
  }

  /// Adds this import to earlier statements of this store: a statement applies until all its imports are
  /// undone.
  ///
  /// - Returns: whether the statements cover every item. A statement of another store ends with an undo on
  ///   that store.
  private func claim(_ whole: WithdrawnInput) throws -> Bool {
    let own = try Set(
      String.fetchAll(
        database,
        sql: """
          SELECT guid FROM item_zone JOIN record USING (guid) WHERE zone = ? AND record.ingest IS NOT NULL
          """, arguments: [zone.name]))
    var claimed: Set<String> = []
    for (series, points) in whole.points {
      guard let positions = points.positions else { continue }
      var rest = points
      for statement in try ItemZoneTables.statements(of: series, positions, zone: zone.name, database)
      where own.contains(statement.guid) {
        guard let stated = statement.points[series], !stated.intersection(points).isEmpty else { continue }
        rest = rest.subtracting(stated)
        claimed.insert(statement.guid)
      }
      guard rest.isEmpty else { return false }
    }
    for record in whole.records.keys {
      let guids = try String.fetchSet(
        database.cachedStatement(sql: "SELECT guid FROM item_zone_record WHERE record = ?"),
        arguments: [record]
      ).intersection(own)
      guard !guids.isEmpty else { return false }
      claimed.formUnion(guids)
    }
    for guid in claimed {
      try database.executeCached(
        sql: "INSERT INTO ingest_record (ingest, guid) VALUES (?, ?) ON CONFLICT DO NOTHING",
        arguments: [ingest, guid])
    }
    return true
  }

  private func record(of statement: ItemZone) -> ImportedRecord {
    var record = ImportedRecord(
      kind: .zone, at: DeviceTime(seconds: statement.madeAt),
      placement: Placement(utcOffset: 0, source: .stated), fields: statement.fields, line: 0)
    record.guid = statement.guid
    return record
  }

  /// The failure for an input whose times need a zone while no zone is known.
  static func missing(_ input: String, _ unknown: String?) -> Failure {
    if let unknown {
      return Failure(
        .configuration,
        "\(input): times without an offset need the time zone \(unknown) of the logbook, which this system does not know; "
          + "update its time zone data (tzdata)")
    }
    return Failure(
      .configuration,
      "\(input): times without an offset need a time zone, and that of the logbook was never given; add --timezone, "
        + "such as --timezone Europe/Madrid, or set the logbook's with 'glucoport config timezone Europe/Madrid'"
    )
  }
}
