// SPDX-License-Identifier: Apache-2.0

import GRDB
package import Logbook

/// Writes the records for the zones of a logbook. Every edit increases the version of a record and makes it
/// pending.
enum ZoneRecords {
  /// Stores the base zone of a store that has not joined a remote.
  static func setUnjoinedBase(
    _ zone: NamedZone, _ origin: LogbookZones.Origin, _ database: Database
  ) throws {
    try Store.set(.timezone, zone.name, database)
    try Store.set(.timezoneOrigin, origin.rawValue, database)
  }

  /// Makes a person's zone the base.
  static func setBase(_ zone: NamedZone, at now: Int64, _ database: Database) throws {
    try Store.clear(.baseOfImport, database)
    let zones = try LogbookZones(database)
    guard zones.base != zone || zones.origin != .given || zones.unknownBase != nil else { return }
    if try LogbookZones.isUnjoined(database) {
      try setUnjoinedBase(zone, .given, database)
      return try note(LogbookZones.baseGuid, database)
    }
    try RecordEditor.write(
      LogbookZones.baseState(zone, .given, editedAt: now), to: LogbookZones.baseGuid, database)
  }

  /// Applies a zone that is not yet in a record in the same way as one in a record.
  static func note(_ guid: String, _ database: Database) throws {
    try database.execute(
      sql: "INSERT INTO changed_statement VALUES (?, 'zone') ON CONFLICT DO NOTHING", arguments: [guid])
  }

  /// States a period. Returns whether it changes anything.
  @discardableResult
  static func add(_ period: ZonePeriod, at now: Int64, _ database: Database) throws -> Bool {
    let zones = try LogbookZones(database)
    var period = period
    // Two statements of one second, or of a clock that was set back, keep the order in which they were made.
    period.madeAt = max(period.madeAt, try nextMoment(zones, database))
    let latest = try ItemZoneTables.latest(database) ?? .min
    switch zones.adding(period, latestItemZone: latest) {
    case .nothing: return false
    case .extended(let longer): try RecordEditor.write(longer.state(editedAt: now), to: longer.guid, database)
    case .added(let period):
      try requireRoom(zones)
      try RecordEditor.insert(period.state(editedAt: now), period.guid, database)
    }
    return true
  }
}

extension ZoneRecords {
  /// The first moment after all other statements.
  static func nextMoment(_ zones: LogbookZones, _ database: Database) throws -> Int64 {
    let latest = max(zones.periods.map(\.madeAt).max() ?? -1, try ItemZoneTables.latest(database) ?? -1)
    return min(latest + 1, LogbookZones.lastSecond)
  }

  /// Refuses a further period if the maximum is reached: the oldest one would become invalid, and its items
  /// would get other offsets.
  static func requireRoom(_ zones: LogbookZones) throws {
    guard zones.periods.count >= LogbookZones.maxPeriods else { return }
    throw Failure(
      .configuration,
      "this logbook has \(LogbookZones.maxPeriods) periods of other time zones, and no more count; "
        + "'glucoport config timezone' lists them, and --remove takes one back")
  }
}

/// The effect of a change of the zones.
package struct ZoneChange: Hashable, Sendable {
  /// Whether the logbook's zones changed.
  package let isChange: Bool
  /// The number of recalculated readings.
  package let readings: Int
  /// The number of recalculated records.
  package let records: Int
  /// The documents to be moved on the remote Nightscout site, including those of earlier changes.
  package var toMove = SiteMoves.Counts(readings: 0, records: 0)
}

extension Store {
  /// The zone for records, and for devices without their own period.
  package func timezone() throws -> LogbookZone {
    try read { try LogbookZones($0).zone() }
  }

  /// The zones that the logbook's records state.
  package func zones() throws -> LogbookZones { try read { try LogbookZones($0) } }

  /// Gives the logbook another base zone and recalculates every derived offset in one transaction.
  /// Identities, shown times and the uploaded state do not change.
  ///
  /// - Parameter now: the host's clock in UTC seconds, the time of the edit.
  package func setTimezone(_ zone: LogbookZone, at now: Int64) throws -> ZoneChange {
    try changeZones { try ZoneRecords.setBase(zone.base, at: now, $0) }
  }

  /// Whether the store was created without a known zone, has not joined a remote since, and this zone is
  /// known.
  ///
  /// - Parameter isGiven: whether a person gave the zone; otherwise it is a system's.
  package func lacksZone(_ zone: LogbookZone, isGiven: Bool) throws -> Bool {
    try read { try Self.lacksZone(LogbookZones(base: zone.base, origin: isGiven ? .given : .system), $0) }
  }

  /// Gives such a store the zone. Returns whether it lacked one. No import has stored a time that needed it.
  package func completeZone(_ zone: LogbookZone, isGiven: Bool) throws -> Bool {
    guard try lacksZone(zone, isGiven: isGiven) else { return false }
    let base = LogbookZones(base: zone.base, origin: isGiven ? .given : .system)
    return try changeZones { database in
      // Another process may have set the zone first.
      guard try Self.lacksZone(base, database) else { return }
      try ZoneRecords.setUnjoinedBase(base.base, base.origin, database)
      try ZoneRecords.note(LogbookZones.baseGuid, database)
    }.isChange
  }

  /// Ends the import whose `--timezone` set the base zone, once one of its inputs was completely stored. A
  /// later import with a zone states the zone for its items. An import that is repeated after a failure still
  /// counts as the first.
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

  /// States a period with another zone.
  package func add(_ period: ZonePeriod, at now: Int64) throws -> ZoneChange {
    try changeZones { try ZoneRecords.add(period, at: now, $0) }
  }

  /// Deletes the record of a listed period.
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
      // Applied and counted here, so that the end of the transaction does not derive it again.
      let changed = try String.fetchAll(
        database.cachedStatement(sql: "SELECT guid FROM changed_statement WHERE kind = 'zone'"))
      let moved = try ZoneStatements.apply(changed, database)
      return ZoneChange(
        isChange: true, readings: moved.readings, records: moved.records,
        toMove: try SiteMoves.counts(database))
    }
  }
}
