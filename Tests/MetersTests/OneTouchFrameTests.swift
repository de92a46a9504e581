// SPDX-License-Identifier: Apache-2.0

import Logbook
import SeededRandom
import Testing

@testable import Meters

/// Tests the frame of OneTouch meters.
struct OneTouchFrameTests {
  /// Payload, link byte and frame. The first eight frames are from recordings or published tests, and the
  /// others are constructed.
  private static let frames: [(payload: String, link: UInt8, frame: String)] = [
    ("", 0x08, "02 06 08 03 c2 62"), ("", 0x0B, "02 06 0b 03 91 37"), ("", 0x0C, "02 06 0c 03 06 ae"),
    ("", 0x06, "02 06 06 03 cd 41"), ("", 0x07, "02 06 07 03 fc 72"),
    ("04 20 02", 0, "02 09 00 04 20 02 03 f9 c3"), ("05 0d 02", 0, "02 09 00 05 0d 02 03 da 71"),
    ("04 06 73 06 84 2e", 0, "02 0c 00 04 06 73 06 84 2e 03 59 e0"),
    ("03 e6 02 00", 0, "02 0a 00 03 e6 02 00 03 74 5e"), ("03 27 00", 0, "02 09 00 03 27 00 03 26 71"),
    ("03 31 02 f3 01 00", 0, "02 0c 00 03 31 02 f3 01 00 03 4c 7f"),
    ("03 0b 01 02", 0, "02 0a 00 03 0b 01 02 03 2a dc"), ("03 06", 0, "02 08 00 03 06 03 e8 44"),
  ]

  @Test(arguments: frames.indices) func aPublishedOneTouchFrameIsParsedAndWritten(index: Int) {
    let (payload, link, frame) = Self.frames[index]
    let expected = OneTouchFrame(link: link, payload: [UInt8](printed: payload))
    let bytes = [UInt8](printed: frame)
    #expect(expected.bytes == bytes)
    #expect(OneTouchFrame.find(in: bytes + [0, 0]) == .frame(expected, length: bytes.count))
    for length in 0..<bytes.count {
      #expect(OneTouchFrame.find(in: Array(bytes[..<length])) == .incomplete)
    }
  }

  @Test(arguments: [
    "03 06 08 03 c2 62", "02 05 08 03 c2", "02 06 08 03 c2 63", "02 06 08 02 e3 72", "02 00",
    "02 09 00 04 20 03 03 f9 c3",
  ]) func invalidOneTouchFramesAreReportedAsBroken(printed: String) {
    #expect(OneTouchFrame.find(in: [UInt8](printed: printed)) == .broken)
  }

  @Test func aOneTouchStatusOtherThanSuccessIsAFailure() throws {
    #expect(try OneTouchFrame(payload: [3, 6, 1, 0]).answer(doing: "asking") == [1, 0])
    #expect(throws: Failure.self) { try OneTouchFrame(payload: [3, 9]).answer(doing: "asking") }
    #expect(throws: Failure.self) { try OneTouchFrame(payload: [3]).answer(doing: "asking") }
  }

  @Test func arbitraryBytesNeverPassTheOneTouchFrameParserWithAWrongChecksum() {
    var random = SeededGenerator(seed: 20_261_121)
    for _ in 0..<20_000 {
      let frame = OneTouchFrame(
        payload: (0..<Int.random(in: 0...40, using: &random)).map { _ in
          UInt8.random(in: 0...255, using: &random)
        })
      let mutated = random.mutated(frame.bytes)
      if case .frame(let found, let length) = OneTouchFrame.find(in: mutated) {
        #expect(found.bytes == Array(mutated[..<length]))
      }
    }
  }
}

/// Tests the record of one glucose test in the layouts of the binary meters.
struct OneTouchRecordTests {
  private static func milligrams(_ number: Double) -> Measurement {
    .value(Quantity(number, .milligramsPerDecilitre))
  }

  private static func record(_ printed: String) throws -> OneTouchRecord? {
    guard case .frame(let frame, _) = OneTouchFrame.find(in: [UInt8](printed: printed)) else { return nil }
    let data = try frame.answer(doing: "reading")
    return frame.payload.first == 5
      ? OneTouchRecord(ultraEasy: data)
      : OneTouchRecord(disk: data) ?? OneTouchRecord(verioIQ: data)
  }

  /// The first record is from a Verio Flex; the others are constructed.
  @Test(arguments: [
    (
      "02 18 00 04 06 0e 00 00 16 00 29 e3 a7 28 32 00 00 00 93 0b 00 03 61 17", "2021-08-12T13:48:25", 50.0,
      ReadingMarks()
    ),
    (
      "02 18 00 03 06 00 00 00 17 00 a5 39 26 2d 70 00 01 00 00 0b 00 03 c9 08", "2024-01-02T03:04:05", 112,
      .beforeMeal
    ),
    ("02 12 00 03 06 a5 39 26 2d 70 00 00 00 00 00 03 9a ab", "2024-01-02T03:04:05", 112, ReadingMarks()),
    ("02 12 00 03 06 a5 39 26 2d 70 00 01 00 00 00 03 cb 01", "2024-01-02T03:04:05", 112, .controlSolution),
  ]) func aPublishedOneTouchRecordIsParsed(printed: String, time: String, value: Double, marks: ReadingMarks)
    throws
  {
    let record = try #require(try Self.record(printed))
    #expect(record.deviceTime.text == time)
    #expect(record.measurement == Self.milligrams(value))
    #expect(record.marks == marks)
  }

  @Test func controlBitAndMealCodeOfAOneTouchDiskBecomeMarks() throws {
    var data = [UInt8](printed: "00 00 01 17 00 a5 39 26 2d 70 00 02 00 00 0b 00")
    #expect(OneTouchRecord(disk: data)?.marks == [.controlSolution, .afterMeal])
    data[2] = 0xFE
    #expect(OneTouchRecord(disk: data)?.marks == .afterMeal)
  }

  @Test(arguments: [
    (19, Measurement.low(below: 20, .milligramsPerDecilitre)), (20, milligrams(20)), (600, milligrams(600)),
    (601, .high(above: 600, .milligramsPerDecilitre)),
  ]) func oneTouchValuesBeyondTheRangeAreReadAsLowOrHigh(value: Int, measurement: Measurement) {
    let data =
      [UInt8](printed: "00*5 a5 39 26 2d") + UInt16(value).littleEndianBytes + [UInt8](printed: "00*5")
    #expect(OneTouchRecord(disk: data)?.measurement == measurement)
  }

  /// The records are constructed with codes that only one source documents.
  @Test(arguments: [
    (
      "02 10 02 05 06 25 7d 93 65 ff ff 00 00 03 69 fa", Measurement.high(above: 600, .milligramsPerDecilitre)
    ),
    ("02 10 02 05 06 25 7d 93 65 fe ff 00 00 03 38 50", .low(below: 20, .milligramsPerDecilitre)),
  ]) func specialCodesOfTheOneTouchUltraEasyAreReadAsLowAndHigh(printed: String, measurement: Measurement)
    throws
  {
    let record = try #require(try Self.record(printed))
    #expect(record.measurement == measurement)
    #expect(record.deviceTime.text == "2024-01-02T03:04:05")
  }

  @Test func aOneTouchRecordOfAnotherLengthOrMeaningIsRefused() {
    for length in 0...40 where length != 16 && length != 10 && length != 8 {
      let data = [UInt8](repeating: 1, count: length)
      #expect(OneTouchRecord(disk: data) == nil)
      #expect(OneTouchRecord(verioIQ: data) == nil)
      #expect(OneTouchRecord(ultraEasy: data) == nil)
    }
    #expect(OneTouchRecord(ultraEasy: [UInt8](printed: "25 7d 93 65 00 00 01 00")) == nil)
  }
}
