// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookAPI
import Testing

/// How every storage treats copied and restored clients, and how it behaves after it was itself restored.
@Suite struct HistoryConformance {
  /// Every call that a run makes.
  private static let calls: [@Sendable (Client) async throws -> Void] = [
    { try await $0.push(Sample.history(1)) },
    { try await $0.push(Sample.change(Client.uuid(), 1, on: nil, Sample.note("text"))) },
    { _ = try await $0.storage.changes(after: nil, limit: 10, $0.login, $0.run) },
    { _ = try await $0.storage.changes(of: .records, after: nil, limit: 10, $0.login, $0.run) },
    { _ = try await $0.storage.readingDigests($0.login, $0.run) },
    { _ = try await $0.storage.recordDigests($0.login, $0.run) },
    { _ = try await $0.storage.readings(in: [1], $0.login, $0.run) },
    { _ = try await $0.storage.records(in: [0x10], after: nil, $0.login, $0.run) },
  ]

  @Test(arguments: StorageSort.all, calls.indices)
  func aRunOfANodeThatASecondOneUsesIsToldSoAndAppliesNothing(_ sort: StorageSort, call: Int) async throws {
    let folder = try ScratchFolder()
    let stand = try await sort.start(folder.path)
    var client = Client(stand)
    client.run.number = 5
    try await Self.calls[call](client)
    try await Self.calls[call](client)
    let before = try await stand.storage.logbook(stand.writer).mark
    var copy = client
    copy.run.id = Client.uuid()
    await #expect(throws: StorageError.nodeReused) { try await Self.calls[call](copy) }
    copy.run.number = 4
    await #expect(throws: StorageError.nodeReused) { try await Self.calls[call](copy) }
    #expect(try await stand.storage.logbook(stand.writer).mark == before)
    copy.run.number = 6
    copy.run.mark = before
    try await Self.calls[call](copy)
    await #expect(throws: StorageError.nodeReused) { try await Self.calls[call](client) }
    try await stand.stop()
  }

  @Test(arguments: StorageSort.all)
  func aRunThatDoesNotKnowWhatItsNodeWroteIsToldThatTheNodeIsReused(_ sort: StorageSort) async throws {
    let folder = try ScratchFolder()
    let stand = try await sort.start(folder.path)
    let client = Client(stand)
    let first = try await client.push(Sample.history(1))
    // A copy of the client's store, made before the next batch, takes the next run; so does the client itself after
    // an answer that was lost.
    var copy = client
    let second = try await client.push(Sample.history(2))
    copy.run.number += 1
    copy.run.id = Client.uuid()
    for mark in [nil, first.mark] {
      copy.run.mark = mark
      await #expect(throws: StorageError.nodeReused) { _ = try await copy.pull() }
      await #expect(throws: StorageError.nodeReused) { try await copy.push(Sample.history(3)) }
    }
    // Nothing is hidden from digests, by which a restored server is compared.
    _ = try await stand.storage.readingDigests(copy.login, copy.run)
    copy.run.number += 1
    copy.run.id = Client.uuid()
    copy.run.mark = second.mark
    #expect(try await copy.push(Sample.history(3)).stored == 1)
    try await stand.stop()
  }

  @Test(arguments: StorageSort.all, calls.indices)
  func aLoginOfAnotherLogbookThanExpectedIsToldSoAndAppliesNothing(_ sort: StorageSort, call: Int)
    async throws
  {
    let folder = try ScratchFolder()
    let stand = try await sort.start(folder.path)
    var client = Client(stand)
    let before = try await stand.storage.logbook(stand.writer).mark
    client.run.logbook = stand.stranger.logbook
    await #expect(throws: StorageError.otherLogbook(id: stand.writer.logbook)) {
      try await Self.calls[call](client)
    }
    #expect(try await stand.storage.logbook(stand.writer).mark == before)
    client.run.logbook = stand.writer.logbook
    try await Self.calls[call](client)
    try await stand.stop()
  }

  @Test(
    arguments: StorageSort.all,
    ["", ".", "7", "0.00000000", "-1.00000000", "99999999999999999999.0", "1.é", "1.1.1", "+1.00000000"])
  func aPositionThatWasNeverGivenIsToldSoAndAppliesNothing(_ sort: StorageSort, text: String) async throws {
    let folder = try ScratchFolder()
    let stand = try await sort.start(folder.path)
    let first = try await Client(stand).push(Sample.history(3))
    var client = Client(stand)
    client.run.mark = text
    for call in Self.calls {
      await #expect(throws: StorageError.positionUnknown) { try await call(client) }
    }
    client.run.mark = nil
    client.cursor = text
    await #expect(throws: StorageError.positionUnknown) { _ = try await client.pull() }
    #expect(try await stand.storage.logbook(stand.writer).mark == first.mark)
    try await stand.stop()
  }

  @Test(arguments: StorageSort.all)
  func aPositionOfAnotherLogbookIsUnknown(_ sort: StorageSort) async throws {
    let folder = try ScratchFolder()
    let stand = try await sort.start(folder.path)
    let mine = try #require(try await Client(stand).push(Sample.history(3)).mark)
    try await Client(stand, as: stand.stranger).push(Sample.history(3))
    var stranger = Client(stand, as: stand.stranger)
    stranger.cursor = mine
    await #expect(throws: StorageError.positionUnknown) { _ = try await stranger.pull() }
    try await stand.stop()
  }

  @Test(arguments: StorageSort.all)
  func whatWasAcknowledgedOutlivesARestartWithItsPositionsAndAnswers(_ sort: StorageSort) async throws {
    let folder = try ScratchFolder()
    let stand = try await sort.start(folder.path)
    let client = Client(stand)
    let guid = Client.uuid()
    let answer = try await client.push(Sample.history(20))
    let change = Sample.change(guid, 1, on: nil, Sample.note("one"))
    let first = try await client.revision(change)
    try await stand.stop()

    let again = try await sort.start(folder.path)
    var (here, there) = (Client(again), Client(again))
    here.run = client.run
    here.run.mark = answer.mark
    #expect(try await here.push(Sample.history(20)).known == 20)
    #expect(try await here.push(change) == [.accepted(revision: first)])
    let second = try await there.revision(Sample.change(guid, 1, on: first, Sample.note("two")))
    #expect(
      try await here.push(Sample.change(guid, 2, on: first, Sample.note("three")))
        == [.conflict(revision: second, state: Sample.note("two"), isBaseKnown: true)])
    here.cursor = answer.mark
    #expect(try await here.pullAll().flatMap(\.records).map(\.revision) == [second])
    try await again.stop()
  }

  @Test(arguments: StorageSort.all, [false, true])
  func aRestoredServerKnowsWhatItGaveBeforeTheBackupAndNothingOfLater(
    _ sort: StorageSort, othersWroteSince: Bool
  ) async throws {
    let (folder, backup) = (try ScratchFolder(), try ScratchFolder())
    let guid = Client.uuid()
    let stand = try await sort.start(folder.path)
    let (here, there) = (Client(stand), Client(stand))
    let before = try await here.push(Sample.history(10)).mark
    let first = try await here.revision(Sample.change(guid, 1, on: nil, Sample.note("one")))
    try await stand.stop()
    try folder.copy(to: backup)

    let later = try await sort.start(folder.path)
    var lost = Client(later)
    lost.run = here.run
    let mark = try await lost.push(Sample.history(10, from: 10)).mark
    let second = try await lost.revision(Sample.change(guid, 2, on: first, Sample.note("two")))
    try await later.stop()
    try backup.copy(to: folder)

    let restored = try await sort.start(folder.path)
    if othersWroteSince {
      // Its numbers reach beyond those that the client holds, in a history of their own.
      var other = Client(restored)
      other.run = there.run
      try await other.push(Sample.history(50, device: Sample.meter))
    }
    var client = Client(restored)
    client.run = here.run
    client.run.mark = mark
    await #expect(throws: StorageError.positionUnknown) { try await client.push(Sample.history(1)) }
    client.run.mark = nil
    client.cursor = mark
    await #expect(throws: StorageError.positionUnknown) { _ = try await client.pull() }
    let third = Sample.change(guid, 3, on: second, Sample.note("three"))
    #expect(
      try await client.push(third)
        == [.conflict(revision: first, state: Sample.note("one"), isBaseKnown: false)])
    client.run.mark = before
    #expect(try await client.push(Sample.history(20)).stored == 10)
    try await restored.stop()
  }

  @Test(arguments: StorageSort.all)
  func aRestoredServerNeverGivesARevisionTwice(_ sort: StorageSort) async throws {
    let (folder, backup) = (try ScratchFolder(), try ScratchFolder())
    let guid = Client.uuid()
    let first = try await sort.start(folder.path)
    let base = try await Client(first).revision(Sample.change(guid, 1, on: nil, Sample.note("one")))
    try await first.stop()
    try folder.copy(to: backup)
    var revisions: [String] = [base]
    for text in ["two", "deux", "zwei"] {
      try backup.copy(to: folder)
      let stand = try await sort.start(folder.path)
      revisions.append(try await Client(stand).revision(Sample.change(guid, 1, on: base, Sample.note(text))))
      try await stand.stop()
    }
    #expect(Set(revisions).count == 4)
  }

  @Test(arguments: StorageSort.all)
  func aTokenThatIsNotKnownHasNoLogin(_ sort: StorageSort) async throws {
    let folder = try ScratchFolder()
    let stand = try await sort.start(folder.path)
    for text in ["", "gp_", "gp_writes", "GP_WRITER"] {
      #expect(try await stand.storage.login(tokenHash: LoginToken(text).hash) == nil)
    }
    #expect(stand.writer.role == .write && stand.reader.role == .read)
    try await stand.stop()
  }
}
