// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookAPI
import PostgresStore
import SeededRandom
import TestPostgres

/// Two servers that share one PostgreSQL database. Requests go to them in turn. The database can be copied
/// and restored.
final class SimulatedDatabase: SimulatedStorageHost, @unchecked Sendable {
  // Safe: a world does one thing at a time, so nothing uses the properties concurrently.
  private let databases: TestDatabases
  private let name: String
  private let login: Login
  private var storages: [PostgresStorage] = []
  private var requests = 0
  private var hasBackup = false
  private(set) var observer = RunStamp.ofObserver()

  private var backup: String { name + "_backup" }

  /// Makes a database with one login.
  ///
  /// - Parameter number: the seed of the login's token and of the logbook's id. It differs between the
  ///   servers of a world.
  init(_ databases: TestDatabases, number: Int) throws {
    self.databases = databases
    name = try databases.copy()
    var random = SeededGenerator(seed: UInt64(number))
    let token = LoginToken(using: &random)
    let guid = random.uuid()
    // These are the statements with which a server adds a login; see `PostgresLogins`.
    try databases.server.run(
      """
      INSERT INTO glucoport.logbook (guid, name) VALUES ('\(guid)', 'simulation');
      SELECT set_config('glucoport.logbook', id::text, false) FROM glucoport.logbook;
      INSERT INTO glucoport.counter (logbook) SELECT id FROM glucoport.logbook;
      INSERT INTO glucoport.contents (logbook) SELECT id FROM glucoport.logbook;
      INSERT INTO glucoport.epoch (logbook, first_seq, tag) SELECT id, 0, '00000000' FROM glucoport.logbook;
      INSERT INTO glucoport.login (name, token_hash, role, logbook, created_at)
        SELECT 'node', '\\x\(token.hash.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined())', 'write', id, 0
        FROM glucoport.logbook
      """, in: name)
    login = Login(name: "node", logbook: guid, role: .write)
    try open()
  }

  var service: any LogbookService {
    requests += 1
    return storages[requests % storages.count].logbook(for: login)
  }

  func empty() throws {
    hasBackup = false
    observer = .ofObserver()
    let tables = ["blob_part", "blob", "accepted", "record", "reading", "series", "device", "node"]
    let deletions =
      tables.map { "DELETE FROM glucoport.\($0)" } + [
        "DELETE FROM glucoport.epoch WHERE first_seq > 0", "UPDATE glucoport.counter SET last_seq = 0",
        "UPDATE glucoport.contents SET bytes = 0",
      ]
    try databases.server.run((["BEGIN"] + deletions + ["COMMIT"]).joined(separator: "; "), in: name)
  }

  func restart() async throws {
    try await close()
    try open()
  }

  func takeBackup() async throws {
    try await close()
    try databases.replace(backup, with: name)
    hasBackup = true
    try open()
  }

  func restoreBackup() async throws -> Bool {
    guard hasBackup else { return false }
    try await close()
    try databases.replace(name, with: backup)
    try open()
    return true
  }

  private func open() throws {
    let address = try DatabaseAddress(databases.server.address(name))
    storages = try (0..<2).map { _ in try PostgresStorage(address) }
  }

  private func close() async throws {
    for storage in storages { try await storage.close() }
    // PostgreSQL ends a connection some time after it was closed. A database cannot be copied while it has a
    // connection.
    while try databases.server.number("SELECT count(*) FROM pg_stat_activity WHERE datname = '\(name)'") > 0 {
    }
  }
}
