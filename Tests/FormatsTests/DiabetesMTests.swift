// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import Formats

@Suite struct DiabetesMTests {
  @Test func theTimeZoneInADiabetesMRowDeterminesItsOffset() throws {
    let export = try TextExport(bytes: TextExport.sample("diabetes-m/entries-mmol.csv"))
    let byTime = Dictionary(grouping: export.readings, by: \.deviceTime.text)
    #expect(
      byTime["2026-03-02T21:10:00"]?.map(\.placement) == [Placement(utcOffset: 3600, source: .stated)])
    #expect(
      byTime["2026-03-02T12:00:00"]?.map(\.placement) == [Placement(utcOffset: 32400, source: .stated)])
    // A zone name that the system does not know is ignored, and the row gets the offset of the logbook's
    // zone.
    #expect(byTime["2026-03-01T18:00:00"]?.map(\.placement.source) == [.zone])
    #expect(export.warnings.count == 1)
  }

  @Test func theUnitOfADiabetesMValueIsReadFromItsRow() throws {
    let export = try TextExport(bytes: TextExport.sample("diabetes-m/entries-mgdl.csv"))
    #expect(export.readings.map(\.measurement.unit) == [.milligramsPerDecilitre, .milligramsPerDecilitre])
    #expect(
      export.recordTexts == [#"insulin 2026-03-02T08:10:00 {"subtype":"rapid","units":3}"#])
    // The three rejected rows have a value of 146 mmol/L, no unit, and a day that does not exist.
    let others = try TextExport(bytes: TextExport.sample("diabetes-m/entries-mmol.csv"))
    #expect(others.rejections.count == 3)
  }

  @Test func zeroInADiabetesMColumnIsAMissingValue() throws {
    let export = try TextExport(bytes: TextExport.sample("diabetes-m/entries-mmol.csv"))
    #expect(export.readings.map(\.kind) == [.smbg, .cbg, .ketone, .smbg])
    #expect(export.readings.map { $0.measurement.quantity?.number } == [8.1, 5.4, 0.4, 6.2])
    #expect(
      export.recordTexts == [
        #"insulin 2026-03-02T21:10:00 {"subtype":"rapid","units":3}"#,
        #"insulin 2026-03-02T21:10:00 {"subtype":"long","units":12}"#,
        #"food 2026-03-02T21:10:00 {"carbs":25,"energy":152,"fat":3.5,"protein":4}"#,
        #"note 2026-03-02T21:10:00 {"text":"late dinner,\nwith friends"}"#,
        #"insulin 2026-03-02T13:05:00 {"extended":3,"subtype":"rapid"}"#,
        #"food 2026-03-02T13:05:00 {"carbs":12}"#,
        #"insulin 2026-03-01T22:00:00 {"rate":0.8,"subtype":"basal"}"#,
        #"exercise 2026-03-01T22:00:00 {"text":"swimming"}"#,
      ])
    #expect(
      export.skipped == ["body weight": 1, "blood pressure": 1, "pulse": 1, "entry without content": 1])
  }

  @Test(arguments: [
    "DateTimeFormatted,glucose,carbs,notes\n", "DateTimeFormatted,glucose,is_sensor,timezone\n",
    "time,glucose,us_units,is_sensor,timezone\n", "\"name:DIABETES_M\",\"version:2.0.0\"\n",
  ])
  func aTableWithoutAUnitOrTimeZoneIsNotRecognisedAsDiabetesM(_ text: String) throws {
    #expect(try !Claims.claims(text, DiabetesMFormat.self))
  }

  @Test func anUnknownDiabetesMColumnIsReportedOnce() throws {
    let export = try TextExport(
      "DateTimeFormatted,glucose,us_units,is_sensor,timezone,mood\n"
        + "2026-03-01 18:00:00,6.2,false,false,Europe/Berlin,4\n")
    #expect(export.warnings == ["unknown column 'mood': not read"] && export.readings.count == 1)
  }
}
