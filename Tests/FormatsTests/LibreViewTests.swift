// SPDX-License-Identifier: Apache-2.0

import FormatConformance
import Formats
import Foundation
import Glibc
import Logbook
import SeededRandom
import Testing

@Suite struct LibreViewTests {
  private func refusal(_ lines: [String], change: (inout ExportOptions) -> Void = { _ in }) -> Failure? {
    do {
      _ = try LibreExport.read(lines, change: change)
      return nil
    } catch {
      return error as? Failure
    }
  }

  private func text(_ lines: [String]) -> String { lines.joined(separator: "\n") }

  private let openRows = [
    LibreExport.header("mg/dL"), LibreExport.row("03-04-2025 08:00", 0, "99"),
    LibreExport.row("03-04-2025 08:15", 0, "101"),
  ]

  @Test func ambiguousLibreViewDatesAreRefusedWithTheOptionToUse() {
    let failure = refusal(openRows)
    #expect(failure?.category == .badInput)
    #expect(failure?.message.contains("--date-order") == true)
  }

  @Test(arguments: [("dmy", "2025-04-03T08:00:00"), ("mdy", "2025-03-04T08:00:00")])
  func aGivenDateOrderOfLibreViewIsUsed(_ order: String, _ time: String) throws {
    let lines = try LibreExport.read(openRows) { $0.dateOrder = order }
    #expect(lines[0].contains("first (given)"))
    #expect(lines[1].contains(time))
  }

  // MARK: Glucose Direct

  private func glucoseDirect(_ title: String) throws -> [String] {
    try LibreExport.read([
      "Glukose-Werte,Erstellt am,\(title),Erstellt von,Glucose Direct",
      "Gerät,Seriennummer,Gerätezeitstempel,Aufzeichnungstyp,Glukosewert-Verlauf mg/dL,Glukose-Scan mg/dL",
      "Glucose Direct,3B1C9F3A,13-05-2026 21:45,0,134,134",
      "Glucose Direct,3B1C9F3A,13-05-2026 21:30,0,126,126",
    ])
  }

  /// The app writes one export with times in UTC, whose title states it, and one with the phone's times.
  @Test func glucoseDirectStatesInTheTitleWhetherItsTimesAreInUTC() throws {
    let instants = try LibreExport.readings(glucoseDirect("14-05-2026 08:15 UTC"))
    #expect(instants.count == 2 && instants.allSatisfy { $0.contains(#""kind":"cbg""#) })
    #expect(instants[0].contains(#""time":"2026-05-13T23:45:00""#))
    let local = try LibreExport.readings(glucoseDirect("14-05-2026 10:15"))
    #expect(local.count == 2 && local.allSatisfy { $0.contains(#""kind":"cbg""#) })
    #expect(local[0].contains(#""time":"2026-05-13T21:45:00""#))
  }

  // MARK: Unusual names

  @Test func libreViewColumnsAfterTheKnownOnesAreReportedAndNotRead() throws {
    let lines = try LibreExport.read([
      LibreExport.header("mmol/L") + ",Historic Ketone mmol/L,Scan Ketone mmol/L",
      LibreExport.row("13-04-2025 08:00", 0, "5.6") + ",,",
      LibreExport.row("13-04-2025 08:15", 0, "5.7") + ",0.2,",
    ])
    #expect(LibreExport.readings(lines).count == 2)
    #expect(lines[0].contains(#""skipped":{"value in a column that is not read":1}"#))
    for name in ["Historic Ketone mmol/L", "Scan Ketone mmol/L"] {
      #expect(lines[0].contains("unknown column '\(name)': not read"))
    }
  }

  @Test(arguments: [
    ("Historic Glucose mg/dL", "Historic Glucose"), ("Scan Glucose mg/dL", "Scan"),
    ("Record Type", "Recordtype"), ("Serial Number", "Serialnumber"),
  ])
  func aLibreViewTableWithOneUnusualColumnNameIsRead(_ name: String, _ unusual: String) throws {
    let header = LibreExport.header("mg/dL").replacing(name, with: unusual)
    let lines = try LibreExport.read([header, LibreExport.row("13-04-2025 08:00", 0, "99")])
    #expect(LibreExport.readings(lines).count == 1)
  }

  @Test func aUnitInALibreViewColumnWithoutUnitsShowsMovedColumns() {
    let header = LibreExport.header("mg/dL").replacing("Notes,", with: "")
    let lines = [header, LibreExport.row("13-04-2025 08:00", 0, "99")]
    #expect(refusal(lines) { $0.format = "libreview" } != nil)
  }

  @Test func portionsInTheGramsColumnOfLibreViewAreReadAsPortions() throws {
    let header = LibreExport.header("mg/dL").replacing("(grams)", with: "(servings)")
    let row = LibreExport.row("13-04-2025 08:00", 5, "", "", "", "", "", "2")
    #expect(try LibreExport.read([header, row])[1].contains(#""fields":{"servings":2}"#))
  }

  @Test func anUnknownDateOrderIsAUsageError() {
    #expect(refusal(openRows) { $0.dateOrder = "ymd" }?.category == .usage)
  }

  @Test func libreViewDatesThatContradictEachOtherAreRefused() {
    let failure = refusal(
      openRows + [
        LibreExport.row("13-01-2025 08:00", 0, "99"), LibreExport.row("01-13-2025 08:00", 0, "99"),
      ])
    #expect(failure?.message.contains("line 4") == true)
    #expect(failure?.message.contains("line 5") == true)
  }

  @Test func theExportDateOfLibreViewDeterminesTheDateOrderOfItsRows() throws {
    let title = LibreExport.title.replacing("20-05-2025", with: "04-05-2025")
    // If the export was made on 4 May, rows of 5 April are possible; if on 5 April, rows of 4 May are not.
    let lines = try LibreExport.read([
      title, LibreExport.header("mg/dL"), LibreExport.row("05-04-2025 08:00", 0, "99"),
    ])
    #expect(lines[0].contains(#""date-order":"day first (inferred)""#))
    #expect(lines[0].contains(#""generated_at":"2025-05-04T10:00:00""#))
  }

  @Test(arguments: [true, false])
  func rowsOfJoinedLibreViewExportsMayBeAsNewAsTheNewestExport(_ isNewestFirst: Bool) throws {
    let newer = [
      LibreExport.title.replacing("20-05-2025", with: "04-05-2025"), LibreExport.header("mg/dL"),
      LibreExport.row("05-04-2025 08:00", 0, "99"),
    ]
    let older = [
      LibreExport.title.replacing("20-05-2025", with: "02-02-2025"), LibreExport.header("mg/dL"),
      LibreExport.row("01-02-2025 08:00", 0, "98"),
    ]
    let lines = try LibreExport.read(isNewestFirst ? newer + older : older + newer)
    #expect(lines[0].contains("day first (inferred)"))
    #expect(LibreExport.readings(lines).count == 2)
    #expect(lines[0].contains(#""generated_at":"2025-02-02T10:00:00""#), "stale rows must not pass for new")
  }

  @Test func aLibreViewExportTimeInTheFutureIsNotUsed() throws {
    // The clock of the tests shows 21 November 2026. With the month first, the export would have been made in
    // the future, on 11 December.
    let title = LibreExport.title.replacing("20-05-2025", with: "12-11-2026")
    let lines = try LibreExport.read([
      title, LibreExport.header("mg/dL"), LibreExport.row("03-04-2026 08:00", 0, "99"),
    ])
    #expect(lines[0].contains("day first (inferred)"))
  }

  @Test(arguments: [(0, true), (1, false)])
  func onlyContinuousSensorHistoryShowsTheDateOrderOfLibreView(_ type: Int, _ isDecided: Bool) throws {
    let rows = (0..<12).map { index in
      let time = (index < 6 ? "02-05-2025 23:" : "03-05-2025 00:") + "\(10 + index % 6 * 8)"
      return type == 0 ? LibreExport.row(time, 0, "99") : LibreExport.row(time, 1, "", "99")
    }
    let lines = [LibreExport.header("mg/dL")] + rows
    if isDecided {
      #expect(try LibreExport.read(lines)[0].contains("day first (inferred)"))
    } else {
      #expect(refusal(lines)?.message.contains("--date-order") == true)
    }
  }

  @Test func aLivePipeOfLibreViewNeedsAGivenDateOrder() throws {
    for (order, isRead) in [("dmy", true), (nil, false)] {
      var ends: [Int32] = [0, 0]
      try #require(pipe(&ends) == 0)
      defer { close(ends[1]) }
      let bytes = Array((text(openRows) + "\n").utf8)
      try #require(write(ends[1], bytes, bytes.count) == bytes.count)
      var options = try Rendering.options()
      options.dateOrder = order
      guard isRead else {
        #expect(throws: Failure.self) { try InputReader(descriptor: ends[0], name: "-", options: options) }
        continue
      }
      var reader = try InputReader(descriptor: ends[0], name: "-", options: options)
      var batch = IngestBatch()
      #expect(try reader.read(into: &batch))
      #expect(batch.readings.count == 2)
    }
  }

  @Test func libreViewDatesWithTheYearFirstNeedNoDateOrder() throws {
    let lines = try LibreExport.read([
      LibreExport.header("mg/dL"), LibreExport.row("2025-04-03 08:00", 0, "99"),
    ])
    #expect(lines[0].contains(#""date-order":"year first (read)""#))
    #expect(lines[1].contains("2025-04-03T08:00:00"))
  }

  @Test func anAmbiguousDateAmongDatesWithTheYearFirstIsRejected() throws {
    let lines = try LibreExport.read(
      [
        LibreExport.header("mg/dL"), LibreExport.row("2025-04-03 08:00", 0, "99"),
      ] + (0..<50).map { _ in LibreExport.row("2025-04-03 08:15", 0, "98") } + [
        LibreExport.row("03-04-2025 08:30", 0, "97")
      ])
    #expect(lines.last?.contains("--date-order") == true)
  }
}

/// Tests the meaning of rows and headers of LibreView.
@Suite struct LibreViewRowTests {
  private func read(_ unit: String, _ rows: String...) throws -> [String] {
    try LibreExport.read([LibreExport.title, LibreExport.header(unit)] + rows)
  }

  @Test func aLibreViewRowWithHistoryAndScanProducesTwoReadings() throws {
    let lines = try read("mmol/L", LibreExport.row("14-05-2025 08:00", 0, "5.6", "6.1"))
    #expect(lines.count == 3)
    #expect(lines[1].contains(#""kind":"cbg""#) && lines[1].contains(#""value":5.6,"#))
    #expect(lines[2].contains(#""kind":"scan""#) && lines[2].contains(#""value":6.1,"#))
  }

  @Test func aLibreViewNumberThatLostItsDecimalCommaIsRejected() throws {
    let lines = try read(
      "mmol/L", LibreExport.row("14-05-2025 08:00", 0, "5", "6"),
      LibreExport.row("14-05-2025 08:01", 1, "", "5", "6"),
      LibreExport.row("14-05-2025 08:02", 2, "", "", "", "", "", "", "", "", "", "", "5", "6"))
    #expect(LibreExport.readings(lines).isEmpty)
    #expect(lines.dropFirst().filter { $0.contains("decimal comma") }.count == 3)
    #expect(lines[0].contains("damaged"))
  }

  /// After rows with a lost decimal comma, a row that ends after a whole number may lack the fraction.
  @Test(arguments: ["0,5,", "1,,5,", "2,,,,,,,,,,,,5,", "4,,,,5,", "3,,,,,,,,,,,,1,"])
  func aLibreViewRowCutInANumberThatLostItsDecimalCommaIsRejected(_ cells: String) throws {
    let cut = "FreeStyle Libre,AAAA000-A0001,14-05-2025 08:01,\(cells)"
    let whole = LibreExport.row("14-05-2025 08:02", 0, "6.1")
    let damaged = LibreExport.row("14-05-2025 08:00", 0, "5", "6")
    let lines = try read("mmol/L", damaged, cut)
    #expect(LibreExport.readings(lines).isEmpty && !lines.contains { $0.contains(#""record""#) }, "\(lines)")
    // In a file without such damage, the comma closes the number.
    #expect(try read("mmol/L", whole, cut).count == 3)
  }

  @Test func aLibreViewKetoneValueSplitIntoTwoColumnsIsReadAndReported() throws {
    let empty = Array(repeating: "", count: 11).joined(separator: ",")
    let lines = try read("mg/dL", "FreeStyle Libre,AAAA000-A0001,14-05-2025 08:00,3,\(empty),0,1,,")
    #expect(lines[1].contains(#""kind":"ketone""#) && lines[1].contains(#""value":0.1,"#))
    #expect(lines[0].contains("damaged"))
  }

  @Test func aWholeLibreViewKetoneValueBeforeAnEmptyColumnIsReadWithoutAWarning() throws {
    let lines = try read(
      "mg/dL", LibreExport.row("14-05-2025 08:00", 3, "", "", "", "", "", "", "", "", "", "", "", "1"))
    #expect(lines[1].contains(#""value":1,"unit":"mmol/L""#))
    #expect(!lines[0].contains("damaged"))
  }

  @Test func theUnitOfALaterLibreViewHeaderAppliesToTheRowsBelow() throws {
    let lines = try LibreExport.read([
      LibreExport.title, LibreExport.header("mg/dL"), LibreExport.row("14-05-2025 08:00", 0, "99"),
      LibreExport.title, LibreExport.header("mmol/L"), LibreExport.row("14-05-2025 08:15", 0, "5.5"),
    ])
    #expect(!lines.contains { $0.contains("rejected") })
    #expect(lines[2].contains(#""value":5.5,"unit":"mmol/L""#))
  }

  @Test func aLibreViewValueInTheOtherUnitIsRejected() throws {
    let low = try read("mg/dL", LibreExport.row("14-05-2025 08:00", 0, "5.6"))
    let high = try read("mmol/L", LibreExport.row("14-05-2025 08:00", 0, "101"))
    #expect(low[1].contains("rejected") && high[1].contains("rejected"))
  }

  @Test func aLibreViewDecimalPointAmongDecimalCommasIsRejected() throws {
    let lines = try read(
      "mmol/L", LibreExport.row("14-05-2025 08:00", 0, #""5,6""#),
      LibreExport.row("14-05-2025 08:15", 0, "5.7"))
    #expect(LibreExport.readings(lines).count == 1)
    #expect(lines[2].contains("rejected"))
  }

  @Test func aTypedLibreViewValueWithAThousandsSeparatorIsRejected() throws {
    let lines = try read("mg/dL", LibreExport.row("14-05-2025 08:00", 0, #""1,234""#))
    #expect(lines[1].contains("rejected"))
  }

  @Test func aLibreViewRowWithMoreFieldsThanTheHeaderIsRejected() throws {
    let row = LibreExport.row("14-05-2025 08:00", 0, "99")
    let lines = try read("mg/dL", row + ",", row + ",7")
    #expect(LibreExport.readings(lines).count == 1)
    #expect(lines[2].contains(#""rejected":4"#))
  }

  @Test func aLibreViewRowWithoutItsTrailingCommasIsRead() throws {
    let lines = try read("mg/dL", "FreeStyle LibreLink,AAAA000-A0001,14-05-2025 08:00,0,99")
    #expect(LibreExport.readings(lines).count == 1)
  }

  @Test func aCompleteLastLibreViewLineWithoutALineEndIsRead() throws {
    let whole = [LibreExport.header("mg/dL"), LibreExport.row("14-05-2025 08:00", 0, "99")].joined(
      separator: "\n")
    let lines = try LibreExport.read(Data(whole.utf8))
    #expect(LibreExport.readings(lines).count == 1)
    #expect(!lines[0].contains("truncated"))
  }

  @Test func aLastLibreViewLineThatMayBeIncompleteIsReportedAsTruncated() throws {
    let row = LibreExport.row("14-05-2025 08:00", 0, "99")
    for lost in 1...15 {
      let text = LibreExport.header("mg/dL") + "\n" + row.dropLast(lost)
      let lines = try LibreExport.read(Data(text.utf8))
      #expect(lines.count == 1 && lines[0].contains("truncated"), "without the last \(lost) bytes")
    }
  }

  @Test func libreViewNamesOfPeopleAreNotStored() throws {
    let lines = try LibreExport.read([
      "Informe del paciente,Generado el,20-05-2025 10:00 UTC,Generado por,Sample Clinic", "Sample Person",
      LibreExport.header("mg/dL"), LibreExport.row("14-05-2025 08:00", 0, "99"),
    ])
    #expect(!lines.contains { $0.contains("Sample") })
  }

  @Test func aLibreViewTableWithMovedColumnsIsRefused() {
    let swapped = LibreExport.header("mg/dL").replacing(
      "Notes,Strip Glucose mg/dL", with: "Strip Glucose mg/dL,Notes")
    #expect(throws: Failure.self) {
      try LibreExport.read([swapped, LibreExport.row("14-05-2025 08:00", 0, "99")])
    }
  }

  @Test func aHeaderWithTwoUnitsIsNotRecognisedAsLibreView() {
    let mixed = LibreExport.header("mg/dL").replacing("Scan Glucose mg/dL", with: "Scan Glucose mmol/L")
    #expect(throws: Failure.self) {
      try LibreExport.read([mixed, LibreExport.row("14-05-2025 08:00", 0, "99")]) { $0.format = "libreview" }
    }
  }

  @Test func libreViewRowsWithoutAHeaderAreRefused() {
    #expect(throws: Failure.self) {
      try LibreExport.read([LibreExport.row("14-05-2025 08:00", 0, "99")]) { $0.format = "libreview" }
    }
  }
}

/// Tests samples of LibreView and of the desktop software with realistic damage.
@Suite struct LibreDamageTests {
  private static let samples = Repository.sampleExports.filter { $0.hasPrefix("libre") }

  @Test(arguments: Seeds.share(of: samples, every: 3))
  func aTruncatedLibreViewSampleProducesNoReadingThatTheWholeSampleLacks(_ path: String) throws {
    let file = Repository.samples.appending(path: path)
    let bytes = try Data(contentsOf: file)
    let options = try Rendering.options(besides: file)
    let whole = Set(LibreExport.readings(try LibreExport.read(bytes) { $0 = options }))
    for end in stride(from: 1, to: bytes.count, by: max(1, bytes.count / 25)) {
      do {
        let part = LibreExport.readings(try LibreExport.read(bytes.prefix(end)) { $0 = options })
        let others = part.filter { !whole.contains($0) }
        #expect(others.isEmpty, "\(path) cut after \(end) bytes")
      } catch is Failure {
        continue
      }
    }
  }

  @Test(arguments: Seeds.share(of: samples, every: 3))
  func aLibreViewSampleWithReplacedBytesIsReadOrRefused(_ path: String) throws {
    let file = Repository.samples.appending(path: path)
    let bytes = try Data(contentsOf: file)
    let options = try Rendering.options(besides: file)
    var seed: UInt64 = 0x5EED_0001
    func next(_ limit: Int) -> Int {
      seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(seed >> 33) % limit
    }
    for _ in 0..<15 {
      var changed = bytes
      for _ in 0..<6 {
        changed[next(changed.count)] = Array("0123456789,;\t\"\n\r-:. \0\u{FF}".utf8)[next(21)]
      }
      do {
        _ = try LibreExport.read(changed) { $0 = options }
      } catch is Failure {
        continue
      }
    }
  }
}
