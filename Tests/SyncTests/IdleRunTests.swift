// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore
import Simulation
import Testing

@testable import Sync

/// Runs of a store without anything to send.
@Suite struct IdleRunTests {
  @Test func aRunWithNothingToDoSendsOneRequestAndBeginsNoRun() async throws {
    let scene = try await Scene()
    try await scene.upload(scene.a)
    let before = try scene.a.setting()
    await scene.a.remote.forgetRequests()
    #expect(try await scene.a.upload().ending == .complete)
    let setting = try scene.a.setting()
    #expect(await scene.a.remote.requests == ["changes 1"])
    #expect(setting.run == before.run && setting.runID == before.runID)
    #expect(setting.lastPush == scene.a.clock && setting.lastPull == scene.a.clock)
    #expect(setting.lastSuccess == scene.a.clock && before.lastSuccess != scene.a.clock)
  }

  @Test func withoutADuePullARunWithNothingToDoSendsNoRequest() async throws {
    let scene = try await Scene()
    try await scene.upload(scene.a)
    let before = try scene.a.setting()
    await scene.a.remote.forgetRequests()
    #expect(try await scene.a.upload { $0.areChangesDue = false }.ending == .complete)
    let setting = try scene.a.setting()
    #expect(await scene.a.remote.requests.isEmpty)
    #expect(setting.run == before.run && setting.lastPull == before.lastPull)
    #expect(setting.lastSuccess == scene.a.clock)
  }

  @Test func aPendingReadingOrRecordOrDownloadBeginsARun() async throws {
    let scene = try await Scene()
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

  @Test func theChangesOfOthersAreAppliedByARunOfTheirOwn() async throws {
    let scene = try await Scene()
    try await scene.upload(scene.a)
    let before = try scene.a.setting()
    let guid = try scene.b.add(["a": "theirs"])
    try scene.b.importReadings(0..<3)
    try await scene.upload(scene.b)
    let summary = try await scene.a.upload().summary
    #expect(summary.pulledReadings == 3 && summary.pulledRecords == 1)
    #expect(try scene.a.text(guid, "a") == "theirs")
    #expect(try scene.a.setting().run == before.run + 1)
  }

  @Test(arguments: [ServiceError.unavailable("down"), .loginRefused("no"), .serverFailure("500")])
  func aFailureOfTheOnlyRequestIsStoredAndTheNextRunIsAWholeOne(error: ServiceError) async throws {
    let scene = try await Scene()
    try await scene.upload(scene.a)
    let before = try scene.a.setting()
    await scene.a.remote.script(error)
    await scene.a.remote.forgetRequests()
    #expect(try await scene.a.upload().ending == .failed(error))
    #expect(await scene.a.remote.requests == ["changes 1"])
    let failed = try scene.a.setting()
    #expect(failed.failures == 1 && failed.run == before.run + 1 && failed.lastSuccess == before.lastSuccess)
    #expect(try await scene.a.upload().ending == .complete)
    let setting = try scene.a.setting()
    #expect(setting.failures == 0 && setting.run == before.run + 2)
  }

  /// The server hides from a node what the node sent itself. So with the number of a run that went on after
  /// the copy was made, the copy would never receive what that run sent later.
  @Test func aCopyFromTheMiddleOfARunReceivesWhatTheRunSentLater() async throws {
    let scene = try await Scene()
    try await scene.upload(scene.a)
    _ = try scene.b.add(["a": "theirs"])
    try await scene.upload(scene.b)
    try await scene.a.stepUntil { $0 == .pushAttachments }
    let copy = try await scene.copy(of: scene.a)
    #expect(try copy.sync().compare { try $0.idleRun()?.run } == nil)
    try scene.a.importReadings(0..<10)
    while try await scene.a.stepUpload() == nil {}
    #expect(try scene.a.pendingReadings() == 0)
    let node = try copy.setting().node
    try await scene.upload(copy)
    #expect(try copy.sync().overview(ingests: 0).readings == 10)
    #expect(try copy.setting().node != node)
  }

  @Test func theEndOfARunIsKeptInACopyWhichThenAsksWithItsNumber() async throws {
    let scene = try await Scene()
    try await scene.upload(scene.a)
    let copy = try await scene.copy(of: scene.a)
    let run = try scene.a.sync().compare { try $0.currentRun() }
    #expect(try copy.sync().compare { try $0.idleRun()?.run } == run)
  }
}

extension SimulatedNode {
  fileprivate func setting() throws -> RemoteSetting { try #require(try sync().remote()) }
}
