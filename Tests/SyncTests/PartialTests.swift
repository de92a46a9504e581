// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore
import Simulation
import Testing

@testable import Sync

/// Batches of which not everything goes through.
@Suite struct PartialTests {
  @Test func aConflictHoldsUpNothingElse() async throws {
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

  @Test func quarantineIsVisibleAndNeverInTheWay() async throws {
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

  @Test func manyEditsGoUpInFewRequestsAndEachRecordOnce() async throws {
    let scene = try await Scene()
    let guids = try (0..<25).map { try scene.a.add(["a": "\($0)"]) }
    for round in 0..<50 { try scene.a.edit(guids[0], "a", "round \(round)") }
    await scene.a.remote.forgetRequests()
    try await scene.a.upload { $0.mostRecords = 10 }
    #expect(
      await scene.a.remote.requests.filter { $0.hasPrefix("records") } == [
        "records 10", "records 10", "records 5",
      ])
    #expect(try await scene.held(guids[0])?.fields["a"] == .text("round 49"))
  }

  @Test func nothingPendingMeansNoPushRequest() async throws {
    let scene = try await Scene()
    await scene.a.remote.forgetRequests()
    try await scene.upload(scene.a)
    #expect(await scene.a.remote.requests == ["changes 1000"])
  }

  @Test func childrenComeBehindTheirEntry() async throws {
    let scene = try await Scene()
    for _ in 0..<3 {
      let entry = try scene.a.add(["a": "entry"])
      for _ in 0..<2 { _ = try scene.a.add(["a": "child"], to: entry) }
    }
    try await scene.a.upload { $0.mostRecords = 2 }
    let records = try await scene.server.everything().records
    #expect(records.prefix(3).allSatisfy { $0.state.entryGuid == nil })
    #expect(records.count == 9)
  }

  @Test(arguments: [RemoteError.tooLarge, .serverFailure("500")])
  func aFailingBatchIsHalvedAndEverythingGoesUp(error: RemoteError) async throws {
    let scene = try await Scene()
    try scene.a.importReadings(0..<8)
    await scene.a.remote.script(error, error)
    let (ending, summary) = try await scene.a.upload { $0.mostReadings = 8 }
    #expect(ending == .complete && summary.pushedReadings == 8)
    #expect(await scene.a.remote.requests.prefix(3) == ["readings 8", "readings 4", "readings 2"])
  }

  @Test func whatIsPendingNeverExpires() async throws {
    let scene = try await Scene()
    try scene.a.importReadings(0..<3)
    let guid = try scene.a.add(["a": "old"])
    scene.a.clock += 400 * 86_400
    try await scene.upload(scene.a)
    #expect(try await scene.held(guid) != nil)
    #expect(try await scene.server.everything().readings == 3)
  }

  @Test func pulledReadingsAreNeverEchoed() async throws {
    let scene = try await Scene()
    try scene.a.importReadings(0..<5)
    try await scene.upload(scene.a, scene.b)
    #expect(try scene.b.pendingReadings() == 0)
    await scene.b.remote.forgetRequests()
    try await scene.upload(scene.b)
    #expect(await scene.b.remote.requests == ["changes 1000"])
  }

  @Test func pushOnlyAndPullOnlyDoOneHalfEach() async throws {
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

  @Test func aLoginForReadingOnlyPullsAndKeepsWhatIsPending() async throws {
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
