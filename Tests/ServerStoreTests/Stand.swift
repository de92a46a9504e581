// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import LogbookAPI
import ServerStore
import Testing

/// A storage that runs, with two logbooks and their logins, as the conformance suite needs it.
struct Stand: Sendable {
  let storage: any ServerStorage
  let writer: Login
  let reader: Login
  /// Of another logbook.
  let stranger: Login
  /// Ends it; what it acknowledged is in its folder.
  let stop: @Sendable () async throws -> Void
}

/// A sort of storage. Another one joins the suite by a line in `all`.
struct StorageSort: Sendable, CustomTestStringConvertible {
  let testDescription: String
  /// Starts the storage on what is in a folder, or anew in an empty one.
  let start: @Sendable (_ folder: String) async throws -> Stand
  /// Starts it on what is in a folder, whatever became of its logins.
  let reopen: @Sendable (_ folder: String) async throws -> ReopenedStorage

  static let all = [
    StorageSort(
      testDescription: "embedded", start: startEmbedded,
      reopen: { folder in
        let storage = try EmbeddedStorage(folder: folder)
        return ReopenedStorage(storage: storage, stop: storage.close)
      })
  ]

  private static func startEmbedded(_ folder: String) async throws -> Stand {
    let tokens = ["writer", "reader", "stranger"].map { LoginToken("gp_" + $0) }
    let logins = try Logins(folder: folder)
    if try logins.list().isEmpty {
      try logins.add(name: "writer", role: .write, logbook: "first", token: tokens[0], at: 1)
      try logins.add(name: "reader", role: .read, logbook: "first", token: tokens[1], at: 2)
      try logins.add(name: "stranger", role: .write, logbook: "second", token: tokens[2], at: 3)
    }
    try logins.close()
    let storage = try EmbeddedStorage(folder: folder)
    return Stand(
      storage: storage, writer: try #require(try await storage.login(tokenHash: tokens[0].hash)),
      reader: try #require(try await storage.login(tokenHash: tokens[1].hash)),
      stranger: try #require(try await storage.login(tokenHash: tokens[2].hash)), stop: storage.close)
  }
}

/// A storage on a folder whose logins may be gone.
struct ReopenedStorage: Sendable {
  let storage: any ServerStorage
  let stop: @Sendable () async throws -> Void
}

/// A folder of its own, which goes with this value.
final class ScratchFolder: Sendable {
  let url = FileManager.default.temporaryDirectory.appending(path: "glucoport-server-\(UUID().uuidString)")
  var path: String { url.path }

  init() throws {
    try FileManager.default.createDirectory(
      at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  deinit {
    do {
      try FileManager.default.removeItem(at: url)
    } catch {
      // A folder that is left behind among the temporary ones harms no test.
    }
  }

  /// Puts a copy of everything into another folder, in place of what is there.
  func copy(to other: ScratchFolder) throws {
    try FileManager.default.removeItem(at: other.url)
    try FileManager.default.copyItem(at: url, to: other.url)
  }
}
