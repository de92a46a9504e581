// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import LogbookStore
import SeededRandom
import TestServers
import Testing

@testable import Sync

/// Tests undone imports on a site, which gets no hidden items. What the site has from another store must
/// replace the content that only an undone import wrote, and must never replace what a person wrote.
@Suite(.timeLimit(.minutes(10))) struct SiteUndoneImportTests {
  private static let now = SiteScene.clock / 1000
  private static let meal = Digest.uuid(of: ["record", "test", "row"])
  private let scene: SiteScene

  init() throws { scene = try SiteScene() }

  /// Imports an export with one meal. The times of the readings and of the meal are older than two days, so
  /// that an upload reads them in the history only.
  private func importMeal(
    _ name: String, _ carbs: Double, _ age: Int64, readings: [Reading] = []
  ) throws {
    let row = ImportedRecord(
      kind: .food, at: DeviceTime(seconds: SiteScene.start + 60),
      placement: Placement(utcOffset: 0, source: .stated), fields: RecordFields(["carbs": .number(carbs)]),
      sourceID: "row", line: 1)
    try scene.ingest(name, readings, records: [row], generatedAt: age)
  }

  private func undo(_ name: String, _ number: Int64 = 1) throws {
    _ = try scene.editing(name).undo(number, group: UUID().uuidString.lowercased(), at: Self.now)
  }

  private func record(_ name: String) throws -> SyncRecord {
    try #require(try scene.store(name).sync { try $0.record(Self.meal) })
  }

  /// The carbohydrates of the meal in a store; nil if the meal is hidden, deleted or missing.
  private func carbs(_ name: String) throws -> Double? {
    let isShown = try scene.records(name).contains { $0.guid == Self.meal && !$0.isWithdrawn }
    return isShown ? try record(name).state.fields.amount("carbs") : nil
  }

  /// The carbohydrates of the valid treatments on the site.
  private var carbsThere: [Double] { scene.validTreatments.compactMap { $0["carbs"]?.number } }

  private func expect(
    _ grams: Double?, in names: [String] = ["a", "b"], _ comment: Comment? = nil
  ) async throws {
    for name in names {
      #expect(try carbs(name) == grams, "\(name): \(comment ?? "")")
      let overview = try scene.store(name).overview(ingests: 0)
      #expect(overview.conflicts == 0 && overview.pending == 0, "\(name): \(comment ?? "")")
      let session = try #require(VerifySession(scene.store(name), try scene.remote(), named: "site"))
      try await session.compare()
      #expect(session.summary.differences == 0, "\(name): \(comment ?? "")")
    }
    #expect(carbsThere == (grams.map { [$0] } ?? []), comment)
  }

  private func finish(_ names: String...) async throws {
    for name in names { try await scene.finish(name) }
  }

  // MARK: Contents

  /// The export of the other store is later or earlier than that of the undone import.
  @Test(arguments: [6, 4] as [Int64], [false, true])
  func theContentOfAnotherStoreReplacesThatOfAnUndoneImport(_ age: Int64, _ isFirst: Bool) async throws {
    try importMeal("b", 30, 5)
    try undo("b")
    try importMeal("a", 10, age)
    if isFirst { try await finish("b") }
    try await finish("a", "b", "a", "b")
    try await expect(10)
    // A redo of the import writes its content again, if its export is the later one.
    _ = try scene.editing("b").redo(1, at: Self.now)
    try await finish("b", "a", "b")
    try await expect(age > 5 ? 10 : 30)
  }

  @Test func anEditInAnotherStoreReplacesTheContentOfAnUndoneImport() async throws {
    try importMeal("a", 30, 5)
    _ = try scene.editor("a").edit(Self.meal) { $0.fields["carbs"] = .number(50) }
    try importMeal("b", 30, 5)
    try undo("b")
    try await finish("a", "b", "a")
    try await expect(50)
  }

  @Test func aDeletionInAnotherStoreReplacesTheContentOfAnUndoneImport() async throws {
    // A first upload reads no deleted documents, so store b makes its first upload before the deletion.
    try await finish("b")
    try importMeal("a", 30, 5)
    try await finish("a")
    _ = try scene.editor("a").delete(Self.meal)
    try importMeal("b", 30, 5)
    try undo("b")
    try await finish("a", "b")
    #expect(try record("b").state.isDeleted)
    _ = try scene.editing("b").redo(1, at: Self.now)
    try await finish("b", "a")
    try await expect(nil)
  }

  /// The redo writes the content of the later export again, and no upload sends it before the next undo.
  @Test func anUndoAfterARedoShowsTheContentOfTheOtherStore() async throws {
    try importMeal("b", 30, 6)
    try undo("b")
    try importMeal("a", 10, 5)
    try await finish("a", "b", "a")
    _ = try scene.editing("b").redo(1, at: Self.now)
    #expect(try carbs("b") == 30)
    try undo("b")
    try await finish("b", "a", "b")
    try await expect(10)
  }

  /// A person edited the meal of an import and then hid it, so no upload sends it.
  @Test func aHiddenEditOfAPersonIsNeverReplaced() async throws {
    try importMeal("b", 30, 5)
    _ = try scene.editor("b").edit(Self.meal) { $0.fields["carbs"] = .number(45) }
    try scene.setHidden("b", Self.meal, true)
    try undo("b")
    try importMeal("a", 10, 6)
    try await finish("a", "b", "a", "b")
    #expect(try record("b").state.fields.amount("carbs") == 45)
    let session = try #require(VerifySession(scene.store("b"), try scene.remote(), named: "site"))
    try await session.compare()
    try session.fix(at: Self.now)
    #expect(try record("b").state.fields.amount("carbs") == 45)
  }

  /// The edit makes the meal visible, although its import is undone, so it is sent.
  @Test func aVisibleEditOfAPersonIsNeverReplaced() async throws {
    try importMeal("b", 30, 5)
    try undo("b")
    _ = try scene.editor("b").edit(Self.meal) { $0.fields["carbs"] = .number(45) }
    try importMeal("a", 10, 6)
    try await finish("a", "b", "a")
    #expect(try carbs("b") == 45 && carbsThere == [10])
    #expect(try scene.store("b").overview(ingests: 0).conflicts == 1)
  }

  @Test func aHiddenMealOfAnImportThatIsNotUndoneIsNotReplaced() async throws {
    try importMeal("b", 30, 5)
    try scene.setHidden("b", Self.meal, true)
    try importMeal("a", 10, 4)
    try await finish("a", "b", "a", "b")
    #expect(try record("b").state.fields.amount("carbs") == 30)
    try scene.setHidden("b", Self.meal, false)
    try await finish("b", "a", "b")
    try await expect(30)
  }

  /// Store b has passed the change of store a without storing it, as another version of the program may have
  /// done.
  @Test func verifyFetchesAContentThatAnUndoneImportHides() async throws {
    try importMeal("a", 10, 6)
    try await finish("a")
    // An upload reads the last minute of the history again.
    scene.site.runClock(ahead: SiteScene.clock + 600_000 - Int64(Date().timeIntervalSince1970 * 1000))
    try await finish("c")
    let cursor = try #require(try scene.store("c").sync { try $0.cursor() })
    try importMeal("b", 30, 5)
    try undo("b")
    try scene.store("b").sync { store in
      _ = try store.beginRun(id: "run")
      try store.setCursor(cursor)
    }
    try await scene.upload("b")
    #expect(try carbs("b") == nil && record("b").isPending)
    let session = try #require(VerifySession(scene.store("b"), try scene.remote(), named: "site"))
    try await session.compare()
    #expect(session.summary.records[.different] == 1 && session.summary.readings.isEmpty)
    try session.fix(at: Self.now)
    #expect(session.summary.unfixed == 0)
    #expect(try carbs("b") == 10)
  }

  /// Compares random sequences with the rule itself: of the exports that any store has imported and not
  /// undone, the latest one states the content. Each store imports one export, since the content that an undo
  /// writes again has no age before its first upload.
  @Test(arguments: Seeds.share(of: Seeds.first(20), every: 4))
  func anySequenceOnASiteEndsWithTheLatestExportThatIsNotUndone(_ seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let names = ["a", "b", "c"]
    let ages = Dictionary(uniqueKeysWithValues: zip(names, [1, 2, 3].shuffled(using: &random)))
    var (imported, undone): (Set<String>, Set<String>) = ([], [])
    var log: [String] = []
    for _ in 0..<14 {
      let name = names.randomElement(using: &random) ?? "a"
      let age = Int64(ages[name] ?? 0)
      if Bool.random(using: &random) {
        try await finish(name)
        log.append("\(name) uploads")
      } else if imported.insert(name).inserted {
        try importMeal(name, Double(age) * 10, age)
        log.append("\(name) imports \(age)")
      } else if undone.remove(name) != nil {
        _ = try scene.editing(name).redo(try number(name), at: Self.now)
        log.append("\(name) redoes it")
      } else {
        try undo(name, try number(name))
        undone.insert(name)
        log.append("\(name) undoes it")
      }
    }
    for _ in 0..<3 { try await finish("a", "b", "c") }
    // A redo writes its content as an edit. If another store changed the record meanwhile, a person must
    // decide.
    let conflicts = try names.map { try scene.store($0).overview(ingests: 0).conflicts }
    if conflicts.contains(where: { $0 > 0 }) { return }
    let latest = imported.subtracting(undone).compactMap { ages[$0] }.max()
    let comment: Comment = "seed \(seed): \(log.joined(separator: ", "))"
    try await expect(latest.map { Double($0) * 10 }, in: names, comment)
  }

  /// The number of the import of a store.
  private func number(_ name: String) throws -> Int64 {
    try #require(try scene.store(name).ingests(limit: 100).first { $0.format == "test" }?.id)
  }

  // MARK: What another store imported, too

  private static let sensor = SiteScene.sensor((0..<9).map { 100 + Double($0) })

  /// Both stores imported the same export. The undo in one store removes the items from the site before that
  /// store knows of the import in the other.
  @Test func itemsOfAnotherStoreReturnToTheSiteWithItsNextUpload() async throws {
    for name in ["a", "b"] {
      try importMeal(name, 30, 5, readings: Self.sensor)
      try await finish(name)
    }
    try undo("b")
    try await finish("b")
    #expect(scene.entries().isEmpty && carbsThere.isEmpty)
    try await scene.upload("a")
    try scene.expectInPlace("a")
    #expect(scene.entries().count == Self.sensor.count && carbsThere == [30])
    // One upload is enough: the other store sends what it shows again in the same run.
    try await scene.upload("b")
    for name in ["a", "b"] { try scene.expectInPlace(name) }
    scene.link.reset()
    for name in ["a", "b"] { try await scene.upload(name) }
    #expect(scene.link.calls.allSatisfy { $0.hasPrefix("GET ") }, "\(scene.link.calls)")
  }

  @Test func itemsThatNoOtherStoreImportedStayRemovedFromTheSite() async throws {
    try importMeal("b", 30, 5, readings: Self.sensor)
    try await finish("b", "a")
    try undo("b")
    try await finish("b")
    let summary = try await scene.upload("a").summary
    #expect(summary.pushedReadings == 0 && summary.pushedRecords == 0)
    #expect(scene.entries().isEmpty && carbsThere.isEmpty)
    try await expect(nil)
  }

  /// The other store ended the withdrawal, and the site has the items again or not.
  @Test func readingsShownAgainByADownloadAreSentInTheSameUpload() async throws {
    try importMeal("b", 30, 5, readings: Self.sensor)
    try await finish("b")
    try undo("b")
    try await finish("b")
    let copied = scene.copying("b", to: "c")
    scene.close("b")
    try copied()
    _ = try scene.editing("c").redo(1, at: Self.now)
    try await scene.upload("c")
    for entry in scene.site.documents("entries") {
      #expect(scene.site.actAsPhoneApp().deleteEntry(entry["_id"]?.text ?? ""))
    }
    try await scene.upload("b")
    try scene.expectInPlace("b")
    #expect(scene.entries().count == Self.sensor.count)
  }
}
