// SPDX-License-Identifier: Apache-2.0

import GRDB
package import Logbook
import SQLiteRows

/// The settings of a store. The raw value is the name in the table.
enum StoreSetting: String {
  /// The setting for the base zone. While no record states the base zone, it has this zone, and
  /// `timezoneOrigin` has its origin. After that, it has the last base zone that this system knew.
  case timezone
  case timezoneOrigin = "timezone-origin"
  /// Set when `import --timezone` sets the base zone, and removed when an input of an import is completely
  /// stored. Until then, an import with this zone counts as the import that set the base zone.
  case baseOfImport = "base-of-import"
  /// The names of zones, one on each line, that this system did not know when it derived the offsets.
  case unknownZones = "unknown-zones"
  case unit, history
  /// The name and the date of birth that reports show.
  case personName = "person-name"
  case personBorn = "person-born"
  /// The salt of the digests of people's names in this store.
  case personSalt = "person-salt"
  case pullInterval = "pull-interval"
  case remoteAuthorities = "remote_authorities"
  case remoteClientCertificate = "remote-client-certificate"
  case remoteClientKey = "remote-client-key"
  /// When the store got this remote, in UTC seconds.
  case remoteSince = "remote-since"
  /// A failure that uploads cannot correct without a person, as the text of `PersistentFailure.stored`.
  case persistentFailure = "lasting-failure"
  case attachmentLimit = "attachment-limit"
  /// The shown time before which readings were not downloaded, in civil seconds.
  case historyEnd = "history-end"

  /// Set if records were not downloaded, since a person cancelled their download.
  case recordsLeftOut = "records-left-out"

  /// The id of the last upload that pulled and completed its work, stored in the same transaction as its end.
  case endedRun = "ended-run"

  static let historyOnDemand = "on-demand"

  /// The value as an SQL expression; NULL if the setting is not set.
  var sql: String { "(SELECT value FROM setting WHERE name = '\(rawValue)')" }
}

extension Store {
  /// The unit of values in lists; nil for the unit in which each value was measured.
  package func displayUnit() throws -> GlucoseUnit? {
    try read { try Self.value(of: .unit, $0) { GlucoseUnit(name: $0) } }
  }

  /// Sets the unit of values in lists; nil for the unit in which each value was measured.
  package func setDisplayUnit(_ unit: GlucoseUnit?) throws {
    try write { database in
      if let unit {
        try Self.set(.unit, unit.name, database)
      } else {
        try Self.clear(.unit, database)
      }
    }
  }

  /// The name of the person that a report shows; nil if none is set. It is never sent.
  package func personName() throws -> String? { try read { try Self.setting(.personName, $0) } }

  /// Sets the name that a report shows; nil to remove it.
  package func setPersonName(_ name: String?) throws { try set(.personName, name) }

  /// The date of birth that a report shows, such as `1980-05-06`; nil if none is set. It is never sent.
  package func personBorn() throws -> String? { try read { try Self.setting(.personBorn, $0) } }

  /// Sets the date of birth that a report shows; nil to remove it.
  package func setPersonBorn(_ date: String?) throws { try set(.personBorn, date) }

  private func set(_ setting: StoreSetting, _ value: String?) throws {
    try write { database in
      guard let value else { return try Self.clear(setting, database) }
      try Self.set(setting, value, database)
    }
  }

  /// The minimum time in seconds between two pulls for which no person asked.
  package func pullIntervalSeconds() throws -> Int {
    try read { database in
      try Self.value(of: .pullInterval, database) {
        Int64($0).flatMap { (0...StoredBounds.seconds.upperBound).contains($0) ? Int($0) : nil }
      }
    } ?? Self.defaultPullIntervalSeconds
  }

  /// Sets the minimum time in seconds between two pulls for which no person asked.
  package func setPullIntervalSeconds(_ seconds: Int) throws {
    try write { try Self.set(.pullInterval, String(seconds), $0) }
  }

  /// Whether only recent readings are downloaded. Older readings are only downloaded if a person asks for
  /// them.
  package func fetchesHistoryOnDemand() throws -> Bool {
    try read { try Self.setting(.history, $0) } == StoreSetting.historyOnDemand
  }

  /// Sets whether readings older than the recent ones are downloaded only if a person asks for them.
  package func setFetchesHistoryOnDemand(_ isOnDemand: Bool) throws {
    try write { database in
      guard isOnDemand else { return try Self.clear(.history, database) }
      try Self.set(.history, StoreSetting.historyOnDemand, database)
    }
  }

  /// The shown time before which readings were not downloaded and are not queued, in civil seconds. Nil if
  /// there are none.
  package func missingHistoryEnd() throws -> Int64? {
    try read { database in
      guard let end = try DownloadQueue.historyEnd(database) else { return nil }
      let isQueued = try DownloadQueue.ranges(database).contains {
        $0.lowerBound == .min && $0.upperBound >= end
      }
      return isQueued ? nil : end
    }
  }

  /// The default: twice a day.
  private static let defaultPullIntervalSeconds = 12 * 3600

  /// The value of a setting; nil if it is not set.
  static func value<Value>(
    of setting: StoreSetting, _ database: Database, _ parse: (String) -> Value?
  ) throws -> Value? {
    guard let text = try self.setting(setting, database) else { return nil }
    guard let value = parse(text) else { throw damage(setting, "unknown value") }
    return value
  }

  private static func damage(_ setting: StoreSetting, _ reason: String) -> DamagedRow {
    DamagedRow("setting (name \(setting.rawValue))", reason)
  }

  static func setting(_ setting: StoreSetting, _ database: Database) throws -> String? {
    let statement = try database.cachedStatement(sql: "SELECT value FROM setting WHERE name = ?")
    return try String.fetchOne(statement, arguments: [setting.rawValue])
  }

  static func set(_ setting: StoreSetting, _ value: String, _ database: Database) throws {
    try database.execute(
      sql: "INSERT INTO setting VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
      arguments: [setting.rawValue, value])
  }

  static func clear(_ setting: StoreSetting, _ database: Database) throws {
    try database.execute(sql: "DELETE FROM setting WHERE name = ?", arguments: [setting.rawValue])
  }

  func write<Value>(_ work: (Database) throws -> Value) throws -> Value {
    try translatingErrors(path) {
      try queue.inDatabase { database in
        var value: Value?
        try database.inTransaction(.immediate) {
          value = try work(database)
          try Statements.applyChanges(database)
          return .commit
        }
        guard let value else { throw Failure(.inputOutput, "\(path): cannot write to the store") }
        return value
      }
    }
  }
}
