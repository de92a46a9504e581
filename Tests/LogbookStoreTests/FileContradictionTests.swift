// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import LogbookStore

/// Tests exports of a part of the items, which were made later than an export with a later newest item.
@Suite struct FileContradictionTests {
  private let scratch: ScratchStore
  private static let diary = Device(vendor: "Test", model: "Diary", format: "test")
  private static let day: Int64 = 86_400

  init() throws { scratch = try ScratchStore() }

  /// An export, with the times that decide about its age.
  private struct Export {
    let batch: IngestBatch
    let newestItem: Int64
    let file: Int64
    let name: String
  }

  private func meal(_ grams: Double, finger: Double? = nil) -> IngestBatch {
    var batch = Make.batch([Make.record(["carbs": .number(grams)])])
    if let finger {
      var reading = Make.reading(.smbg, Make.millimoles(finger), at: Make.noon)
      reading.marks = .manual
      batch.devices = [Self.diary]
      batch.readings = [reading]
    }
    return batch
  }

  /// A complete export, and one of fewer days with a corrected meal that was made ten days later.
  private func exports(finger: (Double, Double)? = nil) -> (complete: Export, part: Export) {
    (
      Export(
        batch: meal(30, finger: finger?.0), newestItem: 30 * Self.day, file: 31 * Self.day,
        name: "complete.csv"),
      Export(
        batch: meal(45, finger: finger?.1), newestItem: 24 * Self.day, file: 41 * Self.day, name: "part.csv")
    )
  }

  /// Imports an export, and returns the warning about contradicting times.
  ///
  /// - Parameter exportedAt: when the export was made, as a person states it.
  @discardableResult
  private func bring(
    _ export: Export, to scratch: ScratchStore? = nil, exportedAt: Int64? = nil, file: Int64? = nil,
    at now: Int64 = 50 * day, decisions: [Decision] = []
  ) throws -> String? {
    let source = IngestSource(
      name: export.name, format: "test", startedAt: now, modifiedAt: file ?? export.file,
      decisions: decisions)
    var warning: String?
    try (scratch ?? self.scratch).open().ingest(source, isAtomic: false) { writer in
      try writer.write(export.batch)
      try writer.finish(
        end: .whole, digest: export.name, generatedAt: exportedAt ?? export.newestItem, finishedAt: now,
        decisions: decisions)
      warning = try writer.contradictingFiles()
    }
    return warning
  }

  private func grams(_ scratch: ScratchStore? = nil) throws -> [Double?] {
    try (scratch ?? self.scratch).rows(
      "SELECT json_extract(fields, '$.carbs') FROM record WHERE kind = 'food'"
    )
    .map { Double($0) }
  }

  @Test func aYoungerFileWithOlderItemsHasAWarningWithTheCommandThatFollowsIt() throws {
    let (complete, part) = exports()
    #expect(try bring(complete) == nil)
    let decisions = [
      Decision("zone", "Europe/Berlin", .given), Decision("unit", "mg/dL", .read),
      Decision(Decision.device, "My pen", .given),
    ]
    let warning = try #require(try bring(part, decisions: decisions))
    #expect(
      warning
        == "1 item differs from an export that has a later newest item, and keeps the content of that one, although this file "
        + "was written later; if this file is the newer export: 'glucoport import --exported 1970-02-11T00:00:00Z "
        + "--timezone Europe/Berlin --device 'My pen' part.csv'")
    #expect(try grams() == [30])
    #expect(try bring(part, exportedAt: part.file) == nil)
    #expect(try grams() == [45])
  }

  @Test func aFileOfEarlierTimeThatReplacesTheContentOfAYoungerOneHasAWarning() throws {
    let (complete, part) = exports()
    #expect(try bring(part) == nil)
    let warning = try #require(try bring(complete))
    #expect(
      warning
        == "1 item got the content of this file, since its newest item is later than that of import 1, although the file of that "
        + "one was written later; if that file is the newer export: 'glucoport import --exported 1970-02-11T00:00:00Z part.csv'"
    )
    #expect(try grams() == [30])
  }

  @Test func importingTheSameFileAgainHasNoSecondWarning() throws {
    let (complete, part) = exports()
    try bring(complete)
    #expect(try bring(part) != nil)
    for export in [complete, part, complete, part] { #expect(try bring(export) == nil) }
  }

  /// The order of the imports does not matter if a person states when the export was made.
  @Test func anExportWithAStatedTimeWinsInEitherImportOrder() throws {
    let (complete, part) = exports(finger: (5.6, 6.5))
    for isFirst in [true, false] {
      let scratch = try ScratchStore()
      if isFirst { try bring(part, to: scratch, exportedAt: part.file) }
      #expect(try bring(complete, to: scratch) == nil)
      if !isFirst { #expect(try bring(part, to: scratch, exportedAt: part.file) == nil) }
      #expect(try grams(scratch) == [45])
      #expect(try shownSticks(scratch) == ["65"])
    }
  }

  /// The values of the visible finger sticks in tenths of mmol/L.
  private func shownSticks(_ scratch: ScratchStore) throws -> [String] {
    try scratch.rows(
      """
      SELECT r.value_bucket FROM reading AS r WHERE NOT EXISTS (SELECT 1 FROM withdrawn AS w
        WHERE (w.series, w.position, w.value_bucket) = (r.series, r.position, r.value_bucket)) ORDER BY 1
      """)
  }

  /// Doses, meals and hand-typed finger sticks follow the same rule.
  @Test func fingerSticksFollowTheSameExportAsMeals() throws {
    for isPartFirst in [false, true] {
      let scratch = try ScratchStore()
      let (complete, part) = exports(finger: (5.6, 6.5))
      try bring(isPartFirst ? part : complete, to: scratch)
      let warning = try #require(try bring(isPartFirst ? complete : part, to: scratch))
      #expect(warning.hasPrefix(isPartFirst ? "2 items got" : "2 items differ"), "\(warning)")
      #expect(try shownSticks(scratch) == ["56"])
      #expect(try grams(scratch) == [30])
    }
  }

  /// Files that were copied together have times in any order. A file without a difference needs no decision.
  @Test func filesWithoutAContradictionHaveNoWarning() throws {
    let (complete, part) = exports()
    for (file, batch) in [
      (complete.file - Self.day, part.batch), (complete.file + 600, part.batch), (part.file, complete.batch),
    ] {
      for isPartFirst in [false, true] {
        let scratch = try ScratchStore()
        let part = Export(batch: batch, newestItem: part.newestItem, file: file, name: "part.csv")
        #expect(try bring(isPartFirst ? part : complete, to: scratch) == nil)
        #expect(try bring(isPartFirst ? complete : part, to: scratch) == nil)
      }
    }
  }

  /// A corrected export that was made minutes after the import of the first one.
  @Test func aFileThatWasWrittenAfterTheImportOfTheOtherOneHasAWarning() throws {
    let (complete, part) = exports()
    try bring(complete, at: complete.file + 60)
    #expect(try bring(part, file: complete.file + 600, at: complete.file + 660) != nil)
  }

  @Test func aRecordThatAPersonEditedHasNoWarning() throws {
    let (complete, part) = exports()
    try bring(complete)
    let edit = "UPDATE record SET fields = '{\"carbs\":50}', version = 2 WHERE kind = 'food'"
    #expect(try scratch.refusal(.editor, edit) == nil)
    #expect(try bring(part) == nil)
  }
}
