// SPDX-License-Identifier: Apache-2.0

import GRDB
package import Logbook

/// Writes the records that state the zones of a logbook. Every edit is one of a record: it raises the version and is
/// pending.
enum ZoneRecords {
  /// Keeps the base zone of a store that no remote has had a say in.
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

  /// What follows from a zone that is no record yet is applied like that of a record.
  static func note(_ guid: String, _ database: Database) throws {
    try database.execute(
      sql: "INSERT INTO changed_statement VALUES (?, 'zone') ON CONFLICT DO NOTHING", arguments: [guid])
  }

  /// States a period; returns whether it says anything new.
  @discardableResult
  static func add(_ period: ZonePeriod, at now: Int64, _ database: Database) throws -> Bool {
    let zones = try LogbookZones(database)
    var period = period
    // Two of one second, or of a clock that was set back, keep the order in which they were stated.
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

  /// Refuses a further period where no more count: it would take the oldest out of those, and move what that places.
  static func requireRoom(_ zones: LogbookZones) throws {
    guard zones.periods.count >= LogbookZones.maxPeriods else { return }
    throw Failure(
      .configuration,
      "this logbook has \(LogbookZones.maxPeriods) periods of other time zones, and no more count; "
        + "'glucoport config timezone' lists them, and --remove takes one back")
  }
}

/// What a change of the zones did.
package struct ZoneChange: Hashable, Sendable {
  /// Whether the logbook's zones are others now.
  package let isChange: Bool
  /// Readings that were recalculated.
  package let readings: Int
  /// Records that were recalculated.
  package let records: Int
  /// What is to be moved on the Nightscout site that is the remote, also by changes before this one.
  package var toMove = SiteMoves.Counts(readings: 0, records: 0)
}

extension Store {
  /// What places the times of records, and of devices without a period of their own.
  package func timezone() throws -> LogbookZone {
    try read { try LogbookZones($0).zone() }
  }

  /// The zones that the logbook's records state.
  package func zones() throws -> LogbookZones { try read { try LogbookZones($0) } }

  /// Gives the logbook another base zone and recomputes every derived offset, all in one transaction. Identities, shown
  /// times and what is uploaded stay.
  ///
  /// - Parameter now: the host's clock in UTC seconds, which the edit bears.
  package func setTimezone(_ zone: LogbookZone, at now: Int64) throws -> ZoneChange {
    try changeZones { try ZoneRecords.setBase(zone.base, at: now, $0) }
  }

  /// Whether the store was created where no zone was known, has met no remote since, and this zone is one.
  ///
  /// - Parameter isGiven: whether a person gave the zone; else it is a system's.
  package func lacksZone(_ zone: LogbookZone, isGiven: Bool) throws -> Bool {
    try read { try Self.lacksZone(LogbookZones(base: zone.base, origin: isGiven ? .given : .system), $0) }
  }

  /// Gives such a store the zone; returns whether it lacked one. No import has stored a time that needed it.
  package func completeZone(_ zone: LogbookZone, isGiven: Bool) throws -> Bool {
    guard try lacksZone(zone, isGiven: isGiven) else { return false }
    let base = LogbookZones(base: zone.base, origin: isGiven ? .given : .system)
    return try changeZones { database in
      // Another process may have been first.
      guard try Self.lacksZone(base, database) else { return }
      try ZoneRecords.setUnjoinedBase(base.base, base.origin, database)
      try ZoneRecords.note(LogbookZones.baseGuid, database)
    }.isChange
  }

  /// Ends the import whose `--timezone` set the base zone, once one of its inputs was stored whole: a later one with a zone
  /// states that for what it brings. An import that is repeated after a failure still is the first.
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

  /// States a period in which another zone held.
  package func add(_ period: ZonePeriod, at now: Int64) throws -> ZoneChange {
    try changeZones { try ZoneRecords.add(period, at: now, $0) }
  }

  /// Deletes the record of a period, as it is listed.
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
      // Counted here, so that it is not derived a second time when the transaction ends.
      let changed = try String.fetchAll(
        database.cachedStatement(sql: "SELECT guid FROM changed_statement WHERE kind = 'zone'"))
      let moved = try ZoneStatements.apply(changed, database)
      return ZoneChange(
        isChange: true, readings: moved.readings, records: moved.records,
        toMove: try SiteMoves.counts(database))
    }
  }
}
