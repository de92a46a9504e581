// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import LogbookStore

/// Tests exports that state records as deleted at their source.
@Suite struct SourceDeletionTests {
  private let scratch: ScratchStore
  private let guid = Digest.uuid(of: ["record", "test", "1"])

  init() throws { scratch = try ScratchStore() }

  private func row(_ grams: Double, _ sourceID: String = "1", isDeleted: Bool = false) -> ImportedRecord {
    var row = Make.record(["carbs": .number(grams)], sourceID: sourceID)
    row.isDeletedAtSource = isDeleted
    return row
  }

  private func export(_ rows: ImportedRecord...) -> IngestBatch { Make.batch(rows) }

  /// The row of a document whose content the source removed with the deletion.
  private var blank: ImportedRecord {
    var row = Make.record([:], sourceID: "1")
    row.isDeletedAtSource = true
    return row
  }

  /// The fields of the visible records, as JSON.
  private func shown(_ scratch: ScratchStore) throws -> [String] {
    var fields: [String] = []
    try scratch.open(.reader).forEachItem(ItemFilter()) { item in
      if case .record(let record) = item { fields.append(record.fields) }
    }
    return fields
  }

  private func shown() throws -> [String] { try shown(scratch) }

  /// A record that a withdrawal hides. The test fails if there is none.
  private func hidden() throws -> StoredRecord {
    var filter = ItemFilter()
    filter.includesWithdrawn = true
    var records: [StoredRecord] = []
    try scratch.open(.reader).forEachItem(filter) { item in
      if case .record(let record) = item, record.isWithdrawn { records.append(record) }
    }
    return try #require(records.first)
  }

  private func undo(_ ingest: Int64) throws -> UndoCounts {
    try scratch.open(.editor).undo(ingest, group: Digest.uuid(of: ["undo", "\(ingest)"]), at: 5000)
  }

  private func redo(_ ingest: Int64) throws -> UndoCounts {
    try scratch.open(.editor).redo(ingest, at: 5000)
  }

  @Test func aLaterExportThatStatesADeletionHidesTheRecordOnce() throws {
    try scratch.ingest(export(row(30), row(40, "2")), generatedAt: 10)
    let later = export(row(30, isDeleted: true), row(40, "2"))
    let counts = try scratch.ingest(later, generatedAt: 20)
    #expect([counts.deletedRecords, counts.newRecords, counts.knownRecords] == [1, 0, 2])
    #expect(try shown() == [#"{"carbs":40}"#])
    let before = try scratch.rows("SELECT * FROM record")
    let again = try scratch.ingest(later, generatedAt: 20)
    #expect([again.deletedRecords, again.newRecords, again.knownRecords] == [0, 0, 2])
    #expect(try scratch.rows("SELECT * FROM record") == before)
  }

  @Test func anOlderExportDoesNotBringADeletedRecordBack() throws {
    let counts = try scratch.ingest(export(row(30, isDeleted: true), row(40, "2")), generatedAt: 20)
    #expect([counts.deletedRecords, counts.newRecords] == [1, 2])
    for _ in 0..<2 {
      try scratch.ingest(export(row(30), row(40, "2")), generatedAt: 10)
      #expect(try shown() == [#"{"carbs":40}"#])
    }
  }

  @Test func aRecordFirstImportedAsDeletedIsNeverVisible() throws {
    let source = IngestSource(name: "-", format: "test", startedAt: 1000, modifiedAt: nil, decisions: [])
    try scratch.open().ingest(source, isAtomic: false) { writer in
      try writer.write(export(row(30, isDeleted: true)))
      #expect(try scratch.number("SELECT count(*) FROM record WHERE kind = 'food'") == 1)
      #expect(try shown() == [])
      try writer.finish(end: .whole, digest: "a", generatedAt: 10, finishedAt: 2000, decisions: [])
    }
  }

  /// The exports have the ages 1, 2 and 3. The last one decides, whatever the order of the imports.
  @Test(arguments: [
    ([false, true, false], true), ([false, false, true], false), ([true, false, true], false),
    ([true, true, false], true), ([true, false, false], true), ([false, true, true], false),
  ])
  func exportsInAnyOrderHideOrShowARecordAsTheLatestOneStates(_ deletions: [Bool], _ isShown: Bool) throws {
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
      let scratch = try ScratchStore()
      for index in order {
        try scratch.ingest(
          export(row(30, isDeleted: deletions[index])), generatedAt: Int64(index + 1), digest: "\(index)")
      }
      #expect(try shown(scratch).count == (isShown ? 1 : 0), "\(order)")
    }
  }

  /// The newest item of an export is often in the next export, too.
  @Test(arguments: [[false, true], [true, false]])
  func amongExportsOfEqualAgeTheOneStatingADeletionDecides(_ deletions: [Bool]) throws {
    for (index, isDeleted) in deletions.enumerated() {
      try scratch.ingest(
        export(row(30, isDeleted: isDeleted)), generatedAt: 10, modifiedAt: Int64(index), digest: "\(index)")
    }
    #expect(try shown() == [])
  }

  @Test func aRecordThatWasCorrectedBeforeItsDeletionIsHidden() throws {
    try scratch.ingest(export(row(30)), generatedAt: 10)
    let counts = try scratch.ingest(export(row(35, isDeleted: true)), generatedAt: 20)
    #expect([counts.updatedRecords, counts.deletedRecords] == [1, 1])
    #expect(try shown() == [])
    try scratch.ingest(export(row(30)), generatedAt: 10, digest: "again")
    #expect(try shown() == [])
    _ = try undo(2)
    #expect(try shown() == [#"{"carbs":30}"#])
    _ = try redo(2)
    #expect(try shown() == [])
  }

  @Test func undoShowsARecordDeletedAtItsSourceAndRedoHidesItAgain() throws {
    try scratch.ingest(export(row(30)), generatedAt: 10)
    try scratch.ingest(export(row(30, isDeleted: true)), generatedAt: 20)
    let undone = try undo(2)
    #expect([undone.records, undone.oppositeRecords, undone.readings] == [0, 1, 0])
    #expect(try shown() == [#"{"carbs":30}"#])
    let redone = try redo(2)
    #expect([redone.records, redone.oppositeRecords] == [0, 1])
    #expect(try shown() == [])
  }

  @Test func undoKeepsARecordHiddenWhileAnotherImportStatesItsDeletion() throws {
    try scratch.ingest(export(row(30)), generatedAt: 10)
    try scratch.ingest(export(row(30, isDeleted: true)), generatedAt: 20, digest: "a")
    try scratch.ingest(export(row(30, isDeleted: true)), generatedAt: 30, digest: "b")
    #expect(try undo(2).oppositeRecords == 0)
    #expect(try shown() == [])
    _ = try undo(3)
    #expect(try shown() == [#"{"carbs":30}"#])
    // The undone file is imported again, so its deletion does not count. The deletion in another file counts.
    try scratch.ingest(export(row(30, isDeleted: true)), generatedAt: 30, digest: "b")
    #expect(try shown() == [#"{"carbs":30}"#])
    try scratch.ingest(export(row(30, isDeleted: true)), generatedAt: 40, digest: "c")
    #expect(try shown() == [])
  }

  @Test func aRecordEditedBeforeItsDeletionAtTheSourceStaysVisible() throws {
    try scratch.ingest(export(row(30)), generatedAt: 10)
    #expect(
      try scratch.refusal(.editor, #"UPDATE record SET fields = '{"carbs":99}', version = 2"#) == nil)
    let counts = try scratch.ingest(export(row(30, isDeleted: true)), generatedAt: 20)
    #expect([counts.deletedRecords, counts.keptRecords] == [0, 1])
    #expect(try shown() == [#"{"carbs":99}"#])
  }

  @Test func aRecordEditedAfterItsDeletionAtTheSourceIsVisible() throws {
    try scratch.ingest(export(row(30, isDeleted: true)), generatedAt: 10)
    _ = try RecordEditor(scratch.open(.editor), at: 3000).edit(guid) { $0.fields["carbs"] = .number(99) }
    #expect(try shown() == [#"{"carbs":99}"#])
    try scratch.ingest(export(row(30, isDeleted: true)), generatedAt: 10)
    #expect(try shown() == [#"{"carbs":99}"#])
  }

  @Test func aRecordDeletedAtItsSourceThatAPersonShowsStaysVisible() throws {
    try scratch.ingest(export(row(30)), generatedAt: 10)
    let later = export(row(30, isDeleted: true))
    try scratch.ingest(later, generatedAt: 20, digest: "a")
    let record = try hidden()
    #expect(try WithdrawalEditor(scratch.open(.editor), at: 3000).set(record, isHidden: false, reason: ""))
    for digest in ["a", "b"] {
      #expect(try scratch.ingest(later, generatedAt: 30, digest: digest).deletedRecords == 0)
      #expect(try shown() == [#"{"carbs":30}"#])
    }
  }

  @Test func aRecordThatAPersonHidStaysHiddenAfterItsDeletionIsUndone() throws {
    try scratch.ingest(export(row(30)), generatedAt: 10)
    try scratch.ingest(export(row(30, isDeleted: true)), generatedAt: 20)
    let record = try hidden()
    #expect(try WithdrawalEditor(scratch.open(.editor), at: 3000).set(record, isHidden: true, reason: ""))
    _ = try undo(2)
    #expect(try shown() == [])
  }

  @Test func aDocumentWithoutContentHidesOnlyTheRecordWithItsID() throws {
    let none = try scratch.ingest(export(blank), generatedAt: 5)
    #expect([none.deletedRecords, none.records] == [0, 0])
    #expect(try scratch.number("SELECT count(*) FROM record") == 0)
    try scratch.ingest(export(row(30), row(40, "2")), generatedAt: 10)
    #expect(try scratch.ingest(export(blank), generatedAt: 20).deletedRecords == 1)
    #expect(try shown() == [#"{"carbs":40}"#])
    _ = try undo(3)
    #expect(try shown().count == 2)
  }

  @Test func aDeletedRowWithoutAnIDStoresNothing() throws {
    try scratch.ingest(export(row(30, "")), generatedAt: 10)
    let counts = try scratch.ingest(export(row(30, "", isDeleted: true)), generatedAt: 20)
    #expect([counts.deletedRecords, counts.records] == [0, 0])
    #expect(try shown() == [#"{"carbs":30}"#])
  }

  /// While an import is undone, an older export may change the records that it hides.
  @Test func anOlderExportDoesNotChangeADeletedRecordWhileAnotherImportIsUndone() throws {
    try scratch.ingest(export(row(50, "3")), generatedAt: 10)
    try scratch.ingest(export(row(35, isDeleted: true)), generatedAt: 20)
    _ = try undo(1)
    try scratch.ingest(export(row(30)), generatedAt: 15)
    #expect(try shown() == [])
  }
}
