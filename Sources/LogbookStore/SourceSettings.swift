// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
package import Logbook
import SQLiteRows

/// The access to a source, as a person configures it. No secret is part of it.
package struct SourceAccess: Codable, Hashable, Sendable {
  /// The name of the type of source.
  package var type: String
  /// The address, without a secret; nil for a command.
  package var url: String?
  /// The program with its arguments; empty for an address.
  package var command: [String] = []
  /// The file of the secret, by its absolute path; nil without one.
  package var tokenFile: String?
  /// The shell command that prints the secret; nil without one.
  package var tokenCommand: String?
  /// The user whose password the secret is; nil if it is not a password.
  package var user: String?
  /// The header that has the secret as its value; nil for `Authorization`.
  package var header: String?
  /// Whether connections to another machine may be unencrypted.
  package var allowsPlainHTTP = false
  /// The file of the only certificates that are trusted; nil for those that the system trusts.
  package var authorities: String?
  /// The file of the certificate that identifies this computer; nil if the source asks for none.
  package var clientCertificate: String?
  /// The file of its private key.
  package var clientKey: String?
  /// The id of the person whose items are read, if the answers have those of several, or name none.
  package var patient: String?
  /// The id of the format; nil to detect it.
  package var format: String?
  /// The name of the unit of values that state none.
  package var unit: String?
  /// The name of the zone of times that state no offset; nil for that of the logbook.
  package var timezone: String?
  /// `dmy` or `mdy`, or nil.
  package var dateOrder: String?
  /// The model of a device that no answer names.
  package var device: String?
  /// The minimum time between two fetches that no person asks for, in seconds.
  package var intervalSeconds: Int
  /// The time limit of one fetch, in seconds; nil for the default.
  package var maxSeconds: Int?

  /// A source of a type with its interval.
  package init(type: String, intervalSeconds: Int) {
    self.type = type
    self.intervalSeconds = intervalSeconds
  }

  /// The source of the secret; nil without one.
  package var token: TokenSource? {
    tokenFile.map(TokenSource.file) ?? tokenCommand.map(TokenSource.command)
  }

  /// The certificate that identifies this computer; nil if none is set.
  package var certificate: ClientCertificate? {
    ClientCertificate(storedCertificate: clientCertificate, key: clientKey)
  }
}

/// A time for which a source has no readings any more, and the store has none either, in UTC seconds.
package struct SourceHole: Codable, Hashable, Sendable {
  /// The last reading before it.
  package var from: Int64
  /// The first reading after it.
  package var until: Int64

  /// A hole between two readings.
  package init(from: Int64, until: Int64) { (self.from, self.until) = (from, until) }
}

/// What is known about the fetches from a source. All times are of the host's clock in UTC seconds.
package struct SourceState: Codable, Hashable, Sendable {
  /// When the last fetch began; nil before the first.
  package var lastAttempt: Int64?
  /// When the source was set.
  package var setAt: Int64?
  /// When a fetch last succeeded.
  package var lastSuccess: Int64?
  /// When the next attempt is due; nil for at once.
  package var nextAttempt: Int64?
  /// Before this time the source itself asked for no request. No option overrides it.
  package var notBefore: Int64?
  /// The number of consecutive fetches that failed.
  package var failures = 0
  /// Why the last fetch failed; nil if it did not.
  package var lastError: String?
  /// The category of a failure that a person must correct; nil without one.
  package var lastingCategory: String?
  /// The message of that failure, which later failures that pass by themselves do not replace.
  package var lastingError: String?
  /// Since when it lasts.
  package var lastingSince: Int64?
  /// Whether no request may be sent until a person acts.
  package var isBlocked = false
  /// The entity tag of the stored answer.
  package var entityTag: String?
  /// The time of the last change that the stored answer stated, as it was stated.
  package var lastModified: String?
  /// The SHA-256 of the stored answer.
  package var digest: String?
  /// The instant of the newest sensor value that the source had.
  package var newestValue: Int64?
  /// When the source last answered with data, which the state keeps when the source is set again.
  package var answeredAt: Int64?
  /// How far back answers with recent values reached at most, in seconds.
  package var reachSeconds: Int64?
  /// The maximum number of sensor values of such an answer.
  package var mostValues: Int?
  /// The position of a walk that continues, in the form of the type of source.
  package var cursor: String?
  /// Times without readings that the source does not have any more, and the store had not at the last fetch.
  package var holes: [SourceHole] = []
  /// Each such time as it was found, also if an import has filled it since: that import may be undone. Nil in the state of
  /// a program that kept only what was left.
  package var foundHoles: [SourceHole]?
  /// The exit status of the last command.
  package var exitStatus: String?
  /// The last line of its standard error.
  package var lastLine: String?
  /// Whether the next answer may state another person than earlier inputs.
  package var acceptsPerson = false

  /// The maximum number of kept holes, which are the newest.
  package static let maxHoles = 50

  /// The state of a source from which nothing was fetched.
  package init() {}

  /// The failure that lasts until a person corrects it; nil without one.
  package var lasting: Failure? {
    lastingCategory.flatMap(FailureCategory.init(rawValue:)).map {
      Failure($0, lastingError ?? lastError ?? "")
    }
  }
}

/// A source of a store: a place from which `fetch` imports, and to which nothing is ever written.
package struct SourceSetting: Codable, Hashable, Sendable {
  /// The name that a person gave it.
  package var name: String
  /// Differs each time that the source is set, so that a fetch does not write its state to another source.
  package var id: String
  /// The access to it.
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
  /// What the names of the settings of sources begin with.
  private static let sourcePrefix = "source "
  /// The statement that reads the settings of all sources, with their names.
  static let sourceRows =
    "SELECT name, value FROM setting WHERE name >= '\(sourcePrefix)' AND name < '\(sourcePrefix)\u{7F}' ORDER BY name"
  /// The maximum number of sources of a store.
  package static let maxSources = 20

  /// The sources in the order of their names.
  package func sources() throws -> [SourceSetting] {
    try read { database in
      // A range instead of LIKE, which does not use the index.
      try Row.fetchAll(database, sql: Self.sourceRows).map { try Self.source($0) }
    }
  }

  /// The source of a name; nil if there is none.
  package func source(_ name: String) throws -> SourceSetting? {
    try read { try Self.source(name, $0) }
  }

  /// Sets a source, or another access for one. The state starts again, but what says which values are missing is kept.
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

  /// Writes the state of a source, unless it was set again or removed meanwhile.
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

  /// Removes a source. What was fetched from it stays.
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
  /// The source in the value of a setting; nil for a text that no program wrote.
  init?(stored text: String) {
    do {
      self = try JSONDecoder().decode(SourceSetting.self, from: Data(text.utf8))
    } catch {
      return nil
    }
  }
}
