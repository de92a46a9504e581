// SPDX-License-Identifier: Apache-2.0

import Ingest
import Logbook
import Testing

/// Tests how the time of a meter's clock is compared with the local time.
@Suite struct ClockJudgementTests {
  /// 2026-07-01T10:00:00Z as seconds since 1970. The local time in Madrid is 12:00.
  private static let host: Int64 = 1_782_900_000

  private static let twoUnits: [(Int64, String)] = [
    (121, "2 min 1 s ahead of"), (-125, "2 min 5 s behind"), (5400, "1 h 30 min ahead of"),
    (266_500, "3 d 2 h ahead of"), (3479, "57 min 59 s ahead of"), (97200, "1 d 3 h ahead of"),
  ]

  private func judgement(_ lead: Int64, zone: String = "Europe/Madrid") throws -> ClockJudgement {
    let meter = DeviceTime(seconds: Self.host + 7200 + lead)
    return ClockJudgement(ClockComparison(meter: meter, host: Self.host), in: try LogbookZone(name: zone))
  }

  @Test(arguments: [0, 120, -120, 59] as [Int64]) func aSmallDifferenceOfTheMeterClockCausesNoWarning(
    _ lead: Int64
  ) throws {
    #expect(try judgement(lead).difference == lead)
    #expect(try judgement(lead).warning == nil)
  }

  @Test(arguments: twoUnits)
  func aDifferenceOfTheMeterClockIsReportedInTwoUnits(_ lead: Int64, _ words: String) throws {
    let warning = try #require(try judgement(lead).warning)
    #expect(warning.contains(", \(words) the local time in Europe/Madrid; times are kept"), "\(warning)")
  }

  @Test(arguments: [3600, -3600, 3720, 3480, 7200, -18000, 86400] as [Int64])
  func aMeterClockOffByWholeHoursIsReportedAsAnotherTimeZone(_ lead: Int64) throws {
    #expect(try judgement(lead).isOffByHours)
    #expect(
      try judgement(lead).warning?.contains("probably because of daylight-saving time or another zone")
        == true)
  }

  @Test func theMeterClockIsComparedWithTheLocalTimeOfTheZone() throws {
    #expect(try judgement(0, zone: "UTC").difference == 7200)
    #expect(try judgement(0, zone: "Asia/Kolkata").difference == 7200 - 19800)
  }
}
