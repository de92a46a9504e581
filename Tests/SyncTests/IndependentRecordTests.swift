// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import LogbookStore
import Simulation
import Testing

@testable import Sync

/// Tests records that two stores made independently before they synced with one server.
@Suite struct IndependentRecordTests {
  @Test func equalRecordsTypedInTwoStoresAreTwoRecords() async throws {
    let scene = try await Scene()
    let guids = [try scene.a.add(["a": "walk"]), try scene.b.add(["a": "walk"])]
    try await scene.upload(scene.a, scene.b, scene.a)
    for node in [scene.a, scene.b] { #expect(try Set(node.records().keys) == Set(guids)) }
  }

  @Test func equalRowsOfOneExportImportedInTwoStoresAreOneRecord() async throws {
    let scene = try await Scene()
    for node in [scene.a, scene.b] { try node.importDiary(carbs: 30, generatedAt: 5) }
    let (ending, summary) = try await scene.a.upload()
    #expect(ending == .complete && summary.pushedRecords == 1)
    #expect(try await scene.b.upload().summary.conflicts == 0)
    #expect(try await scene.server.everything().records.count == 1)
    #expect(try scene.b.records().values.map(\.isPending) == [false])
  }

  @Test func aRowImportedWithDifferentContentInTwoStoresHasThatOfTheLaterExport() async throws {
    let scene = try await Scene()
    try scene.a.importDiary(carbs: 30, generatedAt: 5)
    try scene.b.importDiary(carbs: 45, generatedAt: 6)
    try await scene.upload(scene.a, scene.b, scene.a)
    for node in [scene.a, scene.b] {
      let record = try #require(try node.records().values.first)
      #expect(record.state.fields["carbs"] == .number(45) && !record.isConflicted && !record.isPending)
    }
  }

  /// The stores have no common base, and both exports are equally old. So a person must decide.
  @Test func aRowWithDifferentContentInTwoExportsOfEqualAgeIsAConflict() async throws {
    let scene = try await Scene()
    try scene.a.importDiary(carbs: 30, generatedAt: 5)
    try scene.b.importDiary(carbs: 45, generatedAt: 5)
    try await scene.upload(scene.a, scene.b)
    let conflict = try #require(try scene.b.resolver().conflicts().first)
    #expect(conflict.mine.fields["carbs"] == .number(45) && conflict.theirs.fields["carbs"] == .number(30))
    try scene.b.resolve(conflict.guid, .mine)
    try await scene.upload(scene.b, scene.a)
    #expect(try scene.a.record(conflict.guid).state.fields["carbs"] == .number(45))
  }

  /// Store a imported the row while it was offline. Meanwhile the record of this row was uploaded and deleted
  /// in store b.
  @Test func aLateImportDoesNotRestoreARecordDeletedElsewhere() async throws {
    let scene = try await Scene()
    try scene.a.importDiary(carbs: 30, generatedAt: 5)
    try scene.b.importDiary(carbs: 30, generatedAt: 5)
    let guid = try #require(try scene.b.records().keys.first)
    try await scene.upload(scene.b)
    try scene.b.delete(guid)
    try await scene.upload(scene.b, scene.a, scene.b)
    #expect(try scene.a.record(guid).state.isDeleted && scene.b.record(guid).state.isDeleted)
    #expect(try await scene.held(guid)?.isDeleted == true)
    try scene.a.importDiary(carbs: 60, generatedAt: 9)
    try await scene.upload(scene.a, scene.b)
    #expect(try scene.a.record(guid).state.isDeleted && scene.b.record(guid).state.isDeleted)
  }

  @Test func aLocallyEditedRecordDeletedElsewhereIsRestoredOnlyByAPerson() async throws {
    let scene = try await Scene()
    for node in [scene.a, scene.b] { try node.importDiary(carbs: 30, generatedAt: 5) }
    let guid = try #require(try scene.b.records().keys.first)
    try await scene.upload(scene.b)
    try scene.b.delete(guid)
    try await scene.upload(scene.b)
    try scene.a.edit(guid, "text", "by hand")
    try await scene.upload(scene.a, scene.b)
    #expect(try scene.a.record(guid).isConflicted && !scene.a.record(guid).state.isDeleted)
    #expect(try scene.b.record(guid).state.isDeleted)
    #expect(try await scene.held(guid)?.isDeleted == true)
    try scene.a.resolve(guid, .mine)
    try await scene.upload(scene.a, scene.b)
    #expect(try scene.b.text(guid, "text") == "by hand")
  }

  /// A server may change content, for example trim it. The store adopts this content and recognises the
  /// record by its guid.
  @Test func contentRewrittenByTheRemoteIsStoredAndNotSentAgain() async throws {
    let scene = try await Scene()
    let guid = try scene.a.add(["a": "  walk ", "b": "1"])
    try await scene.a.upload { $0.pulls = false }
    try await scene.upload(scene.b)
    try scene.b.edit(guid, "a", "walk")
    try await scene.upload(scene.b)
    await scene.a.remote.forgetRequests()
    try await scene.upload(scene.a, scene.a)
    #expect(try Array(scene.a.records().keys) == [guid])
    #expect(try scene.a.text(guid, "a") == "walk" && scene.a.text(guid, "b") == "1")
    #expect(try !scene.a.record(guid).isPending)
    #expect(await scene.a.remote.requests == ["changes 1000", "changes 1000"])
    #expect(try await scene.server.everything().records.count == 1)
  }

  /// A newer program may write fields that this program does not know. They are queued, merged and sent like
  /// known ones.
  @Test func aFieldUnknownToTheSchemaIsSyncedLikeAnyOther() async throws {
    let scene = try await Scene()
    let guid = try await scene.sharedNote()
    _ = try scene.a.editor().edit(guid) { $0.fields["seen-by-a-nurse"] = .flag(true) }
    _ = try scene.b.editor().edit(guid) { $0.fields["worth-a-look"] = .words(["yes"]) }
    #expect(try scene.a.record(guid).isPending && scene.b.record(guid).isPending)
    try await scene.upload(scene.a, scene.b, scene.a)
    for node in [scene.a, scene.b] {
      let record = try node.record(guid)
      #expect(record.state.fields["seen-by-a-nurse"] == .flag(true))
      #expect(record.state.fields["worth-a-look"] == .words(["yes"]))
      #expect(!record.isPending && !record.isConflicted)
    }
  }

  @Test func theVersionCounterOfAStoreDoesNotAffectOtherStores() async throws {
    let scene = try await Scene()
    let guid = try scene.a.add(["a": "0"])
    for round in 1...5 { try scene.a.edit(guid, "a", "\(round)") }
    try await scene.upload(scene.a, scene.b)
    #expect(try scene.a.record(guid).version == 6)
    #expect(try scene.b.record(guid).version == 1 && scene.b.record(guid).versionSynced == 1)
    try scene.b.edit(guid, "a", "theirs")
    try await scene.upload(scene.b, scene.a)
    #expect(try scene.a.text(guid, "a") == "theirs")
    #expect(try scene.a.record(guid).version == 6 && scene.a.record(guid).versionSynced == 6)
  }

  /// Columns about the sync of a node, such as its versions, are not part of the content that it sends.
  @Test func theLocalSyncStateOfARecordIsNotSent() async throws {
    let scene = try await Scene()
    let guid = try await scene.sharedNote()
    try scene.a.edit(guid, "a", "mine")
    try await scene.a.stepUntil { $0 == .pushRecords(.entries, limit: 1000) }
    await scene.a.remote.loseNextAnswer()
    try await scene.a.stepUpload()
    let sent = try #require(try scene.a.record(guid).sent)
    let object = try #require(JSONSerialization.jsonObject(with: Data(sent.json.utf8)) as? [String: Any])
    #expect(Set(object.keys) == ["guid", "node", "version", "digest", "base", "state"])
    let state = try #require(object["state"] as? [String: Any])
    #expect(
      state.keys.allSatisfy { !$0.contains("sync") && !$0.contains("version") && !$0.contains("conflict") })
  }

  /// The clock of store a is set to the year 2105, and the clock of store b to 1990.
  @Test func storesWithWrongClocksReachTheSameResult() async throws {
    let scene = try await Scene()
    (scene.a.clock, scene.b.clock) = (4_290_000_000, 640_000_000)
    let guid = try await scene.sharedNote()
    try scene.a.edit(guid, "a", "first")
    try await scene.upload(scene.a, scene.b)
    try scene.b.edit(guid, "a", "second")
    try await scene.upload(scene.b, scene.a)
    #expect(try scene.a.text(guid, "a") == "second")
    try scene.a.edit(guid, "a", "mine")
    try scene.b.edit(guid, "a", "theirs")
    try await scene.upload(scene.a, scene.b)
    #expect(try scene.b.record(guid).isConflicted && scene.b.text(guid, "a") == "theirs")
  }

  @Test func storesThatSyncInTurnStopSendingChanges() async throws {
    let scene = try await Scene()
    let guid = try await scene.sharedNote()
    try scene.a.importReadings(0..<5)
    try scene.b.importReadings(3..<9, value: 101)
    try scene.a.edit(guid, "a", "mine")
    try scene.b.edit(guid, "b", "theirs")
    try await scene.upload(scene.a, scene.b, scene.a)
    for _ in 0..<2 {
      for node in [scene.a, scene.b] {
        await node.remote.forgetRequests()
        let (ending, summary) = try await node.upload()
        #expect(ending == .complete && summary == UploadSummary())
        #expect(await node.remote.requests == ["changes 1000"])
      }
    }
  }
}
