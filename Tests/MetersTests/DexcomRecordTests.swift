// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import Meters

/// Tests records of a Dexcom receiver.
struct DexcomRecordTests {
  private static func record(
    _ printed: String, _ partition: DexcomPartition, revision: UInt8
  ) throws -> DexcomRecord {
    let bytes = [UInt8](printed: printed)
    try #require(SheetFrame.record(bytes.dropLast(2)) == bytes)
    #expect(DexcomRecord.length(partition, revision: revision) == bytes.count)
    return DexcomRecord(bytes.dropLast(2), partition, revision: revision)
  }

  private static func sensor(_ time: String, _ number: Double, tick: Int64) throws -> DexcomRecord {
    .reading(
      MeterReading(
        .cbg, at: try #require(DeviceTime(text: time)), .value(Quantity(number, .milligramsPerDecilitre)),
        tick: tick))
  }

  /// Records of a real receiver.
  @Test(arguments: [
    ("EC 9E D7 08 A2 3C D7 08 58 00 14 D2 30", "2013-09-13T16:58:10", 88.0, 0x08D7_9EEC as Int64),
    ("18 A0 D7 08 CE 3D D7 08 59 00 14 23 54", "2013-09-13T17:03:10", 89, 0x08D7_A018),
    ("70 A2 D7 08 26 40 D7 08 62 00 14 4D 73", "2013-09-13T17:13:10", 98, 0x08D7_A270),
    ("89 5B 4D 0C FD D6 71 0D 4F 00 14 87 FF", "2016-02-24T16:46:53", 79, 0x0C4D_5B89),
  ]) func aRecordedDexcomSensorValueIsParsed(printed: String, time: String, number: Double, tick: Int64)
    throws
  {
    #expect(
      try Self.record(printed, .sensor, revision: 2) == Self.sensor(time, number, tick: tick))
  }

  /// The bytes are constructed, since no values of these revisions were recorded.
  @Test func laterDexcomRecordsHaveASeparateTimeOfTheMeasurement() throws {
    #expect(
      try Self.record(
        "00 00 00 1A 90 9D FF 19 70 00 FB FF FF 19 C0 C6 2D 00 00 14 06 C7 64", .sensor, revision: 4)
        == Self.sensor("2022-10-28T09:46:56", 112, tick: 0x19FF_FFFB))
    #expect(
      try Self.record(
        "00 00 00 1A 90 9D FF 19 70 20 F0 F1 FF 19 C0 C6 2D 00 FE 14 06 0D 00 41 A1", .backfill, revision: 5)
        == Self.sensor("2022-10-28T08:46:56", 112, tick: 0x19FF_F1F0))
  }

  private static func sensor(_ word: UInt16) -> DexcomRecord {
    DexcomRecord(
      [UInt8](printed: "EC 9E D7 08 A2 3C D7 08") + word.littleEndianBytes + [0x14], .sensor, revision: 2)
  }

  @Test(arguments: [1, 2, 3, 5, 6, 9, 10, 12, 19, 0] as [UInt16])
  func aDexcomErrorCodeIsNotReadAsASensorValue(word: UInt16) {
    #expect(Self.sensor(word) == .skipped("sensor value that is missing for a reason"))
  }

  @Test func dexcomValuesOnlyForTheDisplayAreSkipped() {
    #expect(Self.sensor(0x8058) == .skipped("sensor value only for the display"))
  }

  @Test(
    arguments: [
      (20, Measurement.low(below: 40, .milligramsPerDecilitre)),
      (39, .low(below: 40, .milligramsPerDecilitre)), (40, .value(Quantity(40, .milligramsPerDecilitre))),
      (400, .value(Quantity(400, .milligramsPerDecilitre))),
      (401, .high(above: 400, .milligramsPerDecilitre)),
    ] as [(UInt16, Measurement)]) func dexcomValuesBeyondTheRangeAreReadAsLowOrHigh(
      word: UInt16, measurement: Measurement
    )
  {
    guard case .reading(let reading) = Self.sensor(word) else {
      Issue.record("\(word) is no reading")
      return
    }
    #expect(reading.measurement == measurement)
  }

  /// The bytes are from a real receiver.
  @Test func aDexcomCalibrationHasTheTimeAtWhichItWasTyped() throws {
    let expected = MeterReading(
      .smbg, at: try #require(DeviceTime(text: "2013-09-13T19:26:38")),
      .value(Quantity(85, .milligramsPerDecilitre)), marks: .calibration)
    #expect(
      try Self.record("D6 C1 D7 08 8C 5F D7 08 55 00 B8 C1 D7 08 A7 5F", .calibration, revision: 1)
        == .reading(expected))
  }

  /// The bytes are constructed, since no calibration of this revision was recorded.
  @Test func aDexcomCalibrationOfRevision3HasItsTimeOneByteLater() {
    let start = [UInt8](printed: "D6 C1 D7 08 8C 5F D7 08 55 00")
    let later = start + [UInt8](printed: "01 B8 C1 D7 08 00*4")
    guard case .reading(let reading) = DexcomRecord(later, .calibration, revision: 3) else {
      Issue.record("no reading")
      return
    }
    #expect(reading.deviceTime.text == "2013-09-13T19:26:38")
    guard case .rejected = DexcomRecord(later, .calibration, revision: 1) else {
      Issue.record("a time of another year was taken")
      return
    }
  }

  private static func entered(
    _ kind: RecordKind, _ time: String, _ values: [String: FieldValue]
  ) throws -> DexcomRecord {
    .record(MeterRecord(kind, at: try #require(DeviceTime(text: time)), RecordFields(values)))
  }

  /// The bytes are from a real receiver.
  @Test func anEventEnteredOnADexcomHasTheTimeThatThePersonStated() throws {
    #expect(
      try Self.record(
        "E3 1B D7 08 99 B9 D6 08 01 00 94 B9 D6 08 01 00 00 00 3D A5", .event, revision: 1)
        == Self.entered(.food, "2013-09-13T07:39:00", ["carbs": .number(1)]))
    #expect(
      try Self.record(
        "A6 5F D7 08 5C FD D6 08 02 00 50 FD D6 08 5E 01 00 00 FC FF", .event, revision: 1)
        == Self.entered(.insulin, "2013-09-13T12:28:00", ["units": .number(3.5)]))
  }

  /// The bytes are constructed and not from a real receiver.
  @Test func dexcomExerciseAndHealthEventsHaveTheNamesOfClarityExports() throws {
    func event(_ kind: UInt8, _ subtype: UInt8, _ value: UInt32) -> DexcomRecord {
      let bytes = [UInt8](printed: "A6 5F D7 08 5C FD D6 08") + [kind, subtype]
      return DexcomRecord(
        bytes + [UInt8](printed: "50 FD D6 08") + value.littleEndianBytes, .event, revision: 1)
    }
    let time = "2013-09-13T12:28:00"
    #expect(
      event(4, 3, 45)
        == (try Self.entered(.exercise, time, ["minutes": .number(45), "intensity": .text("heavy")])))
    #expect(event(4, 9, 45) == (try Self.entered(.exercise, time, ["minutes": .number(45)])))
    #expect(
      event(3, 4, 0)
        == (try Self.entered(.note, time, ["subtype": .text("health"), "text": .text("Low Symptoms")])))
    #expect(event(3, 7, 0) == .skipped("health event of another kind"))
    #expect(event(5, 1, 0) == .skipped("event of another kind"))
    for (kind, value) in [(1, 2001), (2, 50001), (4, 1441)] as [(UInt8, UInt32)] {
      #expect(event(kind, 1, value) == .rejected("the event has an impossible amount"))
    }
  }

  @Test func aDexcomRecordThatIsTooShortIsRejected() {
    for partition in [DexcomPartition.sensor, .calibration, .event] {
      for length in 0..<9 {
        #expect(
          DexcomRecord([UInt8](repeating: 0, count: length), partition, revision: 2)
            == .rejected("a record that is too short"))
      }
    }
  }
}
