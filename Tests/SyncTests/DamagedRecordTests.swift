// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore
import Simulation
import Testing

@testable import Sync

/// Tests a store in which one record has damaged text in a sync column. Only this record needs a person;
/// others are still synced.
@Suite struct DamagedRecordTests {
  /// Makes a record with a lost request or a conflict, and damages `column` in its row.
  private func damaged(_ column: String) async throws -> (scene: Scene, guid: String) {
    let scene = try await Scene()
    let guid = try await scene.sharedNote()
    try scene.a.edit(guid, "a", "mine")
    switch column {
    case "sent":
      try await scene.a.stepUntil { $0 == .pushRecords(.entries, limit: 1000) }
      await scene.a.remote.script(.unavailable("the request was lost"))
      while try await scene.a.stepUpload() == nil {}
    case "conflict":
      try scene.b.edit(guid, "a", "theirs")
      try await scene.upload(scene.b, scene.a)
      #expect(try scene.a.record(guid).isConflicted)
    default: break
    }
    try DamagedFile.execute(
      "UPDATE record SET \(column) = '{\"kind\":' WHERE guid = '\(guid)' AND \(column) IS NOT NULL",
      in: scene.a.path)
    return (scene, guid)
  }

  private func reason(_ scene: Scene, _ guid: String) throws -> String? {
    var reasons: [String: String] = [:]
    try scene.a.sync().forEachRefused { item, reason in
      if case .record(let record) = item { reasons[record.guid] = reason }
    }
    return reasons[guid]
  }

  @Test(arguments: ["sent", "base", "conflict"])
  func aDamagedRecordDoesNotStopOthersFromBeingSent(_ column: String) async throws {
    let (scene, guid) = try await damaged(column)
    let others = try [scene.a.add(["a": "2"]), scene.a.add(["a": "3"])]
    let child = try scene.a.add(["a": "4"], to: others[0])
    let (ending, summary) = try await scene.a.upload()
    #expect(ending == .complete && summary.refused == 1 && summary.pushedRecords == 3)
    for other in others + [child] {
      #expect(try !scene.a.record(other).isPending)
      #expect(try await scene.held(other) != nil)
    }
    let record = try scene.a.record(guid)
    #expect(record.isPending && record.isQuarantined && record.state.fields["a"] == .text("mine"))
    let words = try #require(try reason(scene, guid))
    #expect(words.contains("'\(column)'"), "\(words)")
    #expect(try scene.a.sync().overview(ingests: 0).refused == 1)
    let (again, second) = try await scene.a.upload()
    #expect(again == .complete && second.refused == 0 && second.pushedRecords == 0)
  }

  @Test(arguments: ["sent", "base"])
  func editingADamagedRecordSendsItAgain(_ column: String) async throws {
    let (scene, guid) = try await damaged(column)
    try await scene.upload(scene.a)
    try scene.a.edit(guid, "b", "edited")
    let (ending, summary) = try await scene.a.upload()
    #expect(ending == .complete && summary.refused == 0)
    let record = try scene.a.record(guid)
    #expect(!record.isQuarantined && !record.isPending && !record.isConflicted)
    let held = try #require(try await scene.held(guid))
    #expect(held.fields["a"] == .text("mine") && held.fields["b"] == .text("edited"))
  }

  @Test(arguments: ["sent", "base", "conflict"])
  func retryingADamagedRecordOnCommandSendsItAgain(_ column: String) async throws {
    let (scene, guid) = try await damaged(column)
    try await scene.upload(scene.a)
    #expect(try scene.a.sync().releaseRefused() == 1)
    let (ending, summary) = try await scene.a.upload()
    #expect(ending == .complete && summary.refused == 0)
    let record = try scene.a.record(guid)
    #expect(!record.isQuarantined && record.isConflicted == (column == "conflict"))
  }

  /// Until the next upload, the list of conflicts fails with an error that names the record.
  @Test func theConflictListNamesARecordWhoseRemoteVersionIsDamaged() async throws {
    let (scene, guid) = try await damaged("conflict")
    let failure = #expect(throws: Failure.self) { try scene.a.resolver().conflicts() }
    #expect(failure?.category == .badInput && failure?.message.contains(guid) == true)
    try await scene.upload(scene.a)
    #expect(try scene.a.resolver().conflicts().isEmpty)
  }

  /// The base of a record without pending edits is damaged. The next pull replaces this base and reports
  /// nothing.
  @Test func aDamagedSyncedVersionOfARecordIsReplacedByAPull() async throws {
    let scene = try await Scene()
    let guid = try await scene.sharedNote()
    try DamagedFile.execute("UPDATE record SET base = 'x' WHERE guid = '\(guid)'", in: scene.a.path)
    try scene.b.edit(guid, "a", "theirs")
    try await scene.upload(scene.b)
    let (ending, summary) = try await scene.a.upload()
    #expect(ending == .complete && summary.pulledRecords == 1 && summary.refused == 0)
    #expect(try scene.a.record(guid).base?.fields["a"] == .text("theirs"))
  }
}
