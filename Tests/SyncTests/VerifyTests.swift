// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import LogbookStore
import Simulation
import Testing

@testable import Sync

/// Tests how `verify` compares a store with its remote and fixes differences.
@Suite(.timeLimit(.minutes(5))) struct VerifyTests {
  private typealias Kind = FoundDifference.DifferenceKind

  private func verify(_ node: SimulatedNode, fix: Bool = false) async throws -> VerifySummary {
    let session = try #require(VerifySession(try node.sync(), node.way, named: "remote"))
    try await session.compare()
    if fix { try session.fix(at: node.clock) }
    node.reopen()
    return session.summary
  }

  /// Changes rows of the server's logbook file directly, without the rules of the schema.
  private func damage(_ sql: String, _ scene: Scene) throws {
    try DamagedFile.execute(sql, in: scene.server.logbookFile)
  }

  private func times(_ summary: VerifySummary) -> [Int64] {
    summary.listed.compactMap { difference in
      if case .reading(_, _, let time) = difference.item { (time.seconds - 1_700_000_000) / 300 } else { nil }
    }
  }

  private func guids(_ summary: VerifySummary, _ kind: FoundDifference.DifferenceKind) -> [String] {
    summary.listed.compactMap { difference in
      if case .record(_, let guid, _) = difference.item, difference.kind == kind { guid } else { nil }
    }
  }

  private func expectNoDifferences(_ nodes: SimulatedNode...) async throws {
    for node in nodes { #expect(try await verify(node) == VerifySummary()) }
  }

  @Test func verifyOfEqualSidesTakesTwoRequests() async throws {
    let scene = try await Scene()
    try scene.a.importReadings(0..<500)
    let guid = try await scene.sharedNote()
    try scene.a.delete(guid)
    _ = try scene.a.add(["a": "1"])
    try await scene.upload(scene.a, scene.b)
    await scene.a.remote.forgetRequests()
    #expect(try await verify(scene.a) == VerifySummary())
    #expect(await scene.a.remote.requests == ["digests 0", "record-digests 0"])
    try await expectNoDifferences(scene.b)
  }

  @Test func verifyListsAndSendsReadingsMissingOnTheServer() async throws {
    let scene = try await Scene()
    try scene.a.importReadings(0..<500)
    try await scene.upload(scene.a, scene.b)
    let run = try scene.a.sync().remote()?.run
    try damage("DELETE FROM reading WHERE (position - 1700000000) / 300 IN (7, 77, 377)", scene)
    let found = try await verify(scene.a)
    #expect(found.readings == [.missingOnRemote: 3] && found.records.isEmpty && times(found) == [7, 77, 377])
    #expect(try scene.a.pendingReadings() == 0, "nothing is written without being asked for")
    #expect(try scene.a.sync().remote()?.run == run)
    let fixed = try await verify(scene.a, fix: true)
    #expect(fixed.requeuedReadings == 3 && fixed.fetchedReadings == 0)
    #expect(try scene.a.pendingReadings() == 3)
    #expect(try await verify(scene.a) == VerifySummary(), "what waits is no difference")
    try await scene.upload(scene.a, scene.b)
    #expect(try await scene.server.everything().readings == 500)
    try await expectNoDifferences(scene.a, scene.b)
  }

  /// `maxHeld` limits how many items `verify` compares at once. This limit must not change the result.
  @Test(arguments: [1, 40, 1000]) func verifyInPortionsFindsTheSameDifferencesAsInOneStep(_ maxHeld: Int)
    async throws
  {
    let scene = try await Scene()
    try scene.a.importReadings(0..<500)
    try await scene.upload(scene.a, scene.b)
    // The store lacks two readings, and the server lacks fifty. The store also has pending readings, which
    // are not differences.
    scene.b.reopen()
    try DamagedFile.execute(
      "DELETE FROM reading WHERE (position - 1700000000) / 300 IN (20, 120)", in: scene.b.path)
    try damage("DELETE FROM reading WHERE (position - 1700000000) / 300 % 10 = 7", scene)
    try scene.b.importReadings(600..<640)
    let session = try #require(VerifySession(try scene.b.sync(), scene.b.way, named: "remote"))
    session.maxHeld = maxHeld
    var (steps, last) = (0, (done: 0, total: 0))
    session.onProgress = { done, total in
      #expect(done >= last.done && done <= total)
      (steps, last) = (steps + 1, (done, total))
    }
    try await session.compare()
    #expect(session.summary.readings == [.missingOnRemote: 50, .missingLocally: 2])
    let missing = (0..<50).map { Int64($0 * 10 + 7) }
    #expect(Array(times(session.summary).prefix(50)) == missing)
    #expect(last.done == last.total && steps > 0 && (maxHeld > 1 || steps > 1), "\(steps)")
    try session.fix(at: scene.b.clock)
    scene.b.reopen()
    try await scene.upload(scene.b)
    try await expectNoDifferences(scene.b)
  }

  @Test func verifySendsRecordsAndDeletionsMissingOnTheServer() async throws {
    let scene = try await Scene()
    let (live, dead) = (try await scene.sharedNote(), try await scene.sharedNote())
    try scene.a.delete(dead)
    try await scene.upload(scene.a, scene.b)
    try damage("DELETE FROM record; DELETE FROM accepted", scene)
    let found = try await verify(scene.a, fix: true)
    #expect(guids(found, .missingOnRemote) == [live, dead].sorted() && found.requeuedRecords == 2)
    try await scene.upload(scene.a, scene.b)
    #expect(try await scene.held(live)?.fields["a"] == .text("1"))
    #expect(try await scene.held(dead)?.isDeleted == true)
    try await expectNoDifferences(scene.a, scene.b)
  }

  /// This store has sent the missing items itself. Its pulls do not return them, since the server sends a
  /// node nothing that this node sent.
  @Test func verifyFetchesItemsMissingLocallyEvenIfThisStoreWroteThem() async throws {
    let scene = try await Scene()
    try scene.a.importReadings(0..<50)
    let guid = try await scene.sharedNote()
    scene.a.reopen()
    try DamagedFile.execute(
      "DELETE FROM reading WHERE position = 1700000900; DELETE FROM record WHERE guid = '\(guid)'",
      in: scene.a.path)
    let found = try await verify(scene.a)
    #expect(
      found.readings == [.missingLocally: 1] && found.records == [.missingLocally: 1] && times(found) == [3])
    let fixed = try await verify(scene.a, fix: true)
    #expect(fixed.fetchedReadings == 1 && fixed.fetchedRecords == 1 && fixed.requeuedReadings == 0)
    #expect(try scene.a.text(guid, "a") == "1" && scene.a.pendingReadings() == 0)
    try await expectNoDifferences(scene.a, scene.b)
  }

  @Test func verifyListsAndStoresARecordAlteredOnTheServer() async throws {
    let scene = try await Scene()
    let guid = try await scene.sharedNote()
    try damage("UPDATE record SET state = replace(state, '\"a\":\"1\"', '\"a\":\"9\"')", scene)
    let found = try await verify(scene.a)
    #expect(found.records == [.different: 1] && guids(found, .different) == [guid])
    #expect(try scene.a.text(guid, "a") == "1")
    let fixed = try await verify(scene.a, fix: true)
    #expect(fixed.fetchedRecords == 1 && fixed.requeuedRecords == 0)
    #expect(try scene.a.text(guid, "a") == "9" && !scene.a.record(guid).isPending)
    try await expectNoDifferences(scene.a)
  }

  /// The other program changes the content but not the version. The schema permits this, since a pull changes
  /// a synced record in the same way.
  @Test func verifyListsAndSendsARecordChangedLocallyByAnotherProgram() async throws {
    let scene = try await Scene()
    let (changed, other) = (try await scene.sharedNote(), try await scene.sharedNote())
    scene.a.reopen()
    try DamagedFile.execute(
      "UPDATE record SET fields = replace(fields, '\"a\":\"1\"', '\"a\":\"9\"') WHERE guid = '\(changed)'",
      in: scene.a.path)
    let found = try await verify(scene.a)
    #expect(found.records == [.altered: 1] && guids(found, .altered) == [changed])
    #expect(try !scene.a.record(changed).isPending, "nothing is written without being asked for")
    let fixed = try await verify(scene.a, fix: true)
    #expect(fixed.requeuedRecords == 1 && fixed.fetchedRecords == 0)
    #expect(try await verify(scene.a) == VerifySummary(), "what is pending is no difference")
    try await scene.upload(scene.a, scene.b)
    #expect(try scene.b.text(changed, "a") == "9" && scene.b.text(other, "a") == "1")
    try await expectNoDifferences(scene.a, scene.b)
  }

  /// The record was changed in this store and on the server. This counts as one difference, and the local
  /// change is kept and sent.
  @Test func verifySendsARecordChangedOnBothSides() async throws {
    let scene = try await Scene()
    let guid = try await scene.sharedNote()
    scene.a.reopen()
    try DamagedFile.execute(
      "UPDATE record SET fields = replace(fields, '\"a\":\"1\"', '\"a\":\"9\"')", in: scene.a.path)
    try damage("UPDATE record SET state = replace(state, '\"a\":\"1\"', '\"a\":\"7\"')", scene)
    let fixed = try await verify(scene.a, fix: true)
    #expect(fixed.records == [.altered: 1] && fixed.requeuedRecords == 1 && fixed.fetchedRecords == 0)
    #expect(try scene.a.text(guid, "a") == "9" && scene.a.record(guid).isPending)
  }

  @Test func anEditDuringVerifyIsNeverOverwritten() async throws {
    let scene = try await Scene()
    let guid = try await scene.sharedNote()
    try damage("UPDATE record SET state = replace(state, '\"a\":\"1\"', '\"a\":\"9\"')", scene)
    let session = try #require(VerifySession(try scene.a.sync(), scene.a.way, named: "remote"))
    try await session.compare()
    try scene.a.edit(guid, "a", "mine")
    try session.fix(at: scene.a.clock)
    #expect(session.summary.records == [.different: 1] && session.summary.fetchedRecords == 0)
    #expect(try scene.a.text(guid, "a") == "mine" && scene.a.record(guid).isPending)
    try await scene.upload(scene.a)
    #expect(try await scene.held(guid)?.fields["a"] == .text("mine"))
  }

  @Test func verifyRepeatsADeletionThatWasUndoneOnTheServer() async throws {
    let scene = try await Scene()
    let guid = try await scene.sharedNote()
    let kept = try #require(try await scene.held(guid)).json
    try scene.a.delete(guid)
    try await scene.upload(scene.a, scene.b)
    try damage("UPDATE record SET state = '\(kept)'", scene)
    let fixed = try await verify(scene.a, fix: true)
    #expect(fixed.records == [.different: 1] && fixed.requeuedRecords == 1 && fixed.fetchedRecords == 0)
    try await scene.upload(scene.a, scene.b)
    #expect(try await scene.held(guid)?.isDeleted == true)
    #expect(try scene.a.record(guid).state.isDeleted)
  }

  @Test func pendingAndConflictedItemsAreNotReportedAsDifferences() async throws {
    let scene = try await Scene()
    let guids = [try await scene.sharedNote(), try await scene.sharedNote(), try await scene.sharedNote()]
    // One record is in conflict, one is refused, one is edited and one was never sent. Some readings are
    // pending.
    try scene.b.edit(guids[0], "a", "theirs")
    try scene.a.edit(guids[0], "a", "mine")
    try scene.a.edit(guids[1], "a", "refused")
    await scene.a.remote.refuse { $0.fields["a"] == .text("refused") ? "no" : nil }
    try await scene.upload(scene.b, scene.a)
    #expect(try scene.a.record(guids[0]).isConflicted && scene.a.record(guids[1]).isQuarantined)
    try scene.a.edit(guids[2], "a", "later")
    _ = try scene.a.add(["a": "new"])
    try scene.a.importReadings(0..<5)
    let found = try await verify(scene.a, fix: true)
    #expect(found == VerifySummary())
    #expect(try scene.a.text(guids[0], "a") == "mine" && scene.a.text(guids[2], "a") == "later")
  }

  /// The answer to a push was lost. So the server already has items that are still pending in the store.
  @Test func pendingItemsThatTheServerHasAreNotReportedAsDifferences() async throws {
    let scene = try await Scene()
    _ = try await scene.sharedNote()
    try scene.a.importReadings(0..<5)
    _ = try scene.a.add(["a": "x"])
    try await scene.a.stepUntil { if case .pushReadings = $0 { true } else { false } }
    await scene.a.remote.loseNextAnswer()
    try await scene.a.stepUpload()
    scene.a.reopen()
    #expect(try await scene.server.everything().readings == 5)
    #expect(try await verify(scene.a) == VerifySummary())
  }

  @Test func changesOfOthersSinceTheLastPullAreNotReportedAsDifferences() async throws {
    let scene = try await Scene()
    let guid = try await scene.sharedNote()
    try scene.b.edit(guid, "a", "theirs")
    _ = try scene.b.add(["a": "new"])
    try scene.b.importReadings(0..<20)
    try await scene.upload(scene.b)
    let found = try await verify(scene.a, fix: true)
    #expect(found.differences == 0 && found.notPulled == 22)
    #expect(try scene.a.text(guid, "a") == "1", "an upload fetches it")
    try await scene.upload(scene.a)
    try await expectNoDifferences(scene.a)
  }

  @Test func aServerRestoredFromABackupIsComparedCompletely() async throws {
    let scene = try await Scene()
    try scene.a.importReadings(0..<20)
    try await scene.upload(scene.a)
    try await scene.server.takeBackup()
    try scene.a.importReadings(20..<25)
    let guid = try scene.a.add(["a": "late"])
    try await scene.upload(scene.a)
    try await scene.server.restoreBackup()
    let found = try await verify(scene.a)
    #expect(found.readings == [.missingOnRemote: 5] && guids(found, .missingOnRemote) == [guid])
    #expect(times(found) == Array(20..<25))
  }

  @Test func verifyOfAStoreThatWasNeverUploadedComparesNothing() async throws {
    let scene = try await Scene()
    try scene.a.importReadings(0..<5)
    let failure = await #expect(throws: Failure.self) { _ = try await verify(scene.a) }
    #expect(failure?.category == .temporary)
    #expect(await scene.a.remote.requests.isEmpty)
  }

  @Test func manyDifferencesAreFetchedInRequestsOfLimitedSize() async throws {
    let scene = try await Scene()
    try scene.a.importReadings(0..<12_000)
    try await scene.upload(scene.a)
    let count = 12_000
    try damage("DELETE FROM reading WHERE seq % 2 = 0", scene)
    await scene.a.remote.forgetRequests()
    // The first request for buckets of `IdentityDigests` fails because its answer is too large. So the
    // session requests half as many buckets.
    await scene.a.remote.script(nil, .tooLarge)
    let found = try await verify(scene.a, fix: true)
    #expect(found.readings == [.missingOnRemote: count / 2] && found.listed.count == VerifySummary.maxListed)
    let buckets = await scene.a.remote.requests.compactMap { request in
      request.hasPrefix("bucket-readings ") ? Int(request.dropFirst(16)) : nil
    }
    #expect(buckets.count > 3 && buckets.allSatisfy { $0 <= 512 } && buckets[1] == buckets[0] / 2)
    #expect(found.requeuedReadings == count / 2)
    try await scene.upload(scene.a)
    #expect(try await scene.server.everything().readings == count)
  }

  @Test func anUploadRemembersThatTheLogbookWasDeletedOnTheServer() async throws {
    let scene = try await Scene()
    try scene.a.importReadings(0..<5)
    await scene.a.remote.script(.purged)
    #expect(try await scene.a.upload().ending == .failed(.purged))
    let setting = try #require(try scene.a.sync().remote())
    #expect(setting.purgedAt == scene.a.clock && setting.nextAttempt == nil)
    #expect(try scene.a.pendingReadings() == 5)
  }
}

/// Tests what `verify` does with each kind of difference.
@Suite struct ComparisonRulesTests {
  @Test func groupsOfDigestBucketsAreLimitedByTheirItemsAndOmitEmptyOnes() {
    var counts = [Int](repeating: 0, count: IdentityDigests.bucketCount)
    for (bucket, count) in [1: 4, 2: 4, 3: 9, 4: 50, 5: .max, 6: 1] { counts[bucket] = count }
    let groups = BucketGroups([1, 2, 3, 4, 5, 6, 7, 8], counts: counts, maxItems: 10).groups
    #expect(groups == [[1, 2], [3], [4], [5], [6]])
    let many = BucketGroups(
      Set(0..<4096), counts: [Int](repeating: 1, count: 4096), maxItems: 100_000
    ).groups
    #expect(many.count == 8 && many.allSatisfy { $0.count == 512 })
    #expect(BucketGroups([], counts: counts, maxItems: 10).groups.isEmpty)
  }
}
