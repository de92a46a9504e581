// SPDX-License-Identifier: Apache-2.0

import FormatConformance
import Formats
import Logbook
import Testing

/// Tests tables in which some rows are not readings: deleted and predicted values, summaries, and rows of
/// other tables.
@Suite struct GenericMarkedRowTests {
  private static func rows(_ count: Int = 24, from day: Int = 1, _ end: (Int) -> String = { _ in "" })
    -> String
  {
    (0..<count).map { index in
      "2026-05-0\(day) 07:\(10 + index),\(100 + index * 37 % 71)\(end(index))\n"
    }.joined()
  }

  // MARK: Marks

  @Test(arguments: [
    ("deleted", "true", "false"), ("isDeleted", "1", "0"), ("is_valid", "0", "1"), ("imputed", "yes", "no"),
    ("Predicted", "True", "False"),
  ])
  func aTableWithAColumnThatMarksRowsIsRefusedUntilRowsAreSelected(
    _ name: String, _ mark: String, _ other: String
  )
    throws
  {
    let file = try ScratchFile("time,glucose,\(name)\n" + Self.rows { ",\($0 % 6 == 5 ? mark : other)" })
    let refusal = try #require(try file.refusal())
    #expect(refusal.contains("'\(name)' marks some rows"), "\(refusal)")
    #expect(refusal.contains("--where \(name)=\(other)"), "\(refusal)")
    let left = try file.readings { $0.rows = [RowFilter(column: name, value: other)] }
    #expect(left.readings.count == 20 && left.rejections.isEmpty)
  }

  @Test(arguments: [
    ("Gelöscht", "1", "0"), ("Wert ungültig", "ja", "nein"), ("Ignoriert", "1", "0"),
    ("Eliminada", "1", "0"), ("No válido", "sí", "no"), ("Supprimé", "oui", "non"), ("Supprimée", "1", "0"),
    ("Eliminato", "sì", "no"), ("Excluído", "sim", "não"), ("Verwijderd", "ja", "nee"),
    ("Slettet", "ja", "nej"), ("Raderad", "1", "0"), ("Borttagen", "1", "0"), ("Poistettu", "kyllä", "ei"),
    ("Usunięte", "tak", "nie"), ("Gültig", "0", "1"), ("Discarded", "yes", "no"), ("Outlier", "yes", "no"),
  ])
  func aColumnThatMarksRowsInAnyLanguageRefusesTheTable(_ name: String, _ mark: String, _ other: String)
    throws
  {
    let text = "time,glucose,\(name)\n" + Self.rows { ",\($0 % 6 == 5 ? mark : other)" }
    let refusal = try #require(try ScratchFile(text).refusal())
    #expect(refusal.contains("'\(name)' marks some rows"), "\(refusal)")
    let left = try ScratchFile(text).readings { $0.rows = [RowFilter(column: name, value: other)] }
    #expect(left.readings.count == 20)
    let crosses = try ScratchFile("time,glucose,\(name)\n" + Self.rows { ",\($0 % 6 == 5 ? "x" : "")" })
    #expect(try crosses.refusal()?.contains("marks some rows") == true)
  }

  @Test(arguments: [
    ("Sensor entfernt", "ja", "nein"), ("Alarm ignoriert", "x", ""), ("Supprimé le", "5 mai", "-"),
    ("Gelöscht", "Anna war da", "nichts"), ("Gültig bis", "2027", "2028"), ("Duplicate", "of row 7", ""),
  ])
  func aColumnOfOtherThingsWithSuchAWordDoesNotMarkRows(_ name: String, _ mark: String, _ other: String)
    throws
  {
    let text = "time,glucose,\(name)\n" + Self.rows { ",\($0 % 6 == 5 ? mark : other)" }
    #expect(try ScratchFile(text).readings().readings.count == 24)
  }

  /// Such a column may also state that a doctor saw the value, so a person must know it.
  @Test(arguments: ["Contrôle", "Controllo", "Controle", "Kontroll", "Kontrol"])
  func aColumnThatMayMarkControlTestsRefusesTheTable(_ name: String) throws {
    let marked = "time,glucose,\(name)\n" + Self.rows { ",\($0 % 6 == 5 ? "1" : "0")" }
    #expect(try ScratchFile(marked).refusal()?.contains("'\(name)' marks some rows") == true)
    for (mark, other) in [("läkare", "själv"), ("", "")] {
      let text = "time,glucose,\(name)\n" + Self.rows { ",\($0 % 6 == 5 ? mark : other)" }
      let marks = try ScratchFile(text).readings().readings.map(\.marks)
      #expect(marks.count == 24 && marks.allSatisfy { !$0.contains(.controlSolution) })
    }
  }

  @Test(arguments: [("Kontrolliliuos", true), ("Control", true), ("QC", false)])
  func aNameOnlyForControlTestsMarksThem(_ name: String, _ isControl: Bool) throws {
    let text = "time,glucose,\(name)\n" + Self.rows { ",\($0 % 6 == 5 ? "1" : "0")" }
    let marks = try ScratchFile(text).readings().readings.map(\.marks)
    #expect(marks.count == 24 && marks.count { $0.contains(.controlSolution) } == (isControl ? 4 : 0))
  }

  @Test func aTableWithAMarkWordInSomeRowsIsRefusedUntilForced() throws {
    let file = try ScratchFile("time,glucose,voided\n" + Self.rows { ",\($0 % 6 == 5 ? "x" : "")" })
    #expect(try #require(try file.refusal()).contains("--force"))
    #expect(try file.readings { $0.force = true }.readings.count == 24)
    // A mapping of columns does not state what the marked rows are, so the table is still refused.
    #expect(
      try file.refusal { $0.columns = ["time": "time", "value": "glucose"] }?.contains("'voided'") == true)
  }

  /// The refusal of a column without a word for glucose suggests `--map`. A mapped table with marked rows
  /// must still be refused.
  @Test(arguments: [("is_deleted", "1", "0"), ("isValid", "false", "true"), ("error", "E-4", "")])
  func aMappedTableWithMarkedRowsIsRefusedUntilForced(_ name: String, _ mark: String, _ other: String) throws
  {
    let file = try ScratchFile("timestamp,value,\(name)\n" + Self.rows { ",\($0 % 6 == 5 ? mark : other)" })
    let map = ["time": "timestamp", "value": "value"]
    let refusal = try #require(try file.refusal { $0.columns = map })
    #expect(
      refusal.contains("'\(name)' marks some rows") && refusal.contains("--map time=timestamp"), "\(refusal)")
    let all = try file.readings {
      $0.columns = map
      $0.force = true
    }
    #expect(all.readings.count == 24)
  }

  @Test(arguments: ["saliva", "Sweat", "Urin"])
  func aTableWithRowsOfAnotherFluidThanBloodIsRefused(_ fluid: String) throws {
    let file = try ScratchFile("time,glucose,specimen\n" + Self.rows { ",\($0 % 6 == 5 ? fluid : "venous")" })
    #expect(try file.refusal()?.contains("--where specimen=venous") == true)
    let blood = try ScratchFile(
      "time,glucose,specimen\n" + Self.rows { ",\($0 % 6 == 5 ? "capillary" : "venous")" })
    #expect(try blood.readings().readings.count == 24)
  }

  @Test func aMarkInOnlyTheLastRowOfALongTableRefusesTheTable() throws {
    let text = "time,glucose,deleted\n" + (1..<9).map { Self.rows(40, from: $0) { _ in ",false" } }.joined()
    #expect(try ScratchFile(text).readings().readings.count == 320)
    let last = text + "2026-05-09 09:00,104,true\n"
    #expect(try #require(try ScratchFile(last).refusal()).contains("'deleted' marks some rows"))
  }

  @Test(arguments: [
    "SENSOR_ERROR", "forecast", "imputed", "Warmup", "daily average", "Total", "Control", "gelöscht",
    "Eliminada", "ugyldig",
  ])
  func aWordForSomethingElseThanAReadingInOneRowRefusesTheTable(_ word: String) throws {
    let file = try ScratchFile("time,glucose,state\n" + Self.rows { ",\($0 == 9 ? word : "ok")" })
    let refusal = try #require(try file.refusal())
    #expect(refusal.contains("'\(word)'") && refusal.contains("--where state=ok"), "\(refusal)")
    let some = try ScratchFile("time,glucose,state\n" + Self.rows { ",\($0 == 9 ? word : "")" })
    #expect(try #require(try some.refusal()).contains("--force"))
    #expect(try some.readings { $0.force = true }.readings.count == 24)
  }

  /// The event of a row does not change the kind of the sensor's value.
  @Test func aSensorValueNextToAnEventIsASensorValue() throws {
    let events = [3: "Calibration", 9: "Insulin Rapid", 15: "Carbs"]
    let text =
      "time,Sensor Glucose (mg/dL),Event,Amount\n"
      + Self.rows { ",\(events[$0] ?? ""),\(events[$0] == nil ? "" : "12")" }
    let export = try ScratchFile(text).readings()
    #expect(export.readings.count == 24 && export.readings.allSatisfy { $0.kind == .cbg })
    // If the name of the column of values has no word for a sensor, the words for events are read as kinds.
    let named = try ScratchFile(text.replacing("Sensor Glucose", with: "Glucose")).readings()
    #expect(named.readings.count < 24 || named.readings.contains { $0.kind == .smbg })
  }

  /// In this column of sources, `sensor` states the kind of a reading, and the other word means that the
  /// value was not measured.
  @Test(arguments: ["source", "Quelle", "origin"], ["forecast", "predicted", "imputed"])
  func aSourceThatIsNotAMeasurementRefusesTheTable(_ name: String, _ word: String) throws {
    func text(_ last: String) -> String {
      "time,glucose,\(name)\n" + Self.rows { ",\($0 > 18 ? last : "sensor")" }
    }
    #expect(try ScratchFile(text(word)).refusal()?.contains("marks some rows") == true)
    #expect(try ScratchFile(text("Libre")).readings().readings.count == 24)
  }

  @Test(arguments: [
    "after the control of the homework", "average day, total mess in the kitchen", "ok", "totally fine",
  ])
  func aRemarkDoesNotMarkItsRowAsNoReading(_ remark: String) throws {
    let text = "time,glucose,remark\n" + Self.rows { ",\($0 == 9 ? "\"\(remark)\"" : "ok")" }
    #expect(try ScratchFile(text).readings().readings.count == 24)
  }

  @Test(arguments: [
    "Sensor gelöscht", "entfernt", "Alarm ignoriert", "removed", "nicht gelöscht", "no eliminado",
  ])
  func aWordThatMayBeAboutASensorDoesNotMarkItsRow(_ word: String) throws {
    let text = "time,glucose,state\n" + Self.rows { ",\($0 == 9 ? word : "ok")" }
    #expect(try ScratchFile(text).readings().readings.count == 24)
  }

  @Test(arguments: ["Comment", "Notes", "Bemerkung", "Commentaire", "Notas", "Remarks (own)"])
  func wordsInAColumnOfRemarksDoNotMarkTheirRows(_ name: String) throws {
    let remarks = ["control", "average day", "total carbs 60", "predicted low, ate", "test strip error"]
    for remark in remarks {
      let rows = Self.rows { ",\($0 == 9 ? "\"\(remark)\"" : "")" }
      #expect(try ScratchFile("time,glucose,\(name)\n" + rows).readings().readings.count == 24, "\(remark)")
    }
    let state = try ScratchFile("time,glucose,state\n" + Self.rows { ",\($0 == 9 ? "control" : "")" })
    #expect(try state.refusal()?.contains("marks some rows") == true)
  }

  // MARK: Further tables

  @Test(arguments: ["time,insulin", "time,heart_rate", "Timestamp,bpm", "pulse,time", "date,weight kg"])
  func aSecondTableOfAnotherSubjectIsNotRead(_ header: String) throws {
    let text = "time,glucose\n" + Self.rows() + "\n\(header)\n" + Self.rows(from: 2)
    let export = try TextExport(text)
    #expect(export.readings.count == 24 && export.rejections.count >= 24, "\(export.rejections.count)")
    #expect(export.readings.allSatisfy { $0.deviceTime.text.hasPrefix("2026-05-01") })
  }

  @Test(arguments: [",\"day off, nothing eaten\"", "Average,128", "no sensor today,change at 8", ",a,b"])
  func aRemarkBetweenRowsDoesNotEndTheTable(_ remark: String) throws {
    let export = try TextExport("time,glucose\n" + Self.rows() + remark + "\n" + Self.rows(from: 2))
    #expect(export.readings.count == 48)
  }

  /// Both tables have the same column names, and only their titles state what the values are.
  @Test func aSecondTableWithTheSameHeaderIsNotReadIfItsTitleNamesAnotherSubject() throws {
    let text = "Glucose mg/dL\ntime,value\n" + Self.rows() + "\nHeart rate\ntime,value\n" + Self.rows(from: 2)
    let export = try TextExport(text)
    #expect(export.readings.count == 24)
    #expect(export.readings.allSatisfy { $0.deviceTime.text.hasPrefix("2026-05-01") })
    let named = text.replacing("time,value", with: "time,glucose").replacing("Heart rate", with: "Next day")
    #expect(try TextExport(named).readings.count == 48)
  }

  // MARK: Other values

  @Test(arguments: [
    "Lactate (mmol/L)", "glutamine", "pCO2", "Viability %", "OD600", "horizon_min", "contrast", "Humidity",
  ])
  func glucoseNextToAnotherSubjectIsRefusedUntilConfirmed(_ name: String) throws {
    let file = try ScratchFile("time,glucose (mg/dL),\(name)\n" + Self.rows { _ in ",1.1" })
    let refusal = try #require(try file.refusal())
    #expect(refusal.contains("'\(name)'") && refusal.contains("--kind smbg"), "\(refusal)")
    #expect(try file.readings { $0.kind = .smbg }.readings.count == 24)
    let weight = try ScratchFile("time,glucose (mg/dL),Weight\n" + Self.rows { _ in ",80" })
    #expect(try weight.readings().readings.count == 24)
  }

  @Test func theRefusalOfATableWhoseValuesAreNotNumbersQuotesTheCells() throws {
    let text = "time,glucose\n" + Self.rows().replacing("\n", with: " mg\n")
    let refusal = try #require(try ScratchFile(text).refusal())
    #expect(refusal.contains("are not plain numbers: '100 mg'"), "\(refusal)")
    let litres = try #require(try ScratchFile("time,glucose (g/L)\n2026-05-01 07:10,1.04\n").refusal())
    #expect(litres.contains("is in g/L"), "\(litres)")
  }

  @Test func aTableWithoutAColumnNamedForTimesIsRefusedWithAdvice() throws {
    let modified = try #require(try ScratchFile("moment,glucose\n" + Self.rows()).refusal())
    #expect(modified.contains("--map time=moment,value=glucose"), "\(modified)")
    let counted = try #require(try ScratchFile("row,glucose\n1,104\n2,109\n").refusal())
    #expect(counted.contains("none holds dates with times of day"), "\(counted)")
  }
}
