// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore
import SeededRandom
import Simulation
import Testing

@testable import Sync

/// Tests that a record has the content of the latest export whose import is not undone. It must not matter
/// which stores imported the exports, and in which order they are synced.
@Suite(.timeLimit(.minutes(5)))
struct ReplacedContentTests {
  private static let guid = Digest.uuid(of: ["record", "test", "row"])

  /// The carbohydrates of the record in grams; nil if the record is hidden or missing.
  private func carbs(_ node: SimulatedNode) throws -> Double? {
    guard try node.shownRecords().contains(Self.guid) else { return nil }
    return try node.records()[Self.guid]?.state.fields.amount("carbs")
  }

  private func expect(_ carbs: Double?, _ scene: Scene, _ comment: Comment? = nil) throws {
    for node in [scene.a, scene.b] {
      #expect(try self.carbs(node) == carbs, "\(node.name): \(comment ?? "")")
      #expect(try node.sync().overview(ingests: 0).conflicts == 0, "\(node.name): \(comment ?? "")")
    }
  }

  private func hideRecord(_ node: SimulatedNode) throws {
    let record = try #require(try node.allRecords().first { $0.guid == Self.guid })
    try WithdrawalEditor(node.editing(), at: node.clock).set(record, isHidden: true, reason: "")
  }

  /// Store A imports the earlier export and store B the later one.
  @Test(arguments: [false, true], [false, true])
  func undoOfTheLaterExportShowsTheContentThatAnotherStoreImported(
    _ uploadsBefore: Bool, _ earlierIsSentFirst: Bool
  ) async throws {
    let scene = try await Scene()
    try scene.a.importDiary(carbs: 30, generatedAt: 5)
    try scene.b.importDiary(carbs: 80, generatedAt: 6)
    if uploadsBefore {
      let order = earlierIsSentFirst ? [scene.a, scene.b] : [scene.b, scene.a]
      for node in order + order { try await scene.upload(node) }
      try expect(80, scene)
    }
    let own = try #require(try scene.b.imports().max())
    for round in 1...2 {
      _ = try scene.b.undo(own)
      let order = earlierIsSentFirst ? [scene.a, scene.b, scene.a, scene.b] : [scene.b, scene.a, scene.b]
      for node in order { try await scene.upload(node) }
      try expect(30, scene, "undo \(round)")
      _ = try scene.b.redo(own)
      try await scene.upload(scene.b, scene.a)
      try expect(80, scene, "redo \(round)")
    }
  }

  @Test func aRecordIsHiddenIfTheImportsOfBothItsContentsAreUndone() async throws {
    let scene = try await Scene()
    try scene.a.importDiary(carbs: 30, generatedAt: 5)
    try scene.b.importDiary(carbs: 80, generatedAt: 6)
    try await scene.upload(scene.a, scene.b, scene.a)
    let mine = try #require(try scene.a.imports().max())
    let theirs = try #require(try scene.b.imports().max())
    _ = try scene.a.undo(mine)
    try await scene.upload(scene.a, scene.b, scene.a)
    try expect(80, scene)
    _ = try scene.b.undo(theirs)
    try await scene.upload(scene.b, scene.a, scene.b)
    try expect(nil, scene)
    _ = try scene.a.redo(mine)
    try await scene.upload(scene.a, scene.b, scene.a)
    try expect(30, scene)
  }

  /// What a person did with the later content stays: an edit, a deletion, and hiding the record.
  @Test func undoOfAnImportRestoresNothingOverTheWorkOfAPerson() async throws {
    for (index, work) in ["edit", "delete", "hide"].enumerated() {
      let scene = try await Scene()
      try scene.a.importDiary(carbs: 30, generatedAt: 5)
      try scene.b.importDiary(carbs: 80, generatedAt: 6)
      try await scene.upload(scene.a, scene.b, scene.a)
      switch index {
      case 0: try scene.a.edit(Self.guid, "text", "soup")
      case 1: _ = try scene.a.editor().delete(Self.guid)
      default: try hideRecord(scene.a)
      }
      try await scene.upload(scene.a, scene.b)
      _ = try scene.b.undo(#require(try scene.b.imports().max()))
      try await scene.upload(scene.b, scene.a, scene.b)
      try expect(index == 0 ? 80 : nil, scene, "\(work)")
    }
  }

  /// The first store imported the later export, too, so its content is not withdrawn.
  @Test func aContentThatBothStoresImportedStaysAfterTheUndoInOneStore() async throws {
    let scene = try await Scene()
    try scene.a.importDiary(carbs: 30, generatedAt: 5)
    try scene.b.importDiary(carbs: 80, generatedAt: 6)
    try await scene.upload(scene.a, scene.b, scene.a)
    try scene.a.importDiary(carbs: 80, generatedAt: 6)
    _ = try scene.b.undo(#require(try scene.b.imports().max()))
    try await scene.upload(scene.b, scene.a, scene.b)
    try expect(80, scene)
  }

  /// Both stores import the later export before they first upload, and one store undoes its import.
  @Test(arguments: [false, true])
  func anUndoBeforeTheFirstUploadYieldsToTheImportOfAnotherStore(_ undoneIsSentFirst: Bool)
    async throws
  {
    let scene = try await Scene()
    try scene.a.importDiary(carbs: 80, generatedAt: 6)
    try scene.b.importDiary(carbs: 30, generatedAt: 5)
    try scene.b.importDiary(carbs: 80, generatedAt: 6)
    _ = try scene.b.undo(#require(try scene.b.imports().max()))
    #expect(try carbs(scene.b) == 30)
    let order = undoneIsSentFirst ? [scene.b, scene.a] : [scene.a, scene.b]
    for node in order + order + order { try await scene.upload(node) }
    try expect(80, scene)
  }

  /// One store imports the earliest and the latest export, which state the same. The export of the other
  /// store is between them, and decides after an undo of the latest one.
  @Test(arguments: [false, true], [false, true])
  func undoOfTheLatestExportShowsTheContentOfAnExportBetweenEqualOnes(
    _ latestIsImportedFirst: Bool, _ middleIsSentFirst: Bool
  ) async throws {
    let scene = try await Scene()
    for age in latestIsImportedFirst ? [7, 5] : [5, 7] {
      try scene.a.importDiary(carbs: 30, generatedAt: Int64(age))
    }
    try scene.b.importDiary(carbs: 80, generatedAt: 6)
    let order = middleIsSentFirst ? [scene.b, scene.a, scene.b] : [scene.a, scene.b, scene.a]
    for node in order + order { try await scene.upload(node) }
    try expect(30, scene)
    let imports = try scene.a.imports()
    let latest = try #require(latestIsImportedFirst ? imports.min() : imports.max())
    for round in 1...2 {
      _ = try scene.a.undo(latest)
      for node in [scene.a, scene.b, scene.a, scene.b] { try await scene.upload(node) }
      try expect(80, scene, "undo \(round)")
      _ = try scene.a.redo(latest)
      for node in [scene.a, scene.b, scene.a, scene.b] { try await scene.upload(node) }
      try expect(30, scene, "redo \(round)")
    }
  }

  /// Another import becomes the one that wrote the record at each undo. No import may be forgotten.
  @Test func aRecordOfThreeEqualExportsStaysUntilTheImportsOfAllAreUndone() async throws {
    let scene = try await Scene()
    for age in 5...7 { try scene.a.importDiary(carbs: 30, generatedAt: Int64(age)) }
    try await scene.upload(scene.a, scene.b)
    let imports = try scene.a.imports().sorted()
    for number in imports.dropFirst().reversed() {
      _ = try scene.a.undo(number)
      try await scene.upload(scene.a, scene.b)
      try expect(30, scene, "undo \(number)")
    }
    _ = try scene.a.undo(#require(imports.first))
    try await scene.upload(scene.a, scene.b)
    try expect(nil, scene)
    _ = try scene.a.redo(imports[1])
    try await scene.upload(scene.a, scene.b)
    try expect(30, scene)
  }

  /// Both stores imported the earlier and the later of two equal exports, and one store undoes the later one.
  @Test func anUndoInOneStoreDoesNotLowerTheAgeOfAnExportThatAnotherStoreImported() async throws {
    let scene = try await Scene()
    try scene.a.importDiary(carbs: 30, generatedAt: 5)
    try scene.a.importDiary(carbs: 30, generatedAt: 7)
    try scene.b.importDiary(carbs: 30, generatedAt: 7)
    try await scene.upload(scene.a, scene.b, scene.a)
    _ = try scene.a.undo(#require(try scene.a.imports().max()))
    try await scene.upload(scene.a, scene.b, scene.a)
    try scene.a.importDiary(carbs: 80, generatedAt: 6)
    try await scene.upload(scene.a, scene.b, scene.b, scene.a)
    try expect(30, scene)
  }

  /// No export states what a person wrote, so no export ever replaces it.
  @Test func anUndoBeforeTheFirstUploadIsAConflictWithAnEdit() async throws {
    let scene = try await Scene()
    try scene.a.importDiary(carbs: 80, generatedAt: 6)
    try scene.a.edit(Self.guid, "text", "soup")
    try scene.b.importDiary(carbs: 30, generatedAt: 5)
    try scene.b.importDiary(carbs: 80, generatedAt: 6)
    _ = try scene.b.undo(#require(try scene.b.imports().max()))
    try await scene.upload(scene.a, scene.b, scene.a, scene.b)
    #expect(try scene.b.sync().overview(ingests: 0).conflicts == 1)
    #expect(try scene.a.records()[Self.guid]?.state.fields["text"] == .text("soup"))
  }

  /// Both stores imported the latest and the earliest export. After the undo in one store, it imports the
  /// earliest one, which the other store also states.
  @Test func anEarlierExportDoesNotReplaceTheLatestOneOfAnotherStore() async throws {
    let scene = try await Scene()
    try scene.b.importDiary(carbs: 30, generatedAt: 5)
    try await scene.upload(scene.b, scene.a)
    try scene.a.importDiary(carbs: 80, generatedAt: 6)
    try await scene.upload(scene.a, scene.b)
    try scene.b.importDiary(carbs: 80, generatedAt: 6)
    try await scene.upload(scene.b, scene.a)
    _ = try scene.a.undo(#require(try scene.a.imports().max()))
    try await scene.upload(scene.a, scene.b, scene.a)
    try scene.a.importDiary(carbs: 30, generatedAt: 5)
    try await scene.upload(scene.a, scene.b, scene.a, scene.b)
    try expect(80, scene)
  }

  /// The source deleted the record and brought it back later, as with an undo in an app. Each store imports
  /// one of the two exports.
  @Test(arguments: [false, true]) func anEarlierDeletionAtTheSourceYieldsToALaterExportOfAnotherStore(
    _ deletionIsSentFirst: Bool
  ) async throws {
    let scene = try await Scene()
    try scene.a.importDiary(carbs: 30, generatedAt: 5)
    try scene.a.importDiary(carbs: 30, generatedAt: 6) { $0.isDeletedAtSource = true }
    try scene.b.importDiary(carbs: 30, generatedAt: 7)
    let order = deletionIsSentFirst ? [scene.a, scene.b] : [scene.b, scene.a]
    for node in order + order + order { try await scene.upload(node) }
    try expect(30, scene)
    _ = try scene.b.undo(#require(try scene.b.imports().max()))
    for node in order + order + order { try await scene.upload(node) }
    try expect(nil, scene, "after the undo of the later export")
  }

  @Test(arguments: [false, true]) func aLaterDeletionAtTheSourceHidesTheRecordOfAnEarlierExportOfAnotherStore(
    _ deletionIsSentFirst: Bool
  ) async throws {
    let scene = try await Scene()
    for node in [scene.a, scene.b] { try node.importDiary(carbs: 30, generatedAt: 5) }
    try scene.a.importDiary(carbs: 30, generatedAt: 8) { $0.isDeletedAtSource = true }
    try scene.b.importDiary(carbs: 30, generatedAt: 7)
    let order = deletionIsSentFirst ? [scene.a, scene.b] : [scene.b, scene.a]
    for node in order + order + order { try await scene.upload(node) }
    try expect(nil, scene)
  }

  /// A job may have imported the later export several times in the first store.
  @Test(arguments: 1...3) func theNumberOfImportsOfAnExportDoesNotDecide(_ times: Int) async throws {
    let scene = try await Scene()
    try scene.b.importDiary(carbs: 30, generatedAt: 5)
    try scene.b.importDiary(carbs: 80, generatedAt: 6)
    try await scene.upload(scene.b, scene.a)
    for _ in 0..<times { try scene.a.importDiary(carbs: 80, generatedAt: 6) }
    try await scene.upload(scene.a, scene.b)
    _ = try scene.b.undo(#require(try scene.b.imports().max()))
    try await scene.upload(scene.b, scene.a, scene.b, scene.a, scene.b)
    try expect(80, scene)
  }

  /// Compares random sequences with the rule itself: of the exports that any store has imported and not
  /// undone, the latest one states the content.
  @Test(arguments: Seeds.share(of: Seeds.first(40), every: 4))
  func anySequenceEndsWithTheContentOfTheLatestExportThatIsNotUndone(_ seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let scene = try await Scene()
    var ages: [String: [Int64: Int64]] = [:]
    var log: [String] = []
    // The first and the third export state the same content.
    func grams(_ age: Int64) -> Double { age == 3 ? 10 : Double(age) * 10 }
    for _ in 0..<12 {
      let node = [scene.a, scene.b].randomElement(using: &random) ?? scene.a
      switch Int.random(in: 0..<4, using: &random) {
      case 0:
        let age = Int64.random(in: 1...4, using: &random)
        // An import of an undone export states nothing.
        let undone = try node.sync().undoneImports()
        let isUndone = ages[node.name, default: [:]].contains { $0.value == age && undone.contains($0.key) }
        guard !isUndone else { continue }
        try node.importDiary(carbs: grams(age), generatedAt: age, digest: "\(node.name) \(age)")
        try ages[node.name, default: [:]][#require(node.imports().max())] = age
        log.append("\(node.name) imports \(age)")
      case 1:
        guard let number = try node.imports().randomElement(using: &random) else { continue }
        _ = try node.toggle(number)
        log.append("\(node.name) undoes or redoes \(ages[node.name]?[number] ?? 0)")
      default:
        try await scene.upload(node)
        log.append("\(node.name) uploads")
      }
    }
    for _ in 0..<3 { try await scene.upload(scene.a, scene.b) }
    var latest: Int64?
    for node in [scene.a, scene.b] {
      let undone = try node.sync().undoneImports()
      for (number, age) in ages[node.name] ?? [:] where !undone.contains(number) {
        latest = max(latest ?? age, age)
      }
    }
    try expect(latest.map(grams), scene, "seed \(seed): \(log.joined(separator: ", "))")
  }
}
