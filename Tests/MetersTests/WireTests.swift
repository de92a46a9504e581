// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import Meters

/// What the framings share: checksums, numbers, and the marks that an order of readings gives.
struct WireTests {
  @Test func theChecksumsAgreeWithTheirPublishedChecks() {
    #expect(CRC16.ccitt("123456789".utf8, initial: 0xFFFF) == 0x29B1)
    #expect(CRC16.ccitt("123456789".utf8, initial: 0) == 0x31C3)
  }

  @Test func numbersBeginWithTheirLeastByteAndEndInsideTheBytes() {
    let bytes: [UInt8] = [9, 0x78, 0x56, 0x34, 0x12]
    #expect(bytes.littleEndian(UInt32.self, at: 1) == 0x1234_5678)
    #expect(bytes.littleEndian(Int16.self, at: 3) == 0x1234)
    #expect(bytes.littleEndian(UInt32.self, at: 2) == nil)
    #expect(bytes.littleEndian(UInt16.self, at: -1) == nil)
    #expect([UInt8]().littleEndian(UInt16.self, at: 0) == nil)
    #expect(Int32(-2).littleEndianBytes == [0xFE, 0xFF, 0xFF, 0xFF])
  }

  @Test func textOfAMeterIsPrintable() {
    #expect(Array("AB 1".utf8).printableText == "AB 1")
    #expect([UInt8]().printableText == nil)
    #expect([0x41, 0x1B].printableText == nil)
    #expect([0x41, 0xC3].printableText == nil)
  }
}

/// Marks from the order of a memory.
struct MemoryClockTests {
  private static let now: Int64 = 1_780_000_000
  private static let clock = ClockComparison(meter: DeviceTime(seconds: now), host: now)

  private static func marks(_ seconds: [Int64], host: Int64 = now) -> [ReadingMarks] {
    var readings = seconds.map {
      MeterReading(.smbg, at: DeviceTime(seconds: $0), .value(Quantity(100, .milligramsPerDecilitre)))
    }
    MemoryClock.mark(&readings, clock: ClockComparison(meter: DeviceTime(seconds: now), host: host))
    return readings.map(\.marks)
  }

  @Test func timesThatRiseOrRepeatAreUnmarked() {
    #expect(Self.marks([Self.now - 20, Self.now - 10, Self.now - 10]) == [[], [], []])
  }

  @Test func whatFollowsAClockThatWasSetBackIsMarkedUntilItHasCaughtUp() {
    #expect(
      Self.marks([-100, -50, -90, -60, -40].map { Self.now + $0 })
        == [[], [], .clockSetBack, .clockSetBack, []])
  }

  @Test func aTimeOfTheFutureIsDoubtfulAndMarksNoOther() {
    #expect(Self.marks([Self.now - 10, Self.now + 200_000, Self.now]) == [[], .doubtfulTime, []])
  }

  @Test func aTimeBefore1990IsDoubtful() {
    #expect(Self.marks([631_151_999, 631_152_000]) == [.doubtfulTime, []])
  }

  @Test func aHostWithoutTheTimeJudgesNothing() {
    #expect(Self.marks([Self.now], host: 3600) == [[]])
  }
}
