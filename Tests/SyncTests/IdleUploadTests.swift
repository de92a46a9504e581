// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import LogbookStore
import Simulation
import Testing

@testable import Sync

/// Tests uploads of a store that has nothing to send. Such an upload sends only one request, with the run
/// number of the previous upload.
@Suite struct IdleUploadTests {
  @Test func anUploadWithNothingToDoSendsOneRequestWithTheLastRunNumber() async throws {
    let scene = try await scene()
    let before = try scene.a.setting()
    #expect(try await scene.a.upload().ending == .complete)
    let setting = try scene.a.setting()
    #expect(await scene.a.remote.requests == ["changes 1000"])
    #expect(setting.run == before.run && setting.runID == before.runID)
    #expect(setting.lastPush == scene.a.clock && setting.lastPull == scene.a.clock)
    #expect(setting.lastSuccess == scene.a.clock && before.lastSuccess != scene.a.clock)
  }

  @Test func anUploadWithNothingToDoAndNoDuePullSendsNoRequest() async throws {
    let scene = try await scene()
    let before = try scene.a.setting()
    #expect(try await scene.a.upload { $0.areChangesDue = false }.ending == .complete)
    let setting = try scene.a.setting()
    #expect(await scene.a.remote.requests.isEmpty)
    #expect(setting.run == before.run && setting.lastPull == before.lastPull)
    #expect(setting.lastSuccess == scene.a.clock)
  }

  @Test func anUploadWithAPendingItemOrDownloadIncreasesTheRunNumber() async throws {
    let scene = try await scene()
    let changes: [(SimulatedNode) throws -> Void] = [
      { try $0.importReadings(0..<1) }, { _ = try $0.add(["a": "1"]) },
      { node in try node.sync().sync { try $0.queueDownload(.records, .changed, at: node.clock) } },
    ]
    for change in changes {
      try await scene.upload(scene.a)
      let before = try scene.a.setting()
      try change(scene.a)
      try await scene.upload(scene.a)
      #expect(try scene.a.setting().run == before.run + 1)
    }
  }

  @Test func changesInTheAnswerToTheOnlyRequestOfAnUploadAreApplied() async throws {
    let scene = try await scene()
    let before = try scene.a.setting()
    let guid = try scene.b.add(["a": "theirs"])
    try scene.b.importReadings(0..<3)
    try await scene.upload(scene.b)
    let summary = try await scene.a.upload().summary
    #expect(summary.pulledReadings == 3 && summary.pulledRecords == 1)
    #expect(try scene.a.text(guid, "a") == "theirs")
    #expect(try scene.a.setting().run == before.run + 1)
    #expect(await scene.a.remote.requests == ["changes 1000"])
  }

  @Test(arguments: [
    ServiceError.unavailable("down"), .loginRefused("no"), .serverFailure("500"),
    .busy("later", retryAfterSeconds: 1),
  ])
  func aFailedOnlyRequestOfAnUploadIsStoredAndTheNextUploadCompletes(error: ServiceError) async throws {
    let scene = try await scene()
    let before = try scene.a.setting()
    await scene.a.remote.script(error)
    let ending = try await scene.a.upload().ending
    guard case .failed? = ending else {
      Issue.record("the run ends as \(String(describing: ending))")
      return
    }
    #expect(await scene.a.remote.requests == ["changes 1000"])
    let failed = try scene.a.setting()
    // A refused login is not retried automatically, since a person must act.
    #expect(failed.failures == (error == .loginRefused("no") ? 0 : 1) && failed.lastError != nil)
    #expect(failed.run == before.run + 1 && failed.lastSuccess == before.lastSuccess)
    #expect(try await scene.a.upload().ending == .complete)
    let setting = try scene.a.setting()
    #expect(setting.failures == 0 && setting.run == before.run + 2)
  }

  @Test func aPageThatIsTooLargeIsRequestedAgainWithFewerItems() async throws {
    let scene = try await scene()
    await scene.a.remote.script(.tooLarge)
    await scene.a.remote.setPage(.max)
    #expect(try await scene.a.upload().ending == .complete)
    #expect(await scene.a.remote.requests == ["changes 10000", "changes 5000"])
  }

  // MARK: - Changes during the request

  @Test func anItemAddedDuringTheOnlyRequestOfAnUploadIsSentByIt() async throws {
    let scene = try await scene()
    let before = try scene.a.setting()
    let added = UUID().uuidString.lowercased()
    await scene.a.remote.interrupt(
      Meanwhile { _ = try scene.a.editor().add(Self.note(["a": "late"]), guid: added) })
    #expect(try await scene.a.upload().ending == .complete)
    #expect(await scene.a.remote.takeFailure() == nil)
    #expect(await scene.a.remote.requests == ["changes 1000", "records 1", "changes 1000"])
    #expect(try await scene.held(added)?.fields["a"] == .text("late"))
    #expect(try scene.a.setting().run == before.run + 1)
  }

  /// The edit is sent and merged on the server before the store applies the page of changes. The page was
  /// requested earlier, so it must not replace the merged record.
  @Test func aPageRequestedBeforeTheUploadNeverReplacesARecordSentLater() async throws {
    let scene = try await scene()
    let guid = try scene.a.add(["a": "1", "b": "1"])
    try await scene.upload(scene.a, scene.b)
    try scene.b.edit(guid, "a", "theirs")
    try await scene.upload(scene.b)
    await scene.a.remote.forgetRequests()
    await scene.a.remote.interrupt(Meanwhile { try scene.a.edit(guid, "b", "mine") })
    #expect(try await scene.a.upload().ending == .complete)
    #expect(await scene.a.remote.takeFailure() == nil)
    #expect(
      await scene.a.remote.requests == ["changes 1000", "records 1", "records 1", "changes 1000"])
    #expect(try scene.a.text(guid, "a") == "theirs" && scene.a.text(guid, "b") == "mine")
    try await scene.upload(scene.b)
    #expect(try scene.b.text(guid, "a") == "theirs" && scene.b.text(guid, "b") == "mine")
    #expect(try !scene.a.record(guid).isPending && !scene.b.record(guid).isConflicted)
  }

  @Test func readingsImportedDuringTheRequestAreSentBeforeThePageIsFetchedAgain() async throws {
    let scene = try await scene()
    let guid = try scene.b.add(["a": "theirs"])
    try await scene.upload(scene.b)
    await scene.a.remote.interrupt(Meanwhile { try scene.a.importReadings(0..<2) })
    #expect(try await scene.a.upload().ending == .complete)
    #expect(await scene.a.remote.takeFailure() == nil)
    #expect(await scene.a.remote.requests == ["changes 1000", "readings 2", "changes 1000"])
    #expect(try scene.a.text(guid, "a") == "theirs" && scene.a.pendingReadings() == 0)
  }

  // MARK: - Copies and restores

  /// A copied store has the node id of the original, and the server sends a node nothing that this node
  /// sent. The server detects a copy only when a run begins. So a copy made during a run must begin another
  /// run to receive later changes of the original.
  @Test func aStoreCopiedDuringAnUploadReceivesWhatTheUploadSentLater() async throws {
    let scene = try await scene()
    try scene.a.importReadings(100..<101)
    try await scene.a.stepUntil { $0 == .pushAttachments }
    let copy = try await scene.copy(of: scene.a)
    #expect(try copy.idleRun() == nil)
    try scene.a.importReadings(0..<10)
    var ending: UploadEnding?
    for _ in 0..<50 where ending == nil { ending = try await scene.a.stepUpload() }
    #expect(try ending == .complete && scene.a.pendingReadings() == 0)
    let node = try copy.setting().node
    try await scene.upload(copy)
    #expect(try copy.sync().overview(ingests: 0).readings == 11)
    #expect(try copy.setting().node != node)
  }

  @Test func aStoreCopiedAfterAnUploadReceivesWhatLaterUploadsSent() async throws {
    let scene = try await scene()
    let copy = try await scene.copy(of: scene.a)
    let node = try copy.setting().node
    #expect(try copy.idleRun() != nil && copy.idleRun() == scene.a.idleRun())
    for store in [scene.a, copy, scene.a, copy] { try await store.upload() }
    #expect(try copy.setting().node == node && scene.a.setting().node == node)
    try scene.a.importReadings(0..<10)
    try await scene.upload(scene.a, copy)
    #expect(try copy.sync().overview(ingests: 0).readings == 10)
    #expect(try copy.setting().node != node && scene.a.setting().node == node)
  }

  @Test(arguments: [true, false])
  func editsInTwoCopiesOfAStoreReachBothCopies(originalFirst: Bool) async throws {
    let scene = try await scene()
    let guid = try scene.a.add(["a": "1", "b": "1"])
    try await scene.upload(scene.a)
    let copy = try await scene.copy(of: scene.a)
    try await scene.upload(copy, scene.a, copy)
    let order = originalFirst ? [scene.a, copy] : [copy, scene.a]
    try order[0].edit(guid, "a", "first")
    try await scene.upload(order[0])
    try order[1].edit(guid, "b", "second")
    for store in [order[1], order[0], order[1]] { try await store.upload() }
    for store in order {
      #expect(try store.text(guid, "a") == "first" && store.text(guid, "b") == "second")
      #expect(try !store.record(guid).isPending && !store.record(guid).isConflicted)
    }
    #expect(try Set(order.map { try $0.setting().node }).count == 2)
  }

  @Test func aStoreRestoredFromABackupReceivesWhatItSentAfterTheBackup() async throws {
    let scene = try await scene()
    let restored = try await scene.copy(of: scene.a)
    let guid = try scene.a.add(["a": "after the backup"])
    try await scene.upload(scene.a)
    try await scene.upload(restored)
    #expect(try restored.text(guid, "a") == "after the backup")
    #expect(try restored.setting().node != scene.a.setting().node)
  }

  @Test func aRestoredServerReceivesWhatItLacksFromAnUploadWithNothingToDo() async throws {
    let scene = try await scene()
    try await scene.server.takeBackup()
    try scene.a.importReadings(0..<20)
    let later = try scene.a.add(["a": "later"])
    try await scene.upload(scene.a)
    try await scene.server.restoreBackup()
    #expect(try scene.a.idleRun() != nil)
    let (ending, summary) = try await scene.a.upload()
    #expect(ending == .complete && summary.requeued == 20)
    #expect(try await scene.server.everything().readings == 20)
    #expect(try await scene.held(later) != nil)
  }

  /// If an upload pulled nothing, the remote may not have checked which changes the node knows. So the next
  /// upload must begin another run.
  @Test func onlyTheRunNumberOfAnUploadThatPulledIsUsedAgain() async throws {
    let scene = try await scene()
    try scene.a.importReadings(0..<1)
    #expect(try await scene.a.upload { $0.areChangesDue = false }.ending == .complete)
    #expect(try scene.a.idleRun() == nil)
    try await scene.upload(scene.a)
    #expect(try scene.a.idleRun() != nil)
  }

  /// A scene in which the first store has a cursor and nothing to send.
  private func scene() async throws -> Scene {
    let scene = try await Scene()
    _ = try scene.a.add(["a": "known"])
    try await scene.upload(scene.a)
    #expect(try scene.a.idleRun() != nil)
    await scene.a.remote.forgetRequests()
    return scene
  }

  private static func note(_ texts: [String: String]) -> RecordDraft {
    RecordDraft(
      kind: .note, at: DeviceTime(seconds: 2000), placement: Placement(utcOffset: 3600, source: .zone),
      fields: RecordFields(texts.mapValues { .text($0) }))
  }
}

extension SimulatedNode {
  fileprivate func setting() throws -> RemoteSetting { try #require(try sync().remote()) }

  /// The run whose number the next upload may use again to request changes; nil if the upload must begin
  /// another run.
  fileprivate func idleRun() throws -> RunStamp? { try sync().compare { try $0.idleRun()?.run } }
}
