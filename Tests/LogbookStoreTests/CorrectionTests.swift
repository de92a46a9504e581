// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import LogbookStore

@Suite struct CorrectionTests {
  private let scratch: ScratchStore
  private static let diary = Device(vendor: "Test", model: "Diary", format: "test")

  init() throws { scratch = try ScratchStore() }

  private func typed(
    _ numbers: Double..., at seconds: Int64 = Make.noon, kind: ReadingKind = .smbg,
    marks: ReadingMarks = .manual,
    source: OffsetSource = .zone
  ) -> IngestBatch {
    let readings = numbers.map { number in
      var reading = Make.reading(kind, Make.millimoles(number), at: seconds, source: source)
      reading.marks = marks
      return reading
    }
    return Make.batch(readings, devices: [Self.diary])
  }

  private func identity(_ number: Double) -> String {
    "model|test|Diary|smbg|time|\(Make.noon)|\(Int(number * 10))|0"
  }

  /// The values of the hidden readings in tenths of mmol/L.
  private func hidden() throws -> [Int] {
    try scratch.rows(
      "SELECT json_extract(fields, '$.reading') FROM record WHERE json_extract(fields, '$.hidden') ORDER BY 1"
    )
    .compactMap { ReadingIdentity(text: $0).map { Int($0.valueBucket) } }
  }

  private func content() throws -> [String] {
    try scratch.rows("SELECT * FROM reading") + scratch.rows("SELECT * FROM record")
  }

  @Test func aLaterExportThatCorrectsAHandTypedValueHidesTheOldOne() throws {
    #expect(try scratch.ingest(typed(5.6), generatedAt: 10).correctedReadings == 0)
    let counts = try scratch.ingest(typed(6.5), generatedAt: 20)
    #expect([counts.newReadings, counts.correctedReadings, counts.records] == [1, 1, 0])
    #expect(try scratch.number("SELECT count(*) FROM reading") == 2)
    let fields =
      #"{"hidden":true,"reading":"\#(identity(5.6))","subtype":"reading","text":"corrected at the source"}"#
    #expect(
      try scratch.rows(
        "SELECT kind, fields, device_time, version, version_synced, ingest, imported FROM record") == [
          "withdrawal \(fields) \(Make.noon) 1 0 2 \(Make.noon)+0 \(fields)"
        ])
    #expect(
      try scratch.rows("SELECT guid FROM record") == [
        Digest.uuid(of: ["withdrawal", "reading", identity(5.6)])
      ])
  }

  /// A diary whose source does not state that a person typed its finger sticks. The first one has this
  /// number.
  private func diary(_ number: Double, sharing count: Int, serial: String = "") -> IngestBatch {
    let readings = (0...count).map { place in
      let number = place == 0 ? number : 7 + Double(place) / 10
      return Make.reading(.smbg, Make.millimoles(number), at: Make.noon + Int64(place) * 3600)
    }
    return Make.batch(
      readings, devices: [Device(vendor: "Test", model: "Diary", serial: serial, format: "test")])
  }

  @Test(arguments: [(10, "", [25]), (9, "", [Int]()), (20, "S1", [Int]())])
  func aValueOfADiaryIsCorrectedIfTheExportsShareTenFingerSticks(
    _ count: Int, _ serial: String, _ corrected: [Int]
  ) throws {
    for isReversed in [false, true] {
      let scratch = try ScratchStore()
      let exports: [(Double, Int64)] = [(2.5, 10), (6.5, 20)]
      for (number, age) in isReversed ? exports.reversed() : exports {
        try scratch.ingest(diary(number, sharing: count, serial: serial), generatedAt: age)
      }
      let hidden = try scratch.rows(
        "SELECT json_extract(fields, '$.reading') FROM record WHERE json_extract(fields, '$.hidden')")
      #expect(hidden.compactMap { ReadingIdentity(text: $0).map { Int($0.valueBucket) } } == corrected)
    }
  }

  @Test func importingACorrectedExportAgainAddsNothing() throws {
    let batches = [(typed(5.6), Int64(10)), (typed(6.5), 20), (typed(7.4), 30)]
    for (batch, time) in batches { try scratch.ingest(batch, generatedAt: time) }
    let content = try content()
    #expect(try hidden() == [56, 65])
    for (batch, time) in batches + batches.reversed() {
      #expect(try scratch.ingest(batch, generatedAt: time).correctedReadings == 0)
    }
    #expect(try self.content() == content)
  }

  @Test(arguments: [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]])
  func correctedExportsInAnyOrderHideTheSameReadings(_ order: [Int]) throws {
    let exports = [(typed(5.6), Int64(10)), (typed(6.5), 20), (typed(7.4), 30)]
    for index in order { try scratch.ingest(exports[index].0, generatedAt: exports[index].1) }
    #expect(try hidden() == [56, 65])
  }

  /// The values of the visible readings in tenths of mmol/L.
  private func shown(_ scratch: ScratchStore) throws -> [String] {
    try scratch.rows(
      """
      SELECT r.value_bucket FROM reading AS r WHERE NOT EXISTS (SELECT 1 FROM withdrawn AS w
        WHERE (w.series, w.position, w.value_bucket) = (r.series, r.position, r.value_bucket)) ORDER BY 1
      """)
  }

  /// `values` are the values that four exports of one diary have for the same time. Export 3 is the latest
  /// one.
  @Test(arguments: [
    [5.6, 5.6, 6.5, 6.5], [5.6, 6.5, 5.6, 5.6], [5.6, 6.5, 7.4, 6.5], [5.6, 5.6, 5.6, 6.5],
  ])
  func exportsInAnyOrderShowTheValueOfTheLatestOne(_ values: [Double]) throws {
    let orders = [
      [2, 3, 0, 1], [0, 3, 2, 1], [0, 1, 2, 3], [3, 2, 1, 0], [1, 0, 3, 2], [3, 0, 1, 2], [1, 3, 0, 2],
      [2, 0, 3, 1],
    ]
    for order in orders {
      let scratch = try ScratchStore()
      for index in order {
        try scratch.ingest(typed(values[index]), generatedAt: Int64(10 * (index + 1)), digest: "\(index)")
      }
      #expect(try shown(scratch) == ["\(Int(values[3] * 10))"], "\(order)")
    }
  }

  @Test func theUndoOfACorrectionShowsTheOldValueInAnyOrderOfImports() throws {
    try scratch.ingest(typed(6.5), generatedAt: 30, digest: "3")
    try scratch.ingest(typed(5.6), generatedAt: 10, digest: "1")
    try scratch.ingest(typed(6.5), generatedAt: 20, digest: "2")
    #expect(try shown(scratch) == ["65"])
    let editor = try scratch.open(.editor)
    _ = try editor.undo(1, group: Digest.uuid(of: ["undo 1"]), at: 40)
    #expect(try shown(scratch) == ["65"], "the second export also has the correction")
    _ = try editor.undo(3, group: Digest.uuid(of: ["undo 3"]), at: 41)
    #expect(try shown(scratch) == ["56"])
    _ = try editor.redo(1, at: 42)
    #expect(try shown(scratch) == ["65"])
  }

  @Test func anExportWithTheTimeOfTheStoredOneHidesNoReadings() throws {
    try scratch.ingest(typed(5.6), generatedAt: 10)
    #expect(try scratch.ingest(typed(6.5), generatedAt: 10).correctedReadings == 0)
    #expect(try hidden() == [])
  }

  @Test func theFileTimeDecidesBetweenExportsWithEqualExportTime() throws {
    try scratch.ingest(typed(5.6), generatedAt: 10, modifiedAt: 1)
    #expect(try scratch.ingest(typed(6.5), generatedAt: 10, modifiedAt: 2).correctedReadings == 1)
  }

  /// An input from a pipe has no file time. Its import begins at second 1000 in a `ScratchStore`, and this
  /// time is used instead.
  @Test(arguments: [(900, 56), (1100, 65)] as [(Int64, Int)])
  func anExportFromAPipeCorrectsReadingsByTheTimeOfItsImport(_ modifiedAt: Int64, _ outdated: Int) throws {
    try scratch.ingest(typed(5.6), generatedAt: 10, modifiedAt: modifiedAt)
    try scratch.ingest(typed(6.5), generatedAt: 10)
    #expect(try hidden() == [outdated])
  }

  @Test func aCopyOfAFileIsNotLaterThanTheFile() throws {
    try scratch.ingest(typed(5.6), generatedAt: 10, modifiedAt: 1, digest: "first")
    try scratch.ingest(typed(6.5), generatedAt: 10, modifiedAt: 2, digest: "second")
    try scratch.ingest(typed(5.6), generatedAt: 10, modifiedAt: 3, digest: "first")
    #expect(try hidden() == [56])
  }

  @Test func aValueThatTheLaterExportStillHasIsNotHidden() throws {
    try scratch.ingest(typed(5.6), generatedAt: 10)
    #expect(try scratch.ingest(typed(5.6, 6.5), generatedAt: 20).correctedReadings == 0)
    #expect(try scratch.ingest(typed(6.5), typed(5.6), generatedAt: 30).correctedReadings == 0)
  }

  @Test func aVanishedValueIsNotHiddenIfItsTimeHadTwoValues() throws {
    try scratch.ingest(typed(5.6, 6.5), generatedAt: 10)
    #expect(try scratch.ingest(typed(6.5), generatedAt: 20).correctedReadings == 0)
    #expect(try scratch.ingest(typed(9.9, at: Make.noon + 60), generatedAt: 30).correctedReadings == 0)
  }

  @Test func ifAMinuteHasTwoValuesOnlyTheCorrectedOneIsHidden() throws {
    try scratch.ingest(typed(5.6, 8.8), generatedAt: 10)
    #expect(try scratch.ingest(typed(6.5, 8.8), generatedAt: 20).correctedReadings == 1)
    #expect(try hidden() == [56])
  }

  @Test func aCorrectedValueThatALaterExportStatesAgainIsVisible() throws {
    try scratch.ingest(typed(5.6), generatedAt: 10)
    try scratch.ingest(typed(6.5), generatedAt: 20)
    let counts = try scratch.ingest(typed(5.6), generatedAt: 30)
    #expect([counts.correctedReadings, counts.records] == [2, 0])
    #expect(try hidden() == [65])
    #expect(try scratch.ingest(typed(5.6), generatedAt: 30).correctedReadings == 0)
    try scratch.ingest(typed(6.5), generatedAt: 40)
    #expect(try hidden() == [56])
  }

  @Test(arguments: ["fields = '{\"hidden\":false}'", "deleted = 1"])
  func aWithdrawalOfACorrectedValueThatAPersonChangedIsKept(_ edit: String) throws {
    try scratch.ingest(typed(5.6), generatedAt: 10)
    try scratch.ingest(typed(6.5), generatedAt: 20)
    #expect(try scratch.refusal(.editor, "UPDATE record SET \(edit), version = 2") == nil)
    let edited = try scratch.rows("SELECT * FROM record")
    try scratch.ingest(typed(7.4), generatedAt: 30)
    try scratch.ingest(typed(5.6), generatedAt: 40)
    #expect(try scratch.rows("SELECT * FROM record WHERE version = 2") == edited)
  }

  @Test func measuredValuesOfAMeterAreNeverHiddenByALaterExport() throws {
    try scratch.ingest(typed(5.6, marks: []), generatedAt: 10)
    #expect(try scratch.ingest(typed(6.5), generatedAt: 20).correctedReadings == 0)
    #expect(try scratch.ingest(typed(7.4, marks: []), generatedAt: 30).correctedReadings == 0)
  }

  @Test func aValueInARepeatedHourIsNeverTakenForACorrection() throws {
    try scratch.ingest(typed(5.6, at: Make.repeated, source: .zoneOverlap), generatedAt: 10)
    let overlap = typed(6.5, at: Make.repeated, source: .zoneOverlap)
    #expect(try scratch.ingest(overlap, generatedAt: 20).correctedReadings == 0)
    try scratch.ingest(typed(5.6, marks: [.manual, .clockSetBack]), generatedAt: 30)
    let setBack = typed(6.5, marks: [.manual, .clockSetBack])
    #expect(try scratch.ingest(setBack, generatedAt: 40).correctedReadings == 0)
  }

  @Test func readingsImportedFromAnotherStoreAreNotTakenForCorrections() throws {
    try scratch.ingest(typed(5.6), generatedAt: 10)
    var batch = typed(6.5)
    batch.readings[0].occurrenceIsStated = true
    #expect(try scratch.ingest(batch, generatedAt: 20).correctedReadings == 0)
  }

  @Test func aTruncatedInputHidesNoReadings() throws {
    try scratch.ingest(typed(5.6), generatedAt: 10)
    let end = InputEnd.truncated(line: 2, detail: "cut")
    #expect(try scratch.ingest(typed(6.5), generatedAt: 20, end: end).correctedReadings == 0)
    #expect(try scratch.ingest(typed(6.5), generatedAt: 21).correctedReadings == 1)
  }

  @Test func aCorrectedExportRepeatedAfterAKillHidesTheSameReadings() throws {
    try scratch.ingest(typed(5.6), generatedAt: 10)
    let store = try scratch.open()
    let source = IngestSource(name: "input", format: "test", startedAt: 1, modifiedAt: nil, decisions: [])
    #expect(throws: Failure.self) {
      try store.ingest(source, isAtomic: false) { writer in
        try writer.write(typed(6.5))
        throw Failure(.inputOutput, "killed")
      }
    }
    #expect(try scratch.ingest(typed(6.5), generatedAt: 20).correctedReadings == 1)
    #expect(try hidden() == [56])
  }

  @Test func correctionsAreFoundAcrossUnitsAndForKetones() throws {
    try scratch.ingest(typed(5.6), generatedAt: 10)
    var same = typed(0)
    same.readings[0].measurement = Make.milligrams(101)
    #expect(try scratch.ingest(same, generatedAt: 20).correctedReadings == 0)
    try scratch.ingest(typed(0.3, kind: .ketone), generatedAt: 30)
    #expect(try scratch.ingest(typed(0.9, kind: .ketone), generatedAt: 40).correctedReadings == 1)
  }
}
