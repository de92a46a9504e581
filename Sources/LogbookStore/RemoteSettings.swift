// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
package import Logbook
import SQLiteRows

/// How a store accesses its remote, as a person configured it. The secret of the login is not part of it.
package struct RemoteAccess: Hashable, Sendable {
  /// The id of the kind of remote, such as `nightscout`.
  package var kind: String
  /// The address of the remote, without a secret.
  package var url: String
  /// Where the secret of the login is read from.
  package var token: TokenSource
  /// Whether connections to another machine may be unencrypted.
  package var allowsPlainHTTP: Bool
  /// The file with the certificate authorities that are trusted for the remote; nil for the authorities that
  /// the system trusts.
  package var authorities: String?
  /// The certificate that identifies this computer to the remote; nil if it asks for none.
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

/// The remote of a store, and the state of the sync with it.
package struct RemoteSetting: Hashable, Sendable {
  /// How the store accesses the remote.
  package var access: RemoteAccess
  /// The id of the remote's logbook.
  package var logbook: String
  /// The name of the remote's logbook, for people.
  package var logbookName: String
  /// The id of this node, a random UUID.
  package var node: String
  /// The number of the last upload; 0 before the first.
  package var run: Int64
  /// The id of the last upload; nil before the first.
  package var runID: String?
  /// The cursor up to which the remote's changes were pulled; nil before the first pull.
  package var cursor: String?
  /// The latest position of the remote that this store has seen.
  package var lastSeenPosition: String?
  /// The number of consecutive uploads that failed temporarily.
  package var failures: Int
  /// When the next attempt is due, in UTC seconds; nil for immediately.
  package var nextAttempt: Int64?
  /// When an upload last succeeded, in UTC seconds; nil if none has.
  package var lastSuccess: Int64?
  /// When the store got this remote, in UTC seconds; nil if that was not stored.
  package var since: Int64?
  /// When all pending items were last sent, in UTC seconds.
  package var lastPush: Int64?
  /// When all changes of other nodes were last fetched, in UTC seconds.
  package var lastPull: Int64?
  /// Why the last upload failed; nil if it succeeded.
  package var lastError: String?
  /// A failure that only a person can correct. It was reported, and every upload after the last success has
  /// failed with it. Nil without such a failure.
  package var persistentFailure: PersistentFailure?
  /// When the remote reported that the logbook was removed permanently, in UTC seconds; nil while it exists.
  package var purgedAt: Int64?
}

/// How setting a remote changes the store.
package enum RemoteChange: Hashable, Sendable {
  /// The store had no remote before.
  case added
  /// The remote has the logbook with which the store was synced before, so nothing is sent again.
  case kept
  /// The remote has another logbook, so all items are pending again.
  case requeued
}

extension Store {
  /// The remote; nil without one.
  package func remote() throws -> RemoteSetting? {
    try read { database in
      let row = try Row.fetchOne(
        database.cachedStatement(
          sql: """
            SELECT *, \(StoreSetting.remoteAuthorities.sql) AS authorities,
              \(StoreSetting.remoteClientCertificate.sql) AS client_certificate,
              \(StoreSetting.remoteClientKey.sql) AS client_key,
              CAST(\(StoreSetting.remoteSince.sql) AS INTEGER) AS since,
              \(StoreSetting.persistentFailure.sql) AS lasting_failure
            FROM remote WHERE url IS NOT NULL
            """))
      return try row.map { try RemoteSetting(StoredRow($0, of: "remote")) }
    }
  }

  /// The id of the logbook with which the store is or was synced; nil if it never was.
  package func syncedLogbook() throws -> String? {
    try read { try String.fetchOne($0, sql: "SELECT logbook FROM remote") }
  }

  /// Whether the store has a remote, or had one earlier.
  package func hasHadRemote() throws -> Bool {
    try read { try Bool.fetchOne($0, sql: "SELECT EXISTS (SELECT 1 FROM remote)") } ?? false
  }

  /// Sets the remote, for the role `sync`. If the store was synced with another logbook, everything is queued
  /// again in the same transaction.
  ///
  /// - Parameters:
  ///   - logbook: the logbook that the access leads to.
  ///   - isNewRemote: whether a person wants another logbook than the current one.
  ///   - first: the stamp with which a request was already sent to this remote, if the store had no remote
  ///     then. Its number is not used again.
  ///   - seconds: the host's clock in UTC seconds.
  /// - Throws: `Failure` of category `configuration` for another logbook without `isNewRemote`; nothing
  ///   changes then.
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
          // No upload has run yet. An empty id ensures that the next upload does not reuse the id of the
          // earlier request.
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
        // The queued downloads, and the readings and records that were left out, belonged to the other
        // logbook.
        try database.execute(sql: "DELETE FROM download WHERE kind <> 'attachment'")
        try Self.clear(.historyEnd, database)
      }
      return change
    }
  }

  /// Removes the access to the remote, for the role `sync`. The id of the logbook is kept, so that the same
  /// remote can be set again without sending all items.
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
      try Self.clear(.persistentFailure, database)
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
    try clear(.persistentFailure, database)
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
    // A text that cannot be read counts as no failure. The only consequence is that a failure is reported
    // again.
    persistentFailure = (try row["lasting_failure"] as String?).flatMap(PersistentFailure.init(stored:))
    lastPush = try row.optionalSeconds("last_push")
    lastPull = try row.optionalSeconds("last_pull")
    purgedAt = try row.optionalSeconds("purged_at")
  }
}

extension ClientCertificate {
  /// The certificate in two settings; nil if one of them is missing.
  init?(storedCertificate certificate: String?, key: String?) {
    guard let certificate, let key else { return nil }
    self.init(certificateFile: certificate, keyFile: key)
  }
}
