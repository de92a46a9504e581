// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import Formats

@Suite struct SiDiaryTests {
  private static let header = "DAY;TIME;UDT_CGMS;BG_LEVEL;CH_GR;BOLUS;REMARK\n"

  /// A remark is read from the bytes of its line, so its end matters as that of a cell does.
  @Test func aRemarkThatMayBeCutIsLeftOut() throws {
    let table =
      "DAY;TIME;UDT_CGMS;BG_LEVEL;CH_GR;BOLUS;REMARK\n14.05.2026;19:22;;118;;;\n14.05.2026;20:05;;;;;"
    let cut = try TextExport(table + "wa")
    #expect(cut.records.isEmpty && cut.readings.count == 1)
    guard case .unterminated(3, _) = cut.end else {
      Issue.record("\(cut.end)")
      return
    }
    #expect(try TextExport(table + "walk\n").records.map { $0.fields["text"] } == [.text("walk")])
  }

  @Test func siDiaryRowsMayEndEarlyOrHaveMoreCells() throws {
    let export = try TextExport(Self.header + "14.05.2026;19:20;115\n14.05.2026;19:25;116;;;;;;;\n")
    #expect(export.readings.count == 2 && export.rejections.isEmpty && export.records.isEmpty)
  }

  @Test func aFingerStickNextToASensorValueIsReadInEitherUnitAndOnce() throws {
    let export = try TextExport(
      "DAY;TIME;UDT_CGMS;BG_LEVEL;BG_LEVEL_MMOL\n14.05.2026;19:20;115;;6.2\n14.05.2026;19:25;116;112;6.2\n")
    #expect(export.readings.map(\.kind) == [.cbg, .smbg, .cbg, .smbg])
    #expect(export.readings[1].measurement == .value(Quantity(6.2, .millimolesPerLitre)))
    #expect(export.readings[3].measurement == .value(Quantity(112, .milligramsPerDecilitre)))
  }

  @Test func aSiDiaryRemarkKeepsItsSemicolonsAndLines() throws {
    let export = try TextExport(Self.header + #"14.05.2026;19:20;;;;;pizza; half "big"||later more;"# + "\n")
    #expect(export.recordTexts == [#"note 2026-05-14T19:20:00 {"text":"pizza; half \"big\"\nlater more"}"#])
  }

  @Test func aTableWithCommasHasNoAmountsSplitAtACommaAndKeepsItsQuotedRemarks() throws {
    let header = Self.header.replacing(";", with: ",")
    let rows = [
      "14.05.2026,19:20,,,,2.5,\"pizza, half\"", "14.05.2026,20:05,,,30,5,,lunch", "14.05.2026,21:00,,118,,,",
    ]
    let export = try TextExport(header + rows.joined(separator: "\n") + "\n")
    #expect(export.readings.count == 1)
    #expect(
      export.recordTexts == [
        #"insulin 2026-05-14T19:20:00 {"subtype":"rapid","units":2.5}"#,
        #"note 2026-05-14T19:20:00 {"text":"pizza, half"}"#,
      ])
    #expect(export.rejections.map(\.line) == [3])
  }

  @Test(arguments: [
    "Day;Time;GHI;DNI\n", "day;time;bg_level\n", "DAY;TIME\n", "DAY;TIME;WEIGHT_KG\n", "TIME;DAY;BG_LEVEL\n",
  ])
  func otherTablesOfDaysAndTimesAreNotRecognisedAsSiDiary(_ text: String) throws {
    let head = try InputHead(text: Array(text.utf8), isWhole: true)
    let options = ExportOptions(zone: try LogbookZone(name: "UTC"), now: nil)
    #expect(SiDiaryFormat.recognise(head, options: options) == nil)
  }
}
