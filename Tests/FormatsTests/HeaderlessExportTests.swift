// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import Formats

/// Tests Glimp and glucometerutils, whose tables have no header and no unit.
@Suite struct HeaderlessExportTests {
  // MARK: Glimp

  private func glimp(_ value: String, time: String = "17/05/2026 20.46.30") -> String {
    "5;\(time);1779030990;;;\(value);\(value);8;3;SERIAL;;;;;\n"
  }

  @Test func bothLayoutsOfGlimpAreReadFromTheirGlucoseColumn() throws {
    let newer = try TextExport(bytes: TextExport.sample("glimp/glimp-15col.csv")) {
      $0.unit = .milligramsPerDecilitre
    }
    #expect(newer.readings.map { $0.measurement.quantity?.number } == [388, 369, 363, 112, 17])
    #expect(newer.readings.map(\.kind) == [.cbg, .cbg, .scan, .smbg, .cbg])
    #expect(newer.readings.first?.position == 1_779_030_990)
    #expect(newer.readings.first?.placement == Placement(utcOffset: 19800, source: .stated))
    let older = try TextExport(bytes: TextExport.sample("glimp/glimp-13col-utf16.csv"))
    #expect(older.readings.map { $0.measurement.quantity?.number } == [112, 118])
    #expect(older.readings.map(\.placement.source) == [.zone, .zone])
    #expect(older.decision("unit") == "mg/dL (inferred)")
  }

  @Test func glimpInsulinAndNotesAreReadAsRecords() throws {
    let export = try TextExport(bytes: TextExport.sample("glimp/glimp-15col.csv")) {
      $0.unit = .milligramsPerDecilitre
    }
    #expect(
      export.recordTexts == [
        #"insulin 2026-05-17T21:12:00 {"subtype":"rapid","units":4.5}"#,
        #"note 2026-05-17T21:12:00 {"text":"note"}"#,
        #"insulin 2026-05-17T21:13:00 {"subtype":"long","units":12}"#,
      ])
    #expect(
      export.skipped == ["dose of 0 units": 1, "glucose of a kind that glucoport does not know": 1])
    #expect(export.rejections.map(\.line) == [10])
    #expect(export.devices.map(\.serial) == ["MH00SAMPL1", ""])
  }

  @Test func aHeaderlessExportWithAnUnclearUnitIsRefused() throws {
    let millimoles = try TextExport(glimp("5.6") + glimp("6.1", time: "17/05/2026 20.47.30"))
    #expect(millimoles.readings.map(\.measurement.unit) == [.millimolesPerLitre, .millimolesPerLitre])
    for text in [glimp("20"), glimp("20") + glimp("112"), glimp("5.6") + glimp("112")] {
      let failure = #expect(throws: Failure.self) { _ = try TextExport(text) }
      #expect(failure?.message.contains("--unit") == true)
    }
  }

  @Test(arguments: [
    "5;17/05/2026 20:46:30;1779030990;;;390;390;8;3;S;;;;;\n", "5;17/05/2026 20.46.30;1779030990;390\n",
    "x;17/05/2026 20.46.30;1779030990;;;390;390;8;3;S;;;;;\n",
    "5;2026-05-17 20.46.30;1779030990;;;390;390;8;3;S;;;;;\n",
    "version;time;epoch;place;weight;raw;value;;kind;serial;;;;;\n5;17/05/2026 20.46.30;1779030990;;;390;390;8;3;S;;;;;\n",
  ])
  func aTableOfAnotherLayoutIsNotRecognisedAsGlimp(_ text: String) throws {
    #expect(try !Claims.claims(text, GlimpFormat.self))
  }

  // MARK: glucometerutils

  private func dump(
    _ value: String, meal: String = "", method: String = "blood sample", comment: String = "",
    time: String = "2026-05-14 07:31:00"
  ) -> String {
    "\"\(time)\",\"\(value)\",\"\(meal)\",\"\(method)\",\"\(comment)\"\n"
  }

  @Test func meterDumpValuesTooLowForGlucoseAreReadAsKetones() throws {
    let export = try TextExport(bytes: TextExport.sample("glucometerutils/dump-mgdl-ketones.csv"))
    #expect(export.readings.map(\.kind) == [.smbg, .smbg, .ketone, .ketone, .cbg, .scan, .smbg])
    #expect(export.readings.map { $0.measurement.quantity?.number } == [112, 154, 0.6, 1.4, 101, 104, 98])
    #expect(export.readings.map(\.line) == [1, 2, 3, 4, 5, 6, 8])
    #expect(export.skipped == ["clock change": 1] && export.rejections.map(\.line) == [9])
    #expect(
      export.recordTexts == [#"note 2026-05-14T09:40:00 {"text":"(Scan) note, with \"quotes\""}"#])
  }

  @Test func lowValuesAreRejectedAsPossibleKetonesOnlyIfTheMeterHasKetones() throws {
    let alone = try TextExport(bytes: TextExport.sample("glucometerutils/dump-mmol.csv"))
    #expect(alone.readings.map(\.kind) == [.smbg, .smbg, .smbg] && alone.rejections.isEmpty)
    let both = try TextExport(bytes: TextExport.sample("glucometerutils/dump-mmol-ketones.csv"))
    #expect(both.readings.map(\.kind) == [.smbg, .smbg, .ketone])
    #expect(both.rejections.map(\.line) == [4])
  }

  @Test func aMeterDumpWhoseValuesMayAllBeKetonesIsRefusedWithoutAUnit() throws {
    let text = dump("4.20") + dump("5.10", time: "2026-05-14 08:31:00")
    let failure = #expect(throws: Failure.self) { _ = try TextExport(text) }
    #expect(failure?.message.contains("--unit") == true)
    let given = try TextExport(text) { $0.unit = .millimolesPerLitre }
    #expect(given.readings.map(\.kind) == [.smbg, .smbg])
  }

  @Test func aMeterDumpIsRecognisedByItsCells() throws {
    let format = GlucometerDumpFormat.self
    #expect(try Claims.claims(dump("112.00"), format))
    for other in [
      dump("112.00", method: "laboratory"), dump("112.00", time: "14.05.2026 07:31:00"),
      dump("112.00").replacing("\"", with: ""), "time,value\n" + dump("112.00"),
      "\"2026-05-14 07:31:00\",\"112.00\",\"CGM\",\"\"\n",
    ] {
      #expect(try !Claims.claims(other, format), "\(other)")
    }
  }
}
