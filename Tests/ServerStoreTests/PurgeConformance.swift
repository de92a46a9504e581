// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookAPI
import Testing

/// How every storage removes a logbook for ever.
@Suite struct PurgeConformance {
  private func filled(_ stand: Stand) async throws {
    try await Client(stand).push(Sample.history(10))
    try await Client(stand).push(Sample.change(Client.uuid(), 1, on: nil, Sample.note("text")))
  }

  @Test(arguments: StorageSort.all)
  func everyTokenOfAPurgedLogbookIsToldSoForEver(_ sort: StorageSort) async throws {
    let folder = try ScratchFolder()
    let stand = try await sort.start(folder.path)
    try await filled(stand)
    try await stand.storage.purge(stand.writer)
    func check(_ storage: any ServerStorage) async throws {
      for text in ["gp_writer", "gp_reader"] {
        await #expect(throws: StorageError.purged) {
          _ = try await storage.login(tokenHash: LoginToken(text).hash)
        }
      }
      #expect(try await storage.login(tokenHash: LoginToken("gp_stranger").hash) != nil)
      #expect(try await storage.login(tokenHash: LoginToken("gp_nobody").hash) == nil)
    }
    try await check(stand.storage)
    try await stand.stop()
    let again = try await sort.reopen(folder.path)
    try await check(again.storage)
    try await again.stop()
  }

  /// A request was let in before the logbook was removed, and comes to the storage behind that.
  @Test(arguments: StorageSort.all)
  func aRequestThatWasLetInBeforeFindsAndMakesNothing(_ sort: StorageSort) async throws {
    let folder = try ScratchFolder()
    let stand = try await sort.start(folder.path)
    try await filled(stand)
    let client = Client(stand)
    try await stand.storage.purge(stand.writer)
    await #expect(throws: StorageError.purged) { try await client.push(Sample.history(1)) }
    await #expect(throws: StorageError.purged) {
      _ = try await stand.storage.changes(after: nil, limit: 1, client.login, client.run)
    }
    await #expect(throws: StorageError.purged) { _ = try await stand.storage.logbook(client.login) }
    await #expect(throws: StorageError.purged) {
      _ = try await stand.storage.recordDigests(client.login, client.run)
    }
    try await stand.stop()
  }

  @Test(arguments: StorageSort.all)
  func purgingAgainChangesNothing(_ sort: StorageSort) async throws {
    let folder = try ScratchFolder()
    let stand = try await sort.start(folder.path)
    try await filled(stand)
    try await stand.storage.purge(stand.writer)
    try await stand.storage.purge(stand.writer)
    await #expect(throws: StorageError.purged) {
      _ = try await stand.storage.login(tokenHash: LoginToken("gp_writer").hash)
    }
    try await stand.stop()
  }

  @Test(arguments: StorageSort.all)
  func anotherLogbookLivesOn(_ sort: StorageSort) async throws {
    let folder = try ScratchFolder()
    let stand = try await sort.start(folder.path)
    var stranger = Client(stand, as: stand.stranger)
    try await stranger.push(Sample.history(5))
    try await filled(stand)
    try await stand.storage.purge(stand.writer)
    stranger.run.mark = try await stand.storage.logbook(stand.stranger).mark
    #expect(try await stranger.push(Sample.history(6)).known == 5)
    try await stand.stop()
  }
}
