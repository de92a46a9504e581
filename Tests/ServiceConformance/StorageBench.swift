// SPDX-License-Identifier: Apache-2.0

package import Logbook
package import LogbookAPI
import Testing

/// A storage that is running, and a function that stops it.
package struct OpenStorage: Sendable {
  package let storage: any ServerStorage
  /// Stops the storage. Its folder then contains all acknowledged data.
  package let stop: @Sendable () async throws -> Void

  package init(_ storage: any ServerStorage, stop: @escaping @Sendable () async throws -> Void) {
    self.storage = storage
    self.stop = stop
  }
}

/// Starts storages of one kind, so that rules can be checked with them.
package struct StorageBench: Sendable {
  /// Starts a storage in a folder, which may be empty. A logbook may have at most `maxContentBytes` of
  /// attachment contents.
  package let start: @Sendable (_ folder: String, _ maxContentBytes: Int64) async throws -> OpenStorage

  package init(
    _ start: @escaping @Sendable (_ folder: String, _ maxContentBytes: Int64) async throws -> OpenStorage
  ) {
    self.start = start
  }

  /// Checks a rule with a storage in a separate folder.
  package func check(_ rule: StorageRule) async throws {
    try await rule.check(StoragePlace(bench: self, folder: try ScratchFolder()))
  }
}

/// The folder in which a storage keeps all its data while one rule is checked.
package struct StoragePlace: Sendable {
  package let bench: StorageBench
  package let folder: ScratchFolder

  package init(bench: StorageBench, folder: ScratchFolder) {
    self.bench = bench
    self.folder = folder
  }

  /// Starts the storage in the folder. If it has no logins, adds the logins of the test.
  package func start(maxContentBytes: Int64 = 1 << 30) async throws -> RunningStorage {
    let open = try await bench.start(folder.path, maxContentBytes)
    let tokens = RunningStorage.tokens
    if try await open.storage.logins.list().isEmpty {
      let logins = open.storage.logins
      try await logins.add(name: "writer", role: .write, logbook: "first", token: tokens[0], at: 1)
      try await logins.add(name: "reader", role: .read, logbook: "first", token: tokens[1], at: 2)
      try await logins.add(name: "stranger", role: .write, logbook: "second", token: tokens[2], at: 3)
    }
    return RunningStorage(
      storage: open.storage,
      writer: try #require(try await open.storage.logins.login(tokenHash: tokens[0].hash)),
      reader: try #require(try await open.storage.logins.login(tokenHash: tokens[1].hash)),
      stranger: try #require(try await open.storage.logins.login(tokenHash: tokens[2].hash)), folder: folder,
      stop: open.stop)
  }

  /// Starts the storage in the folder without adding logins.
  func reopen() async throws -> OpenStorage { try await bench.start(folder.path, 1 << 30) }
}

/// A running storage with two logbooks: one for the logins `writer` and `reader`, and one for `stranger`.
package struct RunningStorage: Sendable {
  package let storage: any ServerStorage
  package let writer: Login
  package let reader: Login
  /// A login for the second logbook.
  package let stranger: Login
  package let stop: @Sendable () async throws -> Void
  /// Keeps the folder from being removed while the storage may be running.
  private let folder: ScratchFolder

  static let tokens = ["writer", "reader", "stranger"].map { LoginToken("gp_" + $0) }

  package init(
    storage: any ServerStorage, writer: Login, reader: Login, stranger: Login, folder: ScratchFolder,
    stop: @escaping @Sendable () async throws -> Void
  ) {
    self.storage = storage
    self.writer = writer
    self.reader = reader
    self.stranger = stranger
    self.folder = folder
    self.stop = stop
  }

  package func logbook(_ login: Login) -> any LogbookService { storage.logbook(for: login) }

  /// Permanently removes the logbook of a login.
  package func purge(_ login: Login) async throws {
    let service = logbook(login)
    try await service.neededPurging.purge(try await service.logbook())
  }
}

/// The ports of a service under test. If a rule needs a port that the service does not offer, the rule fails.
extension LogbookService {
  package var neededParts: any PartService { get throws { try #require(parts) } }
  package var neededDigests: any DigestService { get throws { try #require(digests) } }
  package var neededSnapshots: any SnapshotService { get throws { try #require(snapshots) } }
  package var neededAttachments: any AttachmentService { get throws { try #require(attachments) } }
  package var neededRemoval: any RemovalService { get throws { try #require(removal) } }
  package var neededMoving: any MovingService { get throws { try #require(moving) } }
  package var neededPages: any PageService { get throws { try #require(pages) } }
  package var neededPurging: any PurgeService { get throws { try #require(purging) } }
}
