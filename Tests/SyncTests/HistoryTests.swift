// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import LogbookStore
import Simulation
import Testing

@testable import Sync

/// Tests copied stores, restored backups, and deletions that another store has not received.
@Suite struct HistoryTests {
  @Test func aDeletedRecordStaysDeletedWhateverTheAgeOfTheOtherStore() async throws {
    let scene = try await Scene()
    let guid = try await scene.sharedNote()
    try scene.b.delete(guid)
    try await scene.upload(scene.b)
    scene.a.clock += 400 * 86_400
    try await scene.upload(scene.a, scene.b)
    #expect(try scene.a.record(guid).state.isDeleted && scene.b.record(guid).state.isDeleted)
    #expect(try scene.a.record(guid).state.fields == RecordFields())
  }

  @Test func aRecordAddedToADeletedEntryIsKeptAndCausesAConflict() async throws {
    let scene = try await Scene()
    let entry = try await scene.sharedNote()
    let child = try scene.b.add(["a": "child"], to: entry)
    try scene.a.delete(entry)
    try await scene.upload(scene.a, scene.b, scene.a)
    #expect(try !scene.a.record(child).state.isDeleted)
    #expect(try scene.a.resolver().conflicts().map(\.cause) == [.orphaned])
    try scene.a.resolve(entry, .theirs)
    try await scene.upload(scene.a, scene.b)
    #expect(try !scene.b.record(entry).state.isDeleted)
  }

  @Test func aCopiedStoreFileGetsANewClientIDAndNothingIsLost() async throws {
    let scene = try await Scene()
    let guid = try await scene.sharedNote()
    let copy = try await scene.copy(of: scene.a)
    try scene.a.edit(guid, "a", "by the original")
    try copy.edit(guid, "b", "by the copy")
    try await scene.upload(scene.a)
    try await scene.upload(copy, scene.a)
    let nodes = try [scene.a, copy].map { try #require(try $0.sync().remote()).node }
    #expect(Set(nodes).count == 2)
    for node in [scene.a, copy] {
      #expect(try node.text(guid, "a") == "by the original" && node.text(guid, "b") == "by the copy")
    }
  }

  @Test func aServerRestoredFromABackupGetsItsMissingItems() async throws {
    let scene = try await Scene()
    let guid = try await scene.sharedNote()
    try await scene.server.takeBackup()
    try scene.a.importReadings(0..<20)
    try scene.a.edit(guid, "a", "behind the backup")
    let later = try scene.a.add(["a": "later"])
    try await scene.upload(scene.a, scene.b)
    try await scene.server.restoreBackup()
    let (ending, summary) = try await scene.a.upload()
    #expect(ending == .complete && summary.requeued == 20)
    try await scene.upload(scene.b, scene.a)
    #expect(try await scene.server.everything().readings == 20)
    #expect(try await scene.held(later) != nil)
    // The restored server does not know the revision of the edit. Without a common base, a person must
    // decide.
    #expect(try scene.a.text(guid, "a") == "behind the backup" && scene.a.record(guid).isConflicted)
    try scene.a.resolve(guid, .mine)
    try await scene.upload(scene.a)
    #expect(try await scene.held(guid)?.fields["a"] == .text("behind the backup"))
  }

  @Test func aCopiedStoreFileKeepsItsCursorWithANewClientID() async throws {
    let scene = try await Scene()
    let guid = try await scene.sharedNote()
    let copy = try await scene.copy(of: scene.a)
    let before = try #require(try copy.sync().remote())
    try scene.a.edit(guid, "a", "by the original")
    try await scene.upload(scene.a)
    try await copy.stepUntil { $0 == .renewNode }
    try await copy.stepUpload()
    let after = try #require(try copy.sync().remote())
    #expect(after.node != before.node && after.cursor == before.cursor && after.cursor != nil)
    try await scene.upload(copy)
    #expect(try copy.text(guid, "a") == "by the original")
  }

  /// The original and its copy have the same node id. The restored server cannot detect this, since it has
  /// lost the run numbers of the copy's uploads. Still, no reading may be lost.
  @Test func aCopiedStoreFileMissesNothingWhenTheServerIsRestoredToo() async throws {
    let scene = try await Scene()
    _ = try await scene.sharedNote()
    try await scene.server.takeBackup()
    let copy = try await scene.copy(of: scene.a)
    for place in Int64(100)..<103 {
      try copy.importReadings(place..<place + 1)
      try await scene.upload(copy)
    }
    try await scene.server.restoreBackup()
    try scene.a.importReadings(0..<5)
    try await scene.upload(scene.a, copy, scene.a)
    let held = try await scene.server.digests()
    for node in [scene.a, copy] {
      #expect(try node.sync().sync { try $0.uploadedDigests() }.differing(from: held).isEmpty)
    }
    #expect(try await scene.server.everything().readings == 8)
  }

  @Test func anUploadToAKnownAddressWithAnotherLogbookIsRefused() async throws {
    let scene = try await Scene()
    let guid = try await scene.sharedNote()
    try scene.a.edit(guid, "a", "mine")
    await scene.a.remote.script(.otherLogbook(id: "other"))
    #expect(try await scene.a.upload().ending == .failed(.otherLogbook(id: "other")))
    #expect(try scene.a.record(guid).isPending)
  }

  @Test func pulledPagesAreStoredWithTheirCursorOrNotAtAll() async throws {
    let scene = try await Scene()
    for number in 0..<7 { _ = try scene.b.add(["a": "\(number)"]) }
    try await scene.upload(scene.b)
    await scene.a.remote.setPage(3)
    try await scene.a.stepUntil { if case .pull = $0 { true } else { false } }
    try await scene.a.stepUpload()
    scene.a.reopen()
    #expect(try scene.a.records().count == 3)
    await scene.a.remote.forgetRequests()
    try await scene.upload(scene.a)
    #expect(try scene.a.records().count == 7)
    #expect(await scene.a.remote.requests.filter { $0.hasPrefix("changes") }.count <= 3)
  }

  @Test func aStoreStillReceivesEarlierWritesOfOthersAfterItsOwnWrites() async throws {
    let scene = try await Scene()
    let theirs = try scene.b.add(["a": "theirs"])
    try await scene.b.upload { $0.pulls = false }
    _ = try scene.a.add(["a": "mine"])
    try await scene.a.upload { $0.pulls = false }
    try await scene.upload(scene.a)
    #expect(try scene.a.records()[theirs] != nil)
  }

  @Test func aTemporaryFailureIsRememberedUntilTheNextSuccess() async throws {
    let scene = try await Scene()
    await scene.a.remote.script(.busy("wait", retryAfterSeconds: 600))
    try await scene.upload(scene.a)
    let kept = try scene.a.sync().sync { try $0.attempts() }
    #expect(kept.failures == 1 && kept.next == scene.a.clock + 600)
    try await scene.upload(scene.a)
    #expect(try scene.a.sync().sync { try $0.attempts() } == (0, nil))
  }
}
