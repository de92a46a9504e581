// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import Formats

@Suite struct MyLifeTests {
  private static let header = #""Tag";"Datum";"Uhrzeit";"Ereignis";"Wert";"Einheit";"Information";"Notiz""#

  private func row(_ event: String, _ value: String, _ unit: String, note: String = " ") -> String {
    #""Fr.";"01.05.26";"08:05";"\#(event)";"\#(value)";"\#(unit)";" ";"\#(note)""#
  }

  private func read(_ rows: String...) throws -> TextExport {
    try TextExport(([Self.header] + rows).joined(separator: "\n") + "\n")
  }

  @Test func onlyDosesOfMyLifeAreReadAsInsulin() throws {
    let export = try read(
      row("Bolus", "4,50", "U"), row("Verzögerter Bolus", "2,25", "U"),
      row("Kombinierter Bolus", "5,50", "U"), row("Basalrate", "0,00", "U/h"),
      row("Schlauch gefüllt", "12,00", "U"), row("Kanüle gefüllt", "0,30", "U"),
      row("Totale Insulinmenge pro Tag", "22,10", "U"), row("Temporäre Basalratenfunktion", "80", "%"))
    #expect(
      export.recordTexts == [
        #"insulin 2026-05-01T08:05:00 {"subtype":"rapid","units":4.5}"#,
        #"insulin 2026-05-01T08:05:00 {"extended":2.25,"subtype":"rapid"}"#,
        #"insulin 2026-05-01T08:05:00 {"subtype":"rapid","text":"Kombinierter Bolus","units":5.5}"#,
        #"insulin 2026-05-01T08:05:00 {"rate":0,"subtype":"basal"}"#,
      ])
    #expect(
      export.skipped == [
        "Schlauch gefüllt": 1, "Kanüle gefüllt": 1, "Totale Insulinmenge pro Tag": 1,
        "Temporäre Basalratenfunktion": 1,
      ])
  }

  @Test func theUnitOfAMyLifeValueIsReadFromItsRow() throws {
    let export = try read(
      row("Blutzucker", "7,4", "mmol/L"), row("Blutzucker", "146", "mg/dL"), row("Blutzucker", "7,4", "g/l"),
      row("Blutzucker", "Lo", "mg/dL"), row("Blutzucker", " ", "mg/dL"))
    #expect(
      export.readings.map(\.measurement) == [
        .value(Quantity(7.4, .millimolesPerLitre)), .value(Quantity(146, .milligramsPerDecilitre)),
        .low(below: nil, .milligramsPerDecilitre),
      ])
    #expect(export.rejections.map(\.line) == [4] && export.skipped == ["row without a value": 1])
  }

  @Test func aMyLifeDecimalPointAmongDecimalCommasIsRejected() throws {
    let export = try read(row("Blutzucker", "7,4", "mmol/L"), row("Blutzucker", "7.4", "mmol/L"))
    #expect(export.readings.count == 1 && export.rejections.map(\.line) == [3])
  }

  @Test func myLifeCarbohydratesInExchangesAreRejected() throws {
    let export = try read(row("Kohlenhydrate", "45", "g KH"), row("Kohlenhydrate", "4", "BE"))
    #expect(export.recordTexts == [#"food 2026-05-01T08:05:00 {"carbs":45}"#])
    #expect(export.rejections.map(\.line) == [3])
  }

  @Test func aMyLifeNoteIsKeptWhateverTheKindOfItsRow() throws {
    let export = try read(row("Alarm", " ", " ", note: "zwei\nZeilen"))
    #expect(export.recordTexts == [#"note 2026-05-01T08:05:00 {"text":"zwei\nZeilen"}"#])
    #expect(export.skipped == ["Alarm": 1])
  }

  @Test(arguments: [
    #""Tag";"Datum";"Uhrzeit";"Ereignis";"Wert";"Einheit";"Notiz""#, "Datum;Uhrzeit;Ereignis;Wert;Einheit",
    "Tag;Uhrzeit;Datum;Ereignis;Wert;Einheit;Information;Notiz",
    "Day;Date;Time;Event;Value;Unit;Information;Note",
  ])
  func otherDiariesAreNotRecognisedAsMyLife(_ header: String) throws {
    #expect(try !Claims.claims(header + "\n", MyLifeFormat.self))
    #expect(try Claims.claims(Self.header + "\n", MyLifeFormat.self))
  }
}
