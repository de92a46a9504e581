// SPDX-License-Identifier: Apache-2.0

import GRDB
package import Logbook
import SQLiteRows

/// The numbers of readings and records by the origin of their offset: the base zone, each period, and each
/// zone stated for imports.
package struct ZoneCoverage: Hashable, Sendable {
  /// The numbers of items with one origin.
  package struct ItemCounts: Hashable, Sendable {
    package var readings = 0
    package var records = 0

    package init() {}
  }

  /// The numbers of items whose offset comes from the base zone.
  package fileprivate(set) var base = ItemCounts()
  /// The numbers of items whose offset comes from a zone that was stated for a period. The dictionary's key
  /// is the guid of the record that states the period.
  package fileprivate(set) var periods: [String: ItemCounts] = [:]
  /// The numbers of items whose offset comes from a zone stated for their import, by the name of the zone.
  package fileprivate(set) var imports: [String: ItemCounts] = [:]
}

extension LogbookZones {
  /// The periods in the order in which lists show them, by time.
  package var listed: [ZonePeriod] {
    periods.sorted { ($0.first, $0.end, $0.madeAt, $0.guid) < ($1.first, $1.end, $1.madeAt, $1.guid) }
  }
}

extension Store {
  /// Counts the items by the origin of their offset.
  package func coverage(of zones: LogbookZones) throws -> ZoneCoverage {
    try read { database in
      var coverage = ZoneCoverage()
      let readings = try Self.counts(of: zones, in: "reading", database) {
        try Self.seriesCondition($0, database)
      }
      let records = try Self.counts(of: zones, in: "record", database) { $0.devices.isEmpty ? "" : " AND 0" }
      coverage.base.readings = readings[-1] ?? 0
      coverage.base.records = records[-1] ?? 0
      for (index, period) in zones.periods.enumerated() {
        coverage.periods[period.guid, default: .init()].readings = readings[index] ?? 0
        coverage.periods[period.guid, default: .init()].records = records[index] ?? 0
      }
      for (id, zone) in try ItemZoneTables.names(database) {
        let counts = (readings[Int(-1 - id)] ?? 0, records[Int(-1 - id)] ?? 0)
        if counts == (0, 0) { continue }
        coverage.imports[zone.name, default: .init()].readings = counts.0
        coverage.imports[zone.name, default: .init()].records = counts.1
      }
      return coverage
    }
  }

  /// The SQL condition that a reading is of one of the period's devices; empty if the period has none.
  private static func seriesCondition(_ period: ZonePeriod, _ database: Database) throws -> String {
    guard !period.devices.isEmpty else { return "" }
    let ids = try period.devices.flatMap { device in
      try Int64.fetchAll(
        database,
        sql: "SELECT s.id FROM series AS s JOIN device AS d ON d.id = s.device WHERE d.identity = ?",
        arguments: [device])
    }
    return " AND series IN (\(ids.map(String.init).joined(separator: ",")))"
  }

  /// Counts the rows without a stated offset by the first period that contains their time. In the result, the
  /// key is the index of the period, or -1 without one. A key below -1 means a zone that was stated for the
  /// import.
  private static func counts(
    of zones: LogbookZones, in table: String, _ database: Database, _ condition: (ZonePeriod) throws -> String
  ) throws -> [Int: Int] {
    let cases = try zones.periods.enumerated().map { index, period in
      try """
      WHEN device_time >= \(period.first) AND device_time < \(period.end)\(condition(period)) THEN \(index)
      """
    }
    let stated = table == "record" ? ItemZoneTables.zoneOfRecord : "reading.zone"
    let place = cases.isEmpty ? "-1" : "CASE \(cases.joined(separator: " ")) ELSE -1 END"
    let period = "coalesce(-1 - \(stated), \(place))"
    let isListed = table == "record" ? " AND NOT \(Withdrawn.isStatement) AND deleted = 0" : ""
    let rows = try Row.fetchAll(
      database,
      sql: "SELECT \(period), count(*) FROM \(table) WHERE offset_source <> 0\(isListed) GROUP BY 1")
    return try rows.reduce(into: [:]) { counts, row in
      let row = StoredRow(row, of: table)
      counts[try row[0], default: 0] += try row.count(1)
    }
  }

  /// The numbers of items that are in a period by time and device, but have a zone that was stated for their
  /// import.
  package func placedByImports(in period: ZonePeriod) throws -> ZoneCoverage.ItemCounts {
    var counts = ZoneCoverage.ItemCounts()
    try read { database in
      guard !(try ItemZoneTables.names(database)).isEmpty else { return }
      let times = "offset_source <> 0 AND device_time >= ? AND device_time < ?"
      let series = try Self.seriesCondition(period, database)
      counts.readings = try count(
        "reading WHERE zone IS NOT NULL\(series) AND \(times)", period, database)
      guard period.devices.isEmpty else { return }
      counts.records = try count(
        "record WHERE \(ItemZoneTables.zoneOfRecord) IS NOT NULL AND deleted = 0 AND NOT \(Withdrawn.isStatement) AND \(times)",
        period, database)
    }
    return counts
  }

  /// The numbers of items whose source states their offset, so that no zone moves them.
  ///
  /// - Parameter period: counts only the items in this period by time and device; nil for the whole store.
  package func statedItems(in period: ZonePeriod?) throws -> ZoneCoverage.ItemCounts {
    try read { database in
      var counts = ZoneCoverage.ItemCounts()
      let range = period.map { " AND device_time >= \($0.first) AND device_time < \($0.end)" } ?? ""
      let series = try period.map { try Self.seriesCondition($0, database) } ?? ""
      counts.readings =
        try Int.fetchOne(
          database, sql: "SELECT count(*) FROM reading WHERE offset_source = 0\(series)\(range)") ?? 0
      guard period?.devices.isEmpty ?? true else { return counts }
      counts.records =
        try Int.fetchOne(
          database,
          sql: """
            SELECT count(*) FROM record
            WHERE offset_source = 0 AND deleted = 0 AND NOT \(Withdrawn.isStatement)\(range)
            """) ?? 0
      return counts
    }
  }

  private func count(_ rows: String, _ period: ZonePeriod, _ database: Database) throws -> Int {
    try Int.fetchOne(
      database, sql: "SELECT count(*) FROM \(rows)", arguments: [period.first, period.end]) ?? 0
  }

  /// The identity of the device with this name, which is its serial number, its model, or both with the
  /// vendor.
  ///
  /// - Throws: `Failure`: `missingInput` if there is no such device, `usage` if several devices have the
  ///   name.
  package func identity(ofDevice name: String) throws -> String {
    let wanted = name.lowercased()
    let named = try devices().filter { device in
      let whole = [device.vendor, device.model, device.serial].filter { !$0.isEmpty }
      return [device.serial, device.model, whole.joined(separator: " ")].contains {
        $0.lowercased() == wanted
      }
    }
    guard let first = named.first else {
      throw Failure(.missingInput, "\(name): no such device; 'glucoport status' lists the devices")
    }
    guard named.count == 1 else {
      throw Failure(.usage, "\(name): several devices have this name; use the serial number")
    }
    return ReadingIdentity.text(of: first)
  }

  /// All devices, in the order in which they were first stored.
  package func devices() throws -> [Device] {
    try read { database in
      try Row.fetchAll(database, sql: "SELECT \(Device.storedColumns) FROM device AS d ORDER BY d.id").map {
        try Device(StoredRow($0, of: "device"), from: 0)
      }
    }
  }

  /// The device with this identity; nil if the store does not have it.
  package func device(identity: String) throws -> Device? {
    try read { database in
      try Row.fetchOne(
        database, sql: "SELECT \(Device.storedColumns) FROM device AS d WHERE d.identity = ?",
        arguments: [identity]
      ).map { try Device(StoredRow($0, of: "device"), from: 0) }
    }
  }

  /// Whether the base zone is certain: a person stated it, or it is not the default of a system that was
  /// never set up.
  package func hasKnownZone() throws -> Bool { try zones().isKnown }

  /// The failure for an input whose times need a zone, while the zone of the logbook is not certain.
  package static func missingZone(for input: String) -> Failure { StatedZone.missing(input, nil) }
}

/// Handles zones that the logbook states and this system does not know, because its time zone data is too
/// old. In place of an unknown base zone, the last known one is used. Periods with an unknown zone are
/// ignored. When the system knows the zones, all offsets are derived again.
enum UnknownZones {
  /// Stores the names of the unknown zones. Also stores the current base zone, so that it can be used if an
  /// unknown one replaces it.
  static func storeNames(of zones: LogbookZones, _ database: Database) throws {
    let names = zones.unknownNames.joined(separator: "\n")
    if try names != Store.setting(.unknownZones, database) ?? "" {
      if names.isEmpty {
        try Store.clear(.unknownZones, database)
      } else {
        try Store.set(.unknownZones, names, database)
      }
    }
    if zones.unknownBase == nil, try Store.setting(.timezone, database) != zones.base.name {
      try Store.set(.timezone, zones.base.name, database)
    }
  }

  /// Derives all offsets again if the system has learned one of the unknown zones.
  static func deriveWhatIsKnown(_ database: Database) throws {
    guard let names = try Store.setting(.unknownZones, database),
      names.split(separator: "\n").contains(where: { NamedZone(known: String($0)) != nil })
    else { return }
    try database.inTransaction(.immediate) {
      try ZoneStatements.applyAll(database)
      return .commit
    }
  }
}

extension LogbookZones {
  /// The names of all unknown zones, beginning with the base zone.
  package var unknownNames: [String] { (unknownBase.map { [$0] } ?? []) + unknownPeriods.sorted() }
}
