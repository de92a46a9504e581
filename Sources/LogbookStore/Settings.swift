// SPDX-License-Identifier: Apache-2.0

import GRDB
package import Logbook
import SQLiteRows

/// The settings of a store, by their stored names.
enum StoreSetting: String {
  /// The base zone and its origin, as long as no record states it. Otherwise the last one that this system
  /// knew.
  case timezone
  case timezoneOrigin = "timezone-origin"
  /// `import --timezone` set the base zone, and no input of that import has ended. While it is set, an import
  /// with this zone counts as the one that set the base.
  case baseOfImport = "base-of-import"
  /// The zones that this system did not know when the offsets were derived, one a line.
  case unknownZones = "unknown-zones"
  case unit, history
  /// What a report shows of the person.
  case personName = "person-name"
  case personBorn = "person-born"
  /// What makes digests of a person's name those of this store.
  case personSalt = "person-salt"
  case pullInterval = "pull-interval"
  case remoteAuthorities = "remote_authorities"
  case remoteClientCertificate = "remote-client-certificate"
  case remoteClientKey = "remote-client-key"
  /// When the store got this remote, in UTC seconds.
  case remoteSince = "remote-since"
  /// A failure that no later upload corrects by itself, in the form of `PersistentFailure`.
  case persistentFailure = "lasting-failure"
  case attachmentLimit = "attachment-limit"
  /// Readings shown before this time were left out, in civil seconds.
  case historyEnd = "history-end"

  /// The records were left out, since a person cancelled their download.
  case recordsLeftOut = "records-left-out"

  static let historyOnDemand = "on-demand"
}

extension Store {
  /// The unit of values in listings; nil for the original unit of each value.
  package func displayUnit() throws -> GlucoseUnit? {
    try read { try Self.value(of: .unit, $0) { GlucoseUnit(name: $0) } }
  }

  /// Sets or clears the unit of listings.
  package func setDisplayUnit(_ unit: GlucoseUnit?) throws {
    try write { database in
      if let unit {
        try Self.set(.unit, unit.name, database)
      } else {
        try Self.clear(.unit, database)
      }
    }
  }

  /// The name that a report shows; nil for none. It is never sent.
  package func personName() throws -> String? { try read { try Self.setting(.personName, $0) } }

  /// Sets or clears the name.
  package func setPersonName(_ name: String?) throws { try set(.personName, name) }

  /// The date of birth that a report shows, such as `1980-05-06`; nil for none. It is never sent.
  package func personBorn() throws -> String? { try read { try Self.setting(.personBorn, $0) } }

  /// Sets or clears the date of birth.
  package func setPersonBorn(_ date: String?) throws { try set(.personBorn, date) }

  private func set(_ setting: StoreSetting, _ value: String?) throws {
    try write { database in
      guard let value else { return try Self.clear(setting, database) }
      try Self.set(setting, value, database)
    }
  }

  /// How many seconds lie at least between two fetches that no person asks for.
  package func pullIntervalSeconds() throws -> Int {
    try read { database in
      try Self.value(of: .pullInterval, database) {
        Int64($0).flatMap { (0...StoredBounds.seconds.upperBound).contains($0) ? Int($0) : nil }
      }
    } ?? Self.defaultPullIntervalSeconds
  }

  /// Sets the minimum time between two downloads that no person asked for.
  package func setPullIntervalSeconds(_ seconds: Int) throws {
    try write { try Self.set(.pullInterval, String(seconds), $0) }
  }

  /// Whether readings older than the recent ones are fetched only on demand.
  package func fetchesHistoryOnDemand() throws -> Bool {
    try read { try Self.setting(.history, $0) } == StoreSetting.historyOnDemand
  }

  /// Sets whether older readings are fetched only on demand.
  package func setFetchesHistoryOnDemand(_ isOnDemand: Bool) throws {
    try write { database in
      guard isOnDemand else { return try Self.clear(.history, database) }
      try Self.set(.history, StoreSetting.historyOnDemand, database)
    }
  }

  /// The shown time before which readings were left out and are not queued, in civil seconds; nil if none
  /// were.
  package func missingHistoryEnd() throws -> Int64? {
    try read { database in
      guard let end = try DownloadQueue.historyEnd(database) else { return nil }
      let isQueued = try DownloadQueue.ranges(database).contains {
        $0.lowerBound == .min && $0.upperBound >= end
      }
      return isQueued ? nil : end
    }
  }

  /// Twice a day.
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
