// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import Formats

@Suite struct DiasendTests {
  private static let period = "Patient ID,\nName,Sample Person\nDate,05/11/2025 to 03/02/2026\n"

  @Test(arguments: [
    period + "Time,mg/dl\n", period + "Time,mmol/L,\n",
    "Time,Basal Amount (U/h),Bolus Type,Bolus Volume (U),Carbs(g)\n",
  ])
  func aSheetOfDiasendIsRecognised(_ text: String) throws {
    #expect(try Claims.claims(text, DiasendFormat.self))
  }

  @Test(arguments: [
    // Many programs write a column of times with a unit, or a line with a period. Diasend writes the period
    // above these columns.
    "Time,mg/dl\n", "Time,mg/dl\n" + period, "Date,05/11/2025\nTime,mg/dl\n", period + "time,glucose\n",
    period + "Time,mg/dl,insulin\n", "Time,Basal Amount (U/h),Bolus Type\n", "Time,Carbs(g),Notes\n",
  ])
  func otherTablesAreNotRecognisedAsDiasend(_ text: String) throws {
    #expect(try !Claims.claims(text, DiasendFormat.self))
  }

  @Test func diasendGlucoseOfAMeterIsReadAsFingerSticks() throws {
    let export = try TextExport(bytes: TextExport.sample("diasend/glucose.csv"))
    #expect(export.readings.map(\.kind) == [.smbg, .smbg, .smbg, .smbg])
    #expect(export.readings[2].measurement == .low(below: nil, .milligramsPerDecilitre))
    #expect(export.decision("kind") == "smbg (inferred)")
    #expect(export.decision("date-order") == "day first (inferred)")
    #expect(export.rejections.map(\.line) == [10, 11])
  }

  @Test func regularDiasendReadingsAreReadAsSensorReadings() throws {
    let bytes = try TextExport.sample("diasend/sensor-mmol.csv")
    let export = try TextExport(bytes: bytes) { $0.dateOrder = "dmy" }
    #expect(export.readings.map(\.kind) == Array(repeating: .cbg, count: 6))
    #expect(export.readings.first?.measurement == .value(Quantity(5.6, .millimolesPerLitre)))
    let given = try TextExport(bytes: bytes) { ($0.dateOrder, $0.kind) = ("dmy", .smbg) }
    #expect(given.readings.map(\.kind) == Array(repeating: .smbg, count: 6))
    #expect(given.decision("kind") == "smbg (given)")
  }

  /// A glucose sheet with a row at each of these minutes since midnight of the first day.
  private static func sheet(_ minutes: [Int]) -> String {
    minutes.reduce(period + "Time,mg/dl\n") { text, minute in
      let (hour, rest) = minute.quotientAndRemainder(dividingBy: 60)
      let clock = [hour % 24, rest].map { ($0 < 10 ? "0" : "") + String($0) }.joined(separator: ":")
      return text + "\(13 + hour / 24)/11/2025 \(clock),\(100 + minute % 50)\n"
    }
  }

  /// If a few rows were enough to infer the kind, a longer sheet of the same sensor could later get another
  /// kind.
  @Test(arguments: [
    [480], [480, 485], [480, 485, 490], [480, 720], [480, 482, 720], [480, 485, 495, 500, 600, 605],
  ])
  func diasendRowsThatDoNotShowTheKindOfReadingAreRefused(_ minutes: [Int]) throws {
    let failure = #expect(throws: Failure.self) { _ = try TextExport(Self.sheet(minutes)) }
    #expect(failure?.category == .badInput)
    #expect(
      failure?.message.contains("--kind smbg") == true && failure?.message.contains("--kind cbg") == true)
    for kind in [ReadingKind.smbg, .cbg] {
      let given = try TextExport(Self.sheet(minutes)) { $0.kind = kind }
      #expect(given.readings.map(\.kind) == minutes.map { _ in kind })
    }
  }

  @Test(arguments: [
    ([480, 485, 490, 495], ReadingKind.cbg), ([480, 720, 1000, 1300], .smbg),
    ([480, 482, 720, 722, 1400], .smbg),
    ([], .smbg),
  ])
  func diasendRowsThatShowTheKindOfReadingAreRead(_ minutes: [Int], _ kind: ReadingKind) throws {
    let export = try TextExport(Self.sheet(minutes))
    #expect(export.decision("kind") == "\(kind.name) (inferred)")
    #expect(export.readings.map(\.kind) == minutes.map { _ in kind })
  }

  @Test func aDiasendSheetWithAnUndeterminedDateOrderIsRefused() throws {
    let failure = #expect(throws: Failure.self) {
      _ = try TextExport(bytes: TextExport.sample("diasend/sensor-mmol.csv"))
    }
    #expect(failure?.message.contains("--date-order") == true)
  }

  @Test func thePeriodOfADiasendSheetShowsTheOrderOfDayAndMonth() throws {
    let text = "Date,01/02/2026 to 14/03/2026\nTime,mg/dl\n02/03/2026 08:00,101\n"
    let export = try TextExport(text) { $0.kind = .smbg }
    #expect(export.readings.map(\.deviceTime.text) == ["2026-03-02T08:00:00"])
  }

  @Test func diasendBolusesRatesAndFoodAreReadAsRecords() throws {
    let export = try TextExport(bytes: TextExport.sample("diasend/insulin.csv"))
    #expect(
      export.recordTexts == [
        #"insulin 2025-11-05T00:01:00 {"rate":0.14,"subtype":"basal"}"#,
        #"insulin 2025-11-05T04:00:00 {"subtype":"rapid","units":0.4}"#,
        #"food 2025-11-14T07:44:00 {"carbs":12}"#,
        #"insulin 2025-11-14T07:44:00 {"minutes":60,"subtype":"rapid","units":0.9}"#,
        #"insulin 2025-11-14T12:23:00 {"extended":1,"minutes":30,"subtype":"rapid","units":0.5}"#,
        #"insulin 2025-11-14T16:37:00 {"rate":0,"subtype":"basal"}"#,
      ])
    #expect(export.skipped == ["note of the pump": 1, "row without a value": 1])
    #expect(export.rejections.map(\.line) == [9] && export.readings.isEmpty)
    #expect(export.warnings == ["unknown column 'Pump temperature': not read"])
  }
}
