// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import LogbookAPI
import PostgresStore
import ServerStore
import ServiceConformance
import TestPostgres
import Testing

/// Tests moving the data of a server from a folder to a database and back.
@Suite(.timeLimit(.minutes(10))) struct PostgresTransferTests {
  private static let content = AttachmentContent(
    digest: "fb8e20fc2e4c3f248c60c39bd652f3c1347298bb977b8b4d5903b85055620603", size: 2)

  private static func embedded(_ folder: ScratchFolder) -> StoragePlace {
    StoragePlace(
      bench: StorageBench { path, _ in
        let storage = try EmbeddedStorage(folder: path)
        return OpenStorage(storage, stop: storage.close)
      }, folder: folder)
  }

  /// Moves the data of a folder as `serve import` does.
  @discardableResult
  private static func move(_ folder: String, to database: DatabaseAddress) throws -> TransferCounts {
    let (source, target) = (try FolderSource(folder: folder), try PostgresTransfer(database))
    let place = try target.database()
    try source.requireUnmoved(exceptTo: place)
    try target.requireCapacity(for: source.directory(), isRepeated: source.wasMarked)
    try source.mark(place)
    let counts = try source.move(to: target)
    try source.close()
    return counts
  }

  private static func export(_ database: DatabaseAddress, to folder: String) throws {
    let target = try FolderTarget(folder: folder)
    _ = try PostgresTransfer(database).move(to: target)
    try target.finish()
  }

  /// A folder with two logbooks and three logins, and an empty database for it.
  private static func with(
    _ body: (_ stand: RunningStorage, _ folder: ScratchFolder, _ server: PostgresServer, _ name: String)
      async throws
      -> Void
  ) async throws {
    let folder = try ScratchFolder()
    let stand = try await embedded(folder).start()
    for login in [stand.writer, stand.stranger] { try await Client(stand, as: login).push(Sample.history(3)) }
    try await stand.stop()
    try await TestDatabases.shared.get().with { copies in
      try await body(stand, folder, copies.server, copies.copy())
    }
  }

  private static func purge(_ login: Login, _ storage: any ServerStorage) async throws {
    let service = storage.logbook(for: login)
    try await service.neededPurging.purge(try await service.logbook())
  }

  @Test func aServerFolderIsNotMovedToADatabaseThatHasOrHadItsLogbooks() async throws {
    try await Self.with { stand, folder, server, name in
      let owner = try DatabaseAddress(server.address(name, as: PostgresServer.owner))
      func expectRefusal(of path: String, wasMarked: Bool = false) throws {
        #expect { try Self.move(path, to: owner) } throws: { ($0 as? Failure)?.category == .cannotCreate }
        let source = try FolderSource(folder: path)
        #expect(source.wasMarked == wasMarked)
        try source.close()
      }
      try Self.move(folder.path, to: owner)
      let base = try ScratchFolder()
      let (served, copied) = (base.path + "/served", base.path + "/copied")
      for path in [served, copied] { try Self.export(owner, to: path) }
      // A server could use the folder meanwhile, so that the folder has readings that the database lacks.
      try expectRefusal(of: served)
      let storage = try EmbeddedStorage(folder: served)
      for login in [stand.writer, stand.stranger] { try await Self.purge(login, storage) }
      try await storage.close()
      try expectRefusal(of: served)
      let database = try PostgresStorage(DatabaseAddress(server.address(name)))
      for login in [stand.writer, stand.stranger] { try await Self.purge(login, database) }
      try await database.close()
      try expectRefusal(of: copied)
      try expectRefusal(of: folder.path, wasMarked: true)
    }
  }

  @Test func aRepeatedMoveToADatabaseDoesNotRestoreARevokedToken() async throws {
    try await Self.with { stand, folder, server, name in
      let owner = try DatabaseAddress(server.address(name, as: PostgresServer.owner))
      #expect(try Self.move(folder.path, to: owner).knownLogbooks == 0)
      let storage = try PostgresStorage(DatabaseAddress(server.address(name)))
      try await storage.logins.remove(name: "reader")
      try await storage.logins.rotate(name: "writer", token: LoginToken("gp_next"), graceSeconds: 0, at: 10)
      let counts = try Self.move(folder.path, to: owner)
      #expect(counts.logbooks == 2 && counts.knownLogbooks == 2 && counts.readings == 0)
      #expect(try await storage.logins.login(tokenHash: LoginToken("gp_reader").hash, at: 11) == nil)
      #expect(try await storage.logins.login(tokenHash: LoginToken("gp_writer").hash, at: 11) == nil)
      #expect(try await storage.logins.login(tokenHash: LoginToken("gp_next").hash, at: 11) == stand.writer)
      try await storage.close()
    }
  }

  /// Clients may have used the first database since the move. Then two databases would have different data of
  /// the same logbooks.
  @Test func aServerFolderThatWasMovedIsNotMovedToAnotherDatabase() async throws {
    try await Self.with { _, folder, server, name in
      let owner = try DatabaseAddress(server.address(name, as: PostgresServer.owner))
      try Self.move(folder.path, to: owner)
      let other = try TestDatabases.shared.get().copy()
      let address = try DatabaseAddress(server.address(other, as: PostgresServer.owner))
      #expect {
        try Self.move(folder.path, to: address)
      } throws: { error in
        guard let failure = error as? Failure else { return false }
        return failure.category == .cannotCreate
          && failure.message.contains("moved to the database '\(name)' of ")
          && failure.message.contains("not to '\(other)' of ")
      }
      #expect(try server.number("SELECT count(*) FROM glucoport.logbook", in: other) == 0)
      #expect {
        _ = try EmbeddedStorage(folder: folder.path)
      } throws: { "\($0)".contains("'\(name)' of the PostgreSQL system") }
      // An interrupted move leaves a mark that names no database, so it does not prevent another move.
      try "".write(toFile: folder.path + "/moved-to-database", atomically: false, encoding: .utf8)
      #expect(try Self.move(folder.path, to: address).readings > 0)
      #expect(try Self.move(folder.path, to: address).knownLogbooks == 2)
      try server.run("DROP DATABASE \(other)")
    }
  }

  @Test func theServerRoleCannotMoveALogbookFolderToTheDatabase() async throws {
    try await Self.with { _, folder, server, name in
      let role = try DatabaseAddress(server.address(name))
      #expect { try Self.move(folder.path, to: role) } throws: { ($0 as? Failure)?.category == .permission }
      try await EmbeddedStorage(folder: folder.path).close()
      #expect(try server.number("SELECT count(*) FROM glucoport.logbook", in: name) == 0)
    }
  }

  @Test func clientsNoticeNothingWhenTheServerMovesToADatabaseAndBack() async throws {
    let (folder, base) = (try ScratchFolder(), try ScratchFolder())
    var stand = try await Self.embedded(folder).start()
    let writer = Client(stand)
    var reader = Client(stand, as: stand.reader)
    try await writer.push(Sample.history(300))
    try await writer.push(Sample.everyShape)
    let guid = Client.uuid()
    let change = Sample.change(guid, 1, on: nil, Sample.note("one"))
    let revision = try await writer.revision(change)
    let part = try await writer.service.neededAttachments.append(
      Array("a".utf8), to: Self.content, at: 0, writer.run)
    #expect(part == .holds(HeldContent(bytes: 1, size: 2)))
    _ = try await reader.pull(limit: 100)
    try await stand.storage.logins.rotate(
      name: "reader", token: LoginToken("gp_next"), graceSeconds: 1000, at: 10)
    try await stand.purge(stand.stranger)
    let logbook = try await stand.logbook(stand.writer).logbook()
    let digests = try await writer.service.readingDigests(writer.run)
    try await stand.stop()

    try await TestDatabases.shared.get().with { copies in
      let name = try copies.copy()
      let owner = try DatabaseAddress(copies.server.address(name, as: PostgresServer.owner))
      for isRepeated in [false, true] {
        // A move that is repeated, as after an interruption, changes nothing.
        let counts = try Self.move(folder.path, to: owner)
        #expect(counts.logbooks == 1 && counts.knownLogbooks == (isRepeated ? 1 : 0))
      }
      #expect { try EmbeddedStorage(folder: folder.path) } throws: {
        ($0 as? Failure)?.category == .configuration
      }
      let storage = try PostgresStorage(DatabaseAddress(copies.server.address(name)))
      let bench = StorageBench { _, _ in OpenStorage(storage, stop: storage.close) }
      let moved = try await StoragePlace(bench: bench, folder: ScratchFolder()).reopened()
      #expect(try await moved.storage.logbook(for: stand.writer).logbook() == logbook)
      #expect(try await moved.storage.logins.login(tokenHash: LoginToken("gp_next").hash) == stand.reader)
      #expect(
        try await moved.storage.logins.login(tokenHash: LoginToken("gp_reader").hash, at: 500)
          == stand.reader)
      await #expect(throws: ServiceError.purged) {
        _ = try await moved.storage.logins.login(tokenHash: LoginToken("gp_stranger").hash)
      }
      stand = RunningStorage(
        storage: moved.storage, writer: stand.writer, reader: stand.reader, stranger: stand.stranger,
        folder: base, stop: moved.stop)
      var later = Client(stand)
      later.run = writer.run
      later.run.lastSeenPosition = logbook.position
      #expect(try await later.push(Sample.history(300)).known == 300)
      #expect(try await later.push(change) == [.accepted(revision: revision)])
      #expect(try await later.service.readingDigests(later.run) == digests)
      var follower = Client(stand, as: stand.reader)
      (follower.run, follower.cursor) = (reader.run, reader.cursor)
      let pages = try await follower.pullAll(limit: 100)
      #expect(pages.flatMap(\.readings.readings).count == 200 + Sample.everyShape.readings.count)
      #expect(pages.flatMap(\.records).map(\.revision) == [revision])
      let next = try await later.service.neededAttachments.append(
        Array("b".utf8), to: Self.content, at: 1, later.run)
      #expect(next == .holds(HeldContent(bytes: 2, size: 2)))
      #expect(try await later.push(Sample.history(301)).stored == 1)
      try await Self.expectTheSame(as: stand, change, later.run, in: base.path + "/back", from: owner)
    }
  }

  /// Moves the logbook of a database to a folder, and checks that the folder has all of it.
  ///
  /// - Parameters:
  ///   - stand: the server of the database, which is stopped first.
  ///   - change: a change that the database has.
  ///   - folder: the path of the new folder.
  private static func expectTheSame(
    as stand: RunningStorage, _ change: RecordChange, _ run: RunStamp, in folder: String,
    from owner: DatabaseAddress
  ) async throws {
    let service = stand.logbook(stand.writer)
    let (logbook, digests) = (try await service.logbook(), try await service.readingDigests(run))
    try await stand.stop()
    let export = try FolderTarget(folder: folder)
    #expect(try PostgresTransfer(owner).move(to: export).readings == 301 + Sample.everyShape.readings.count)
    try export.finish()
    for path in [folder, folder + "/missing/back"] {
      #expect { try FolderTarget(folder: path) } throws: { ($0 as? Failure)?.category == .cannotCreate }
    }
    #expect(!FileManager.default.fileExists(atPath: folder + "/missing"))
    let storage = try EmbeddedStorage(folder: folder)
    let moved = storage.logbook(for: stand.writer)
    #expect(try await moved.logbook() == logbook)
    #expect(try await moved.readingDigests(run) == digests)
    #expect(try await moved.neededAttachments.heldContent(of: Self.content.digest, run).isWhole)
    await #expect(throws: ServiceError.purged) {
      _ = try await storage.logins.login(tokenHash: LoginToken("gp_stranger").hash)
    }
    #expect(try await moved.apply([change], run).verdicts.count == 1)
    try await storage.close()
  }
}

extension StoragePlace {
  /// Opens the storage again, with its existing logins.
  fileprivate func reopened() async throws -> OpenStorage { try await bench.start(folder.path, 1 << 30) }
}
