// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
package import Logbook
import SQLiteRows

/// How `fetch` accesses a source, as a person configured it. Secrets are not part of it.
package struct SourceAccess: Codable, Hashable, Sendable {
  /// The id of the type of source.
  package var type: String
  /// The address, without a secret; nil if the source is a command.
  package var url: String?
  /// The program and its arguments; empty if the source is an address.
  package var command: [String] = []
  /// The absolute path of the file with the secret; nil without such a file.
  package var tokenFile: String?
  /// The shell command that prints the secret; nil without such a command.
  package var tokenCommand: String?
  /// The user name, if the secret is a password; nil if it is not.
  package var user: String?
  /// The name of the HTTP header with the secret; nil for `Authorization`.
  package var header: String?
  /// Whether connections to another machine may be unencrypted.
  package var allowsPlainHTTP = false
  /// The file with the only certificate authorities that are trusted; nil for those that the system trusts.
  package var authorities: String?
  /// The path of the certificate that identifies this computer to the source; nil if it asks for none.
  package var clientCertificate: String?
  /// The path of the private key of `clientCertificate`.
  package var clientKey: String?
  /// The id of the person whose items are read, if responses contain several persons or name none.
  package var patient: String?
  /// The id of the format; nil to detect it.
  package var format: String?
  /// The name of the unit for values without a stated unit.
  package var unit: String?
  /// The name of the zone for times without a stated offset; nil for the zone of the logbook.
  package var timezone: String?
  /// The order of day and month in dates, `dmy` or `mdy`; nil if it is not given.
  package var dateOrder: String?
  /// The model name for readings, if responses name no device.
  package var device: String?
  /// The minimum time between two fetches for which no person asked, in seconds.
  package var intervalSeconds: Int
  /// The time limit of one fetch, in seconds; nil for the default.
  package var maxSeconds: Int?

  /// A source of this type with this minimum interval.
  package init(type: String, intervalSeconds: Int) {
    self.type = type
    self.intervalSeconds = intervalSeconds
  }

  /// Where the secret is read from; nil without a secret.
  package var token: TokenSource? {
    tokenFile.map(TokenSource.file) ?? tokenCommand.map(TokenSource.command)
  }

  /// The certificate and its key; nil if none is set.
  package var certificate: ClientCertificate? {
    ClientCertificate(storedCertificate: clientCertificate, key: clientKey)
  }
}

/// A period in UTC seconds without readings in the store, for which the source no longer has readings either.
package struct SourceHole: Codable, Hashable, Sendable {
  /// The instant of the last reading before the period.
  package var from: Int64
  /// The instant of the first reading after the period.
  package var until: Int64

  /// A period between two readings.
  package init(from: Int64, until: Int64) { (self.from, self.until) = (from, until) }
}

/// The state of the fetches from a source. All times are in UTC seconds of the host's clock.
package struct SourceState: Codable, Hashable, Sendable {
  /// When the last fetch began; nil before the first.
  package var lastAttempt: Int64?
  /// When a person set the source.
  package var setAt: Int64?
  /// When a fetch last succeeded.
  package var lastSuccess: Int64?
  /// When the next attempt is due; nil for at once.
  package var nextAttempt: Int64?
  /// The time before which no request may be sent, as the source asked. No option of a command overrides it.
  package var notBefore: Int64?
  /// The number of consecutive fetches that failed.
  package var failures = 0
  /// Why the last fetch failed; nil if it succeeded.
  package var lastError: String?
  /// The category of a failure that only a person can correct; nil without such a failure.
  package var lastingCategory: String?
  /// The message of the failure in `lastingCategory`. Later failures that are temporary do not replace it.
  package var lastingError: String?
  /// When the failure in `lastingError` first occurred.
  package var lastingSince: Int64?
  /// Whether requests are stopped until a person acts.
  package var isBlocked = false
  /// The entity tag (`ETag`) of the last response.
  package var entityTag: String?
  /// The header `Last-Modified` of the last response, unchanged.
  package var lastModified: String?
  /// The SHA-256 of the last response.
  package var digest: String?
  /// The instant of the newest sensor value that the source returned.
  package var newestValue: Int64?
  /// When the source last sent data. It is kept if a person sets the source again.
  package var answeredAt: Int64?
  /// The longest period that a response with recent values covered, in seconds.
  package var reachSeconds: Int64?
  /// The maximum number of sensor values in a response with recent values.
  package var maxValues: Int?
  /// The position at which the next fetch continues, as a text that depends on the type of source.
  package var cursor: String?
  /// The periods for which the source has no readings, and for which the store had none at the last fetch.
  package var holes: [SourceHole] = []
  /// All holes as they were found. They stay after an import has filled them, since the import may be undone.
  /// Nil if an older program wrote the state, which stored only `holes`.
  package var foundHoles: [SourceHole]?
  /// The exit status of the last run of the command.
  package var exitStatus: String?
  /// The last line that the command wrote to standard error.
  package var lastLine: String?
  /// Whether the next response is accepted even if it states another person than earlier inputs.
  package var acceptsPerson = false

  /// The maximum number of stored holes. The newest are kept.
  package static let maxHoles = 50

  /// The state of a source before the first fetch.
  package init() {}

  /// The failure that only a person can correct; nil without such a failure.
  package var persistentFailure: Failure? {
    lastingCategory.flatMap(FailureCategory.init(rawValue:)).map {
      Failure($0, lastingError ?? lastError ?? "")
    }
  }
}

/// A source of a store, from which `fetch` imports. Nothing is ever written to it.
package struct SourceSetting: Codable, Hashable, Sendable {
  /// The name that a person gave the source.
  package var name: String
  /// A random id that changes each time the source is set. So a running fetch never writes its state to a
  /// source that was set again.
  package var id: String
  /// How the source is accessed.
  package var access: SourceAccess
  /// The state of the fetches.
  package var state: SourceState

  /// A source that is set.
  package init(name: String, access: SourceAccess, state: SourceState = SourceState()) {
    (self.name, self.access, self.state) = (name, access, state)
    id = UUID().uuidString.lowercased()
  }
}

extension Store {
  /// The prefix of the names of the settings that hold sources.
  private static let sourcePrefix = "source "
  /// The SQL query for the names and values of the settings that hold sources.
  static let sourceRows =
    "SELECT name, value FROM setting WHERE name >= '\(sourcePrefix)' AND name < '\(sourcePrefix)\u{7F}' ORDER BY name"
  /// The maximum number of sources of a store.
  package static let maxSources = 20

  /// All sources, ordered by name.
  package func sources() throws -> [SourceSetting] {
    try read { database in
      // A range of names is used, since LIKE does not use the index.
      try Row.fetchAll(database, sql: Self.sourceRows).map { try Self.source($0) }
    }
  }

  /// The source with this name; nil if there is none.
  package func source(_ name: String) throws -> SourceSetting? {
    try read { try Self.source(name, $0) }
  }

  /// Adds a source, or replaces one with the same name. A replaced source loses its state, except for the
  /// holes and the times of the newest value and of the last data.
  ///
  /// - Throws: `Failure` of category `configuration` for too many sources.
  package func setSource(_ setting: SourceSetting) throws {
    try write { database in
      var setting = setting
      if let known = try Self.source(setting.name, database) {
        setting.state.holes = known.state.holes
        setting.state.foundHoles = known.state.foundHoles
        setting.state.newestValue = known.state.newestValue
        setting.state.answeredAt = known.state.answeredAt
      } else {
        let count = try Int.fetchOne(
          database, sql: "SELECT count(*) FROM setting WHERE name >= ? AND name < ?",
          arguments: [Self.sourcePrefix, Self.sourcePrefix + "\u{7F}"])
        guard (count ?? 0) < Self.maxSources else {
          throw Failure(.configuration, "\(path): a store has at most \(Self.maxSources) sources")
        }
      }
      try Self.write(setting, database)
    }
  }

  /// Writes the state of a source, unless a person set it again or removed it in the meantime.
  ///
  /// - Returns: whether it was written.
  @discardableResult
  package func setState(_ state: SourceState, of setting: SourceSetting) throws -> Bool {
    try write { database in
      guard var known = try Self.source(setting.name, database), known.id == setting.id else { return false }
      known.state = state
      try Self.write(known, database)
      return true
    }
  }

  /// Removes a source. The items that were fetched from it stay.
  ///
  /// - Returns: whether there was one.
  package func removeSource(_ name: String) throws -> Bool {
    try write { database in
      try database.execute(
        sql: "DELETE FROM setting WHERE name = ?", arguments: [Self.sourcePrefix + name])
      return database.changesCount > 0
    }
  }

  private static func source(_ name: String, _ database: Database) throws -> SourceSetting? {
    try Row.fetchOne(
      database, sql: "SELECT name, value FROM setting WHERE name = ?", arguments: [sourcePrefix + name]
    ).map { try source($0) }
  }

  private static func source(_ row: Row) throws -> SourceSetting {
    let row = StoredRow(row, of: "setting", key: 0..<1)
    let text: String = try row[1]
    guard let setting = SourceSetting(stored: text) else {
      throw DamagedRow(row.name, "not the settings of a source")
    }
    return setting
  }

  private static func write(_ setting: SourceSetting, _ database: Database) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let text = String(decoding: try encoder.encode(setting), as: UTF8.self)
    try database.execute(
      sql: "INSERT INTO setting VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
      arguments: [sourcePrefix + setting.name, text])
  }
}

extension SourceSetting {
  /// Reads a source from the value of a setting; nil for a text that glucoport did not write.
  init?(stored text: String) {
    do {
      self = try JSONDecoder().decode(SourceSetting.self, from: Data(text.utf8))
    } catch {
      return nil
    }
  }
}
