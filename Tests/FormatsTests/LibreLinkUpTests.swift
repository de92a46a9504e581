// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import Formats

@Suite struct LibreLinkUpTests {
  @Test func theUTCOffsetOfALibreLinkUpReadingIsTheDifferenceOfItsTimes() throws {
    let export = try TextExport(bytes: TextExport.sample("librelinkup/graph.json"))
    #expect(
      export.readings.map(\.placement)
        == Array(repeating: Placement(utcOffset: 3600, source: .stated), count: 3))
    #expect(export.readings.map(\.kind) == [.cbg, .cbg, .scan])
    #expect(export.rejections.count == 1)
  }

  /// The graph has a point at 9:00 UTC, and the zone of the logbook is UTC.
  @Test(arguments: [
    ("5/6/2026 11:00:00 AM", 7200, "2026-05-06T11:00:00"),
    ("5/6/2026 11:00:00 PM", 50_400, "2026-05-06T23:00:00"),
    // These times differ from UTC by 22 hours and by 14.5 hours. No offset of a zone is as large.
    ("5/5/2026 11:00:00 AM", 0, "2026-05-06T09:00:00"), ("5/6/2026 11:30:00 PM", 0, "2026-05-06T09:00:00"),
    ("", 0, "2026-05-06T09:00:00"),
  ])
  func aLibreLinkUpOffsetThatNoTimeZoneHasIsNotUsed(_ shown: String, _ offset: Int32, _ time: String) throws {
    let point =
      #"{"FactoryTimestamp":"5/6/2026 9:00:00 AM","Timestamp":"\#(shown)","type":0,"ValueInMgPerDl":120}"#
    let export = try TextExport(
      #"{"status":0,"data":{"connection":{"patientId":"a"},"activeSensors":[],"graphData":[\#(point)]}}"#,
      zone: "UTC")
    #expect(export.readings.map(\.placement.utcOffset) == [offset])
    #expect(export.readings.map(\.deviceTime.text) == [time])
  }

  @Test func aLibreLinkUpReadingListedTwiceIsReadOnce() throws {
    let export = try TextExport(bytes: TextExport.sample("librelinkup/graph.json"))
    #expect(export.readings.filter { $0.kind == .scan }.count == 1)
  }

  @Test func aLibreLinkUpGraphWithoutANewestValueIsRead() throws {
    let graph = String(decoding: try TextExport.sample("librelinkup/graph.json"), as: UTF8.self)
    let withoutNewest = graph.split(separator: "\n").map { line in
      for name in ["glucoseMeasurement", "glucoseItem"] where line.contains("\"\(name)\"") {
        return "\"\(name)\": null" + (line.hasSuffix(",") ? "," : "")
      }
      return String(line)
    }.joined(separator: "\n")
    let export = try TextExport(withoutNewest)
    #expect(export.readings.map(\.kind) == [.cbg, .cbg])
    // A list of values under another name is not recognised as a response of LibreLinkUp.
    #expect(throws: Failure.self) {
      try TextExport(withoutNewest.replacing("graphData", with: "history"))
    }
  }

  @Test func aLibreLinkUpDeviceIsNamedWithoutThePatientID() throws {
    let export = try TextExport(bytes: TextExport.sample("librelinkup/connections.json"))
    #expect(Set(export.readings.map(\.device)).count == 1 && export.warnings.isEmpty)
    #expect(!"\(export.devices)".contains("00000000"))
  }

  @Test func libreLinkUpTokensAndNamesAreNotStored() throws {
    let export = try TextExport(bytes: TextExport.sample("librelinkup/logbook.json"))
    #expect(!"\(export.rejections) \(export.skipped) \(export.devices)".contains("sample"))
  }
}
