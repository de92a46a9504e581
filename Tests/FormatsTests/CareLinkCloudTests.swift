// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import Formats

@Suite struct CareLinkCloudTests {
  @Test func theZAfterATimeIsNotItsOffset() throws {
    let export = try TextExport(bytes: TextExport.sample("carelink-cloud/patient-data.json"), zone: "UTC")
    #expect(export.readings.map(\.deviceTime.text) == ["2026-09-21T16:00:00", "2026-09-21T16:05:00"])
    #expect(Set(export.readings.map(\.placement)) == [Placement(utcOffset: 7200, source: .stated)])
  }

  @Test func zeroIsAMarkedLowOrAMissingValue() throws {
    let export = try TextExport(bytes: TextExport.sample("carelink-cloud/patient-data.json"))
    #expect(export.readings.first?.measurement == .low(below: 40, .milligramsPerDecilitre))
    #expect(export.skipped == ["sensor reading without a value": 1, "CALIBRATION": 1])
  }

  @Test func theZonePlacesReadingsWithoutTimesOfThePhone() throws {
    let text =
      #"{"lastConduitDateTime":"1970-01-01T00:00:00.000Z","sgs":[{"sg":120,"timestamp":"2026-09-21T16:05:00.000Z"}]}"#
    #expect(
      try TextExport(text, zone: "Europe/Madrid").readings.map(\.placement) == [
        Placement(utcOffset: 7200, source: .zone)
      ])
  }
}
