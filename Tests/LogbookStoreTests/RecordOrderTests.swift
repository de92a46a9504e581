// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import LogbookStore

/// Tests rows without an id that have the same owner, kind, subtype and time. Their order in an export must
/// not matter.
@Suite struct RecordOrderTests {
  private static let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]]
  private let scratch: ScratchStore

  init() throws { scratch = try ScratchStore() }

  private func counts(_ counts: IngestCounts) -> [Int] {
    [
      counts.newRecords, counts.knownRecords, counts.repeatedRecords, counts.updatedRecords,
      counts.keptRecords,
    ]
  }

  private func notes(_ texts: [String]) -> IngestBatch {
    Make.batch(texts.map { Make.record(["text": .text($0)], kind: .note) })
  }

  private func stored() throws -> [String] { try scratch.rows("SELECT guid, fields, deleted FROM record") }

  private func guid(_ text: String) throws -> String {
    try scratch.rows("SELECT guid FROM record WHERE json_extract(fields, '$.text') = '\(text)'").joined()
  }

  @Test(arguments: orders) func rowsOfAFirstImportInAnyOrderGiveTheSameRecords(_ order: [Int]) throws {
    let rows = order.map { ["a", "b", "c"][$0] }
    #expect(counts(try scratch.ingest(notes(rows))) == [3, 0, 0, 0, 0])
    let other = try ScratchStore()
    try other.ingest(notes(["c", "a", "b"]))
    #expect(try other.rows("SELECT guid, fields, deleted FROM record") == stored())
  }

  @Test(arguments: orders) func unchangedRowsOfALaterExportInAnyOrderAreKnown(_ order: [Int]) throws {
    try scratch.ingest(notes(["b", "a", "c"]), generatedAt: 10)
    let before = try stored()
    let rows = order.map { ["a", "b", "c"][$0] }
    #expect(counts(try scratch.ingest(notes(rows), generatedAt: 20)) == [0, 3, 0, 0, 0])
    let apart = rows.map { notes([$0]) }
    #expect(
      counts(try scratch.ingest(apart[0], apart[1], apart[2], generatedAt: 30)) == [0, 3, 0, 0, 0])
    #expect(try stored() == before)
  }

  @Test(arguments: orders) func oneChangedRowAmongThreeUpdatesItsRecord(_ order: [Int]) throws {
    try scratch.ingest(notes(["a", "b", "c"]), generatedAt: 10)
    let changed = try guid("b")
    let rows = order.map { ["a", "z", "c"][$0] }.map { notes([$0]) }
    #expect(counts(try scratch.ingest(rows[0], rows[1], rows[2], generatedAt: 20)) == [0, 2, 0, 1, 0])
    #expect(try guid("z") == changed)
    #expect(try scratch.number("SELECT count(*) FROM record WHERE version = 1") == 2)
  }

  @Test(arguments: orders) func anAdditionalRowOfALaterExportIsNewAtAnyPosition(_ order: [Int]) throws {
    try scratch.ingest(notes(["b", "c"]), generatedAt: 10)
    let rows = order.map { ["a", "b", "c"][$0] }
    #expect(counts(try scratch.ingest(notes(rows), generatedAt: 20)) == [1, 2, 0, 0, 0])
    #expect(counts(try scratch.ingest(notes(rows.reversed()), generatedAt: 30)) == [0, 3, 0, 0, 0])
    #expect(try scratch.number("SELECT count(*) FROM record WHERE version = 1") == 3)
  }

  @Test func anUnmatchedRowIsStoredAtTheEndOfItsInput() throws {
    try scratch.ingest(notes(["b"]), generatedAt: 10)
    #expect(
      counts(try scratch.ingest(notes(["a"]), notes(["a"]), notes(["b"]), generatedAt: 20)) == [
        1, 1, 1, 0, 0,
      ])
    #expect(try scratch.rows("SELECT json_extract(fields, '$.text') FROM record ORDER BY 1") == ["a", "b"])
  }

  @Test func severalChangedRowsUpdateTheSameNumberOfRecords() throws {
    try scratch.ingest(notes(["a", "b", "c"]), generatedAt: 10)
    #expect(counts(try scratch.ingest(notes(["y", "c", "x"]), generatedAt: 20)) == [0, 1, 0, 2, 0])
    #expect(
      try scratch.rows("SELECT json_extract(fields, '$.text') FROM record ORDER BY 1") == ["c", "x", "y"])
    #expect(counts(try scratch.ingest(notes(["x", "y", "c"]), generatedAt: 20)) == [0, 3, 0, 0, 0])
  }

  @Test func anEditedRecordStaysMatchedWithItsRow() throws {
    try scratch.ingest(notes(["a", "b"]), generatedAt: 10)
    let edited = try guid("a")
    let edit = "UPDATE record SET fields = '{\"text\":\"b\"}', version = 2 WHERE guid = '\(edited)'"
    #expect(try scratch.refusal(.editor, edit) == nil)
    let before = try stored()
    for rows in [["a", "b"], ["b", "a"]] {
      #expect(counts(try scratch.ingest(notes(rows), generatedAt: 20)) == [0, 1, 0, 0, 1])
    }
    #expect(try stored() == before)
  }

  @Test func aDeletedRecordStaysMatchedWithItsRow() throws {
    try scratch.ingest(notes(["a", "b"]), generatedAt: 10)
    let edit = "UPDATE record SET fields = '{}', deleted = 1, version = 2 WHERE guid = '\(try guid("a"))'"
    #expect(try scratch.refusal(.editor, edit) == nil)
    #expect(counts(try scratch.ingest(notes(["b", "a"]), generatedAt: 20)) == [0, 1, 0, 0, 1])
    #expect(counts(try scratch.ingest(notes(["b", "z"]), generatedAt: 30)) == [0, 1, 0, 0, 1])
    #expect(try scratch.number("SELECT count(*) FROM record") == 2)
  }

  @Test func twoChangesOfARowWithOneSourceIDAreBothCounted() throws {
    func food(_ grams: Double...) -> IngestBatch {
      Make.batch(grams.map { Make.record(["carbs": .number($0)], sourceID: "1") })
    }
    try scratch.ingest(food(30), generatedAt: 10)
    #expect(counts(try scratch.ingest(food(40, 50, 40), generatedAt: 20)) == [0, 0, 1, 1, 1])
    #expect(try scratch.rows("SELECT fields, version FROM record") == [#"{"carbs":40} 2"#])
  }

  /// A pump has only one basal rate at a time. So a second equal row of a basal rate is a repetition, and not
  /// a further amount.
  @Test func onlyEqualRowsOfDosesAndMealsAreCountedAsRepeatedAmounts() throws {
    func amounts(_ kind: RecordKind, _ fields: [String: FieldValue], repeatsRows: Bool = false) throws -> Int
    {
      var record = Make.record(fields)
      record.kind = kind
      let source = IngestSource(
        name: "input", format: "test", startedAt: 1, modifiedAt: nil, decisions: [], repeatsRows: repeatsRows)
      var found = -1
      try scratch.open().ingest(source, isAtomic: false) { writer in
        try writer.write(Make.batch([record, record, record]))
        try writer.finish(end: .whole, digest: "x", generatedAt: 20, finishedAt: 3, decisions: [])
        #expect(writer.counts.repeatedRecords == 2)
        found = writer.counts.repeatedAmounts
      }
      return found
    }
    #expect(try amounts(.insulin, ["units": .number(4), "subtype": .text("basal")]) == 2)
    #expect(try amounts(.food, ["carbs": .number(30)]) == 2)
    #expect(try amounts(.insulin, ["rate": .number(0.8), "subtype": .text("basal")]) == 0)
    #expect(try amounts(.note, ["text": .text("a walk")]) == 0)
    #expect(try amounts(.insulin, ["units": .number(5)], repeatsRows: true) == 0)
  }

  /// An injection in two equal parts may be completed after an export that has the first part.
  @Test func anEqualDoseIsCountedWhenAnExportFirstHasIt() throws {
    func amounts(_ rows: Double..., scratch: ScratchStore) throws -> Int {
      let records = rows.map {
        Make.record(["units": .number($0), "subtype": .text("rapid")], kind: .insulin)
      }
      return try scratch.ingest(Make.batch(records), generatedAt: 10).repeatedAmounts
    }
    let exports: [[Int]] = try [
      [amounts(3, scratch: scratch), amounts(3, 3, scratch: scratch), amounts(3, 3, scratch: scratch)],
      [amounts(3, 3, 3, scratch: scratch), amounts(3, scratch: scratch), amounts(3, 3, scratch: scratch)],
    ]
    #expect(exports == [[0, 1, 0], [1, 0, 0]])
    // The first part was corrected when the second one was added.
    let other = try ScratchStore()
    let changed: [Int] = try [
      amounts(3, scratch: other), amounts(4, 4, scratch: other), amounts(4, 4, scratch: other),
    ]
    #expect(changed == [0, 1, 0])
  }

  @Test func rowsStoredByAnotherProcessDuringAnImportAreNotStoredAgain() throws {
    let store = try scratch.open()
    let source = IngestSource(name: "input", format: "test", startedAt: 1, modifiedAt: nil, decisions: [])
    try store.ingest(source, isAtomic: false) { writer in
      try writer.write(notes(["a"]))
      try scratch.ingest(notes(["a", "b", "c"]), generatedAt: 10)
      try writer.write(notes(["b"]))
      try writer.write(notes(["d", "c"]))
      try writer.finish(end: .whole, digest: "x", generatedAt: 20, finishedAt: 3, decisions: [])
      #expect(counts(writer.counts) == [2, 2, 0, 0, 0])
    }
    #expect(try scratch.number("SELECT count(*) FROM record") == 4)
  }
}
