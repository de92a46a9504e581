// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
package import Logbook
import SQLiteRows

/// Writes the zone records of a logbook. Every edit increases the version of a record, so that it becomes
/// pending.
enum ZoneRecords {
  /// Stores the base zone of a store that has not joined a remote. It is a setting and not a record.
  static func setUnjoinedBase(
    _ zone: NamedZone, _ origin: LogbookZones.Origin, _ database: Database
  ) throws {
    try Store.set(.timezone, zone.name, database)
    try Store.set(.timezoneOrigin, origin.rawValue, database)
  }

  /// Makes a zone that a person stated the base zone.
  static func setBase(_ zone: NamedZone, at now: Int64, _ database: Database) throws {
    try Store.clear(.baseOfImport, database)
    let zones = try LogbookZones(database)
    guard zones.base != zone || zones.origin != .given || zones.unknownBase != nil else { return }
    if try LogbookZones.isUnjoined(database) {
      try setUnjoinedBase(zone, .given, database)
      return try markChanged(LogbookZones.baseGuid, database)
    }
    try RecordEditor.write(
      LogbookZones.baseState(zone, .given, editedAt: now), to: LogbookZones.baseGuid, database)
  }

  /// Marks a zone record as changed, so that the end of the transaction derives the offsets again.
  static func markChanged(_ guid: String, _ database: Database) throws {
    try database.execute(
      sql: "INSERT INTO changed_statement VALUES (?, 'zone') ON CONFLICT DO NOTHING", arguments: [guid])
  }

  /// Adds a period. Returns whether the zone records changed.
  @discardableResult
  static func add(_ period: ZonePeriod, at now: Int64, _ database: Database) throws -> Bool {
    let zones = try LogbookZones(database)
    var period = period
    // The later of two statements must have a later time, even if both were made in the same second or the
    // clock was set back.
    period.madeAt = max(period.madeAt, try nextMoment(zones, database))
    let latest = try ItemZoneTables.latest(database) ?? .min
    switch zones.adding(period, latestItemZone: latest) {
    case .nothing: return false
    case .extended(let longer): try RecordEditor.write(longer.state(editedAt: now), to: longer.guid, database)
    case .added(let period):
      try requireCapacity(zones)
      try RecordEditor.insert(period.state(editedAt: now), period.guid, database)
    }
    return true
  }
}

extension ZoneRecords {
  /// The first second after all existing zone records.
  static func nextMoment(_ zones: LogbookZones, _ database: Database) throws -> Int64 {
    let latest = max(zones.periods.map(\.madeAt).max() ?? -1, try ItemZoneTables.latest(database) ?? -1)
    return min(latest + 1, LogbookZones.lastSecond)
  }

  /// Throws if the logbook has the maximum number of periods. A further period would make the oldest one
  /// invalid, and change the offsets of its items.
  static func requireCapacity(_ zones: LogbookZones) throws {
    guard zones.periods.count >= LogbookZones.maxPeriods else { return }
    throw Failure(
      .configuration,
      "this logbook has \(LogbookZones.maxPeriods) periods of other time zones, and no more count; "
        + "'glucoport config timezone' lists them, and --remove takes one back")
  }
}

/// What a change of the zones has changed in the store.
package struct ZoneChange: Hashable, Sendable {
  /// Whether the zones of the logbook have changed.
  package let isChange: Bool
  /// The number of readings whose offset was recalculated.
  package let readings: Int
  /// The number of records whose offset was recalculated.
  package let records: Int
  /// The numbers of documents on the remote Nightscout site that must be moved, including those of earlier
  /// changes.
  package var toMove = SiteMoves.MoveCounts(readings: 0, records: 0)
}

extension Store {
  /// The zones for records, and for devices that no period names.
  package func timezone() throws -> LogbookZone {
    try read { try LogbookZones($0).zone() }
  }

  /// The zones that the records of the logbook state.
  package func zones() throws -> LogbookZones { try read { try LogbookZones($0) } }

  /// Changes the base zone of the logbook, and recalculates all derived offsets in one transaction.
  /// Identities, shown times and the uploaded state do not change.
  ///
  /// - Parameter now: the host's clock in UTC seconds, used as the time of the edit.
  package func setTimezone(_ zone: LogbookZone, at now: Int64) throws -> ZoneChange {
    try changeZones { try ZoneRecords.setBase(zone.base, at: now, $0) }
  }

  /// Whether the store has no certain zone and has not joined a remote, while `zone` is certain.
  ///
  /// - Parameter isGiven: whether a person gave `zone`; otherwise it is that of the system.
  package func lacksZone(_ zone: LogbookZone, isGiven: Bool) throws -> Bool {
    try read { try Self.lacksZone(LogbookZones(base: zone.base, origin: isGiven ? .given : .system), $0) }
  }

  /// Sets the zone of a store for which `lacksZone` is true. Returns false for any other store. A store that
  /// lacks a zone has no times that need a zone.
  package func completeZone(_ zone: LogbookZone, isGiven: Bool) throws -> Bool {
    guard try lacksZone(zone, isGiven: isGiven) else { return false }
    let base = LogbookZones(base: zone.base, origin: isGiven ? .given : .system)
    return try changeZones { database in
      // Another process may have set the zone first.
      guard try Self.lacksZone(base, database) else { return }
      try ZoneRecords.setUnjoinedBase(base.base, base.origin, database)
      try ZoneRecords.markChanged(LogbookZones.baseGuid, database)
    }.isChange
  }

  /// Ends the first import, whose `--timezone` set the base zone, if one of its inputs was completely stored.
  /// After that, a zone that is given for an import is stated for its items only. Before that, an import that
  /// is repeated after a failure still counts as the first import.
  package func endFirstImport() throws {
    let isFirst = try read { try Self.setting(.baseOfImport, $0) != nil }
    guard isFirst else { return }
    try write { database in
      let hasWhole = try Bool.fetchOne(
        database, sql: "SELECT EXISTS (SELECT 1 FROM ingest WHERE outcome = 'whole')")
      if hasWhole == true { try Self.clear(.baseOfImport, database) }
    }
  }

  private static func lacksZone(_ base: LogbookZones, _ database: Database) throws -> Bool {
    guard base.isKnown, try LogbookZones.isUnjoined(database) else { return false }
    let own = try LogbookZones(database)
    return !own.isKnown && own.unknownBase == nil
  }

  /// Adds a period with another zone.
  package func add(_ period: ZonePeriod, at now: Int64) throws -> ZoneChange {
    try changeZones { try ZoneRecords.add(period, at: now, $0) }
  }

  /// Deletes the record of a period.
  package func remove(_ period: ZonePeriod, at now: Int64) throws -> ZoneChange {
    try changeZones { _ = try RecordEditor.delete([period.guid], at: now, $0) }
  }

  private func changeZones(_ work: (Database) throws -> Void) throws -> ZoneChange {
    try write { database in
      let before = try LogbookZones(database)
      try work(database)
      guard try LogbookZones(database) != before else {
        return ZoneChange(
          isChange: false, readings: 0, records: 0, toMove: try SiteMoves.counts(database))
      }
      // The changes are applied here to count them, so the end of the transaction does not apply them again.
      let changed = try String.fetchAll(
        database.cachedStatement(sql: "SELECT guid FROM changed_statement WHERE kind = 'zone'"))
      let moved = try ZoneStatements.apply(changed, database)
      return ZoneChange(
        isChange: true, readings: moved.readings, records: moved.records,
        toMove: try SiteMoves.counts(database))
    }
  }
}

extension SyncTransaction {
  /// States this store's base zone for all items whose offsets are derived from it. This keeps their instants
  /// when the base zone of another logbook replaces it. An item whose source states the instant keeps it in
  /// any zone, so it is not listed.
  ///
  /// - Parameters:
  ///   - name: the base zone of this store, which the system may not know.
  ///   - now: the host's clock in UTC seconds.
  package func stateOwnBase(_ name: String, at now: Int64) throws {
    let zones = try LogbookZones(database)
    var whole = WithdrawnInput(group: UUID().uuidString.lowercased())
    whole.points = try readingsOfBase(zones)
    for guid in try recordsOfBase(zones) { whole.records[guid] = "" }
    guard !whole.points.isEmpty || !whole.records.isEmpty else { return }
    let madeAt = max(now, try ZoneRecords.nextMoment(zones, database))
    for statement in ItemZone.parts(of: whole, in: name, madeAt: madeAt) {
      let state = RecordState(
        kind: .zone, entryGuid: nil, deviceTime: DeviceTime(seconds: madeAt),
        placement: Placement(utcOffset: 0, source: .stated), fields: statement.fields, isDeleted: false,
        editedAt: now)
      try RecordEditor.insert(state, statement.guid, database)
    }
  }

  private func readingsOfBase(_ zones: LogbookZones) throws -> [SeriesName: PointRuns] {
    var points: [SeriesName: PointRuns] = [:]
    let rows = try RawStatement(
      keptBy: database,
      """
      SELECT r.position, r.value_bucket, r.occurrence, r.device_time
      FROM series AS s CROSS JOIN reading AS r ON r.partition = s.partition AND r.series = s.id
      WHERE s.id = ?1 AND r.offset_source BETWEEN 1 AND 4 AND r.zone IS NULL
      """)
    for series in try Int64.fetchAll(database, sql: "SELECT id FROM series ORDER BY id") {
      let name = try SeriesName.stored(series, database)
      let zone = zones.zone(of: name.device)
      var builder = PointRuns.Builder()
      rows.bind(series, at: 1)
      while try rows.step() {
        let time = try rows.seconds(3, in: "reading (series \(series), position \(rows.integer(0)))")
        if zone.isBase(at: time) { builder.append(rows.point(from: 0)) }
      }
      let found = builder.finish()
      if !found.isEmpty { points[name] = found }
    }
    return points
  }

  private func recordsOfBase(_ zones: LogbookZones) throws -> [String] {
    let zone = zones.zone()
    let rows = try Row.fetchAll(
      database,
      sql: """
        SELECT guid, device_time FROM record
        WHERE offset_source BETWEEN 1 AND 4 AND deleted = 0 AND NOT \(Withdrawn.isStatement)
          AND \(ItemZoneTables.zoneOfRecord) IS NULL
        """)
    return try rows.compactMap { row in
      let row = StoredRow(row, of: "record")
      let guid: String = try row[0]
      return zone.isBase(at: try row.seconds(1)) ? guid : nil
    }
  }
}
