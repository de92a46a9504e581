// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import Meters

/// Marks that depend on the order of a memory.
struct ClockSetBackTests {
  private static func readings(_ seconds: [Int64]) -> [MeterReading] {
    seconds.map {
      MeterReading(.smbg, at: DeviceTime(seconds: $0), .value(Quantity(100, .milligramsPerDecilitre)))
    }
  }

  @Test func timesThatRiseOrRepeatAreUnmarked() {
    var readings = Self.readings([10, 20, 20])
    readings.markClockSetBack()
    #expect(readings.map(\.marks) == [[], [], []])
  }

  @Test(arguments: [false, true])
  func readingsAfterAClockWasSetBackAreMarkedUntilItHasCaughtUp(isNewestFirst: Bool) {
    let order = [100, 150, 110, 140, 160] as [Int64]
    var readings = Self.readings(isNewestFirst ? order.reversed() : order)
    readings.markClockSetBackInEitherOrder()
    let marks = readings.map(\.marks)
    #expect((isNewestFirst ? marks.reversed() : marks) == [[], [], .clockSetBack, .clockSetBack, []])
  }
}
