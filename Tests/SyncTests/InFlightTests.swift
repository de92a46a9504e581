// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore
import Simulation
import Testing

@testable import Sync

/// Tests edits, imports and failures that happen while a request is running.
@Suite struct InFlightTests {
  @Test func anEditOfARecordDuringItsUploadStaysPending() async throws {
    let scene = try await Scene()
    let guid = try scene.a.add(["a": "first"])
    try await scene.a.stepUntil { $0 == .pushRecords(.entries, limit: 1000) }
    await scene.a.remote.interrupt(Meanwhile { try scene.a.edit(guid, "a", "second") })
    try await scene.a.stepUpload()
    let record = try scene.a.record(guid)
    #expect(record.version == 2 && record.versionSynced == 1)
    #expect(try scene.a.text(guid, "a") == "second")
    try await scene.upload(scene.a)
    #expect(try await scene.held(guid)?.fields["a"] == .text("second"))
    #expect(try !scene.a.record(guid).isPending)
  }

  @Test func aDeletionOfARecordDuringItsUploadStaysPending() async throws {
    let scene = try await Scene()
    let guid = try scene.a.add(["a": "first"])
    try await scene.a.stepUntil { $0 == .pushRecords(.entries, limit: 1000) }
    await scene.a.remote.interrupt(Meanwhile { try scene.a.delete(guid) })
    try await scene.upload(scene.a, scene.b)
    #expect(try scene.b.record(guid).state.isDeleted)
  }

  @Test func anEditOfARecordOnAPulledPageRollsBackTheWholePage() async throws {
    let scene = try await Scene()
    let guid = try await scene.sharedNote()
    let others = try (0..<4).map { try scene.b.add(["a": "new \($0)"]) }
    try scene.b.edit(guid, "b", "theirs")
    try await scene.upload(scene.b)
    // There must be something to send. Otherwise the page would be requested before the upload begins.
    try scene.a.importReadings(0..<1)
    try await scene.a.stepUntil { if case .pull = $0 { true } else { false } }
    let cursor = try scene.a.sync().sync { try $0.cursor() }
    await scene.a.remote.interrupt(Meanwhile { try scene.a.edit(guid, "a", "mine") })
    try await scene.a.stepUpload()
    #expect(try Set(scene.a.records().keys) == [guid])
    #expect(try scene.a.sync().sync { try $0.cursor() } == cursor)
    #expect(try scene.a.text(guid, "a") == "mine" && scene.a.text(guid, "b") == "1")
    try await scene.a.upload()
    #expect(try Set(scene.a.records().keys) == Set(others + [guid]))
    #expect(try scene.a.text(guid, "a") == "mine" && scene.a.text(guid, "b") == "theirs")
  }

  @Test func aPullNeverStartsWhileARecordIsPending() async throws {
    let scene = try await Scene()
    try await scene.a.stepUntil { if case .pull = $0 { true } else { false } }
    _ = try scene.a.add(["a": "late"])
    await scene.a.remote.forgetRequests()
    try await scene.a.stepUpload()
    #expect(await scene.a.remote.requests.isEmpty)
    #expect(scene.a.session?.nextStep == .pushRecords(.entries, limit: 1000))
  }

  @Test func constantEditsDuringAPullEndTheUploadWithoutLoss() async throws {
    let scene = try await Scene()
    let guid = try await scene.sharedNote()
    try scene.a.importReadings(0..<1)
    try scene.a.beginUpload(UploadOptions())
    var ending: UploadEnding?
    for round in 0..<200 where ending == nil {
      if case .pull? = scene.a.session?.nextStep { try scene.a.edit(guid, "a", "edit \(round)") }
      ending = try await scene.a.stepUpload()
    }
    guard case .workLeft? = ending else {
      Issue.record("the run ends as \(String(describing: ending))")
      return
    }
    let last = try scene.a.text(guid, "a")
    try await scene.upload(scene.a, scene.b)
    #expect(try scene.b.text(guid, "a") == last)
  }

  @Test func theNextBatchIsReadWhileTheRequestBeforeItRuns() async throws {
    let scene = try await Scene()
    try scene.a.importReadings(0..<25)
    let all = try scene.a.pendingKeys()
    let session = try await scene.a.untilReadings(of: 10)
    try await scene.a.stepUpload()
    #expect(session.readingsAhead?.readings.keys == Array(all[10..<20]))
    try await scene.a.stepUpload()
    #expect(session.readingsAhead?.readings.keys == Array(all[20...]))
    // The last batch has fewer readings than the limit, so the session reads no further batch ahead.
    try await scene.a.stepUpload()
    #expect(session.readingsAhead == nil)
    #expect(try scene.a.pendingReadings() == 0)
    #expect(try await scene.server.everything().readings == 25)
  }

  @Test func aBatchThatWasReadBeforeAnImportIsNotSent() async throws {
    let scene = try await Scene()
    try scene.a.importReadings(0..<10)
    try scene.a.importReadings(20..<30)
    let last = Array(try scene.a.pendingKeys()[10...])
    let session = try await scene.a.untilReadings(of: 10)
    try await scene.a.stepUpload()
    #expect(session.readingsAhead?.readings.keys == last)
    try scene.a.importReadings(10..<20)
    try await scene.a.stepUpload()
    #expect(try scene.a.pendingKeys() == last)
  }

  @Test func aBatchThatWasReadBeforeAFailureIsNotSent() async throws {
    let scene = try await Scene()
    try scene.a.importReadings(0..<20)
    let session = try await scene.a.untilReadings(of: 10)
    await scene.a.remote.script(.tooLarge)
    try await scene.a.stepUpload()
    #expect(session.readingsAhead == nil)
    #expect(session.nextStep == .pushReadings(limit: 5))
    #expect(try scene.a.pendingReadings() == 20)
  }

  @Test func onlyReadingsThatWereSentAreMarkedAsUploaded() async throws {
    let scene = try await Scene()
    try scene.a.importReadings(0..<10)
    try await scene.a.stepUntil { if case .pushReadings = $0 { true } else { false } }
    // While the batch is being sent, an import adds readings before and after those of the batch.
    await scene.a.remote.interrupt(Meanwhile { try scene.a.importReadings(-5..<15) })
    try await scene.a.stepUpload()
    #expect(try scene.a.pendingReadings() == 10)
    try await scene.upload(scene.a)
    while try scene.a.pendingReadings() > 0 { try await scene.upload(scene.a) }
    #expect(try await scene.server.everything().readings == 20)
  }
}

extension SimulatedNode {
  fileprivate func pendingKeys() throws -> [ReadingKey] {
    try sync().sync { try $0.pendingReadings(after: nil, limit: 1000).keys }
  }

  /// Begins an upload whose requests have at most `limit` readings. Stops before the first request with
  /// readings.
  fileprivate func untilReadings(of limit: Int) async throws -> UploadSession {
    var options = UploadOptions()
    options.maxReadings = limit
    try beginUpload(options)
    let session = try #require(session)
    while session.nextStep != .pushReadings(limit: limit) { try await stepUpload() }
    return session
  }
}
