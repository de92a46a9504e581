// SPDX-License-Identifier: Apache-2.0

import Archives
import FormatConformance
import Foundation
import Logbook
import TestArchives
import Testing

@testable import Formats

/// Tests what is imported from a spreadsheet: each sheet is read like a CSV file.
@Suite struct SheetInputsTests {
  typealias Cell = SpreadsheetWriter.Cell

  /// The name of each sheet with its items, or with the reason why the sheet was skipped.
  private func lines(of inputs: ExportInputs, _ change: (inout ExportOptions) -> Void = { _ in }) throws
    -> [String]
  {
    var options = try Rendering.options()
    change(&options)
    return try (0..<inputs.count).flatMap { place in
      switch try inputs.open(place, options: options) {
      case .export(var reader):
        try [#"{"sheet":"\#(Self.sheet(reader.name))"}"#] + Rendering.lines(from: &reader)
      case .spreadsheet(let inputs): try lines(of: inputs, change)
      case .unread(let name, let reason):
        [#"{"sheet":"\#(Self.sheet(name))","unread":"\#(reason)"}"#]
      }
    }
  }

  private static func sheet(_ name: String) -> String { String(name.split(separator: ":").last ?? "") }

  private func lines(_ bytes: [UInt8]) throws -> [String] {
    let file = try ScratchFile(bytes)
    let inputs = try withExtendedLifetime(file) { try ExportInputs(path: file.url.path) }
    return try lines(of: inputs)
  }

  /// The reason why a spreadsheet is refused; nil if it is not.
  private func refusal(_ bytes: [UInt8]) throws -> String? {
    do {
      _ = try lines(bytes)
      return nil
    } catch let failure as Failure {
      return failure.message
    }
  }

  private static let readings: [[Cell]] = [
    [.text("Time"), .text("Glucose (mmol/L)"), .text("Device")],
    [.serial("46117.298611111109", .dayFirst), .number("5.5999999999999996"), .text("Meter A")],
    [.serial("46118", .dayFirst), .text("LO"), .text("Meter A")],
    [.serial("46119.5", .dayFirst), .number("7.8"), .text("Meter A")],
  ]

  // MARK: A diary as the app's spreadsheet

  /// mySugr writes date and time into both columns. Only the cell formats show a date in one and a time of
  /// day in the other.
  @Test func dateAndTimeColumnsOfAMySugrSheetMayBothHoldTheWholeTime() throws {
    var names = (0..<25).map { "Column \($0)" }
    names[3] = "Blodsukkermåling (mmol/L)"
    names[11] = "Kulhydrater mad (Gram, faktor 1)"
    func row(_ date: String, _ time: String, _ cells: [Int: Cell]) -> [Cell] {
      (0..<25).map { $0 == 0 ? .serial(date, .date) : $0 == 1 ? .serial(time, .clock) : cells[$0] ?? .empty }
    }
    func items(_ rows: [[Cell]]) throws -> [String] {
      try lines(SpreadsheetWriter([.init("Diary", [names.map(Cell.text)] + rows)]).xlsx()).filter {
        $0.contains(#""time":"2026-"#)
      }
    }
    let found = try items([
      row("46117.99583333333", "46117.99583333333", [3: .number("9.3"), 7: .number("2.5")]),
      row("46117", "46117", [3: .number("5.1")]),
      row("46117.5", "46117.5", [9: .number("0.7"), 10: .serial("0.0625", .duration)]),
      row("46116.5", "46116.5", [13: .serial("0.03125", .clock)]),
    ])
    #expect(found.count == 5, "\(found)")
    #expect(found.contains { $0.contains("2026-04-05T23:54:00") && $0.contains("9.3") })
    #expect(found.contains { $0.contains("2026-04-05T23:54:00") && $0.contains("2.5") })
    #expect(found.contains { $0.contains("2026-04-05T00:00:00") && $0.contains("5.1") })
    #expect(found.contains { $0.contains("70 %") && $0.contains(#""minutes":90"#) })
    #expect(found.contains { $0.contains("2026-04-04T12:00:00") && $0.contains(#""minutes":45"#) })
    // 14:30:15.250 in both columns.
    let exact = try items([row("46117.60434317130", "46117.60434317130", [3: .number("6.2")])])
    #expect(exact.count == 1 && exact[0].contains("2026-04-05T14:30:15"), "\(exact)")
    // If the two columns have different times of day, neither is certain.
    #expect(try items([row("46117.5", "46117.25", [3: .number("9.3")])]).isEmpty)
  }

  /// A program may write formulas into a file without their values. Only a spreadsheet program that saves the
  /// file adds the values.
  @Test func aSpreadsheetFormulaWithoutItsValueRejectsTheRow() throws {
    var rows = Self.readings
    rows[2][1] = .xml(#"<c r="B3"><f>B2*18</f></c>"#)
    let found = try lines(SpreadsheetWriter([.init("A", rows)]).xlsx())
    #expect(found.contains { $0.contains("the glucose value is not a number") }, "\(found)")
    #expect(
      found.contains { $0.contains("cells with a formula whose value is not in the file, read as '=?': 1") },
      "\(found)")
    let whole = try lines(SpreadsheetWriter([.init("A", Self.readings)]).xlsx())
    #expect(!whole.contains { $0.contains("formula") || $0.contains("not a number") })
  }

  // MARK: The same as CSV

  /// Samples with commas between the cells. The test also writes their cells as a spreadsheet.
  private static let tables = [
    "clarity/clarity-mgdl-en.csv", "libreview/libreview-mgdl-fr.csv",
    "libreview/libreview-mmol-nl-decimal-comma.csv", "mysugr/mysugr-mgdl-en.csv",
    "carelink/sections-mgdl.csv", "glooko/bg-en-mgdl-us.csv", "tidepool/tidepool.csv",
    "nightscout/nightscout-entries-v3.csv", "generic/kinds.csv", "generic/title-line-us-12h.csv",
    "glucoport/everything.csv", "sibionics/sensor-mgdl-pt.csv", "sibionics/sensor-mmol-en-12h.csv",
    "sibio/ketone.csv", "shanghai/patient-mgdl.csv",
  ]

  private func cells(of path: String) throws -> [[Cell]] {
    let text = TextBuffer(ReplaySource(head: try TextExport.sample(path), rest: nil), name: path)
    let reader = TableReader(text, delimiter: UInt8(ascii: ","))
    var rows: [[Cell]] = []
    while case .row(let row) = try reader.next() {
      rows += Array(repeating: [], count: max(0, Int(row.line) - 1 - rows.count))
      rows.append(row.fields.map { .text($0.text) })
    }
    return rows
  }

  @Test(arguments: tables) func aSpreadsheetOfTextCellsHasTheSameItemsAsItsCSV(_ path: String) throws {
    let writer = try SpreadsheetWriter([.init("Table", cells(of: path))])
    let url = Repository.samples.appending(path: path)
    func items(_ lines: [String]) -> [String] { lines.map { String($0.drop { $0 != "," }) } }
    let expected = try items(Array(Rendering.lines(of: url, options: Rendering.options()).dropFirst()))
    try #require(!expected.isEmpty)
    #expect(try items(Array(lines(writer.xlsx()).dropFirst(2))) == expected)
    #expect(try items(Array(lines(writer.ods()).dropFirst(2))) == expected)
  }

  @Test(arguments: [
    "generic/sheets.xlsx", "generic/readings.ods", "tidepool/tidepool.xlsx", "tidepool/tidepool-web.xlsx",
  ])
  func eachSpreadsheetSampleHasTheExpectedNDJSONNextToIt(_ path: String) throws {
    let file = Repository.samples.appending(path: path)
    let expected = URL(filePath: file.path + ".expected.ndjson")
    let text = try lines(of: ExportInputs(path: file.path)).joined(separator: "\n") + "\n"
    if ProcessInfo.processInfo.environment["GLUCOPORT_REWRITE_GOLDEN"] == "1" {
      try text.write(to: expected, atomically: true, encoding: .utf8)
    }
    #expect(try text == String(contentsOf: expected, encoding: .utf8), "\(path)")
  }

  @Test func aSpreadsheetSheetIsImportedLikeAFile() throws {
    let file = try ScratchFile(SpreadsheetWriter([.init("Readings", Self.readings)]).xlsx())
    let inputs = try ExportInputs(path: file.url.path)
    #expect(inputs.container == nil && inputs.count == 1)
    guard case .export(var reader) = try inputs.open(0, options: Rendering.options()) else {
      Issue.record("it was passed over")
      return
    }
    #expect(reader.name == "\(file.url.path):Readings" && reader.format == "generic")
    let lines = try Rendering.lines(from: &reader).dropFirst()
    let rest = #""unit":"mmol/L","device":"Generic|Meter A|"}"#
    #expect(
      Array(lines) == [
        #"{"line":2,"kind":"smbg","time":"2026-04-05T07:10:00","offset":"+02:00 zone","value":5.6,"# + rest,
        #"{"line":3,"kind":"smbg","time":"2026-04-06T00:00:00","offset":"+02:00 zone","low":null,"# + rest,
        #"{"line":4,"kind":"smbg","time":"2026-04-07T12:00:00","offset":"+02:00 zone","value":7.8,"# + rest,
      ])
    let (done, total) = reader.progress
    #expect(done == total && done > 0)
  }

  @Test func theSameSheetInAnotherFileHasTheSameDigest() throws {
    func digest(_ bytes: [UInt8]) throws -> String {
      let file = try ScratchFile(bytes)
      guard
        case .export(var reader) = try ExportInputs(path: file.url.path).open(0, options: Rendering.options())
      else { return "" }
      _ = try Rendering.lines(from: &reader)
      return reader.digest
    }
    let rows: [[Cell]] = [
      [.text("time"), .text("glucose (mg/dL)")], [.text("2026-05-01 07:00"), .number("99")],
    ]
    let one = try digest(SpreadsheetWriter([.init("A", rows)]).xlsx())
    #expect(try digest(SpreadsheetWriter([.init("B", rows)]).ods()) == one)
    #expect(try digest(SpreadsheetWriter([.init("A", rows + [[.text("2026-05-02 07:00")]])]).ods()) != one)
    #expect(one == Digest.ofText("\"time\",glucose (mg/dL)\n2026-05-01 07:00,99\n"))
  }

  @Test func cellsOfASheetShowTheOrderOfAmbiguousDates() throws {
    // As text, the dates may be 4 and 5 May, or 5 April and 5 May, so the input is refused.
    let open = SpreadsheetWriter(csv: "time,glucose (mg/dL)\n04/05/2026 07:00,101\n05/05/2026 12:00,99\n")
    #expect(try refusal(open.xlsx())?.contains("--date-order") == true)
    var rows = Self.readings
    rows[2][0] = .serial("46118.25", .date)
    #expect(
      try lines(SpreadsheetWriter([.init("A", rows)]).xlsx())[1].contains(
        #""date-order":"unambiguous (read)"#))
  }

  @Test func lineBreaksInCellsDoNotShiftSheetRowNumbers() throws {
    var rows = Self.readings
    rows[1][2] = .text("two\nlines")
    rows[3][1] = .text("nothing")
    let lines = try lines(SpreadsheetWriter([.init("A", rows)]).xlsx())
    #expect(lines.contains { $0.hasPrefix(#"{"rejected":4,"#) }, "\(lines)")
  }

  @Test func aLongSheetIsReadCompletely() throws {
    func digits(_ number: Int) -> String { String(String(100 + number).dropFirst()) }
    let rows = (0..<5000).map { row -> [Cell] in
      let time = "2026-05-\(digits(1 + row / 1440)) \(digits(row / 60 % 24)):\(digits(row % 60)):00"
      return [.text(time), .number("\(80 + row % 90)")]
    }
    let header: [Cell] = [.text("time"), .text("glucose (mg/dL)")]
    let lines = try lines(SpreadsheetWriter([.init("A", [header] + rows)]).xlsx())
    #expect(lines.count == 5002)
    #expect(lines.last?.hasPrefix(#"{"line":5001,"#) == true)
  }

  // MARK: Several sheets

  @Test func onlySpreadsheetSheetsThatAFormatRecognisesAreImported() throws {
    let writer = SpreadsheetWriter([
      .init("Zeta", Self.readings), .init("Empty", []), .init("Old", Self.readings, isHidden: true),
      .init("Alpha", Self.readings), .init("Notes", [[.text("hello")]]),
    ])
    let file = try ScratchFile(writer.ods())
    let inputs = try ExportInputs(path: file.url.path)
    #expect(inputs.container == .spreadsheet && inputs.count == 5)
    let found = try lines(of: inputs).filter { $0.hasPrefix(#"{"sheet""#) }
    let expected = [
      #"{"sheet":"Zeta"}"#, #"{"sheet":"Empty","unread":"the input is empty"#,
      #"{"sheet":"Old","unread":"the sheet is hidden"#, #"{"sheet":"Alpha"}"#,
      #"{"sheet":"Notes","unread":"unknown format"#,
    ]
    try #require(found.count == expected.count)
    for (line, start) in zip(found, expected) { #expect(line.hasPrefix(start)) }
  }

  @Test(arguments: ["xlsx", "ods"]) func aSheetIsNamedAfterItsFile(_ type: String) throws {
    let writer = SpreadsheetWriter([
      .init("A: b", Self.readings), .init("Old", Self.readings, isHidden: true),
      .init("Notes", [[.text("x")]]),
    ])
    let file = try ScratchFile(type == "ods" ? writer.ods() : writer.xlsx())
    let path = "\(file.url.path).\(type)"
    try FileManager.default.copyItem(atPath: file.url.path, toPath: path)
    defer { unlink(path) }
    for name in ["A: b", "Old"] {
      let inputs = try ExportInputs(path: "\(path):\(name)")
      #expect(inputs.count == 1)
      #expect(try lines(of: inputs).count == 5)
    }
    #expect(throws: Failure.self) { try lines(of: ExportInputs(path: "\(path):Notes")) }
    let failure = #expect(throws: Failure.self) { try ExportInputs(path: "\(path):None") }
    #expect(failure?.category == .missingInput)
  }

  @Test func aTidepoolWorkbookHasASheetForEachKind() throws {
    let header: [Cell] = [
      "deviceId", "deviceTime", "time", "timezoneOffset", "type", "units", "uploadId", "value",
    ]
    .map { .text($0) }
    func row(_ type: String, _ value: Cell, minute: Int) -> [Cell] {
      [
        .text("Meter-1"), .text("2018-01-17T05:\(minute):17"), .text("2018-01-17T10:\(minute):17.000Z"),
        .number("-300"), .text(type), .text("mmol/L"), .text("upid"), value,
      ]
    }
    let writer = SpreadsheetWriter([
      .init("cbg", [header, row("cbg", .number("8.27061"), minute: 51)]),
      .init("smbg", [header, row("smbg", .number("5.5507"), minute: 52)]),
      .init("upload", [header, row("upload", .empty, minute: 53)]),
    ])
    let lines = try lines(writer.xlsx())
    #expect(lines.filter { $0.contains(#""format":"tidepool (inferred)""#) }.count == 3)
    #expect(lines.filter { $0.contains(#""kind":"cbg""#) && $0.contains("8.27061") }.count == 1)
    #expect(lines.filter { $0.contains(#""kind":"smbg""#) && $0.contains("5.5507") }.count == 1)
  }

  @Test func aSpreadsheetFromAPipeHasTheSameItems() throws {
    let bytes = try SpreadsheetWriter([.init("A", Self.readings)]).xlsx()
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    #expect(write(ends[1], bytes, bytes.count) == bytes.count)
    close(ends[1])
    let piped = try lines(of: ExportInputs(descriptor: ends[0], name: "-", isInterrupted: { false }))
    #expect(try piped == lines(bytes))
  }

  // MARK: Refused sheets

  @Test func spreadsheetsWithoutGlucoseAreRefused() throws {
    let budget: [[Cell]] = [
      [.text("Date"), .text("Category"), .text("Amount")],
      [.serial("46117", .date), .text("Rent"), .number("820.5")],
      [.serial("46119", .date), .text("Food"), .number("61.2")],
    ]
    let pressure: [[Cell]] = [
      [.text("Date"), .text("Systolic"), .text("Diastolic"), .text("Pulse")],
      [.serial("46117.3", .dayFirst), .number("128"), .number("82"), .number("61")],
      [.serial("46118.3", .dayFirst), .number("131"), .number("85"), .number("64")],
    ]
    for rows in [budget, pressure, [[.text("hello")]], []] {
      let writer = SpreadsheetWriter([.init("A", rows)])
      #expect(try refusal(writer.xlsx()) != nil)
      #expect(try refusal(writer.ods()) != nil)
    }
    #expect(
      try refusal(SpreadsheetWriter([.init("A", pressure)]).xlsx())?.contains("no column is named") == true)
    #expect(try refusal(SpreadsheetWriter([]).xlsx())?.contains("has no sheet") == true)
  }

  @Test func datesThatASpreadsheetConvertedWronglyAreRefused() throws {
    let text: Cell = .text("04/13/2026 08:10")
    let rows = Self.readings + [[text, .number("6.1")], [text, .number("6.2")]]
    #expect(
      try refusal(SpreadsheetWriter([.init("A", rows)]).xlsx())?.contains("exchanged day and month") == true)
    let beyond: [Cell] = [.serial("46130.5", .dayFirst), .number("6")]
    #expect(
      try refusal(SpreadsheetWriter([.init("A", rows + [beyond])]).xlsx())?.contains("exchanged") != true)
  }

  @Test func aSpreadsheetDamagedAfterItsFirstRowsProducesNoReading() throws {
    let rows = (0..<9000).map { _ in Self.readings[1] }
    var writer = SpreadsheetWriter([.init("A", [Self.readings[0]] + rows)])
    let sheet = try #require(writer.xlsxParts().first { $0.0.hasSuffix("sheet0.xml") })
    writer.parts = [(sheet.0, String(sheet.1.dropLast(30)))]
    #expect(try refusal(writer.xlsx())?.contains("the XML is damaged") == true)
  }

  @Test func anOldOrEncryptedSpreadsheetIsRefusedWithTheReason() throws {
    var bytes = [UInt8](repeating: 0, count: 110_000)
    bytes.replaceSubrange(0..<8, with: [0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1])
    bytes[30] = 9
    bytes[48] = 200
    #expect(try refusal(bytes)?.contains("an old spreadsheet (XLS); save it as XLSX or CSV") == true)
    #expect(try refusal(Array(bytes.prefix(600)))?.contains("an old spreadsheet") == true)
    #expect(try refusal(Array(bytes.prefix(5)))?.contains("an old spreadsheet") == true)
    // The name of the encrypted stream is in the directory, which is far after the first bytes of the file.
    let name = "EncryptedPackage".utf16.flatMap { unit -> [UInt8] in [UInt8(unit), 0] }
    bytes.replaceSubrange(201 * 512..<201 * 512 + name.count, with: name)
    #expect(try refusal(bytes)?.contains("an encrypted spreadsheet") == true)
  }
}

extension Digest {
  fileprivate static func ofText(_ text: String) -> String {
    var digest = Digest()
    digest.update(text)
    return digest.hexadecimal()
  }
}
