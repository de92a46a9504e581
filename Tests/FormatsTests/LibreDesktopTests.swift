// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import Testing

@testable import Formats

@Suite struct LibreDesktopTests {
  private func read(_ unit: String, _ rows: String...) throws -> [String] {
    try LibreExport.read(["Sample Person", LibreExport.desktopHeader(unit)] + rows)
  }

  @Test func aLibreDesktopReadingIsIdentifiedByItsIDWhateverItsTime() throws {
    let lines = try read(
      "mg/dL", LibreExport.desktopRow(7, "2018/02/03 10:00", 0, "99"),
      LibreExport.desktopRow(8, "2018/02/03 09:00", 0, "98"))
    #expect(lines[1].contains(#""tick":7"#) && lines[2].contains(#""tick":8"#))
  }

  @Test func aGivenDeviceReplacesTheModelOfALibreDesktopExport() throws {
    let rows = [LibreExport.desktopHeader("mg/dL"), LibreExport.desktopRow(7, "2018/02/03 10:00", 0, "99")]
    #expect(try LibreExport.read(rows)[1].contains(#""device":"Abbott|FreeStyle Libre|""#))
    let named = try LibreExport.read(rows) { $0.device = "second reader" }
    #expect(named[1].contains(#""device":"Abbott|second reader|""#))
  }

  @Test func theUnitOfALaterLibreDesktopHeaderAppliesToTheRowsBelow() throws {
    let lines = try read(
      "mg/dL", LibreExport.desktopRow(7, "2018/02/03 10:00", 0, "99"), "Sample Person",
      LibreExport.desktopHeader("mmol/L"), LibreExport.desktopRow(8, "2018/02/03 10:15", 0, "5.5"))
    #expect(!lines.contains { $0.contains("rejected") || $0.contains("Sample") })
    #expect(lines[2].contains(#""value":5.5,"unit":"mmol/L""#))
  }

  @Test func twoDosesUnderOneLibreDesktopIDAreTwoRecords() throws {
    let lines = try read(
      "mg/dL", LibreExport.desktopRow(207, "2018/02/03 10:00", 4, "", "", "", "1.0"),
      LibreExport.desktopRow(207, "2018/02/03 10:00", 4, "", "", "", "", "", "", "", "32.0"))
    #expect(lines[1].contains("207 2018-02-03T10:00:00 rapid"))
    #expect(lines[2].contains("207 2018-02-03T10:00:00 long"))
  }

  // MARK: Carbohydrates

  @Test(arguments: [
    ("Carbohydrates (grams)", #"{"carbs":2.5}"#), ("Carbohydrates (servings)", #"{"servings":2.5}"#),
    ("Carbohidratos (raciones)", #"{"servings":2.5}"#), ("Kohlenhydrate (Portionen)", #"{"servings":2.5}"#),
    ("Kohlenhydrate (Gramm)", #"{"carbs":2.5}"#), ("Glucides (portions)", #"{"servings":2.5}"#),
    ("Węglowodany", #"{"servings":2.5}"#),
  ])
  func libreDesktopCarbohydratesAreGramsOnlyIfTheHeaderStatesGrams(_ name: String, _ fields: String) throws {
    let header = LibreExport.desktopHeader("mg/dL").replacing("Carbohydrates (grams)", with: name)
    let lines = try LibreExport.read([
      header, LibreExport.desktopRow(7, "2018/02/03 10:00", 5, "", "", "", "", "", "2.5"),
    ])
    #expect(lines[1].contains("\"fields\":\(fields)"))
  }

  @Test(arguments: [
    ("carbohydrates (grams)", CarbohydrateUnit.grams), ("koolhydraten (gram)", .grams),
    ("糖質 (グラム)", .grams), ("carbohydrates (servings)", .servings), ("koolhydraten (porties)", .servings),
    ("carboidrati (porzioni)", .servings), ("hidratos de carbono (porções)", .servings),
    ("kolhydrater (portioner)", .servings), ("węglowodany (porcje)", .servings),
    ("kohlenhydrate (be)", .servings), ("carbohidratos (ración)", .servings), ("carbohydrates", nil),
    ("węglowodany", nil),
  ])
  func theNameOfALibreDesktopColumnDeterminesItsUnit(_ name: String, _ unit: CarbohydrateUnit?) {
    #expect(CarbohydrateUnit(header: name) == unit)
  }

  // MARK: Unusual names

  @Test(arguments: [
    ("ID\t", "SID\t", "unknown column 'SID': read as 'id', because of its position"),
    (
      "Record Type", "Record Tpye",
      "unknown column 'Record Tpye': read as 'record type', because of its position"
    ),
    ("Scan Glucose (mg/dL)", "Scan Glucose", nil),
    ("Notes", "Remarks", "unknown column 'Remarks': read as 'notes', because of its position"),
    ("Updated Time", "Updated Time\tMood", "unknown column 'Mood': not read"),
  ])
  func aLibreDesktopTableWithOneUnusualColumnNameIsRead(_ name: String, _ unusual: String, _ warning: String?)
    throws
  {
    let header = LibreExport.desktopHeader("mg/dL").replacing(name, with: unusual)
    let lines = try LibreExport.read([header, LibreExport.desktopRow(7, "2018/02/03 10:00", 0, "99")])
    #expect(LibreExport.readings(lines).count == 1)
    let expected = warning.map { #""warnings":[\#(jsonText($0))]"# }
    #expect(expected.map { lines[0].contains($0) } ?? !lines[0].contains("warnings"))
  }

  @Test func aLibreDesktopTableWithoutAnIDColumnNeedsAllItsUnits() {
    let header = LibreExport.desktopHeader("mg/dL").replacing("ID\t", with: "Number\t")
      .replacing("Strip Glucose (mg/dL)", with: "Strip")
    #expect(throws: Failure.self) {
      try LibreExport.read([header, LibreExport.desktopRow(7, "2018/02/03 10:00", 0, "99")]) {
        $0.format = "libre-desktop"
      }
    }
  }

  @Test func aLibreDesktopClockChangeIsCountedAndItsNoteKept() throws {
    let lines = try read(
      "mg/dL",
      LibreExport.desktopRow(
        9, "2018/02/03 10:00", 6, "", "", "", "", "", "", "", "", "Holiday", "", "", "", "", "",
        "2018/02/03 09:00",
        "2018/02/03 10:00"))
    #expect(lines[0].contains(#""clock change":1"#))
    #expect(lines[1].contains("Holiday"))
  }

  @Test func aLibreDesktopValueOfAnotherRecordTypeIsRejected() throws {
    let lines = try read("mg/dL", LibreExport.desktopRow(7, "2018/02/03 10:00", 0, "99", "", "", "4.0"))
    #expect(LibreExport.readings(lines).isEmpty)
    #expect(lines[1].contains("rejected"))
  }

  @Test func libreDesktopDatesWithTheYearLastAreRejected() throws {
    let lines = try read("mg/dL", LibreExport.desktopRow(7, "03/02/2018 10:00", 0, "99"))
    #expect(lines[1].contains("YYYY/MM/DD"))
  }

  @Test func aTruncatedLastLineOfALibreDesktopExportProducesNoReading() throws {
    let row = LibreExport.desktopRow(7, "2018/02/03 10:00", 0, "199")
    for lost in 1...17 {
      let text = LibreExport.desktopHeader("mg/dL") + "\n" + row.dropLast(lost)
      let lines = try LibreExport.read(Data(text.utf8))
      #expect(lines.count == 1 && lines[0].contains("truncated"), "without the last \(lost) bytes")
    }
  }

  @Test func aStepBackInTimeShowsTheSecondPassOfARepeatedHour() throws {
    let lines = try read(
      "mg/dL", LibreExport.desktopRow(1, "2025/10/26 02:45", 0, "99"),
      LibreExport.desktopRow(2, "2025/10/26 02:58", 1, "", "97"),
      LibreExport.desktopRow(3, "2025/10/26 02:43", 0, "96"),
      LibreExport.desktopRow(4, "2025/10/26 02:00", 0, "98"))
    #expect(
      lines[3].contains("+02:00 zone-overlap"), "a scan stored before its quarter of an hour is no step back")
    #expect(lines[4].contains("+01:00 ticks"))
  }

  @Test func aTableThatOnlyStartsWithAnIDIsNotRecognisedAsLibreDesktop() {
    #expect(throws: Failure.self) {
      try LibreExport.read(["ID\tTime\tRecord Type\tValue (mg/dL)\tOther", "7\t2018/02/03 10:00\t0\t\t99"]) {
        $0.format = "libreview"
      }
    }
    let shifted = LibreExport.desktopHeader("mg/dL").replacing("Notes\t", with: "")
    #expect(throws: Failure.self) {
      try LibreExport.read([shifted, LibreExport.desktopRow(7, "2018/02/03 10:00", 0, "99")])
    }
  }
}
