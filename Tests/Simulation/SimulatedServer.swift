// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import LogbookAPI
import ServerStore

/// A server's real storage in a folder of its own, which can be restarted, copied and put back.
final class SimulatedServer: @unchecked Sendable {
  // Safe: the world does one thing at a time, and changes the storage only between requests.
  private(set) var storage: EmbeddedStorage
  private let folder: String
  private var backup: String?

  init(folder: String) throws {
    self.folder = folder
    storage = try EmbeddedStorage(folder: folder)
  }

  /// A login that may write to a logbook of this name.
  func login(logbook: String, _ random: inout SeededGenerator) async throws -> Login {
    let token = LoginToken(using: &random)
    let logins = try Logins(folder: folder)
    try logins.add(name: logbook, role: .write, logbook: logbook, token: token, at: 0)
    try logins.close()
    guard let login = try await storage.login(tokenHash: token.hash) else { throw Broken("no login") }
    return login
  }

  func restart() async throws {
    try await storage.close()
    storage = try EmbeddedStorage(folder: folder)
  }

  /// Copies everything that is on disk.
  func takeBackup() async throws {
    try await storage.close()
    let copy = folder + "-backup"
    try? FileManager.default.removeItem(atPath: copy)
    try FileManager.default.copyItem(atPath: folder, toPath: copy)
    backup = copy
    storage = try EmbeddedStorage(folder: folder)
  }

  /// Puts the last copy back; false when there is none.
  func restoreBackup() async throws -> Bool {
    guard let backup else { return false }
    try await storage.close()
    try FileManager.default.removeItem(atPath: folder)
    try FileManager.default.copyItem(atPath: backup, toPath: folder)
    storage = try EmbeddedStorage(folder: folder)
    return true
  }

  /// Everything that a logbook holds.
  func everything(_ login: Login) async throws -> (readings: Int, records: [RemoteRecord]) {
    let observer = RunStamp(
      node: "ffffffff-ffff-ffff-ffff-ffffffffffff", number: 1, id: "ffffffff-ffff-ffff-ffff-ffffffffffff")
    var (readings, records, cursor) = (0, [RemoteRecord](), String?.none)
    while let page = try await storage.changes(after: cursor, limit: 1000, login, observer) {
      readings += page.readings.readings.count
      records += page.records
      cursor = page.cursor
      if !page.hasMore { break }
    }
    return (readings, records)
  }
}

/// A rule that does not hold, or a world that cannot be built.
public struct Broken: Error, CustomStringConvertible {
  /// What is broken.
  public let description: String
  init(_ description: String) { self.description = description }
}
