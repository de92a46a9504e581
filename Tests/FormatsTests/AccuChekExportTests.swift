// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import Formats

@Suite struct AccuChekExportTests {
  private static let top = "Serial number;Download date;Download time;;;\nU1;08.05.2026;17:04;;;\n"
  private static let columns = "Date;Time;Result;Unit;Temperature warning;Before meal;After meal;Control test"

  // MARK: The report of the Mobile

  @Test func accuChekFlagsAreFoundByTheirColumnNames() throws {
    let twelve = try TextExport(bytes: TextExport.sample("accu-chek-mobile/report-mgdl-de.csv"))
    #expect(
      twelve.readings.map(\.marks) == [
        .bedtime, .beforeMeal, .fasting, .temperatureWarning, .controlSolution, [],
      ])
    let ten = try TextExport(bytes: TextExport.sample("accu-chek-mobile/report-mmol-en.csv"))
    #expect(ten.readings.map(\.marks) == [.afterMeal, .beforeMeal, [], .controlSolution])
    #expect(
      ten.readings.map(\.measurement) == [
        .value(Quantity(7.4, .millimolesPerLitre)), .high(above: nil, .millimolesPerLitre),
        .low(below: nil, .millimolesPerLitre), .value(Quantity(5.1, .millimolesPerLitre)),
      ])
  }

  @Test func aReadingOfAnAccuChekReportHasTheSerialNumberOfTheMeter() throws {
    let export = try TextExport(bytes: TextExport.sample("accu-chek-mobile/report-mgdl-de.csv"))
    #expect(export.devices.map(\.vendor) == ["Roche"] && export.devices.map(\.serial) == ["12345678"])
    #expect(export.readings.first?.deviceTime.text == "2026-05-30T22:10:00")
    #expect(export.skipped == ["row without a result": 1] && export.rejections.map(\.line) == [11, 12])
    #expect(export.warnings.count == 1)
  }

  @Test func anAccuChekReportIsRecognisedBySerialNumberAndControlTestColumn() throws {
    let format = AccuChekMobileFormat.self
    #expect(try Claims.claims(Self.top + Self.columns + "\n", format))
    #expect(try !Claims.claims(Self.columns + "\n", format))
    #expect(try !Claims.claims(Self.columns + "\n" + Self.top, format))
    #expect(try !Claims.claims(Self.top + "Date;Time;Result;Unit;Before meal\n", format))
    #expect(try !Claims.claims("Device;Download date\nU1;08.05.2026\n" + Self.columns + "\n", format))
  }

  @Test func aLastAccuChekRowWithoutItsLastFlagIsTruncated() throws {
    let text = Self.top + Self.columns + "\n08.05.2026;16:42;7.4;mmol/l; ; ; ; ;\n"
    let cut = try TextExport(text + "08.05.2026;16:45;7.9;mmol/l; ; ; ;")
    #expect(cut.readings.count == 1 && cut.isTruncated)
    let whole = try TextExport(text + "08.05.2026;16:45;7.9;mmol/l; ; ; ;X;")
    #expect(whole.readings.map(\.marks) == [[], .controlSolution] && !whole.isTruncated)
  }

  // MARK: The table of 360° and Smart Pix

  private static let header =
    #""Date";"Time";"bG (mg/dL)";"Insulin1 (units)";"Insulin2 (units)";"bG Control";"bG Lab (mg/dL)";"Mood";"#

  @Test func onlyTheGlucoseColumnOfAnAccuChekTableIsReadAsGlucose() throws {
    let export = try TextExport(bytes: TextExport.sample("accu-chek-360/entries-mgdl.csv"))
    #expect(
      export.readings.map(\.measurement) == [
        .value(Quantity(104, .milligramsPerDecilitre)), .high(above: nil, .milligramsPerDecilitre),
        .value(Quantity(121, .milligramsPerDecilitre)),
      ])
    #expect(export.readings.map(\.marks) == [[], [], .controlSolution])
    #expect(
      export.recordTexts == [
        #"insulin 2026-05-14T07:16:00 {"text":"insulin 1","units":4.5}"#,
        #"food 2026-05-14T07:16:00 {"carbs":45}"#,
        #"exercise 2026-05-14T20:00:00 {"intensity":"Moderate","minutes":30}"#,
        #"note 2026-05-14T20:00:00 {"text":"football"}"#,
        #"insulin 2026-05-14T21:00:00 {"subtype":"rapid","units":1.2}"#,
        #"insulin 2026-05-14T21:00:00 {"rate":0.85,"subtype":"basal"}"#,
        #"insulin 2026-05-15T07:00:00 {"text":"insulin 2","units":14}"#,
      ])
    #expect(
      export.skipped == [
        "flag": 1, "laboratory value": 1, "daily total": 1, "row without a value": 1,
      ])
    #expect(export.rejections.map(\.line) == [18])
    #expect(export.decision("date-order") == "month first (inferred)")
  }

  @Test func anAccuChekTableWithAnUnclearDateOrderIsRefused() throws {
    let row = "\n\"05/06/2026\";\"07:15\";\"104\";\"\";\"\";\"\";\"\";\"\";\n"
    let export = try TextExport(Self.header + row) { $0.dateOrder = "dmy" }
    #expect(export.readings.map(\.deviceTime.text) == ["2026-06-05T07:15:00"])
    #expect(export.warnings == ["unknown column 'Mood': not read"])
    #expect(throws: Failure.self) { _ = try TextExport(Self.header + row) }
  }

  @Test(arguments: [
    "Date;Time;bG;Insulin1 (units);Insulin2 (units)\n", "Date;Time;bG (mg/dL);Insulin (units)\n",
    "Date;Time;bG Lab (mg/dL);Insulin1 (units);Insulin2 (units)\n",
    "Date;bG (mg/dL);Insulin1 (units);Insulin2 (units)\n",
  ])
  func aTableWithOtherColumnsIsNotRecognisedAsAccuChek(_ header: String) throws {
    #expect(try !Claims.claims(header, AccuChek360Format.self))
    #expect(try Claims.claims(Self.header + "\n", AccuChek360Format.self))
  }
}
