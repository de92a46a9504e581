// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookAPI
import Testing

/// Rules for the permanent removal of a logbook from any storage.
enum PurgeRules {
  private static func filled(_ stand: RunningStorage) async throws {
    try await Client(stand).push(Sample.history(10))
    try await Client(stand).push(Sample.change(Client.uuid(), 1, on: nil, Sample.note("text")))
  }

  @RuleBuilder<StorageRule> static var rules: [StorageRule] {
    StorageRule(restarting: "everyTokenOfADeletedLogbookIsToldOfTheDeletionPermanently") { place in
      let stand = try await place.start()
      try await filled(stand)
      try await stand.purge(stand.writer)
      func check(_ storage: any ServerStorage) async throws {
        for text in ["gp_writer", "gp_reader"] {
          await #expect(throws: ServiceError.purged) {
            _ = try await storage.logins.login(tokenHash: LoginToken(text).hash)
          }
        }
        #expect(try await storage.logins.login(tokenHash: LoginToken("gp_stranger").hash) != nil)
        #expect(try await storage.logins.login(tokenHash: LoginToken("gp_nobody").hash) == nil)
      }
      try await check(stand.storage)
      try await stand.stop()
      let again = try await place.reopen()
      try await check(again.storage)
      try await again.stop()
    }

    /// A request was accepted before the logbook was removed. It reaches the storage after the removal, and
    /// must fail.
    StorageRule("aRequestInProgressDuringADeletionReadsAndWritesNothing") { stand in
      try await filled(stand)
      let client = Client(stand)
      try await stand.purge(stand.writer)
      await #expect(throws: ServiceError.purged) { try await client.push(Sample.history(1)) }
      await #expect(throws: ServiceError.purged) {
        _ = try await client.service.changes(after: nil, limit: 1, client.run)
      }
      await #expect(throws: ServiceError.purged) { _ = try await stand.logbook(client.login).logbook() }
      await #expect(throws: ServiceError.purged) {
        _ = try await client.service.neededDigests.recordDigests(client.run)
      }
    }

    StorageRule("deletingALogbookAgainChangesNothing") { stand in
      try await filled(stand)
      let service = stand.logbook(stand.writer)
      let logbook = try await service.logbook()
      try await service.neededPurging.purge(logbook)
      await #expect(throws: ServiceError.purged) { try await service.neededPurging.purge(logbook) }
      await #expect(throws: ServiceError.purged) {
        _ = try await stand.storage.logins.login(tokenHash: LoginToken("gp_writer").hash)
      }
    }

    StorageRule("aReplacedTokenIsToldOfTheDeletionOfItsLogbook") { stand in
      try await filled(stand)
      let logins = stand.storage.logins
      try await logins.rotate(name: "reader", token: LoginToken("gp_new"), graceSeconds: 60, at: 1000)
      try await stand.purge(stand.writer)
      for text in ["gp_reader", "gp_new"] {
        await #expect(throws: ServiceError.purged) {
          _ = try await logins.login(tokenHash: LoginToken(text).hash, at: 1001)
        }
      }
    }

    StorageRule("deletingALogbookDoesNotAffectAnother") { stand in
      var stranger = Client(stand, as: stand.stranger)
      try await stranger.push(Sample.history(5))
      try await filled(stand)
      try await stand.purge(stand.writer)
      stranger.run.lastSeenPosition = try await stand.logbook(stand.stranger).logbook().position
      #expect(try await stranger.push(Sample.history(6)).known == 5)
    }
  }
}
