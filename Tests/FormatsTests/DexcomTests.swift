// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import Formats

@Suite struct DexcomAPITests {
  @Test func aDexcomSystemTimeIsReadAsUTCWithOrWithoutAnOffset() throws {
    let items = ["2026-02-06T09:07:35Z", "2026-02-06T09:07:35", "2026-02-06T10:07:35+01:00"].map {
      #"{"systemTime":"\#($0)","displayTime":"2026-02-06T01:07:35","value":119,"trend":"flat"}"#
    }
    let export = try TextExport(#"{"records":[\#(items.joined(separator: ","))]}"#)
    #expect(
      export.readings.map(\.placement)
        == Array(repeating: Placement(utcOffset: -28800, source: .stated), count: 3))
    #expect(Set(export.readings.map(\.deviceTime.text)) == ["2026-02-06T01:07:35"])
  }

  @Test func aDexcomNumberOutsideTheRangeIsNotRead() throws {
    let export = try TextExport(bytes: TextExport.sample("dexcom-api/egvs-v3.json"))
    #expect(
      export.readings.map(\.measurement).prefix(2) == [
        .low(below: 40, .milligramsPerDecilitre), .high(above: 400, .milligramsPerDecilitre),
      ])
  }

  @Test func theTransmitterTimeDeterminesTheOffsetOfADexcomReading() throws {
    let export = try TextExport(bytes: TextExport.sample("dexcom-api/egvs-v3.json"))
    #expect(export.readings.map(\.position) == [4200, 3900, 3600])
    #expect(Set(export.readings.map(\.positionKind)) == [.tick])
  }

  @Test func dexcomCalibrationsAreNotReadAsSensorReadings() throws {
    let export = try TextExport(bytes: TextExport.sample("dexcom-api/calibrations.json"))
    #expect(export.readings.map(\.kind) == [.smbg] && export.readings.first?.marks == .calibration)
  }

  @Test func aDeletedDexcomEventIsReadAsDeletedAtTheSource() throws {
    let export = try TextExport(bytes: TextExport.sample("dexcom-api/events.json"))
    #expect(export.skipped == [:] && export.records.count == 6 && export.rejections.count == 1)
    #expect(export.records.map(\.sourceID) == ["e1", "e2", "e3", "e4", "e6", "e7"])
    #expect(export.records.filter(\.isDeletedAtSource).map(\.sourceID) == ["e3"])
  }

  @Test(arguments: [
    ("bloodGlucose", "r1", "121", 0), ("insulin", "", "4", 0), ("insulin", "r1", "", 1),
    ("alarm", "r1", "1", 0),
  ])
  func aDeletedDexcomEventThatIsNotACompleteRecordIsCounted(
    _ type: String, _ id: String, _ value: String, _ records: Int
  ) throws {
    let export = try TextExport(
      #"{"records":[{"recordId":"\#(id)","systemTime":"2026-02-06T08:00:00","displayTime":"2026-02-06T09:00:00","#
        + #""eventStatus":"deleted","eventType":"\#(type)","value":"\#(value)"}]}"#)
    #expect(export.skipped == ["deleted event": 1] && export.records.count == records)
    #expect(export.records.allSatisfy { $0.isDeletedAtSource && $0.fields.values.isEmpty })
    #expect(export.readings.isEmpty && export.rejections.isEmpty)
  }
}

@Suite struct DexcomShareTests {
  @Test func theOffsetOfADexcomShareReadingNeverChangesItsInstant() throws {
    let export = try TextExport(bytes: TextExport.sample("dexcom-share/share.json"), zone: "Europe/Madrid")
    #expect(export.readings.map(\.position) == [1_770_369_455_000, 1_770_369_155_000, 1_770_368_855_000])
    #expect(export.readings.map(\.placement.utcOffset) == [-28800, 3600, 0])
  }

  @Test func otherObjectsWithAValueAreNotRecognisedAsDexcomShare() throws {
    for text in [
      #"[{"WT":"2026","Value":175,"Trend":"Flat"}]"#, #"[{"WT":"Date(1770369455000)","Value":175}]"#,
    ] {
      let head = try InputHead(text: Array(text.utf8), isWhole: true)
      let options = ExportOptions(zone: try LogbookZone(name: "UTC"), now: nil)
      #expect(DexcomShareFormat.recognise(head, options: options) == nil)
    }
  }

  @Test func dexcomShareErrorCodesAreSkippedAndValuesOutsideTheRangeAreLowOrHigh() throws {
    let rows = [10, 12, 13, 39, 40, 400, 401].enumerated().map { row, value in
      #"{"WT":"Date(\#(1_770_369_455_000 + row * 300_000))","Value":\#(value),"Trend":"Flat"}"#
    }
    let export = try TextExport("[" + rows.joined(separator: ",") + "]")
    let milligrams = GlucoseUnit.milligramsPerDecilitre
    #expect(
      export.readings.map(\.measurement) == [
        .value(Quantity(13, milligrams)), .low(below: 40, milligrams), .value(Quantity(40, milligrams)),
        .value(Quantity(400, milligrams)), .high(above: 400, milligrams),
      ])
    #expect(export.rejections.isEmpty)
  }
}
