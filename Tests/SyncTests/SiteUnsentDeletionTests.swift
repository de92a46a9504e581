// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore
import TestServers
import Testing

@testable import Sync

/// Tests deletions of records that a site never had. A copy of the store may still have the record pending.
@Suite(.timeLimit(.minutes(10))) struct SiteUnsentDeletionTests {
  private let scene: SiteScene

  init() throws { scene = try SiteScene() }

  /// Copies store a to store b, and deletes a record in the copy.
  private func deleteInCopy(_ guid: String, at second: Int64 = SiteScene.clock / 1000) throws {
    let copied = scene.copying("a", to: "b")
    scene.close("a")
    try copied()
    _ = try RecordEditor(scene.editing("b"), at: second).delete(guid)
  }

  private func isDeleted(_ name: String, _ guid: String) throws -> Bool? {
    try scene.store(name).sync { try $0.record(guid) }?.state.isDeleted
  }

  @Test func aTypedDoseDeletedInACopyIsAConflictInTheOtherStore() async throws {
    let dose = try scene.addDose("a", 4)
    try deleteInCopy(dose)
    for name in ["b", "a", "b", "a"] { try await scene.upload(name) }
    #expect(try isDeleted("b", dose) == true && isDeleted("a", dose) == false)
    #expect(try scene.store("a").overview(ingests: 0).conflicts == 1)
    #expect(try scene.store("b").overview(ingests: 0).conflicts == 0)
    #expect(scene.validTreatments.allSatisfy { $0["insulin"]?.number == nil })
    // The document of the deletion has no effect and no content.
    let document = try #require(scene.site.documents("treatments", identifier: dose).first)
    #expect(document["isValid"] == false && document["insulin"]?.number == nil)
    let resolver = RecordResolver(try scene.resolving("a"))
    _ = try resolver.resolve(resolver.conflict(of: dose), .mine, at: SiteScene.clock / 1000)
    for name in ["a", "b"] { try await scene.finish(name) }
    for name in ["a", "b"] { #expect(try isDeleted(name, dose) == false) }
    #expect(scene.validTreatments.compactMap { $0["insulin"]?.number } == [4])
  }

  @Test func anImportedMealDeletedInACopyIsDeletedInTheOtherStore() async throws {
    let meal = ImportedRecord(
      kind: .food, at: DeviceTime(seconds: SiteScene.start),
      placement: Placement(utcOffset: 0, source: .stated),
      fields: RecordFields(["carbs": .number(30)]), sourceID: "row", line: 1)
    try scene.ingest("a", [], records: [meal])
    let guid = Digest.uuid(of: ["record", "test", "row"])
    try deleteInCopy(guid)
    for name in ["b", "a", "b"] { try await scene.finish(name) }
    for name in ["a", "b"] { #expect(try isDeleted(name, guid) == true) }
    #expect(scene.validTreatments.allSatisfy { $0["carbs"]?.number == nil })
  }

  /// The person who deleted the dose takes the deletion back after an upload.
  @Test func aDeletionThatIsTakenBackCreatesTheDose() async throws {
    let dose = try scene.addDose("a", 4)
    _ = try scene.editor("a").delete(dose)
    try await scene.finish("a")
    let store = try scene.editing("a")
    guard case .action(let action)? = try store.nextStep(.undo) else {
      Issue.record("there is no action")
      return
    }
    #expect(try store.apply(.undo, to: action, at: SiteScene.clock / 1000).changed == [dose])
    for name in ["a", "b"] { try await scene.finish(name) }
    for name in ["a", "b"] { try scene.expectInPlace(name) }
    #expect(scene.validTreatments.compactMap { $0["insulin"]?.number } == [4])
  }

  /// A store that sends all its records to a new site creates no documents for its old deletions.
  @Test func anOldDeletionLeavesNoDocument() async throws {
    let dose = try scene.addDose("a", 4)
    let before = SiteScene.clock / 1000 - 31 * 86_400
    _ = try RecordEditor(scene.editing("a"), at: before).delete(dose)
    try await scene.finish("a")
    #expect(scene.site.documents("treatments", identifier: dose).isEmpty)
    #expect(try scene.store("a").overview(ingests: 0).pending == 0)
  }

  /// A kill at any request leaves neither a valid document nor a dose that comes back.
  @Test func aDeletionInterruptedByAKillIsCompletedByTheNextUpload() async throws {
    let dose = try scene.addDose("a", 4)
    try await scene.upload("c")
    _ = try scene.editor("a").delete(dose)
    let whole = try SiteScene(copying: scene)
    try await whole.finish("a")
    for place in SiteScene.places(of: whole.link.count) {
      for isAnswered in [false, true] {
        let scene = try SiteScene(copying: scene)
        scene.link.reset { $0 < place ? .carried : $0 == place && isAnswered ? .answerLost : .lost }
        _ = try await scene.upload("a")
        scene.link.reset()
        for name in ["c", "a", "c"] { try await scene.finish(name) }
        let comment: Comment = "killed at \(place), \(isAnswered)"
        for name in ["a", "c"] { #expect(try isDeleted(name, dose) ?? true, comment) }
        #expect(scene.site.documents("treatments", identifier: dose).allSatisfy { $0["isValid"] == false })
        try scene.expectInPlace("a", comment)
      }
    }
  }
}
