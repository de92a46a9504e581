// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore
import Simulation
import Testing

@testable import Sync

/// Tests how the contents of attachments are transferred between two nodes and a server.
@Suite struct AttachmentSyncTests {
  private let scene: Scene
  private let entry: String
  private let bytes: [UInt8] = (0..<400).map { UInt8(truncatingIfNeeded: $0 &* 7) }

  init() async throws {
    scene = try await Scene()
    entry = try await scene.sharedNote()
    await scene.a.remote.forgetRequests()
    await scene.b.remote.forgetRequests()
  }

  @discardableResult
  private func upload(
    _ node: SimulatedNode, _ change: (inout UploadOptions) -> Void = { _ in }
  ) async throws -> (ending: UploadEnding?, summary: UploadSummary) {
    try await node.upload {
      $0.maxPartBytes = 100
      change(&$0)
    }
  }

  private func attach(_ bytes: [UInt8]? = nil, to node: SimulatedNode? = nil, as guid: Int = 1) throws {
    let text = "30000000-0000-4000-8000-00000000000\(guid)"
    try (node ?? scene.a).attach(bytes ?? self.bytes, as: text, to: entry)
  }

  private func read(_ node: SimulatedNode, _ attachment: StoredAttachment) throws -> [UInt8] {
    var bytes: [UInt8] = []
    #expect(try node.sync().readContent(attachment.digest) { bytes.append(contentsOf: $0) })
    return bytes
  }

  private func requests(_ node: SimulatedNode) async -> [String] {
    await node.remote.requests.map { String($0.split(separator: " ")[0]) }
  }

  @Test func anAttachmentIsSentInPartsAndFetchedCompletely() async throws {
    try attach()
    let sent = try await upload(scene.a)
    #expect(sent.ending == .complete)
    #expect(sent.summary.pushedAttachments == 1 && sent.summary.pushedAttachmentBytes == 400)
    #expect(
      await requests(scene.a) == ["records", "changes", "held", "append", "append", "append", "append"])
    let fetched = try await upload(scene.b)
    #expect(fetched.summary.pulledAttachments == 1 && fetched.summary.pulledAttachmentBytes == 400)
    let there = try #require(try scene.b.attachments().first)
    #expect(there.isWhole && there.isUploaded)
    #expect(try read(scene.b, there) == bytes)
  }

  @Test func attachmentsThatStoreAndServerHaveNeedNoRequest() async throws {
    try attach()
    try await scene.upload(scene.a, scene.b)
    for node in [scene.a, scene.b] {
      await node.remote.forgetRequests()
      try await upload(node)
      #expect(await requests(node) == ["changes"])
    }
  }

  @Test func contentSharedByTwoAttachmentsIsSentOnce() async throws {
    try attach()
    try attach(as: 2)
    let first = try await upload(scene.a)
    #expect(first.summary.pushedAttachments == 1 && first.summary.pushedRecords == 2)
    try attach(to: scene.b, as: 3)
    let second = try await upload(scene.b)
    #expect(second.summary.pushedAttachments == 0 && second.summary.pulledAttachments == 0)
    #expect(await requests(scene.b).filter { $0 == "append" || $0 == "fetch" } == [])
    #expect(try scene.b.attachments().allSatisfy { $0.isWhole && $0.isUploaded })
  }

  @Test func anInterruptedAttachmentContinuesAfterThePartOnTheServer() async throws {
    try attach()
    try scene.a.beginUpload { $0.maxPartBytes = 100 }
    for _ in 0..<100 {
      if await requests(scene.a).filter({ $0 == "append" }).count == 2 { break }
      try await scene.a.stepUpload()
    }
    scene.a.reopen()
    await scene.a.remote.forgetRequests()
    let (ending, summary) = try await upload(scene.a)
    #expect(ending == .complete && summary.pushedAttachments == 1 && summary.pushedAttachmentBytes == 200)
    #expect(await requests(scene.a).filter { $0 != "changes" } == ["held", "append", "append"])
  }

  @Test func anInterruptedAttachmentTransferIsResumedInTheSameUpload() async throws {
    try attach()
    await scene.a.remote.script(nil, nil, nil, nil)
    for _ in 0..<3 { await scene.a.remote.script(.unavailable("dropped"), nil, nil) }
    let (ending, summary) = try await upload(scene.a)
    #expect(ending == .complete && summary.pushedAttachments == 1)
  }

  @Test(arguments: [0, 1, 2, 3, 4]) func aLostAnswerDuplicatesNoPartOfAnAttachment(answered: Int) async throws
  {
    try attach()
    await scene.a.remote.loseAnswer(after: 2 + answered)
    let (ending, _) = try await upload(scene.a)
    #expect(ending == .complete)
    try await upload(scene.b)
    #expect(try read(scene.b, try #require(try scene.b.attachments().first)) == bytes)
  }

  @Test func anUnreachableServerDuringAnAttachmentEndsTheUploadWithoutLoss() async throws {
    try attach()
    await scene.a.remote.script(nil, nil)
    for _ in 0..<20 { await scene.a.remote.script(.unavailable("gone")) }
    let (ending, _) = try await upload(scene.a)
    #expect(ending == .failed(.unavailable("gone")))
    await scene.a.remote.forgetScript()
    #expect(try await upload(scene.a).summary.pushedAttachments == 1)
  }

  @Test func aNoteAddedDuringALongAttachmentTransferIsSentBeforeItsEnd() async throws {
    try attach()
    let node = scene.a
    await node.remote.interrupt(
      Meanwhile {}, Meanwhile {}, Meanwhile {},
      Meanwhile {
        _ = try node.add(["a": "later"])
        try node.importReadings(0..<3)
      })
    let (ending, summary) = try await upload(node)
    #expect(ending == .complete && summary.pushedRecords == 2 && summary.pushedReadings == 3)
    #expect(
      await requests(node) == [
        "records", "changes", "held", "append", "readings", "records", "append", "append", "append",
      ])
  }

  @Test func anAttachmentThatTheServerRefusesDoesNotStopOthers() async throws {
    try attach()
    try attach([1, 2, 3], as: 2)
    await scene.a.remote.refuseContents { $0.size == 400 ? "too heavy" : nil }
    let (ending, summary) = try await upload(scene.a)
    #expect(ending == .complete && summary.refused == 1 && summary.pushedAttachments == 1)
    #expect(summary.refusedDownloads == 0)
    #expect(try scene.a.attachments().compactMap(\.refusal) == ["too heavy"])
    await scene.a.remote.forgetRequests()
    try await upload(scene.a)
    #expect(await requests(scene.a) == ["changes"], "it is not sent again by itself")
    await scene.a.remote.refuseContents(nil)
    try scene.a.sync().releaseRefused()
    #expect(try await upload(scene.a).summary.pushedAttachments == 1)
  }

  @Test func anAttachmentForWhichTheServerFailsIsLeftForAnotherUpload() async throws {
    try attach()
    try attach([1, 2, 3], as: 2)
    await scene.a.remote.script(nil, nil, nil, .serverFailure("500"))
    let (ending, summary) = try await upload(scene.a)
    guard case .workLeft = ending else {
      Issue.record("\(String(describing: ending))")
      return
    }
    #expect(summary.pushedAttachments == 1 && summary.setAside == 1)
    #expect(try await upload(scene.a).summary.pushedAttachments == 1)
  }

  @Test func aServerThatFailsForEveryAttachmentEndsTheUpload() async throws {
    for number in 1...5 { try attach([UInt8(number)], as: number) }
    await scene.a.remote.script(nil, nil)
    for _ in 0..<10 { await scene.a.remote.script(.serverFailure("500")) }
    #expect(try await upload(scene.a).ending == .failed(.serverFailure("500")))
  }

  @Test func aDamagedDownloadedAttachmentIsDiscardedReportedAndFetchedOnRequest() async throws {
    try attach()
    try await upload(scene.a)
    await scene.b.remote.damageContents(0xEE)
    let (ending, summary) = try await upload(scene.b)
    #expect(ending == .complete && summary.damagedAttachments == 1 && summary.refused == 1)
    #expect(summary.refusedDownloads == 1)
    let there = try #require(try scene.b.attachments().first)
    #expect(!there.isWhole && there.held == 0 && there.refusal != nil)
    await scene.b.remote.damageContents(nil)
    #expect(try await upload(scene.b).summary.pulledAttachments == 0)
    try scene.b.sync().releaseRefused()
    #expect(try await upload(scene.b).summary.pulledAttachments == 1)
  }

  @Test func anAttachmentMissingOnTheServerIsRequestedLater() async throws {
    try attach()
    try scene.a.beginUpload(UploadOptions())
    while await !requests(scene.a).contains("held") { try await scene.a.stepUpload() }
    scene.a.reopen()
    let without = try await upload(scene.b)
    #expect(without.ending == .complete && without.summary.absentAttachments == 1)
    #expect(try scene.b.sync().attachmentBacklog().absent == 1)
    #expect(await requests(scene.b).filter { $0 == "fetch" }.count == 1)
    await scene.b.remote.forgetRequests()
    scene.b.clock -= 86_400 - 60
    // A minute later, the content is not requested again. It still counts as missing.
    #expect(try await upload(scene.b).summary.absentAttachments == 1)
    #expect(await requests(scene.b) == ["changes"], "a minute later")
    // If a person asks for missing contents, they are requested at once, but only once in one upload.
    await scene.b.remote.forgetRequests()
    #expect(try await upload(scene.b) { $0.requestsAbsentAtOnce = true }.summary.absentAttachments == 1)
    #expect(await requests(scene.b).filter { $0 == "fetch" }.count == 1)
    try await upload(scene.a)
    let fetched = try await upload(scene.b).summary
    #expect(fetched.pulledAttachments == 1 && fetched.absentAttachments == 0)
    #expect(try scene.b.sync().attachmentBacklog().absent == 0)
  }

  @Test func anAttachmentAboveTheLimitOfTheStoreIsNotFetched() async throws {
    try attach()
    try await upload(scene.a)
    try scene.b.sync().setAttachmentLimit(399)
    let summary = try await upload(scene.b).summary
    #expect(summary.refused == 1 && summary.refusedDownloads == 1)
    #expect(try scene.b.attachments().first?.refusal?.contains("attachment-limit") == true)
  }

  @Test func pushOnlySendsAttachmentsAndPullOnlyFetchesThem() async throws {
    try attach()
    try attach([1], to: scene.b, as: 2)
    #expect(try await upload(scene.a) { $0.pulls = false }.summary.pushedAttachments == 1)
    let pulled = try await upload(scene.b) { $0.pushes = false }
    #expect(pulled.summary.pulledAttachments == 1 && pulled.summary.pushedAttachments == 0)
  }

  @Test func aServerRestoredFromABackupGetsItsLostAttachments() async throws {
    try await scene.server.takeBackup()
    try attach()
    try await upload(scene.a)
    try await scene.server.restoreBackup()
    for _ in 0..<3 { try await scene.upload(scene.a, scene.b) }
    #expect(try scene.b.attachments().allSatisfy { $0.isWhole && $0.isUploaded })
    #expect(try scene.b.attachments().count == 1)
  }

  @Test func anotherServerReceivesEveryAttachment() async throws {
    try attach()
    try await upload(scene.a)
    try scene.a.sync().requeueContents()
    await scene.a.remote.forgetRequests()
    let (_, summary) = try await upload(scene.a)
    #expect(summary.pushedAttachments == 0 && summary.pushedAttachmentBytes == 0)
    #expect(await requests(scene.a) == ["changes", "held"], "what it has is not sent again")
  }

  @Test func attachmentsStayLocalAndAreCountedIfTheRemoteStoresNone() async throws {
    try attach()
    let session = UploadSession(
      try scene.a.sync(), ChosenPorts(scene.a.remote), named: "plain", UploadOptions(),
      UploadEnvironment(
        now: { 1_800_000_000 }, makeID: { "40000000-0000-4000-8000-000000000000" }, jitter: { 0 }))
    #expect(try await session.run() == .complete)
    #expect(session.summary.keptAttachments == 1 && session.summary.pushedRecords == 1)
    #expect(await requests(scene.a) == ["records", "changes"])
  }
}

extension SimulatedNode {
  fileprivate func beginUpload(_ change: (inout UploadOptions) -> Void) throws {
    var options = UploadOptions()
    change(&options)
    clock += 86_400
    try beginUpload(options)
  }
}
