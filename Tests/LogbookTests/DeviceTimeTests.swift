// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@Suite struct DeviceTimeTests {
  @Test func aDeviceTimeOnAnyDayOfTheCalendarKeepsItsDateAndTime() throws {
    var last = try #require(DeviceTime(year: 1, month: 1, day: 1)).seconds - 86400
    for year in 1...9999 {
      for month in 1...12 {
        for day in [1, 28, 29, 30, 31] {
          guard let time = DeviceTime(year: year, month: month, day: day, hour: 23, minute: 59, second: 58)
          else {
            continue
          }
          let parts = time.parts
          guard parts.year == year, parts.month == month, parts.day == day, parts.hour == 23,
            parts.minute == 59,
            parts.second == 58, time.seconds > last
          else {
            Issue.record("\(year)-\(month)-\(day) gives \(parts)")
            return
          }
          last = time.seconds
        }
      }
    }
  }

  @Test func aDeviceTimeIsReadBackFromItsText() {
    for text in ["0001-01-01T00:00:00", "1969-12-31T23:59:59", "2024-02-29T12:34:56", "9999-12-31T23:59:59"] {
      #expect(DeviceTime(text: text)?.text == text)
    }
    #expect(DeviceTime(text: "1970-01-01")?.seconds == 0)
    #expect(DeviceTime(text: "1970-01-02 00:01")?.seconds == 86460)
  }

  @Test(arguments: [
    "2025-02-29", "1900-02-29", "2025-04-31", "2025-13-01", "2025-00-10", "2025-01-00", "2025-01-32",
    "2025-01-01T24:00:00", "2025-01-01T23:60:00", "2025-01-01T23:59:60", "0000-01-01", "10000-01-01",
    "2025-01",
    "2025-01-01T10", "", "2025-01-0x", "2025--01",
  ])
  func anInvalidDateOrTimeIsRefused(_ text: String) {
    #expect(DeviceTime(text: text) == nil)
  }

  @Test func leapYearsFollowTheGregorianRule() {
    for (year, isLeap) in [(2000, true), (1900, false), (2024, true), (2023, false), (2100, false)] {
      #expect((DeviceTime(year: year, month: 2, day: 29) != nil) == isLeap)
    }
  }

  @Test func utcOffsetsAreWrittenWithSecondsOnlyIfNonzero() {
    #expect(DeviceTime.offsetText(0) == "Z")
    #expect(DeviceTime.offsetText(7200) == "+02:00")
    #expect(DeviceTime.offsetText(-12600) == "-03:30")
    #expect(DeviceTime.offsetText(-884) == "-00:14:44")
  }

  private static let days: [(seconds: Int64, day: Int64)] = [
    (0, 0), (86_399, 0), (86_400, 1), (-1, -1), (-86_400, -1), (-86_401, -2),
    (.min, -106_751_991_167_301), (.max, 106_751_991_167_300),
  ]

  @Test(arguments: days)
  func aTimeBeforeOrAfter1970BelongsToTheDayThatContainsIt(_ seconds: Int64, _ day: Int64) {
    #expect(DeviceTime.day(of: seconds) == day)
  }
}
