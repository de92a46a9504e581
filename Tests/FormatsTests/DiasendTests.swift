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
  func aSheetIsRecognised(_ text: String) throws { #expect(try Claims.claims(text, DiasendFormat.self)) }

  @Test(arguments: [
    // A table of times and a unit is many people's, and so is a period.
    "Time,mg/dl\n", "Time,mg/dl\n" + period, "Date,05/11/2025\nTime,mg/dl\n", period + "time,glucose\n",
    period + "Time,mg/dl,insulin\n", "Time,Basal Amount (U/h),Bolus Type\n", "Time,Carbs(g),Notes\n",
  ])
  func otherTablesAreNot(_ text: String) throws { #expect(try !Claims.claims(text, DiasendFormat.self)) }

  @Test func glucoseOfAMeterIsFingerSticks() throws {
    let export = try TextExport(bytes: TextExport.sample("diasend/glucose.csv"))
    #expect(export.readings.map(\.kind) == [.smbg, .smbg, .smbg, .smbg])
    #expect(export.readings[2].measurement == .low(below: nil, .milligramsPerDecilitre))
    #expect(export.decision("kind") == "smbg (inferred)")
    #expect(export.decision("date-order") == "day first (inferred)")
    #expect(export.rejections.map(\.line) == [10, 11])
  }

  @Test func regularReadingsAreThoseOfASensor() throws {
    let bytes = try TextExport.sample("diasend/sensor-mmol.csv")
    let export = try TextExport(bytes: bytes) { $0.dateOrder = "dmy" }
    #expect(export.readings.map(\.kind) == Array(repeating: .cbg, count: 6))
    #expect(export.readings.first?.measurement == .value(Quantity(5.6, .millimolesPerLitre)))
    let given = try TextExport(bytes: bytes) { ($0.dateOrder, $0.kind) = ("dmy", .smbg) }
    #expect(given.readings.map(\.kind) == Array(repeating: .smbg, count: 6))
    #expect(given.decision("kind") == "smbg (given)")
  }

  @Test func anOrderThatNothingSettlesIsAskedFor() throws {
    let failure = #expect(throws: Failure.self) {
      _ = try TextExport(bytes: TextExport.sample("diasend/sensor-mmol.csv"))
    }
    #expect(failure?.message.contains("--date-order") == true)
  }

  @Test func thePeriodSettlesTheOrder() throws {
    let export = try TextExport("Date,01/02/2026 to 14/03/2026\nTime,mg/dl\n02/03/2026 08:00,101\n")
    #expect(export.readings.map(\.deviceTime.text) == ["2026-03-02T08:00:00"])
  }

  @Test func bolusesRatesAndFoodAreRecords() throws {
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
