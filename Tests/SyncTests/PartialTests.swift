// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore
import Simulation
import Testing

@testable import Sync

/// Tests requests if the server accepts only some of their items.
@Suite struct PartialTests {
  @Test func aConflictDoesNotDelayOtherItems() async throws {
    let scene = try await Scene()
    let guid = try await scene.sharedNote()
    try scene.b.edit(guid, "a", "theirs")
    try await scene.upload(scene.b)
    try scene.a.edit(guid, "a", "mine")
    for number in 0..<499 { _ = try scene.a.add(["a": "\(number)"]) }
    let (ending, summary) = try await scene.a.upload()
    #expect(ending == .complete && summary.conflicts == 1)
    #expect(try scene.a.records().values.count { !$0.isPending } == 499)
    #expect(try await scene.server.everything().records.count == 500)
  }

  @Test func aRefusedRecordIsListedAndDoesNotDelayOtherItems() async throws {
    let scene = try await Scene()
    await scene.a.remote.refuse { $0.fields["a"] == .text("bad") ? "not that word" : nil }
    let bad = try scene.a.add(["a": "bad"])
    let child = try scene.a.add(["a": "its child"], to: bad)
    let good = try scene.a.add(["a": "good"])
    let theirs = try scene.b.add(["a": "theirs"])
    try await scene.upload(scene.b)
    let (ending, summary) = try await scene.a.upload()
    #expect(ending == .complete && summary.refused == 1)
    #expect(try scene.a.record(bad).isQuarantined && scene.a.record(bad).isPending)
    #expect(try scene.a.record(child).isPending)
    #expect(try !scene.a.record(good).isPending && !scene.a.record(theirs).isPending)
    await scene.a.remote.forgetRequests()
    try await scene.upload(scene.a)
    #expect(await scene.a.remote.requests == ["changes 1000"])
    try scene.a.edit(bad, "a", "better")
    try await scene.upload(scene.a)
    #expect(try !scene.a.record(bad).isPending && !scene.a.record(child).isPending)
  }

  @Test func manyEditsAreSentInFewRequestsAndEachRecordOnce() async throws {
    let scene = try await Scene()
    let guids = try (0..<25).map { try scene.a.add(["a": "\($0)"]) }
    for round in 0..<50 { try scene.a.edit(guids[0], "a", "round \(round)") }
    await scene.a.remote.forgetRequests()
    try await scene.a.upload { $0.maxRecords = 10 }
    #expect(
      await scene.a.remote.requests.filter { $0.hasPrefix("records") } == [
        "records 10", "records 10", "records 5",
      ])
    #expect(try await scene.held(guids[0])?.fields["a"] == .text("round 49"))
  }

  @Test func changesByOthersToARefusedRecordAreKeptAsItsRemoteVersion() async throws {
    let scene = try await Scene()
    let guid = try await scene.sharedNote()
    await scene.a.remote.refuse { $0.fields["a"] == .text("bad") ? "not that word" : nil }
    try scene.a.edit(guid, "a", "bad")
    try await scene.upload(scene.a)
    try scene.b.edit(guid, "a", "theirs")
    let other = try scene.b.add(["a": "other"])
    try await scene.upload(scene.b)
    let (ending, summary) = try await scene.a.upload()
    #expect(ending == .complete && summary.rollbacks == 0 && summary.conflicts == 1)
    #expect(try scene.a.records()[other] != nil)
    let conflict = try #require(try scene.a.resolver().conflicts().first)
    #expect(conflict.mine.fields["a"] == .text("bad") && conflict.theirs.fields["a"] == .text("theirs"))
  }

  @Test func editsThatCancelEachOtherAreSentAsOneChangeOfTheFinalValue() async throws {
    let scene = try await Scene()
    let guid = try await scene.sharedNote()
    for text in ["x", "1", "x", "1"] { try scene.a.edit(guid, "a", text) }
    let short = try scene.a.add(["a": "made and deleted"])
    try scene.a.delete(short)
    await scene.a.remote.forgetRequests()
    try await scene.upload(scene.a, scene.b)
    #expect(await scene.a.remote.requests.filter { $0.hasPrefix("records") } == ["records 2"])
    #expect(try scene.b.text(guid, "a") == "1" && scene.b.record(short).state.isDeleted)
  }

  @Test func onlyTheItemsOfAnUploadedBatchStopBeingPending() async throws {
    let scene = try await Scene()
    try scene.a.importReadings(0..<25)
    for number in 0..<25 { _ = try scene.a.add(["a": "\(number)"]) }
    var options = UploadOptions()
    (options.maxReadings, options.maxRecords) = (10, 10)
    try scene.a.beginUpload(options)
    var counts: [[Int]] = []
    for _ in 0..<9 {
      try await scene.a.stepUpload()
      let held = try await scene.server.everything()
      counts.append([
        try scene.a.pendingReadings(), try scene.a.records().values.count(where: \.isPending), held.readings,
        held.records.count,
      ])
    }
    #expect(
      counts == [
        [25, 25, 0, 0], [15, 25, 10, 0], [5, 25, 20, 0], [0, 25, 25, 0], [0, 25, 25, 0],
        [0, 15, 25, 10], [0, 5, 25, 20], [0, 0, 25, 25], [0, 0, 25, 25],
      ])
  }

  /// The server accepts seven of ten records, merges two, which are then sent again, and refuses one
  /// permanently.
  @Test func onlyAcknowledgedItemsOfABatchAreMarkedAsSynced() async throws {
    let scene = try await Scene()
    let guids = try (0..<10).map { try scene.a.add(["a": "\($0)", "b": "0"]) }
    try await scene.upload(scene.a, scene.b)
    for guid in guids[7..<9] { try scene.b.edit(guid, "b", "theirs") }
    try await scene.upload(scene.b)
    for guid in guids { try scene.a.edit(guid, "a", guid == guids[9] ? "bad" : "mine") }
    await scene.a.remote.refuse { $0.fields["a"] == .text("bad") ? "not that word" : nil }
    try await scene.a.stepUntil { $0 == .pushRecords(.entries, limit: 1000) }
    try await scene.a.stepUpload()
    let records = try guids.map { try scene.a.record($0) }
    #expect(records.map { $0.version - $0.versionSynced } == [0, 0, 0, 0, 0, 0, 0, 1, 1, 1])
    #expect(records.map(\.isQuarantined) == Array(repeating: false, count: 9) + [true])
    #expect(try scene.a.text(guids[7], "a") == "mine" && scene.a.text(guids[7], "b") == "theirs")
    try await scene.upload(scene.a)
    #expect(try guids.map { try scene.a.record($0).isPending } == Array(repeating: false, count: 9) + [true])
    #expect(try await scene.held(guids[8])?.fields["a"] == .text("mine"))
  }

  @Test func aRefusedReadingIsKeptWithItsReasonAndDelaysNoOthers() async throws {
    let scene = try await Scene()
    let bad: Int64 = 1_700_000_000 + 300 * 2
    await scene.a.remote.refuseReadings { $0.position == bad ? "too odd" : nil }
    try scene.a.importReadings(0..<5)
    let (ending, summary) = try await scene.a.upload()
    #expect(ending == .complete && summary.pushedReadings == 4 && summary.refused == 1)
    #expect(try await scene.server.everything().readings == 4)
    await scene.a.remote.forgetRequests()
    #expect(try await scene.a.upload().summary == UploadSummary())
    #expect(await scene.a.remote.requests == ["changes 1000"])
    await scene.a.remote.refuseReadings(nil)
    #expect(try scene.a.sync().releaseRefused() == 1)
    #expect(try await scene.a.upload().summary.pushedReadings == 1)
  }

  @Test func withNothingPendingNoPushRequestIsSent() async throws {
    let scene = try await Scene()
    await scene.a.remote.forgetRequests()
    try await scene.upload(scene.a)
    #expect(await scene.a.remote.requests == ["changes 1000"])
  }

  @Test func recordsOfAnEntryAreSentAfterTheEntry() async throws {
    let scene = try await Scene()
    for _ in 0..<3 {
      let entry = try scene.a.add(["a": "entry"])
      for _ in 0..<2 { _ = try scene.a.add(["a": "child"], to: entry) }
    }
    try await scene.a.upload { $0.maxRecords = 2 }
    let records = try await scene.server.everything().records
    #expect(records.prefix(3).allSatisfy { $0.state.entryGuid == nil })
    #expect(records.count == 9)
  }

  @Test(arguments: [ServiceError.tooLarge, .serverFailure("500")])
  func aFailingBatchIsHalvedAndEverythingIsSent(error: ServiceError) async throws {
    let scene = try await Scene()
    try scene.a.importReadings(0..<8)
    await scene.a.remote.script(error, error)
    let (ending, summary) = try await scene.a.upload { $0.maxReadings = 8 }
    #expect(ending == .complete && summary.pushedReadings == 8)
    #expect(await scene.a.remote.requests.prefix(3) == ["readings 8", "readings 4", "readings 2"])
  }

  /// A misconfigured proxy may refuse requests of every size. Then the items are not the cause, so none of
  /// them is marked as refused.
  @Test(arguments: [true, false])
  func ifTheServerRefusesEveryRequestSizeNoItemIsMarkedAsRefused(sendsRecords: Bool) async throws {
    let scene = try await Scene()
    try scene.a.importReadings(0..<(sendsRecords ? 0 : 40))
    let guids = try sendsRecords ? (0..<10).map { _ in try scene.a.add(["a": "mine"]) } : []
    // Each refusal halves the batch, until it has only one item.
    for _ in 0..<(sendsRecords ? 4 : 6) { await scene.a.remote.script(.tooLarge) }
    let (ending, summary) = try await scene.a.upload()
    #expect(ending == .failed(.tooLarge) && summary.refused == 0)
    #expect(try guids.allSatisfy { try !scene.a.record($0).isQuarantined })
    #expect(try await scene.a.upload().ending == .complete)
    let held = try await scene.server.everything()
    #expect(held.readings == (sendsRecords ? 0 : 40) && held.records.count == guids.count)
  }

  @Test func aRecordAboveTheSizeLimitOfTheRemoteIsMarkedAsRefused() async throws {
    let scene = try await Scene()
    let large = try scene.a.add(["a": String(repeating: "large ", count: 4000)])
    await scene.a.remote.script(.tooLarge)
    #expect(try await scene.a.upload().summary.refused == 1)
    #expect(try scene.a.record(large).isQuarantined)
  }

  @Test func pendingItemsAreStillSentAfterALongTime() async throws {
    let scene = try await Scene()
    try scene.a.importReadings(0..<3)
    let guid = try scene.a.add(["a": "old"])
    scene.a.clock += 400 * 86_400
    try await scene.upload(scene.a)
    #expect(try await scene.held(guid) != nil)
    #expect(try await scene.server.everything().readings == 3)
  }

  @Test func downloadedReadingsAreNotSentBack() async throws {
    let scene = try await Scene()
    try scene.a.importReadings(0..<5)
    try await scene.upload(scene.a, scene.b)
    #expect(try scene.b.pendingReadings() == 0)
    await scene.b.remote.forgetRequests()
    try await scene.upload(scene.b)
    #expect(await scene.b.remote.requests == ["changes 1000"])
  }

  @Test func pushOnlySendsAndPullOnlyFetches() async throws {
    let scene = try await Scene()
    let mine = try scene.a.add(["a": "mine"])
    let theirs = try scene.b.add(["a": "theirs"])
    try await scene.upload(scene.b)
    try await scene.a.upload { $0.pushes = false }
    #expect(try scene.a.record(mine).isPending && scene.a.records()[theirs] != nil)
    try await scene.b.upload { $0.pulls = false }
    try await scene.a.upload { $0.pulls = false }
    #expect(try !scene.a.record(mine).isPending && scene.b.records()[mine] == nil)
  }

  @Test func withAReadOnlyTokenAnUploadPullsAndKeepsPendingItems() async throws {
    let scene = try await Scene()
    let mine = try scene.a.add(["a": "mine"])
    let theirs = try scene.b.add(["a": "theirs"])
    try await scene.upload(scene.b)
    var weather = Weather.calm
    weather.isReadOnly = true
    await scene.a.remote.setWeather(weather)
    #expect(try await scene.a.upload().ending == .failed(.readOnly))
    #expect(try scene.a.record(mine).isPending && scene.a.records()[theirs] != nil)
  }
}
