// SPDX-License-Identifier: Apache-2.0

import Archives
import FormatConformance
import Foundation
import Logbook
import TestArchives
import Testing

@testable import Formats

/// Tests which files of an archive are imported, and what is reported about the others.
@Suite struct ExportInputsTests {
  private static let table =
    "time,glucose (mg/dL)\n2026-05-01 07:00,101\n2026-05-02 12:00,99\n2026-05-04 08:00,120\n"

  /// One line for each input. It has the name inside the archive, the id of the format and the number of
  /// items, or the reason why the input was skipped.
  private func inputs(of inputs: ExportInputs) throws -> [String] {
    try (0..<inputs.count).map { place in
      switch try inputs.open(place, options: Rendering.options()) {
      case .export(var reader):
        let count = try Rendering.lines(from: &reader).count - 1
        return "\(reader.name.split(separator: ":").last ?? "") \(reader.format) \(count)"
      case .spreadsheet(let sheets): return try self.inputs(of: sheets).joined(separator: "|")
      case .unread(let name, let reason): return "\(name.split(separator: ":").last ?? ""): \(reason)"
      }
    }
  }

  private func archive(_ members: [(String, String)]) throws -> ScratchFile {
    try ScratchFile(ZipWriter.archive(members))
  }

  @Test func everyFileOfAnArchiveThatAFormatRecognisesIsImported() throws {
    let entries = #"[{"type":"sgv","date":1770369455000,"sgv":175,"direction":"Flat"}]"#
    let file = try archive([
      ("data_10.csv", Self.table), ("data_2.csv", Self.table), ("notes.txt", "hello\n"),
      ("folder/entries.json", entries), ("__MACOSX/._data_2.csv", "x"), (".hidden.csv", Self.table),
      ("empty.csv", ""),
    ])
    let inputs = try ExportInputs(path: file.url.path)
    #expect(inputs.container == .archive)
    #expect(
      try self.inputs(of: inputs).map { String($0.prefix(40)) } == [
        "data_2.csv generic 3", "data_10.csv generic 3", "empty.csv: the input is empty",
        "folder/entries.json nightscout 1",
        "notes.txt: unknown format; 'glucoport formats' lists the formats".prefix(40).description,
      ])
  }

  @Test func aFileThatIsNotAnArchiveIsOneInput() throws {
    let file = try ScratchFile(Self.table)
    let inputs = try ExportInputs(path: file.url.path)
    #expect(inputs.container == nil && inputs.count == 1)
    guard case .export(let reader) = try inputs.open(0, options: Rendering.options()) else {
      Issue.record("it was passed over")
      return
    }
    #expect(reader.format == "generic" && reader.name == file.url.path)
  }

  @Test func anUnrecognisedFileIsRefused() throws {
    let file = try ScratchFile("hello\n")
    let inputs = try ExportInputs(path: file.url.path)
    #expect(throws: Failure.self) { try inputs.open(0, options: Rendering.options()) }
  }

  @Test func anArchiveFromAPipeHasTheSameItems() throws {
    let bytes = try ZipWriter.archive([("a.csv", Self.table), ("b.txt", "hello\n")])
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    #expect(write(ends[1], bytes, bytes.count) == bytes.count)
    close(ends[1])
    let inputs = try ExportInputs(descriptor: ends[0], name: "-", isInterrupted: { false })
    #expect(try self.inputs(of: inputs).first == "a.csv generic 3")
  }

  @Test func lookingForAnArchiveInAPipeLosesNoBytes() throws {
    for text in [Self.table, "a", ""] {
      var ends: [Int32] = [0, 0]
      try #require(pipe(&ends) == 0)
      #expect(write(ends[1], text, text.utf8.count) == text.utf8.count)
      close(ends[1])
      let inputs = try ExportInputs(descriptor: ends[0], name: "-", isInterrupted: { false })
      guard text == Self.table else {
        #expect(throws: Failure.self) { try inputs.open(0, options: Rendering.options()) }
        continue
      }
      guard case .export(var reader) = try inputs.open(0, options: Rendering.options()) else {
        Issue.record("it was passed over")
        return
      }
      #expect(try Rendering.lines(from: &reader).count == 4)
      var digest = Digest()
      digest.update(text)
      #expect(reader.digest == digest.hexadecimal())
    }
  }

  @Test func aFileOfAnArchiveIsNamedAfterTheArchive() throws {
    let file = try archive([("x/a.csv", Self.table), ("b.csv", Self.table)])
    let path = file.url.path + ".zip"
    try FileManager.default.copyItem(atPath: file.url.path, toPath: path)
    defer { unlink(path) }
    #expect(try inputs(of: ExportInputs(path: path + ":x/a.csv")) == ["x/a.csv generic 3"])
    let failure = #expect(throws: Failure.self) { try ExportInputs(path: path + ":c.csv") }
    #expect(failure?.category == .missingInput)
  }

  @Test func aFileHasTheSameDigestInsideAndOutsideAnArchive() throws {
    let file = try archive([("a.csv", Self.table)])
    guard
      case .export(var reader) = try ExportInputs(path: file.url.path).open(0, options: Rendering.options())
    else {
      Issue.record("it was passed over")
      return
    }
    var batch = IngestBatch()
    while try reader.read(into: &batch) {}
    var digest = Digest()
    digest.update(Self.table)
    #expect(reader.digest == digest.hexadecimal())
  }

  @Test func aDamagedFileOfAnArchiveProducesNoReadingAndIsReported() throws {
    var writer = ZipWriter()
    writer.entries = [ZipWriter.Entry(name: "a.csv", bytes: Array(Self.table.utf8), statedChecksum: 1)]
    let file = try ScratchFile(writer.bytes())
    let inputs = try ExportInputs(path: file.url.path)
    let failure = #expect(throws: Failure.self) { try inputs.open(0, options: Rendering.options()) }
    #expect(failure?.message.contains("a.csv: the member is damaged") == true)
  }

  @Test func aRefusedFileOfAnArchiveIsListedWithTheReason() throws {
    let file = try archive([("../a.csv", Self.table), ("b.csv", Self.table)])
    #expect(
      try inputs(of: ExportInputs(path: file.url.path)) == [
        "../a.csv: its name leads out of the archive", "b.csv generic 3",
      ])
  }

  @Test func anArchiveInAnArchiveIsNotUnpacked() throws {
    var writer = ZipWriter()
    writer.entries = [
      ZipWriter.Entry(name: "inner.zip", bytes: try ZipWriter.archive([("a.csv", Self.table)]))
    ]
    let file = try ScratchFile(writer.bytes())
    #expect(
      try inputs(of: ExportInputs(path: file.url.path)) == [
        "inner.zip: this is a ZIP archive inside of another; unpack the outer one"
      ])
  }

  // MARK: Spreadsheets among the members

  private static let rows: [[SpreadsheetWriter.Cell]] = [
    [.text("time"), .text("glucose (mg/dL)")], [.text("2026-05-01 07:00"), .number("99")],
    [.text("2026-05-01 12:30"), .number("104")],
  ]

  private static func book(_ sheets: [String]) throws -> [UInt8] {
    try SpreadsheetWriter(sheets.map { .init($0, rows) } + [.init("Notes", [[.text("hello")]])]).xlsx()
  }

  private func archive(of members: [(name: String, bytes: [UInt8])]) throws -> ScratchFile {
    try ScratchFile(ZipWriter(entries: members.map { .init(name: $0.name, bytes: $0.bytes) }).bytes())
  }

  @Test func aSpreadsheetInAnArchiveIsReadSheetBySheet() throws {
    let ods = try SpreadsheetWriter([.init("Only", Self.rows)]).ods()
    let file = try archive(of: [
      ("a.csv", Array(Self.table.utf8)), ("b.xlsx", try Self.book(["One", "Two"])), ("sub/c.ODS", ods),
    ])
    let inputs = try ExportInputs(path: file.url.path)
    #expect(inputs.container == .archive && inputs.count == 3)
    let found = try self.inputs(of: inputs)
    #expect(found[0] == "a.csv generic 3" && found[2] == "Only generic 2")
    #expect(found[1].hasPrefix("One generic 2|Two generic 2|Notes: unknown format"), "\(found[1])")
  }

  @Test func aPathWithTwoColonsNamesASheetOfASpreadsheetInAnArchive() throws {
    let file = try archive(of: [("b.xlsx", try Self.book(["One"])), ("c.csv", Array(Self.table.utf8))])
    let path = file.url.path + ".zip"
    try FileManager.default.copyItem(atPath: file.url.path, toPath: path)
    defer { unlink(path) }
    #expect(try inputs(of: ExportInputs(path: path + ":b.xlsx:One")) == ["One generic 2"])
    for (name, reason) in [
      ("b.xlsx:None", "has no sheet None"), ("b.xlsx:Notes", "unknown format"),
      ("d.xlsx:One", "has no member"),
    ] {
      let failure = #expect(throws: Failure.self) { try inputs(of: ExportInputs(path: path + ":" + name)) }
      #expect(failure?.message.contains(reason) == true, "\(name): \(failure?.message ?? "")")
    }
  }

  @Test func aSheetHasTheSameDigestInsideAndOutsideTheArchive() throws {
    let book = try Self.book([])
    let alone = try ScratchFile(try SpreadsheetWriter([.init("Only", Self.rows)]).xlsx())
    let packed = try archive(of: [
      ("b.xlsx", try SpreadsheetWriter([.init("Only", Self.rows)]).xlsx()), ("n.xlsx", book),
    ])
    func digest(_ opened: ExportInputs.Opened) throws -> String {
      switch opened {
      case .export(var reader):
        _ = try Rendering.lines(from: &reader)
        return reader.digest
      case .spreadsheet(let sheets): return try digest(sheets.open(0, options: Rendering.options()))
      case .unread(_, let reason): return reason
      }
    }
    let inputs = try ExportInputs(path: packed.url.path)
    let options = try Rendering.options()
    let wanted = try digest(ExportInputs(path: alone.url.path).open(0, options: options))
    #expect(try digest(inputs.open(0, options: options)) == wanted)
    #expect(try digest(inputs.open(1, options: options)).hasPrefix("unknown format"))
  }

  /// A file in an archive is opened as a spreadsheet only if its name and its content show a spreadsheet. No
  /// other packed file is opened.
  @Test func anArchivedFileThatOnlyResemblesASpreadsheetIsNotUnpacked() throws {
    let nested = try ZipWriter.archive([("a.csv", Self.table)])
    let inner = try ZipWriter(entries: [.init(name: "x.xlsx", bytes: try Self.book(["One"]))]).bytes()
    let file = try archive(of: [
      ("a.xlsx", nested), ("b.xlsx", Array(Self.table.utf8)), ("c.xlsx", inner),
      ("d.bin", try Self.book(["One"])), ("e.xlsx", Array(try Self.book(["One"]).dropLast(40))),
    ])
    let inputs = try ExportInputs(path: file.url.path)
    let options = try Rendering.options()
    let nestedReason = "this is a ZIP archive inside of another; unpack the outer one"
    for place in [0, 2, 3] {
      guard case .unread(_, let reason) = try inputs.open(place, options: options) else {
        Issue.record("member \(place) was opened")
        continue
      }
      #expect(reason == nestedReason)
    }
    guard case .export(let reader) = try inputs.open(1, options: options) else {
      Issue.record("a table was passed over for its name")
      return
    }
    #expect(reader.format == "generic")
    let failure = #expect(throws: Failure.self) { try inputs.open(4, options: options) }
    #expect(failure?.message.contains("b.xlsx") == false && failure?.message.contains("e.xlsx") == true)
  }

  @Test func aDocumentWithoutATableIsReportedAsADocument() throws {
    let file = try archive([("[Content_Types].xml", "<Types/>"), ("xl/workbook.xml", "<a/>")])
    let failure = #expect(throws: Failure.self) {
      try ExportInputs(path: file.url.path).open(0, options: Rendering.options())
    }
    #expect(failure?.message.contains("not a spreadsheet") == true)
    #expect(try inputs(of: ExportInputs(path: file.url.path, skipsUnrecognised: true)).count == 1)
  }

  @Test func anArchivedFileWithAnUnclearDateOrderIsReadTwice() throws {
    // Only the second row shows the order of day and month, so the whole file is checked before a row is
    // read.
    let text = "time,glucose (mg/dL)\n04/05/2026 07:00,101\n13/05/2026 12:00,99\n"
    let file = try archive([("a.csv", text)])
    #expect(try inputs(of: ExportInputs(path: file.url.path)) == ["a.csv generic 2"])
  }

  @Test func filesOfAnArchiveAreOrderedByTheNumbersInTheirNames() {
    let names = ["cgm_10.csv", "cgm_9.csv", "a", "cgm_09.csv", "cgm.csv", "b2a10", "b2a9", ""]
    let sorted = ["", "a", "b2a9", "b2a10", "cgm.csv", "cgm_09.csv", "cgm_9.csv", "cgm_10.csv"]
    #expect(names.sorted(by: NaturalOrder.isBefore) == sorted)
  }
}
