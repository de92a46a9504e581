// SPDX-License-Identifier: Apache-2.0

import Logbook
import SeededRandom
import Testing

@testable import Meters

/// Tests the notifications of the Bluetooth glucose service. The examples are from real meters.
@Suite struct GlucoseMeasurementTests {
  /// A notification of a real meter, and its meaning.
  struct Vector: Sendable, CustomTestStringConvertible {
    let meter: String
    let bytes: String
    let sequence: UInt16
    let base: String
    let offset: Int?
    let milligrams: Double
    let sample: (type: UInt8, location: UInt8)
    let hasContext: Bool
    var testDescription: String { meter }
  }

  private static let vectors = [
    Vector(
      meter: "Accu-Chek Guide", bytes: "1b 04 00 e4 07 08 02 10 08 10 4a ff 02 b1 f8 00 00", sequence: 4,
      base: "2020-08-02T16:08:16", offset: -182, milligrams: 258, sample: (8, 15), hasContext: true),
    Vector(
      meter: "Accu-Chek Guide, without a context",
      bytes: "0b 06 00 e4 07 08 17 10 14 18 4a ff 25 b1 f8 00 00",
      sequence: 6, base: "2020-08-23T16:20:24", offset: -182, milligrams: 293, sample: (8, 15),
      hasContext: false),
    Vector(
      meter: "Accu-Chek Guide Me", bytes: "0b 02 00 ea 07 03 09 03 12 1f 58 02 a4 b0 f8 00 00", sequence: 2,
      base: "2026-03-09T03:18:31", offset: 600, milligrams: 164, sample: (8, 15), hasContext: false),
    Vector(
      meter: "Contour Next One", bytes: "13 1e 00 e2 07 09 14 05 1b 07 5c fe 6f b0 f1", sequence: 30,
      base: "2018-09-20T05:27:07", offset: -420, milligrams: 111, sample: (1, 15), hasContext: true),
    Vector(
      meter: "TRUE METRIX AIR", bytes: "12 e4 00 e6 07 09 09 11 33 00 a7 b0 18", sequence: 228,
      base: "2022-09-09T17:51:00", offset: nil, milligrams: 167, sample: (8, 1), hasContext: true),
    Vector(
      meter: "unknown", bytes: "03 06 00 e4 07 04 0d 10 26 0a 00 00 78 b0 f1", sequence: 6,
      base: "2020-04-13T16:38:10", offset: 0, milligrams: 120, sample: (1, 15), hasContext: false),
  ]

  @Test(arguments: vectors) func aBluetoothMeasurementOfARealMeterIsParsed(_ vector: Vector) throws {
    let measurement = try GlucoseMeasurement([UInt8](printed: vector.bytes))
    #expect(measurement.sequence == vector.sequence)
    #expect(measurement.baseTime?.text == vector.base)
    #expect(measurement.offsetMinutes == vector.offset)
    #expect(measurement.concentration?.number(timesTenTo: 5) == vector.milligrams)
    #expect(measurement.type == vector.sample.type && measurement.location == vector.sample.location)
    #expect(measurement.hasContext == vector.hasContext)
    #expect(measurement.status == [] && !measurement.isMolar)
  }

  @Test(arguments: [("02 04 00 01", 4, UInt8?(1)), ("02 1e 00 02", 30, 2), ("04 e4 00 ff", 228, nil)])
  func aBluetoothContextOfARealMeterIsParsed(_ bytes: String, _ sequence: UInt16, _ meal: UInt8?) throws {
    let context = try GlucoseContext([UInt8](printed: bytes))
    #expect(context.sequence == sequence && context.meal == meal)
  }

  /// The carbohydrates have 3 bytes before the meal. A program that skips only 2 bytes reads a wrong meal.
  @Test func aBluetoothContextWithEveryFieldIsParsedInStandardOrder() throws {
    let bytes = "ff 07 00 00 02 19 d0 05 23 08 07 3c 04 0a c0 34 f0"
    let context = try GlucoseContext([UInt8](printed: bytes))
    #expect(context.carbohydrates?.number(timesTenTo: 3) == 25)
    #expect(context.meal == 5 && context.exerciseSeconds == 1800)
    #expect(context.hasMedication && context.hasHbA1c)
    #expect(context.amountOffsets == [5, 13, 15])
  }

  @Test(arguments: vectors) func aBluetoothMeasurementTruncatedAnywhereIsMalformed(_ vector: Vector) {
    let bytes = [UInt8](printed: vector.bytes)
    for count in 0..<bytes.count {
      #expect(throws: MalformedNotification.self) { try GlucoseMeasurement(Array(bytes.prefix(count))) }
    }
  }

  @Test func aBluetoothContextTruncatedAnywhereIsMalformed() {
    let bytes = [UInt8](printed: "ff 07 00 00 02 19 d0 05 23 08 07 3c 04 0a c0 34 f0")
    for count in 0..<bytes.count {
      #expect(throws: MalformedNotification.self) { try GlucoseContext(Array(bytes.prefix(count))) }
    }
  }

  @Test(arguments: [
    (0xB125, 5, 293.0), (0xB102, 5, 258), (0xC034, 3, 5.2), (0xA001, 5, 0.1), (0xBFFF, 5, -1),
    (0x8001, 3, 1e-5), (0x77FD, 5, 2045e12),
  ])
  func aShortFloatResultIsTheNearestNumberToItsDecimals(_ bits: UInt16, _ power: Int, _ number: Double) {
    #expect(ShortFloat(bits).number(timesTenTo: power) == number)
  }

  /// A meter sends mg/dL in kg/L, and mmol/L in mol/L. Each number is read as whole mg/dL and as tenths of
  /// mmol/L.
  @Test func everyShortFloatResultIsExact() {
    for mantissa in 1...2045 as ClosedRange<UInt16> {
      #expect(ShortFloat(0xB000 | mantissa).number(timesTenTo: 5) == Double(mantissa))
      #expect(ShortFloat(0xC000 | mantissa).number(timesTenTo: 3) == Double("\(Double(mantissa) / 10)"))
    }
  }

  @Test func monthThirteenIsReadAsJanuaryOfTheSameYear() throws {
    let bytes = [UInt8](printed: "03 06 00 e4 07 0d 0d 10 26 0a 00 00 78 b0 f1")
    #expect(try GlucoseMeasurement(bytes).baseTime?.text == "2020-01-13T16:38:10")
  }

  @Test(arguments: [
    "03 06 00 00 00 04 0d 10 26 0a 00 00 78 b0 f1", "03 06 00 e4 07 00 0d 10 26 0a 00 00 78 b0 f1",
    "03 06 00 e4 07 0e 0d 10 26 0a 00 00 78 b0 f1", "03 06 00 e4 07 04 00 10 26 0a 00 00 78 b0 f1",
    "03 06 00 e4 07 04 0d 18 26 0a 00 00 78 b0 f1", "03 06 00 ff ff 04 0d 10 26 0a 00 00 78 b0 f1",
  ])
  func aBluetoothTimeThatDoesNotExistIsNotRead(_ bytes: String) throws {
    #expect(try GlucoseMeasurement([UInt8](printed: bytes)).baseTime == nil)
  }

  @Test(arguments: [
    ("05 00 10 00", ControlPointAnswer.count(16)), ("06 00 01 01", .response(request: 1, result: 1)),
    ("06 00 01 06", .response(request: 1, result: 6)),
  ])
  func anAnswerOfTheRecordAccessControlPointIsParsed(_ bytes: String, _ answer: ControlPointAnswer) {
    #expect(ControlPointAnswer([UInt8](printed: bytes)) == answer)
  }

  @Test(arguments: ["", "06", "06 00 01", "05 01 10 00", "07 00 01 01"])
  func invalidBytesOfTheRecordAccessControlPointAreNotRead(_ bytes: String) {
    #expect(ControlPointAnswer([UInt8](printed: bytes)) == nil)
  }

  @Test func onlyFiveBluetoothRequestsExistAndNoneDeletesRecords() {
    let requests: [RecordAccess] = [
      .countAll, .countFrom(0x1234), .reportAll, .reportFrom(0x1234), .abort,
    ]
    let expected = [[4, 1], [4, 3, 1, 0x34, 0x12], [1, 1], [1, 3, 1, 0x34, 0x12], [3, 0]] as [[UInt8]]
    #expect(requests.map(\.bytes) == expected)
    #expect(requests.map { RecordAccess(bytes: $0.bytes) } == requests)
    for first in 0...255 as ClosedRange<UInt8> {
      for second in 0...255 as ClosedRange<UInt8> {
        let bytes = [first, second]
        #expect((RecordAccess(bytes: bytes) != nil) == [[4, 1], [1, 1], [3, 0]].contains(bytes))
        for more in [[0], [1, 0], [1, 0x34, 0x12], [2, 0x34, 0x12], [1, 0, 0, 0]] as [[UInt8]] {
          let isKnown = more.first == 1 && more.count == 3 && [[4, 3], [1, 3]].contains(bytes)
          #expect((RecordAccess(bytes: bytes + more) != nil) == isKnown)
        }
      }
    }
  }

  @Test func theBluetoothCurrentTimeIsParsedOrRefused() {
    let bytes = [UInt8](printed: "ea 07 03 09 0d 12 1f 01 00 00")
    #expect(DeviceTime(currentTime: bytes)?.text == "2026-03-09T13:18:31")
    for count in 0..<7 { #expect(DeviceTime(currentTime: Array(bytes.prefix(count))) == nil) }
    #expect(DeviceTime(currentTime: [UInt8](repeating: 0, count: 10)) == nil)
  }

  @Test func arbitraryBluetoothBytesAreParsedOrMalformed() {
    var random = SeededGenerator(seed: 1808)
    let seeds =
      Self.vectors.map { [UInt8](printed: $0.bytes) }
      + [[UInt8](printed: "ff 07 00 00 02 19 d0 05 23 08 07 3c 04 0a c0 34 f0")]
    var (parsed, malformed) = (0, 0)
    for round in 0..<8000 {
      let bytes = random.mutated(seeds[round % seeds.count])
      do throws(MalformedNotification) {
        _ = try GlucoseMeasurement(bytes).baseTime
        _ = try GlucoseContext(bytes)
        parsed += 1
      } catch {
        malformed += 1
      }
      _ = ControlPointAnswer(bytes)
      _ = DeviceTime(currentTime: bytes)
    }
    #expect(parsed > 100 && malformed > 100)
  }
}
