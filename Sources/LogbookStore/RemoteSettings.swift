// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
package import Logbook
import SQLiteRows

/// How a remote is reached, as a person sets it. The secret of the login is not part of it.
package struct RemoteAccess: Hashable, Sendable {
  /// The kind of remote, by its word.
  package var kind: String
  /// The address, without a secret.
  package var url: String
  /// Where the secret comes from.
  package var token: TokenSource
  /// Whether it may be spoken to without encryption on another machine, too.
  package var allowsPlainHTTP: Bool
  /// The file of the certificates that alone may vouch for it; nil for those that the system trusts.
  package var authorities: String?
  /// By which this computer proves to it who it is; nil where it does not ask.
  package var clientCertificate: ClientCertificate?

  /// A remote of this kind at this address.
  package init(
    kind: String, url: String, token: TokenSource, allowsPlainHTTP: Bool = false, authorities: String? = nil,
    clientCertificate: ClientCertificate? = nil
  ) {
    self.kind = kind
    self.url = url
    self.token = token
    self.allowsPlainHTTP = allowsPlainHTTP
    self.authorities = authorities
    self.clientCertificate = clientCertificate
  }
}

/// The remote of a store, and how far the two are in step.
package struct RemoteSetting: Hashable, Sendable {
  /// How it is reached.
  package var access: RemoteAccess
  /// The id of the remote's logbook.
  package var logbook: String
  /// The name of the remote's logbook, for people.
  package var logbookName: String
  /// The id of this installation.
  package var node: String
  /// The number of the last run; 0 before the first.
  package var run: Int64
  /// The id of the last run; nil before the first.
  package var runID: String?
  /// How far the remote's changes are pulled.
  package var cursor: String?
  /// The latest position of the remote that this store has seen.
  package var lastSeenPosition: String?
  /// How many runs in a row failed for a while.
  package var failures: Int
  /// When the next attempt is due, in UTC seconds; nil for at once.
  package var nextAttempt: Int64?
  /// When a run last succeeded, in UTC seconds.
  package var lastSuccess: Int64?
  /// Since when the store has this remote, in UTC seconds; nil where that was not kept.
  package var since: Int64?
  /// When everything pending was last sent, in UTC seconds.
  package var lastPush: Int64?
  /// When everything that others changed was last fetched, in UTC seconds.
  package var lastPull: Int64?
  /// Why the last run failed; nil when it did not.
  package var lastError: String?
  /// What was reported of the uploads since the last one that worked, and lasts until a person mends it; nil without.
  package var lastingFailure: LastingFailure?
  /// When the remote said that the logbook was removed permanently, in UTC seconds; nil while it is there.
  package var purgedAt: Int64?
}

/// What setting a remote did to the store.
package enum RemoteChange: Hashable, Sendable {
  /// The store has a remote for the first time.
  case added
  /// The logbook is the one that the store was synced with: nothing is sent again.
  case kept
  /// The logbook is another one: everything is pending again.
  case requeued
}

extension Store {
  /// The remote; nil without one.
  package func remote() throws -> RemoteSetting? {
    try read { database in
      let row = try Row.fetchOne(
        database.cachedStatement(
          sql: """
            SELECT *, \(Self.value(of: .remoteAuthorities)) AS authorities,
              \(Self.value(of: .remoteClientCertificate)) AS client_certificate,
              \(Self.value(of: .remoteClientKey)) AS client_key,
              CAST(\(Self.value(of: .remoteSince)) AS INTEGER) AS since,
              \(Self.value(of: .lastingFailure)) AS lasting_failure
            FROM remote WHERE url IS NOT NULL
            """))
      return try row.map { try RemoteSetting(StoredRow($0, of: "remote")) }
    }
  }

  /// Whether the store has, or had, a remote.
  package func hasHadRemote() throws -> Bool {
    try read { try Bool.fetchOne($0, sql: "SELECT EXISTS (SELECT 1 FROM remote)") } ?? false
  }

  /// Sets the remote, for the role `sync`. Where the store was synced with another logbook, everything is queued again in
  /// the same transaction.
  ///
  /// - Parameters:
  ///   - logbook: the logbook that answers to this access.
  ///   - isNewRemote: whether another logbook than the one so far is meant.
  ///   - first: the run with which a store without a remote asked this one already; its number stays used.
  ///   - seconds: the host's clock, in UTC.
  /// - Throws: `Failure` of category `configuration` for another logbook without `isNewRemote`; nothing changes then.
  @discardableResult
  package func setRemote(
    _ access: RemoteAccess, logbook: RemoteLogbook, isNewRemote: Bool, after first: RunStamp? = nil,
    at seconds: Int64
  ) throws -> RemoteChange {
    try write { database in
      let known = try Row.fetchOne(database.cachedStatement(sql: "SELECT logbook, logbook_name FROM remote"))
        .map { StoredRow($0, of: "remote") }
      let change: RemoteChange
      switch try known?["logbook"] as String? {
      case nil: change = .added
      case logbook.id: change = .kept
      default:
        guard isNewRemote else { throw otherLogbook(try known?["logbook_name"], logbook.name) }
        change = .requeued
        try Requeue.all(reason: "new remote", at: seconds, database)
      }
      try database.execute(
        sql: "INSERT INTO remote (id, node, run, run_id) VALUES (1, ?, ?, ?) ON CONFLICT DO NOTHING",
        arguments: [
          // No upload has run, so its id is empty: the next one never repeats what was sent under it.
          first?.node ?? UUID().uuidString.lowercased(), first?.number ?? 0, first == nil ? nil : "",
        ])
      if try change == .requeued || Self.setting(.remoteSince, database) == nil {
        try Self.set(.remoteSince, String(seconds), database)
      }
      try Self.write(access, logbook, database)
      if change == .requeued {
        try database.execute(
          sql:
            "UPDATE remote SET cursor = NULL, last_position = NULL, last_success = NULL, last_push = NULL, last_pull = NULL"
        )
        // What was to be fetched, or was left out, was the other logbook's.
        try database.execute(sql: "DELETE FROM download WHERE kind <> 'attachment'")
        try Self.clear(.historyEnd, database)
      }
      return change
    }
  }

  /// Forgets how the remote is reached, for the role `sync`. Which logbook the store was synced with stays known, so that
  /// the same one can be set again without sending everything.
  ///
  /// - Returns: whether there was a remote.
  package func removeRemote() throws -> Bool {
    try write { database in
      try database.execute(
        sql: """
          UPDATE remote SET kind = NULL, url = NULL, token_file = NULL, token_command = NULL, allows_plain_http = 0,
            failures = 0, next_attempt = NULL, last_error = NULL
          WHERE url IS NOT NULL
          """)
      let wasThere = database.changesCount > 0
      try Self.write(nil, as: .remoteAuthorities, database)
      try Self.write(nil, as: .remoteClientCertificate, database)
      try Self.write(nil, as: .remoteClientKey, database)
      try Self.clear(.remoteSince, database)
      try Self.clear(.lastingFailure, database)
      return wasThere
    }
  }

  private static func write(_ access: RemoteAccess, _ logbook: RemoteLogbook, _ database: Database) throws {
    let (file, command): (String?, String?) =
      switch access.token {
      case .file(let path): (path, nil)
      case .command(let command): (nil, command)
      }
    try database.execute(
      sql: """
        UPDATE remote SET kind = ?, url = ?, token_file = ?, token_command = ?, allows_plain_http = ?, logbook = ?,
          logbook_name = ?, failures = 0, next_attempt = NULL, last_error = NULL, purged_at = NULL
        """,
      arguments: [
        access.kind, access.url, file, command, access.allowsPlainHTTP, logbook.id, logbook.name,
      ])
    try write(access.authorities, as: .remoteAuthorities, database)
    try write(access.clientCertificate?.certificateFile, as: .remoteClientCertificate, database)
    try write(access.clientCertificate?.keyFile, as: .remoteClientKey, database)
    try clear(.lastingFailure, database)
  }

  private static func value(of setting: StoreSetting) -> String {
    "(SELECT value FROM setting WHERE name = '\(setting.rawValue)')"
  }

  private static func write(_ path: String?, as setting: StoreSetting, _ database: Database) throws {
    guard let path else { return try clear(setting, database) }
    try set(setting, path, database)
  }

  private func otherLogbook(_ known: String?, _ other: String) -> Failure {
    Failure(
      .configuration,
      "\(path): the store was synced with the logbook '\(known ?? "")' but this login is for another one, '\(other)'; to send everything to it, add --new-remote"
    )
  }
}

extension RemoteSetting {
  fileprivate init(_ row: StoredRow) throws {
    let token: TokenSource
    if let path = try row["token_file"] as String? {
      token = .file(path)
    } else if let command = try row["token_command"] as String? {
      token = .command(command)
    } else {
      throw DamagedRow(row.name, "token_file and token_command are NULL")
    }
    access = RemoteAccess(
      kind: try row["kind"], url: try row["url"], token: token,
      allowsPlainHTTP: try row["allows_plain_http"], authorities: try row["authorities"],
      clientCertificate: ClientCertificate(
        storedCertificate: try row["client_certificate"], key: try row["client_key"]))
    logbook = try row["logbook"]
    logbookName = try row["logbook_name"]
    node = try row["node"]
    run = Int64(try row.count("run"))
    runID = try row["run_id"]
    cursor = try row["cursor"]
    lastSeenPosition = try row["last_position"]
    failures = try row.count("failures")
    nextAttempt = try row.optionalSeconds("next_attempt")
    lastSuccess = try row.optionalSeconds("last_success")
    since = try row.optionalSeconds("since")
    lastError = try row["last_error"]
    // It only keeps a report from being repeated: what no program wrote there is as good as none.
    lastingFailure = (try row["lasting_failure"] as String?).flatMap(LastingFailure.init(stored:))
    lastPush = try row.optionalSeconds("last_push")
    lastPull = try row.optionalSeconds("last_pull")
    purgedAt = try row.optionalSeconds("purged_at")
  }
}

extension ClientCertificate {
  /// The certificate that two settings name; nil unless both are there.
  init?(storedCertificate certificate: String?, key: String?) {
    guard let certificate, let key else { return nil }
    self.init(certificateFile: certificate, keyFile: key)
  }
}
