// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore
import Simulation
import Testing

@testable import Sync

/// Tests requests that the server has performed, but whose answer did not arrive.
@Suite struct LostAnswerTests {
  @Test func aLostAnswerCausesNoConflict() async throws {
    let scene = try await Scene()
    let guid = try await scene.sharedNote()
    try scene.a.edit(guid, "a", "mine")
    try await loseAnswerToRecords(scene)
    try scene.a.edit(guid, "a", "mine, later")
    let (ending, summary) = try await scene.a.upload()
    #expect(ending == .complete && summary.conflicts == 0)
    #expect(try await scene.held(guid)?.fields["a"] == .text("mine, later"))
  }

  /// The answer to a change was lost. Meanwhile another store has pulled the change and edited the record
  /// again.
  @Test func aLostAnswerCausesNoConflictEvenAfterLaterWritesOfOthers() async throws {
    let scene = try await Scene()
    let guid = try await scene.sharedNote()
    try scene.a.edit(guid, "a", "mine")
    try await loseAnswerToRecords(scene)
    try await scene.upload(scene.b)
    try scene.b.edit(guid, "a", "theirs, on mine")
    try await scene.upload(scene.b)
    let (ending, summary) = try await scene.a.upload()
    #expect(ending == .complete && summary.conflicts == 0)
    #expect(try scene.a.text(guid, "a") == "theirs, on mine")
  }

  @Test func anUnansweredUploadIsRepeatedByteForByteBeforeANewerVersion() async throws {
    let scene = try await Scene()
    let guid = try scene.a.add(["a": "first"])
    try await loseAnswerToRecords(scene)
    let first = await scene.a.remote.lastChanges
    let sent = try #require(try scene.a.record(guid).sent)
    #expect(first == [sent.json])
    try scene.a.edit(guid, "a", "second")
    // The node gets another id first, since it does not know whether the server has its last change.
    try scene.a.beginUpload(UploadOptions())
    for _ in 0..<20 where try scene.a.record(guid).sent == sent { try await scene.a.stepUpload() }
    #expect(await scene.a.remote.lastChanges == first)
    let record = try scene.a.record(guid)
    #expect(record.versionSynced == 1 && record.version == 2)
    #expect(record.base?.fields["a"] == .text("first"))
    for _ in 0..<20 where await scene.a.remote.lastChanges == first { try await scene.a.stepUpload() }
    let second = try #require(await scene.a.remote.lastChanges.first)
    #expect(try RecordChange(json: second).state.fields["a"] == .text("second"))
  }

  /// The exact text that was stored before the request is sent again. It is not encoded from the record once
  /// more.
  @Test func theTextOfAnUnansweredUploadIsRepeatedUnchanged() async throws {
    let scene = try await Scene()
    let guid = try scene.a.add(["a": "first"])
    try await loseAnswerToRecords(scene)
    let sent = try #require(await scene.a.remote.lastChanges.first)
    let spaced = sent.replacing(",\"version\"", with: " ,\"version\"")
    try DamagedFile.execute(
      "UPDATE record SET sent = '\(spaced)' WHERE guid = '\(guid)'", in: scene.a.path)
    let (ending, summary) = try await scene.a.upload()
    #expect(ending == .complete && summary.pushedRecords == 1 && spaced != sent)
    #expect(await scene.a.remote.lastChanges == [spaced])
  }

  @Test func readingsWhoseAnswerWasLostAreStoredOnce() async throws {
    let scene = try await Scene()
    try scene.a.importReadings(0..<10)
    await scene.a.remote.loseNextAnswer()
    #expect(try await scene.a.upload().ending == .failed(.unavailable("the answer was lost")))
    #expect(try scene.a.pendingReadings() == 10)
    let (_, summary) = try await scene.a.upload()
    #expect(summary.pushedReadings == 0 && summary.knownReadings == 10)
    #expect(try await scene.server.everything().readings == 10)
  }

  private func loseAnswerToRecords(_ scene: Scene) async throws {
    try await scene.a.stepUntil { $0 == .pushRecords(.entries, limit: 1000) }
    await scene.a.remote.loseNextAnswer()
    while try await scene.a.stepUpload() == nil {}
  }
}
