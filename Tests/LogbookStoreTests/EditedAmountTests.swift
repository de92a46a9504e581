// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SeededRandom
import Testing

@testable import LogbookStore

/// Tests edits of doses whose ids contain amounts, and whose app corrects the amount in other exports.
@Suite struct EditedAmountTests {
  typealias Sample = CorrectedAmountTests
  private let scratch: ScratchStore

  init() throws { scratch = try ScratchStore() }

  private static let first: Int64 = 5000
  private static let noon = DeviceTime(seconds: Make.noon)

  /// The doses at noon that count, and those that a list shows.
  private func doses(_ scratch: ScratchStore? = nil) throws -> (counted: [Double], shown: [Double]) {
    var (counted, shown): ([Double], [Double]) = ([], [])
    try (scratch ?? self.scratch).open(.reader).forEachCounted(ItemFilter()) { stored, _, verdict in
      guard case .record(let record) = stored, record.deviceTime == Self.noon else { return }
      let amount = try RecordFields(json: record.fields).amount("units") ?? 0
      shown.append(amount)
      if verdict.counts { counted.append(amount) }
    }
    return (counted.sorted(), shown.sorted())
  }

  /// The id of the visible dose with this amount at noon.
  private func guid(of amount: Double) throws -> String {
    var guids: [String] = []
    try scratch.open(.reader).forEachItem(ItemFilter()) { stored in
      guard case .record(let record) = stored, record.deviceTime == Self.noon else { return }
      if try RecordFields(json: record.fields).amount("units") == amount { guids.append(record.guid) }
    }
    return try #require(guids.first)
  }

  private func edit(_ amount: Double, to other: Double, at now: Int64 = first) throws {
    let guid = try guid(of: amount)
    let editor = RecordEditor(try scratch.open(.editor), at: now)
    _ = try editor.edit(guid) { $0.fields["units"] = .number(other) }
  }

  /// Undoes or redoes the last edit. Returns whether there was one.
  @discardableResult
  private func step(_ direction: UndoDirection, at now: Int64 = first) throws -> Bool {
    let store = try scratch.open(.editor)
    let condition = direction == .undo ? "is_undone = 0" : "is_undone = 1"
    let action = try store.read {
      try ActionLog.actions("\(condition) AND kind = 'edit'", [], limit: 1, $0).first
    }
    guard let action else { return false }
    _ = try store.apply(direction, to: action, at: now)
    return true
  }

  private func bring(_ amounts: [Double], _ age: Int64) throws {
    try Sample.bring(Sample.batch(amounts), age, to: scratch, digest: "\(age)")
  }

  @Test func anEditCountsWhateverTheSourceCorrects() throws {
    try bring([2.5], 10)
    try edit(2.5, to: 3)
    let counts = try Sample.bring(Sample.batch([9.5]), 20, to: scratch).counts
    #expect([counts.newRecords, counts.updatedRecords, counts.keptRecords] == [1, 0, 0])
    #expect(try doses() == ([3], [3, 9.5]))
    try bring([7], 30)
    #expect(try doses() == ([3], [3, 7]))
    // The amount of the latest export counts after an undo of the edit.
    try step(.undo)
    #expect(try doses() == ([7], [7]))
    try step(.redo)
    #expect(try doses() == ([3], [3, 7]))
    _ = try scratch.open(.editor).undo(1, group: Digest.uuid(of: ["1"]), at: 6000)
    try step(.undo)
    #expect(try doses() == ([7], [7]))
  }

  @Test func anEditOfTheNewestAmountCountsWithOlderExports() throws {
    try bring([9.5], 20)
    try edit(9.5, to: 3)
    try bring([2.5], 10)
    #expect(try doses() == ([3], [3]))
    _ = try scratch.open(.editor).undo(1, group: Digest.uuid(of: ["1"]), at: 6000)
    #expect(try doses() == ([3], [2.5, 3]))
  }

  /// A note is not a statement about the amount, before or after the edit of an amount.
  @Test func aNoteDecidesAboutNoAmount() throws {
    func annotate(_ amount: Double, at now: Int64) throws {
      let guid = try guid(of: amount)
      let editor = RecordEditor(try scratch.open(.editor), at: now)
      _ = try editor.edit(guid) { $0.fields["text"] = .text("soup") }
    }
    try bring([2.5], 10)
    try annotate(2.5, at: 5000)
    try bring([9.5], 20)
    #expect(try doses() == ([9.5], [2.5, 9.5]))
    try edit(9.5, to: 4, at: 5001)
    try annotate(2.5, at: 5002)
    #expect(try doses() == ([4], [2.5, 4]))
  }

  /// If a person edits both records, the last edit counts.
  @Test func theLaterOfTwoEditsCounts() throws {
    try bring([2.5], 10)
    try edit(2.5, to: 3)
    try bring([9.5], 20)
    try edit(9.5, to: 4, at: 5001)
    #expect(try doses() == ([4], [3, 4]))
  }

  /// The amounts of two exports, and the amounts that count after the 2.5 of the first one is edited to 3.
  @Test(
    arguments: [
      ([2.5, 4], [9.5], [3, 4, 9.5]), ([2.5], [9.5, 4], [3, 4, 9.5]), ([2.5, 4], [2.5, 4], [3, 4]),
      ([2.5, 4], [2.5, 9.5], [3, 4, 9.5]),
    ] as [([Double], [Double], [Double])])
  func ofSeveralDosesAtOneSecondNoneIsLeftOut(_ earlier: [Double], _ later: [Double], _ all: [Double]) throws
  {
    try bring(earlier, 10)
    try edit(2.5, to: 3)
    try bring(later, 20)
    #expect(try doses().counted == all)
  }

  /// A later export shows that two amounts are two doses, whether or not a person hid one of them.
  @Test func aSecondDoseOfALaterExportCountsNextToAnEdit() throws {
    try bring([2.5], 10)
    try edit(2.5, to: 3)
    try bring([9.5], 20)
    try bring([9.5, 4], 30)
    #expect(try doses().counted == [3, 4, 9.5])
    let guid = try guid(of: 9.5)
    let record = try #require(try scratch.open(.reader).read { try RecordEditor.fetch(guid, $0) })
    #expect(try WithdrawalEditor(scratch.open(.editor), at: 5001).set(record, isHidden: true, reason: ""))
    #expect(try doses().counted == [3, 4])
    try bring([2.5, 9.5], 40)
    #expect(try doses().counted == [3, 4])
  }

  @Test func aDecisionCountsTheEditAndTheAmountOfTheSource() throws {
    try bring([2.5], 10)
    try edit(2.5, to: 3)
    try bring([9.5], 20)
    let editor = CountEditor(try scratch.open(.editor), at: 6000)
    #expect(
      try editor.decide(
        CountDecision(.sources("apple-health/app", "apple-health/app"), .both)))
    #expect(try doses().counted == [3, 9.5])
  }

  /// Another store knows only the records, and not which export has which of them.
  @Test func anotherStoreCountsTheSameEdit() throws {
    try bring([2.5], 10)
    try edit(2.5, to: 3)
    try bring([9.5], 20)
    let other = try ScratchStore()
    let original = try scratch.open(.reader)
    _ = try StoreMerge(original, named: original.path, at: 9000).run(into: other.open(.importer))
    #expect(try doses(other) == ([3], [3, 9.5]))
  }

  /// Exports of four ages state one dose with four amounts. Imports, edits, undos and redos come in any
  /// order.
  @Test(arguments: Seeds.share(of: Seeds.first(40), every: 4))
  func oneRecordOfASecondCountsInAnyOrder(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let amounts: [Double] = [4, 14, 24, 34]
    var imports: [Int64: Int] = [:]
    var (undone, log): (Set<Int64>, [String]) = ([], [])
    var amount = 100.0
    for now in Self.first..<Self.first + 14 {
      let store = try scratch.open(.editor)
      switch Int.random(in: 0..<6, using: &random) {
      case 0, 1:
        let age = Int.random(in: 0..<4, using: &random)
        guard !imports.values.contains(age) else { continue }
        try bring([amounts[age]], Int64(age + 1))
        imports[Int64(try scratch.number("SELECT max(id) FROM ingest"))] = age
        log.append("import \(age)")
      case 2:
        guard let shown = try doses().shown.randomElement(using: &random) else { continue }
        amount += 1
        try edit(shown, to: amount, at: now)
        log.append("edit \(shown)")
      case 3:
        let direction: UndoDirection = Bool.random(using: &random) ? .undo : .redo
        if try step(direction, at: now) { log.append("\(direction) edit") }
      case 4:
        guard let ingest = imports.keys.sorted().randomElement(using: &random) else { continue }
        _ = try store.undo(ingest, group: Digest.uuid(of: ["\(now)"]), at: now)
        undone.insert(ingest)
        log.append("undo \(imports[ingest] ?? 0)")
      default:
        guard let ingest = undone.sorted().randomElement(using: &random) else { continue }
        _ = try store.redo(ingest, at: now)
        undone.remove(ingest)
        log.append("redo \(imports[ingest] ?? 0)")
      }
      let found = try doses()
      let edits = found.shown.filter { $0 > 100 }
      let latest = imports.filter { !undone.contains($0.key) }.values.max()
      #expect(found.counted.count <= 1, "\(log)")
      if let latest, edits.isEmpty { #expect(found.counted == [amounts[latest]], "\(log)") }
      if !edits.isEmpty {
        #expect(found.counted.allSatisfy(edits.contains) && !found.counted.isEmpty, "\(log)")
      }
    }
  }
}
