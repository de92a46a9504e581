// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import Formats

@Suite struct ContourExportTests {
  private static let header =
    "#,Date and Time,BGValue[mg/dL],Meal Marker,Data Source,Notes,Activity,Meal[g],Medication,Location\n"

  private func row(_ time: String, _ value: String = "103") -> String {
    "1,\"\(time)\",\"\(value)\",\"\",\"Meter\",\"\",\"\",\"\",\"\",\"\"\n"
  }

  @Test(arguments: [
    header, "#,Local Time,Readings [mmol/L],Meal Marker\n",
    "#,Data i godzina,BGValue[mg/dl],Znacznik posiłku,Źródło danych,Uwagi,Aktywność,Posiłek[g],Leki,Miejsce\n",
    "Date and Time,BGValue [mg/dL],Meal Marker,Data Source,Notes,Activity,Meal[g]\n",
  ])
  func theGlucoseColumnOfContourIsEnglishInEveryLanguage(_ header: String) throws {
    #expect(try Claims.claims(header, ContourFormat.self))
  }

  @Test(arguments: [
    "dateTime,bgValue\n", "#,Date and Time,BGValue,Meal Marker\n", "Date,Readings [mmol/L],Notes\n",
    "BGValue[mg/dL],Date\n", "#,Date,Readings [U],Notes\n", "#,Date,Mean Readings [mg/dL]\n",
  ])
  func otherTablesAreNotRecognisedAsContour(_ header: String) throws {
    #expect(try !Claims.claims(header, ContourFormat.self))
  }

  @Test func localContourColumnNamesAndDecimalCommasAreRead() throws {
    let export = try TextExport(bytes: TextExport.sample("contour/contour-mmol-da-windows1252.csv"))
    #expect(export.readings.map { $0.measurement.quantity?.number } == [7.2, 5.9, 6])
    #expect(export.readings.map(\.marks) == [.beforeMeal, .manual, []])
    #expect(
      export.readings.map(\.deviceTime.text)
        == ["2026-06-09T07:12:35", "2026-06-09T21:05:00", "2026-06-10T06:31:00"])
    #expect(
      export.recordTexts == [
        #"note 2026-06-09T07:12:35 {"text":"linje 1\nlinje 2"}"#, #"food 2026-06-09T21:05:00 {"carbs":12.5}"#,
      ])
  }

  @Test func contourColumnsInAnotherOrderAreReportedAndNotRead() throws {
    let export = try TextExport(
      "#,Date and Time,BGValue[mg/dL],Notes,Meal Marker\n1,\"26.08.2026 08:00\",\"103\",\"Fasting\",\"Fasting\"\n"
    )
    #expect(export.readings.map(\.marks) == [[]] && export.records.isEmpty)
    #expect(export.warnings.count == 2)
  }

  @Test func unknownWordsOfAContourExportAreCounted() throws {
    let export = try TextExport(bytes: TextExport.sample("contour/contour-mmol-nb.csv"))
    #expect(export.readings.map(\.marks) == [[], .beforeMeal, .afterMeal, []])
    #expect(export.readings.last?.measurement == .low(below: nil, .millimolesPerLitre))
    #expect(export.skipped == ["meal mark in words that glucoport does not know": 1])
    #expect(export.rejections.map(\.line) == [6])
  }

  @Test func contourTimesWithCapitalAMOrPMHaveTheMonthFirst() throws {
    let american = try TextExport(Self.header + row("06/08/2026 1:47:35 PM"))
    #expect(american.readings.map(\.deviceTime.text) == ["2026-06-08T13:47:35"])
    let failure = #expect(throws: Failure.self) {
      _ = try TextExport(Self.header + row("06/08/2026 1:47:35 pm"))
    }
    #expect(failure?.message.contains("--date-order") == true)
    #expect(throws: Failure.self) { _ = try TextExport(Self.header + row("06/08/2026 13:47:35")) }
    let given = try TextExport(Self.header + row("06/08/2026 1:47:35 pm")) { $0.dateOrder = "dmy" }
    #expect(given.readings.map(\.deviceTime.text) == ["2026-08-06T13:47:35"])
  }

  @Test func contourRowsBelowAHeaderWithAnotherUnitAreNotRead() throws {
    let other = Self.header.replacing("mg/dL", with: "mmol/L")
    let export = try TextExport(
      Self.header + row("26.08.2026 08:00") + other + row("26.08.2026 09:00", "5,6"))
    #expect(export.readings.count == 1 && !export.rejections.isEmpty)
  }

  // MARK: English marks and doses in words

  @Test func englishContourMarksAndDosesAreRead() throws {
    let export = try TextExport(bytes: TextExport.sample("contour/contour-mmol-en-doses.csv"))
    #expect(export.readings.map(\.marks) == [.afterMeal, .beforeMeal, .fasting, .manual, []])
    #expect(
      export.recordTexts == [
        #"food 2026-05-27T19:41:20 {"carbs":42.5}"#,
        #"insulin 2026-05-27T19:41:20 {"subtype":"rapid","units":5}"#,
        #"insulin 2026-05-27T19:41:20 {"subtype":"long","units":17}"#,
        #"insulin 2026-05-27T18:02:11 {"subtype":"rapid","units":2.5}"#,
      ])
    #expect(export.skipped == ["medication": 1])
  }

  @Test(arguments: [
    ("Fast-acting Insulin (Bolus): 2,5 U", ["rapid 2.5"]),
    ("Insulin (Basal): 8 U,Insulin (Bolus): 1,5 U", ["long 8", "rapid 1.5"]),
    (
      "Insuline à action rapide (Bolus): 5 U,Insuline à action prolongée (Basale): 17 UI",
      ["rapid 5", "long 17"]
    ),
    ("Insulina rápida (Bolo): 3 UI", ["rapid 3"]), ("Tresiba: 12 E", ["long 12"]),
    ("Insulin: 3 U", ["Insulin 3"]), ("Metformin: 500 mg", []),
    ("Insulin (Bolus): 0 U", []), ("Insulin (Bolus): 600 U", []), ("Insulin (Bolus): 3 mg", []),
    ("Insulin (Bolus)", []), ("Bolus 3 U", []), ("Insulin (Bolus): three U", []),
  ])
  func aContourDoseIsReadIfItsUnitIsThatOfInsulin(_ medication: String, _ doses: [String]) throws {
    let export = try TextExport(
      Self.header + row("26.08.2026 08:00").replacing("\"\",\"\"\n", with: "\"\(medication)\",\"\"\n"))
    let found = export.records.map { record -> String in
      guard case .text(let subtype)? = record.fields["subtype"] ?? record.fields["text"],
        case .number(let units)? = record.fields["units"]
      else { return "?" }
      return "\(subtype) \(plainNumber(units))"
    }
    #expect(found == doses)
    #expect(export.skipped["medication"] == (doses.isEmpty ? 1 : nil))
  }
}
