// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookAPI
import Testing

/// Rules for restored storages, and for clients whose store is a copy or was restored.
enum HistoryRules {
  /// Each kind of request that a run can send.
  private static let calls: [@Sendable (Client) async throws -> Void] = [
    { try await $0.push(Sample.history(1)) },
    { try await $0.push(Sample.change(Client.uuid(), 1, on: nil, Sample.note("text"))) },
    { _ = try await $0.service.changes(after: nil, limit: 10, $0.run) },
    { _ = try await $0.service.neededParts.changes(of: .records, after: nil, limit: 10, $0.run) },
    { _ = try await $0.service.readingDigests($0.run) },
    { _ = try await $0.service.neededDigests.recordDigests($0.run) },
    { _ = try await $0.service.neededDigests.readings(in: [1], $0.run) },
    { _ = try await $0.service.neededDigests.records(in: [0x10], after: nil, $0.run) },
  ]

  @RuleBuilder<StorageRule> static var rules: [StorageRule] {
    for call in calls.indices {
      StorageRule("aSyncRunWithAClientIDInUseIsRefusedAndChangesNothing \(call)") { stand in
        var client = Client(stand)
        client.run.number = 5
        try await calls[call](client)
        try await calls[call](client)
        let before = try await stand.logbook(stand.writer).logbook().position
        var copy = client
        copy.run.id = Client.uuid()
        await #expect(throws: ServiceError.nodeReused) { try await calls[call](copy) }
        copy.run.number = 4
        await #expect(throws: ServiceError.nodeReused) { try await calls[call](copy) }
        #expect(try await stand.logbook(stand.writer).logbook().position == before)
        copy.run.number = 6
        copy.run.lastSeenPosition = before
        try await calls[call](copy)
        await #expect(throws: ServiceError.nodeReused) { try await calls[call](client) }
      }
    }

    StorageRule("aSyncRunOfACopiedStoreIsToldThatItsClientIDIsReused") { stand in
      let client = Client(stand)
      let first = try await client.push(Sample.history(1))
      // `copy` is the client's store from before the second push. Its next run does not know the position of
      // that push, so the storage refuses its id.
      var copy = client
      let second = try await client.push(Sample.history(2))
      copy.run.number += 1
      copy.run.id = Client.uuid()
      for mark in [nil, first.position] {
        copy.run.lastSeenPosition = mark
        await #expect(throws: ServiceError.nodeReused) { _ = try await copy.pull() }
        await #expect(throws: ServiceError.nodeReused) { try await copy.push(Sample.history(3)) }
      }
      // Requests for digests are not refused, because digests contain the client's own changes, too.
      _ = try await copy.service.readingDigests(copy.run)
      copy.run.number += 1
      copy.run.id = Client.uuid()
      copy.run.lastSeenPosition = second.position
      #expect(try await copy.push(Sample.history(3)).stored == 1)
    }

    for call in calls.indices {
      StorageRule("aSyncRunForAnotherLogbookIsRefusedAndChangesNothing \(call)") { stand in
        var client = Client(stand)
        let before = try await stand.logbook(stand.writer).logbook().position
        client.run.logbook = stand.stranger.logbook
        await #expect(throws: ServiceError.otherLogbook(id: stand.writer.logbook)) {
          try await calls[call](client)
        }
        #expect(try await stand.logbook(stand.writer).logbook().position == before)
        client.run.logbook = stand.writer.logbook
        try await calls[call](client)
      }
    }

    for text in [
      "", ".", "7", "0.00000000", "-1.00000000", "99999999999999999999.0", "1.é", "1.1.1", "+1.00000000",
    ] {
      StorageRule("aPositionThatTheServerNeverIssuedIsRefusedAndChangesNothing \(text)") { stand in
        let first = try await Client(stand).push(Sample.history(3))
        var client = Client(stand)
        client.run.lastSeenPosition = text
        for call in calls {
          await #expect(throws: ServiceError.positionUnknown) { try await call(client) }
        }
        client.run.lastSeenPosition = nil
        client.cursor = text
        await #expect(throws: ServiceError.positionUnknown) { _ = try await client.pull() }
        #expect(try await stand.logbook(stand.writer).logbook().position == first.position)
      }
    }

    StorageRule("aPositionOfAnotherLogbookIsRefusedAsUnknown") { stand in
      let mine = try #require(try await Client(stand).push(Sample.history(3)).position)
      try await Client(stand, as: stand.stranger).push(Sample.history(3))
      var stranger = Client(stand, as: stand.stranger)
      stranger.cursor = mine
      await #expect(throws: ServiceError.positionUnknown) { _ = try await stranger.pull() }
    }

    StorageRule(restarting: "acknowledgedChangesPositionsAndAnswersSurviveARestart") { place in
      let stand = try await place.start()
      let client = Client(stand)
      let guid = Client.uuid()
      let answer = try await client.push(Sample.history(20))
      let change = Sample.change(guid, 1, on: nil, Sample.note("one"))
      let first = try await client.revision(change)
      try await stand.stop()

      let again = try await place.start()
      var (here, there) = (Client(again), Client(again))
      here.run = client.run
      here.run.lastSeenPosition = answer.position
      #expect(try await here.push(Sample.history(20)).known == 20)
      #expect(try await here.push(change) == [.accepted(revision: first)])
      let second = try await there.revision(Sample.change(guid, 1, on: first, Sample.note("two")))
      #expect(
        try await here.push(Sample.change(guid, 2, on: first, Sample.note("three")))
          == [.conflict(revision: second, state: Sample.note("two"), isBaseKnown: true)])
      here.cursor = answer.position
      #expect(try await here.pullAll().flatMap(\.records).map(\.revision) == [second])
      try await again.stop()
    }

    for othersWroteSince in [false, true] {
      StorageRule(
        restarting: "aRestoredServerKnowsOnlyPositionsFromBeforeTheBackup \(othersWroteSince)"
      ) { place in
        let backup = try ScratchFolder()
        let guid = Client.uuid()
        let stand = try await place.start()
        let (here, there) = (Client(stand), Client(stand))
        let before = try await here.push(Sample.history(10)).position
        let first = try await here.revision(Sample.change(guid, 1, on: nil, Sample.note("one")))
        try await stand.stop()
        try place.folder.copy(to: backup)

        let later = try await place.start()
        var lost = Client(later)
        lost.run = here.run
        let mark = try await lost.push(Sample.history(10, from: 10)).position
        let second = try await lost.revision(Sample.change(guid, 2, on: first, Sample.note("two")))
        try await later.stop()
        try backup.copy(to: place.folder)

        let restored = try await place.start()
        if othersWroteSince {
          // Another node has written since the restore. The numbers of its changes are greater than the
          // client's position, but belong to another epoch.
          var other = Client(restored)
          other.run = there.run
          try await other.push(Sample.history(50, device: Sample.meter))
        }
        var client = Client(restored)
        client.run = here.run
        client.run.lastSeenPosition = mark
        await #expect(throws: ServiceError.positionUnknown) { try await client.push(Sample.history(1)) }
        client.run.lastSeenPosition = nil
        client.cursor = mark
        await #expect(throws: ServiceError.positionUnknown) { _ = try await client.pull() }
        let third = Sample.change(guid, 3, on: second, Sample.note("three"))
        #expect(
          try await client.push(third)
            == [.conflict(revision: first, state: Sample.note("one"), isBaseKnown: false)])
        client.run.lastSeenPosition = before
        #expect(try await client.push(Sample.history(20)).stored == 10)
        try await restored.stop()
      }
    }

    StorageRule(restarting: "aRestoredServerNeverIssuesARevisionTwice") { place in
      let backup = try ScratchFolder()
      let guid = Client.uuid()
      let first = try await place.start()
      let base = try await Client(first).revision(Sample.change(guid, 1, on: nil, Sample.note("one")))
      try await first.stop()
      try place.folder.copy(to: backup)
      var revisions: [String] = [base]
      for text in ["two", "deux", "zwei"] {
        try backup.copy(to: place.folder)
        let stand = try await place.start()
        revisions.append(
          try await Client(stand).revision(Sample.change(guid, 1, on: base, Sample.note(text))))
        try await stand.stop()
      }
      #expect(Set(revisions).count == 4)
    }

    StorageRule("aReplacedTokenIsRefusedAfterItsGracePeriod") { stand in
      let logins = stand.storage.logins
      let (old, second, third) = (LoginToken("gp_writer"), LoginToken("gp_second"), LoginToken("gp_third"))
      func opening(at now: Int64) async throws -> [String] {
        var found: [String] = []
        for token in [old, second, third] {
          guard let login = try await logins.login(tokenHash: token.hash, at: now) else { continue }
          #expect(login == stand.writer)
          found.append(token.text)
        }
        return found
      }
      try await logins.rotate(name: "writer", token: second, graceSeconds: 60, at: 1000)
      #expect(try await opening(at: 1059) == [old.text, second.text])
      #expect(try await opening(at: 1060) == [second.text])
      // A further rotation without a grace period invalidates both earlier tokens at once.
      try await logins.rotate(name: "writer", token: third, graceSeconds: 0, at: 1030)
      #expect(try await opening(at: 1030) == [third.text])
      #expect(try await logins.login(tokenHash: LoginToken("gp_reader").hash, at: 1030) == stand.reader)
      await #expect {
        try await logins.rotate(name: "nobody", token: old, graceSeconds: 0, at: 1030)
      } throws: {
        ($0 as? Failure)?.category == .missingInput
      }
      #expect(try await logins.login(tokenHash: old.hash, at: 1030) == nil)
    }

    StorageRule("aReplacedTokenIsRefusedOnceItsLoginIsRemoved") { stand in
      let logins = stand.storage.logins
      try await logins.rotate(name: "reader", token: LoginToken("gp_new"), graceSeconds: 60, at: 1000)
      try await logins.remove(name: "reader")
      #expect(try await logins.login(tokenHash: LoginToken("gp_reader").hash, at: 1001) == nil)
      #expect(try await logins.login(tokenHash: LoginToken("gp_new").hash, at: 1001) == nil)
    }

    StorageRule("anUnknownTokenHasNoLogin") { stand in
      for text in ["", "gp_", "gp_writes", "GP_WRITER"] {
        let login = try await stand.storage.logins.login(tokenHash: LoginToken(text).hash)
        #expect(login == nil, "\(text)")
      }
      #expect(stand.writer.role == .write && stand.reader.role == .read)
    }
  }
}
