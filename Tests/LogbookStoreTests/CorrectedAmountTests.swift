// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import LogbookStore

/// Tests exports whose ids contain amounts, and that state another amount than an earlier export.
@Suite struct CorrectedAmountTests {
  private let scratch: ScratchStore

  init() throws { scratch = try ScratchStore() }

  static func record(
    _ amount: Double, at seconds: Int64 = Make.noon, kind: RecordKind = .insulin, use: String = "rapid",
    app: String = "app", copy: Int = 1
  ) -> ImportedRecord {
    var record = ImportedRecord(
      kind: kind, at: DeviceTime(seconds: seconds), placement: Placement(utcOffset: 7200, source: .instant),
      fields: RecordFields(
        kind == .food ? ["carbs": .number(amount)] : ["units": .number(amount), "subtype": .text(use)]),
      sourceID: "\(kind.rawValue) \(seconds) \(amount) \(app)\(copy > 1 ? " \(copy)" : "")", line: 1)
    record.source = app
    return record
  }

  /// An export with doses of these amounts at noon, and three other doses. Equal amounts are separate doses.
  private static func export(_ amounts: Double...) -> IngestBatch { batch(amounts) }

  static func batch(_ amounts: [Double]) -> IngestBatch {
    let doses = amounts.enumerated().map { index, amount in
      record(amount, copy: amounts[...index].count { $0 == amount })
    }
    return Make.batch(doses + (1...3).map { record(Double($0), at: Make.noon + 3600 * Int64($0)) })
  }

  @discardableResult
  private func bring(
    _ batch: IngestBatch, _ generatedAt: Int64, to scratch: ScratchStore? = nil, digest: String? = nil,
    format: String = "apple-health", rejected: Int = 0
  ) throws -> (counts: IngestCounts, missing: String?) {
    try Self.bring(
      batch, generatedAt, to: scratch ?? self.scratch, digest: digest, format: format, rejected: rejected)
  }

  @discardableResult
  static func bring(
    _ batch: IngestBatch, _ generatedAt: Int64, to scratch: ScratchStore, digest: String? = nil,
    format: String = "apple-health", rejected: Int = 0
  ) throws -> (counts: IngestCounts, missing: String?) {
    let source = IngestSource(
      name: "input", format: format, startedAt: 1000, modifiedAt: generatedAt, decisions: [])
    var batch = batch
    batch.rejections = (0..<Int64(rejected)).map { Rejection(line: $0, reason: "invalid") }
    var result = (counts: IngestCounts(), missing: String?.none)
    try scratch.open().ingest(source, isAtomic: false) { writer in
      try writer.write(batch)
      try writer.finish(
        end: .whole, digest: digest ?? "\(Int64.random(in: 0 ... .max))", generatedAt: generatedAt,
        finishedAt: 2000, decisions: [])
      result = (writer.counts, try writer.missingItems())
    }
    return result
  }

  /// The visible amounts at noon.
  private func amounts(_ scratch: ScratchStore? = nil) throws -> [Double] {
    var amounts: [Double] = []
    try (scratch ?? self.scratch).open(.reader).forEachItem(ItemFilter()) { item in
      guard case .record(let record) = item, record.deviceTime.seconds == Make.noon else { return }
      let fields = try RecordFields(json: record.fields)
      if let amount = fields.amount("units") ?? fields.amount("carbs") { amounts.append(amount) }
    }
    return amounts.sorted()
  }

  @Test func aCorrectedAmountReplacesTheEarlierOne() throws {
    try bring(Self.export(2.5), 10)
    let (counts, missing) = try bring(Self.export(9.5), 20)
    #expect([counts.newRecords, counts.updatedRecords, counts.knownRecords] == [0, 1, 3])
    #expect(missing == nil)
    #expect(try amounts() == [9.5])
    let before = try scratch.rows("SELECT * FROM record")
    let again = try bring(Self.export(9.5), 20)
    #expect([again.counts.newRecords, again.counts.updatedRecords, again.counts.knownRecords] == [0, 0, 4])
    #expect(try scratch.rows("SELECT * FROM record") == before)
  }

  @Test func anOlderExportDoesNotBringTheEarlierAmountBack() throws {
    try bring(Self.export(9.5), 20)
    let counts = try bring(Self.export(2.5), 10).counts
    #expect([counts.newRecords, counts.keptRecords, counts.knownRecords] == [0, 1, 3])
    #expect(try amounts() == [9.5])
  }

  @Test func correctedAmountsOfMealsAndOfExportsWithRejectedRowsCountOnce() throws {
    let meals = [45.0, 54].map { Make.batch([Self.record($0, kind: .food)]) }
    try bring(meals[0], 10, rejected: 1)
    try bring(meals[1], 20, rejected: 1)
    #expect(try amounts() == [54])
  }

  /// The amounts at noon that exports of the ages 1, 2 and 3 state. The last one decides.
  @Test(arguments: [
    [[2.5], [9.5], [4]], [[2.5], [9.5], [2.5]], [[9.5], [9.5], [2.5]], [[2.5], [9.5], [2.5, 9.5]],
    [[2.5], [2.5], [9.5]], [[2.5, 9.5], [2.5, 9.5], [2.5, 9.5]], [[2.5], [2.5, 9.5], [2.5, 9.5]],
    [[2.5], [2.5, 2.5], [2.5, 2.5]],
  ])
  func exportsInAnyOrderEndWithTheAmountsOfTheLatestOne(_ stated: [[Double]]) throws {
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
      let scratch = try ScratchStore()
      for index in order {
        try bring(Self.batch(stated[index]), Int64(index + 1), to: scratch, digest: "\(index)")
      }
      #expect(try amounts(scratch) == stated[2], "\(order)")
    }
  }

  /// Food diaries give all foods of a meal one time. Which of them became another one is not known.
  @Test(
    arguments: [
      ([2, 2], [2, 3], [2, 2, 3]), ([2, 2], [3], [2, 2, 3]), ([2, 3], [4], [2, 3, 4]),
      ([2], [3, 4], [2, 3, 4]),
      ([2], [3, 3], [2, 3, 3]),
    ] as [([Double], [Double], [Double])])
  func severalAmountsOfOneSecondStay(_ earlier: [Double], _ later: [Double], _ all: [Double]) throws {
    for isInOrder in [true, false] {
      let scratch = try ScratchStore()
      let exports = [(Self.batch(earlier), Int64(10)), (Self.batch(later), 20)]
      for (batch, time) in isInOrder ? exports : exports.reversed() { try bring(batch, time, to: scratch) }
      #expect(try amounts(scratch) == all)
    }
  }

  @Test func amountsThatDifferInMoreStay() throws {
    let first = Self.record(2.5)
    let others = [
      Self.record(9.5, use: "basal"), Self.record(9.5, app: "other"), Self.record(9.5, kind: .food),
      Self.record(9.5, at: Make.noon + 1),
    ]
    for other in others {
      let scratch = try ScratchStore()
      try bring(Make.batch([first]), 10, to: scratch)
      let counts = try bring(Make.batch([other]), 20, to: scratch).counts
      #expect(counts.newRecords == 1 && counts.updatedRecords == 0)
      #expect(try amounts(scratch).first == 2.5)
    }
  }

  /// Ids that the source states are different for different doses.
  @Test func amountsWithIDsOfTheSourceStay() throws {
    try bring(Self.export(2.5), 10, format: "test")
    try bring(Self.export(9.5), 20, format: "test")
    #expect(try amounts() == [2.5, 9.5])
  }

  @Test func undoShowsTheEarlierAmountAndRedoHidesIt() throws {
    try bring(Self.export(2.5), 10)
    try bring(Self.export(9.5), 20, digest: "a")
    let editor = try scratch.open(.editor)
    _ = try editor.undo(2, group: Digest.uuid(of: ["undo"]), at: 5000)
    #expect(try amounts() == [2.5])
    _ = try editor.redo(2, at: 5000)
    #expect(try amounts() == [9.5])
  }

  @Test func anAmountThatAPersonShowsOrEditsStaysVisible() throws {
    try bring(Self.export(2.5), 10)
    try bring(Self.export(9.5), 20)
    var filter = ItemFilter()
    filter.includesWithdrawn = true
    var hidden: [StoredRecord] = []
    try scratch.open(.reader).forEachItem(filter) { item in
      if case .record(let record) = item, record.isWithdrawn { hidden.append(record) }
    }
    let record = try #require(hidden.first)
    #expect(try WithdrawalEditor(scratch.open(.editor), at: 3000).set(record, isHidden: false, reason: ""))
    try bring(Self.export(9.5), 30)
    #expect(try amounts() == [2.5, 9.5])
  }
}
