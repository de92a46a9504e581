// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import LogbookStore
import SeededRandom
import Simulation
import TestServers
import Testing

@testable import Sync

/// Tests hidden records on a site, which does not support hiding. Their treatments are cleared and deleted on
/// the site. The stores keep the records, so a restored record gets its treatment again.
@Suite(.timeLimit(.minutes(20))) struct SiteRemovalTests {
  /// A time within the last two days. Each upload reads the changes of these days again.
  private static let recent = SiteScene.clock / 1000 - 3600

  /// A scene in which two stores have synced a dose of 4 units with the site.
  private static func scene() async throws -> (scene: SiteScene, dose: String) {
    let scene = try SiteScene()
    let dose = try scene.addDose("a", 4, at: recent)
    try await scene.finish("a")
    try await scene.finish("b")
    return (scene, dose)
  }

  private static func doses(_ scene: SiteScene) -> [Double] {
    scene.validTreatments.compactMap { $0["insulin"]?.number }
  }

  /// The record in a store, even if the record was deleted.
  private static func state(_ scene: SiteScene, _ name: String, _ guid: String) throws -> SyncRecord? {
    try scene.store(name).sync { try $0.record(guid) }
  }

  @Test func aHiddenRecordIsDeletedOnTheSiteAndCreatedAgainWhenItIsShown() async throws {
    let (scene, dose) = try await Self.scene()
    #expect(scene.site.insulinOnBoard > 1)
    try scene.setHidden("a", dose, true)
    try await scene.finish("a")
    #expect(Self.doses(scene) == [])
    let document = try #require(scene.site.documents("treatments", identifier: dose).first)
    #expect(document["isValid"] == false && (document["insulin"] == .null || document["insulin"] == nil))
    #expect(scene.site.insulinOnBoard == 0)
    let overview = try scene.store("a").overview(ingests: 0)
    #expect(overview.pending == 0 && overview.withdrawnRecords == 1)
    // The other store hides the record as well, but does not delete it.
    try await scene.finish("b")
    #expect(try scene.records("b").first { $0.guid == dose }?.isWithdrawn == true)
    #expect(try Self.state(scene, "b", dose)?.state.isDeleted == false)
    scene.link.reset()
    try await scene.finish("b")
    #expect(scene.link.calls.allSatisfy { $0.hasPrefix("GET ") }, "\(scene.link.calls)")
    try scene.setHidden("a", dose, false)
    try await scene.finish("a")
    #expect(Self.doses(scene) == [4])
    for name in ["b", "a", "b"] { try await scene.finish(name) }
    for name in ["a", "b"] { try scene.expectInPlace(name) }
    #expect(Self.doses(scene) == [4])
  }

  @Test func aRecordHiddenBeforeItsUploadIsNeverSentToASite() async throws {
    let scene = try SiteScene()
    let dose = try scene.addDose("a", 4)
    try scene.setHidden("a", dose, true)
    try await scene.finish("a")
    #expect(!scene.site.documents("treatments").contains { $0["eventType"] == "Correction Bolus" })
    let overview = try scene.store("a").overview(ingests: 0)
    #expect(overview.pending == 0 && overview.withdrawnRecords == 1)
    try scene.setHidden("a", dose, false)
    #expect(try scene.store("a").overview(ingests: 0).pendingRecords == 2, "with the withdrawal")
    try await scene.finish("a")
    #expect(Self.doses(scene) == [4])
  }

  @Test func aGlucoportServerReceivesHiddenRecords() async throws {
    let scene = try await Scene()
    try scene.a.importDiary(carbs: 30, generatedAt: 5)
    _ = try scene.a.editing().undo(1, group: UUID().uuidString.lowercased(), at: 5)
    try await scene.upload(scene.a, scene.b)
    #expect(try await scene.server.everything().records.contains { $0.state.kind == .food })
    #expect(try scene.a.sync().overview(ingests: 0).pending == 0)
    #expect(try scene.b.sync().overview(ingests: 0).withdrawnRecords == 1)
  }

  @Test func hidingARecordDoesNotRemoveATreatmentOfAnotherProgram() async throws {
    let scene = try SiteScene()
    scene.addTreatments(1)
    try await scene.finish("a")
    let note = try #require(scene.records("a").first)
    let before = scene.site.documents("treatments").first { $0["notes"] == "theirs" }
    try scene.setHidden("a", note.guid, true)
    try await scene.finish("a")
    #expect(before != nil && scene.site.documents("treatments").first { $0["notes"] == "theirs" } == before)
    #expect(try scene.records("a").first?.isWithdrawn == true)
  }

  /// An undone import hides a record only while the record has the content of the import. An edit makes the
  /// record visible again.
  @Test func anEditInAnotherStoreShowsAnUndoneRecordInBothStoresAndOnTheSite() async throws {
    let scene = try SiteScene()
    let meal = ImportedRecord(
      kind: .food, at: DeviceTime(seconds: Self.recent), placement: Placement(utcOffset: 0, source: .zone),
      fields: RecordFields(["carbs": .number(30)]), sourceID: "row", line: 1)
    try scene.ingest("a", [], records: [meal])
    for name in ["a", "b"] { try await scene.finish(name) }
    let guid = try #require(scene.records("a").first?.guid)
    _ = try scene.editing("a").undo(1, group: UUID().uuidString.lowercased(), at: 5000)
    try await scene.finish("a")
    #expect(scene.ownTreatments().isEmpty)
    // Store b makes this edit before it receives the withdrawal of store a.
    _ = try scene.editor("b").edit(guid) { $0.fields["carbs"] = .number(50) }
    for name in ["b", "a", "b"] { try await scene.finish(name) }
    for name in ["a", "b"] {
      #expect(try scene.store(name).overview(ingests: 0).conflicts == 0)
      #expect(try Self.state(scene, name, guid)?.state.fields["carbs"] == .number(50))
      #expect(try scene.records(name).first?.isWithdrawn == false)
      try scene.expectInPlace(name)
    }
  }

  @Test func aDeletionOfAHiddenRecordReachesTheOtherStore() async throws {
    let (scene, dose) = try await Self.scene()
    try scene.setHidden("a", dose, true)
    for name in ["a", "b"] { try await scene.finish(name) }
    _ = try scene.editor("a").delete(dose)
    for name in ["a", "b", "a"] { try await scene.finish(name) }
    for name in ["a", "b"] { #expect(try Self.state(scene, name, dose)?.state.isDeleted == true) }
    #expect(Self.doses(scene) == [])
  }

  @Test func aHiddenRecordMovedByATimeZoneIsRestoredAtItsNewTime() async throws {
    let (scene, dose) = try await Self.scene()
    try scene.setHidden("a", dose, true)
    try await scene.finish("a")
    #expect(try scene.setZone("a", "Asia/Tokyo").toMove.records == 0, "it has no document")
    try await scene.finish("a")
    #expect(Self.doses(scene) == [])
    try scene.setHidden("a", dose, false)
    for name in ["a", "b", "a"] { try await scene.finish(name) }
    for name in ["a", "b"] { try scene.expectInPlace(name) }
    #expect(Self.doses(scene) == [4])
  }

  /// If the undone import is large, its readings are removed by several uploads. Each upload reports how
  /// many readings it removed and how many remain.
  @Test func readingsRemovedFromASiteAreCountedAndLimitedInOneUpload() async throws {
    let scene = try SiteScene()
    try scene.ingest("a", SiteScene.sensor((0..<25).map { 100 + Double($0) }))
    _ = try await scene.upload("a")
    _ = try scene.editing("a").undo(1, group: UUID().uuidString.lowercased(), at: 5000)
    let first = try await scene.upload("a") { $0.maxRemovals = 10 }
    #expect(first.summary.removedReadings == 10 && first.summary.readingsToRemove == 15)
    guard case .workLeft = first.ending else {
      Issue.record("\(first.ending)")
      return
    }
    #expect(scene.site.documents("entries").count == 15)
    let second = try await scene.upload("a") { $0.maxRemovals = 15 }
    #expect(second.summary.removedReadings == 15 && second.summary.readingsToRemove == 0)
    #expect(second.ending == .complete && scene.site.documents("entries").isEmpty)
    #expect(try await scene.upload("a").summary.removedReadings == 0)
  }

  @Test func anUploadCountsARecordRemovedFromTheSite() async throws {
    let (scene, dose) = try await Self.scene()
    try scene.setHidden("a", dose, true)
    let summary = try await scene.upload("a").summary
    #expect(summary.removedRecords == 1 && summary.recordsToRemove == 0)
  }

  @Test func verifyDoesNotReportHiddenRecordsAsMissing() async throws {
    let (scene, dose) = try await Self.scene()
    try scene.setHidden("a", dose, true)
    try await scene.finish("a")
    let session = try #require(VerifySession(scene.store("a"), try scene.remote(), named: "site"))
    try await session.compare()
    #expect(session.summary.differences == 0)
  }

  /// If `hides` is true, the killed upload was removing the document; otherwise it was creating the document
  /// again.
  @Test(arguments: [true, false])
  func aRemovalInterruptedByAKillIsCompletedByTheNextUpload(_ hides: Bool) async throws {
    let (prepared, dose) = try await Self.scene()
    try prepared.setHidden("a", dose, true)
    if !hides {
      try await prepared.finish("a")
      try prepared.setHidden("a", dose, false)
    }
    let whole = try SiteScene(copying: prepared)
    try await whole.finish("a")
    for place in Seeds.share(of: 1...whole.link.count, every: 5) {
      for isAnswered in [false, true] {
        let scene = try SiteScene(copying: prepared)
        let copy = scene.copying("a", to: "c")
        scene.link.reset { number in
          guard number >= place else { return .carried }
          if number == place { do { try copy() } catch { Issue.record(error) } }
          return number == place && isAnswered ? .answerLost : .lost
        }
        _ = try await scene.upload("a")
        scene.close("a")
        scene.link.reset()
        // Store b pulls while the removal in store a is incomplete. Store c is a copy of store a from the
        // moment of the kill.
        for name in ["b", "c", "b", "c"] { try await scene.finish(name) }
        let comment: Comment = "killed at \(place), \(isAnswered)"
        for name in ["b", "c"] {
          #expect(try Self.state(scene, name, dose)?.state.isDeleted == false, comment)
          #expect(try scene.records(name).first { $0.guid == dose }?.isWithdrawn == hides, comment)
          try scene.expectInPlace(name, comment)
        }
        #expect(Self.doses(scene) == (hides ? [] : [4]), comment)
      }
    }
  }
}
