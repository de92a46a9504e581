// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Logbook
import LogbookAPI
import LogbookStore
import SeededRandom
import ServerStore
package import TestPostgres

/// The files that every world starts with. They are made only once, because creating the tables of a store
/// takes longer than most schedules.
package struct Template: Sendable {
  /// The file of a store without a remote.
  let store: Data
  /// Two servers, so that the nodes of a world can change from one to the other.
  let servers: [Server]
  /// The PostgreSQL databases of the servers; nil if the servers store their data in folders.
  let databases: TestDatabases?

  /// Writes an empty store to a path.
  func writeStore(to path: String) throws { try store.write(to: URL(fileURLWithPath: path)) }

  struct Server: Sendable {
    let files: [String: Data]
    let login: Login

    /// Writes an empty server to a folder.
    func write(to folder: String) throws {
      let manager = FileManager.default
      try manager.createDirectory(atPath: folder + "/logbooks", withIntermediateDirectories: true)
      for (name, data) in files { try write(data, to: "\(folder)/\(name)") }
      try manager.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder)
    }

    private func write(_ data: Data, to path: String) throws {
      try data.write(to: URL(fileURLWithPath: path))
    }
  }

  /// Makes the files in a temporary folder, and removes the folder.
  ///
  /// - Parameter databases: the PostgreSQL databases of the servers; nil if the servers store their data in
  ///   folders.
  package init(databases: TestDatabases? = nil) async throws {
    self.databases = databases
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "glucoport-template-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    store = try Self.makeStore(folder.path + "/store.db")
    servers = [try await Self.makeServer(folder.path + "/1"), try await Self.makeServer(folder.path + "/2")]
    try FileManager.default.removeItem(at: folder)
  }

  private static func makeStore(_ path: String) throws -> Data {
    // The connection is closed at the end of this line. SQLite then moves all data from the write-ahead log
    // to the file.
    _ = try Store.openOrCreate(path: path, role: .importer, zone: LogbookZone(name: "Europe/Madrid"))
    return try contents(path)
  }

  /// The bytes of a copy of the database with pages of 4 KiB instead of 16. A commit writes whole pages, so
  /// small pages make it faster.
  private static func contents(_ path: String) throws -> Data {
    let small = path + "-small"
    try DatabaseQueue(path: path).inDatabase { database in
      try database.execute(sql: "PRAGMA page_size = 4096")
      try database.execute(sql: "VACUUM INTO ?", arguments: [small])
    }
    return try Data(contentsOf: URL(fileURLWithPath: small))
  }

  private static func makeServer(_ folder: String) async throws -> Server {
    var random = SeededGenerator(seed: 0)
    let token = LoginToken(using: &random)
    let storage = try EmbeddedStorage(folder: folder)
    let logins = try Logins(folder: folder)
    try logins.add(name: "node", role: .write, logbook: "simulation", token: token, at: 0)
    guard let login = try await logins.login(tokenHash: token.hash) else { throw Broken("no login") }
    try logins.close()
    _ = try await storage.logbook(for: login).logbook()
    try await storage.close()
    var files: [String: Data] = [:]
    for name in ["server.db", "logbooks/\(login.logbook).db"] {
      files[name] = try contents("\(folder)/\(name)")
    }
    return Server(files: files, login: login)
  }
}
