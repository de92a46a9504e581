// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import Meters

/// Tests code that the drivers share: checksums, numbers, texts, and marks that depend on the order of
/// readings.
struct WireTests {
  @Test func eachMeterChecksumHasItsPublishedCheckValue() {
    #expect(CRC16.ccitt("123456789".utf8, initial: 0xFFFF) == 0x29B1)
    #expect(CRC16.ccitt("123456789".utf8, initial: 0) == 0x31C3)
  }

  @Test func littleEndianNumbersAreReadOnlyInsideTheBytes() {
    let bytes: [UInt8] = [9, 0x78, 0x56, 0x34, 0x12]
    #expect(bytes.littleEndian(UInt32.self, at: 1) == 0x1234_5678)
    #expect(bytes.littleEndian(Int16.self, at: 3) == 0x1234)
    #expect(bytes.littleEndian(UInt32.self, at: 2) == nil)
    #expect(bytes.littleEndian(UInt16.self, at: -1) == nil)
    #expect([UInt8]().littleEndian(UInt16.self, at: 0) == nil)
    #expect(Int32(-2).littleEndianBytes == [0xFE, 0xFF, 0xFF, 0xFF])
  }

  @Test func textOfAMeterWithUnprintableCharactersIsRefused() {
    #expect(Array("AB 1".utf8).printableText == "AB 1")
    #expect([UInt8]().printableText == nil)
    #expect([0x41, 0x1B].printableText == nil)
    #expect([0x41, 0xC3].printableText == nil)
  }
}

/// Tests marks that depend on the order of the readings in a memory.
struct ClockOrderTests {
  private static func readings(_ seconds: [Int64]) -> [MeterReading] {
    seconds.map {
      MeterReading(.smbg, at: DeviceTime(seconds: $0), .value(Quantity(100, .milligramsPerDecilitre)))
    }
  }

  @Test func readingsWithRisingOrEqualTimesAreNotMarkedAsClockSetBack() {
    var readings = Self.readings([10, 20, 20])
    readings.markClockSetBack()
    #expect(readings.map(\.marks) == [[], [], []])
  }

  @Test(arguments: [false, true])
  func readingsAfterAClockSetBackAreMarkedUntilTheClockCatchesUp(isNewestFirst: Bool) {
    let order = [100, 150, 110, 140, 160] as [Int64]
    var readings = Self.readings(isNewestFirst ? order.reversed() : order)
    readings.markClockSetBackInEitherOrder()
    let marks = readings.map(\.marks)
    #expect((isNewestFirst ? marks.reversed() : marks) == [[], [], .clockSetBack, .clockSetBack, []])
  }
}
