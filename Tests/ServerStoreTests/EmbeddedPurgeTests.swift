// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Logbook
import LogbookAPI
import ServiceConformance
import Testing

@testable import ServerStore

/// Tests which data of a deleted logbook the embedded storage keeps, and how it reacts to files changed by
/// hand.
@Suite struct EmbeddedPurgeTests {
  private let folder: ScratchFolder

  init() throws { folder = try ScratchFolder() }

  private func stand() async throws -> RunningStorage {
    try await StoragePlace(bench: EmbeddedConformance.bench, folder: folder).start()
  }

  private func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path + "/logbooks").sorted()
  }

  @Test func deletingALogbookRemovesOnlyItsFiles() async throws {
    let stand = try await stand()
    try await Client(stand).push(Sample.history(10))
    try await Client(stand, as: stand.stranger).push(Sample.history(10))
    let id = stand.writer.logbook
    let content = "\(folder.path)/logbooks/\(id).blobs/aa"
    try FileManager.default.createDirectory(atPath: content, withIntermediateDirectories: true)
    #expect(try names().filter { $0.hasPrefix(id) }.count == 4)
    try await stand.purge(stand.writer)
    #expect(try names().allSatisfy { $0.hasPrefix(stand.stranger.logbook) } && !names().isEmpty)
    try await stand.stop()
  }

  @Test func ofADeletedLogbookOnlyItsIDAndTheHashesOfItsTokensAreKept() async throws {
    let token = LoginToken("gp_planted")
    let logins = try Logins(folder: folder.path)
    try logins.add(name: "planted-phone", role: .write, logbook: "planted-logbook", token: token, at: 1)
    try logins.close()
    let storage = try EmbeddedStorage(folder: folder.path)
    let login = try #require(try await storage.logins.login(tokenHash: token.hash))
    let service = storage.logbook(for: login)
    try await service.neededPurging.purge(try await service.logbook())
    try await storage.close()
    for suffix in ["", "-wal"] {
      let path = folder.path + "/server.db" + suffix
      guard FileManager.default.fileExists(atPath: path) else { continue }
      let bytes = try Data(contentsOf: URL(filePath: path))
      #expect(bytes.range(of: Data("planted".utf8)) == nil)
    }
    let bytes = try Data(contentsOf: URL(filePath: folder.path + "/server.db"))
    #expect(bytes.range(of: Data(login.logbook.utf8)) != nil && bytes.range(of: Data(token.hash)) != nil)
  }

  @Test func theNameOfADeletedLogbookCanBeUsedAgain() async throws {
    let stand = try await stand()
    try await stand.purge(stand.writer)
    let logins = try Logins(folder: folder.path)
    #expect(try logins.list().map(\.name) == ["stranger"])
    try logins.add(name: "writer", role: .write, logbook: "first", token: LoginToken("gp_new"), at: 5)
    let login = try #require(try await stand.storage.logins.login(tokenHash: LoginToken("gp_new").hash))
    #expect(login.logbook != stand.writer.logbook)
    #expect(try await Client(stand, as: login).push(Sample.history(3)).stored == 3)
    try await stand.stop()
  }

  /// The process ended after the logins were removed and before the files were.
  @Test func filesOfADeletedLogbookLeftByACrashAreRemovedAtTheNextStart() async throws {
    let stand = try await stand()
    try await Client(stand).push(Sample.history(10))
    try await stand.stop()
    let logins = try Logins(folder: folder.path)
    try await logins.purge(stand.writer.logbook)
    try logins.close()
    #expect(try names().contains { $0.hasPrefix(stand.writer.logbook) })
    try await EmbeddedStorage(folder: folder.path).close()
    #expect(try !names().contains { $0.hasPrefix(stand.writer.logbook) })
  }

  @Test func theRecordOfADeletedLogbookCannotBeRemoved() async throws {
    let stand = try await stand()
    try await stand.purge(stand.writer)
    try await stand.stop()
    let queue = try DatabaseQueue(path: folder.path + "/server.db")
    for table in ["purged", "purged_token"] {
      #expect { try queue.write { try $0.execute(sql: "DELETE FROM \(table)") } } throws: {
        "\($0)".contains("stays purged")
      }
    }
  }

  /// The server remembers its answer to the first request. This answer must not hide that the record is
  /// missing.
  @Test func aRecordRemovedByHandFromTheServerIsStoredWhenSentAgain() async throws {
    let stand = try await stand()
    let client = Client(stand)
    let change = Sample.change(Client.uuid(), 1, on: nil, Sample.note("text"))
    let first = try await client.revision(change)
    let other = Client.uuid()
    _ = try await client.revision(Sample.change(other, 1, on: nil, Sample.note("other")))
    let queue = try DatabaseQueue(path: "\(folder.path)/logbooks/\(client.login.logbook).db")
    try await queue.writeWithoutTransaction { database in
      try database.execute(
        sql:
          "PRAGMA foreign_keys = OFF; DROP TRIGGER record_stays; DELETE FROM record WHERE guid <> '\(other)'")
    }
    try queue.close()
    #expect(try await client.revision(change) != first)
    #expect(try await client.service.neededDigests.recordDigests(client.run).counts.reduce(0, +) == 2)
    try await stand.stop()
  }

  @Test func aRecordChangedByHandOnTheServerIsReplacedWhenSentAgain() async throws {
    let stand = try await stand()
    var client = Client(stand)
    let (guid, state) = (Client.uuid(), Sample.note("text"))
    let base = try await client.revision(Sample.change(guid, 1, on: nil, Sample.note("before")))
    let change = Sample.change(guid, 2, on: base, state)
    let first = try await client.revision(change)
    let queue = try DatabaseQueue(path: "\(folder.path)/logbooks/\(client.login.logbook).db")
    try await queue.write { database in
      try database.execute(
        sql: """
          DROP TRIGGER record_change_moves_it; DROP TRIGGER record_moves_to_the_end;
          UPDATE record SET state = replace(state, 'text":"text', 'text":"hand')
          """)
    }
    try queue.close()
    #expect(
      try await client.push(Sample.change(guid, 2, on: first, state)).first.map {
        if case .accepted(let revision) = $0 { revision != first } else { false }
      } == true)
    client.run = RunStamp(node: Client.uuid(), number: 1, id: Client.uuid())
    #expect(try await client.pullAll().flatMap(\.records).map(\.state) == [state])
    try await stand.stop()
  }
}
