// SPDX-License-Identifier: Apache-2.0

import Logbook
import SeededRandom
import Testing

@testable import Meters

/// Tests TaiDoc's packets, records and sessions. The connect and power-off packets and the three times are
/// from the tests of two programs. Everything else is constructed, since no capture is public.
struct TaiDocTests {
  @Test(arguments: [
    (0x22, "51 22 00 00 00 00 A3 16"), (0x50, "51 50 00 00 00 00 A3 44"), (0x23, "51 23 00 00 00 00 A3 17"),
    (0x24, "51 24 00 00 00 00 A3 18"), (0x27, "51 27 00 00 00 00 A3 1B"), (0x28, "51 28 00 00 00 00 A3 1C"),
    (0x2B, "51 2B 00 00 00 00 A3 1F"),
  ])
  func aTaiDocRequestEndsInItsChecksum(command: Int, bytes: String) {
    #expect(TaiDocPacket(UInt8(command)).bytes(from: .host) == HexSession.hex(bytes))
  }

  @Test func aTaiDocRecordIsRequestedByItsNumberLowByteFirst() {
    #expect(
      TaiDocPacket(0x25, [0x2C, 0x01, 0, 0]).bytes(from: .host) == HexSession.hex("51 25 2C 01 00 00 A3 46"))
  }

  @Test func aTaiDocAnswerIsFoundAfterNoiseAndInvalidPackets() {
    var bytes = HexSession.hex("00 51 51 24 77 42 00 00 A5 D4 51 24 77 42 00 00 A5 D3 51 26")
    #expect(TaiDocPacket.next(in: &bytes) == TaiDocPacket(0x24, [0x77, 0x42, 0, 0]))
    #expect(TaiDocPacket.next(in: &bytes) == nil)
    #expect(bytes == [0x51, 0x26])
  }

  @Test(arguments: [
    ("21 24 0E 15", "2018-01-01T21:14:00"), ("21 26 0E 15", "2019-01-01T21:14:00"),
    ("04 27 25 0D", "2019-08-04T13:37:00"),
  ])
  func aTaiDocTimeIsReadFromDateWordMinuteAndHour(data: String, text: String) throws {
    let time = try #require(DeviceTime(text: text))
    #expect(TaiDocRecord.time(HexSession.hex(data)) == time)
    #expect(TaiDocRecord.data(time) == HexSession.hex(data))
  }

  private static let time = HexSession.hex("04 27 25 0D")

  private static func reading(_ kind: ReadingKind, _ measurement: Measurement, _ marks: ReadingMarks = [])
    -> TaiDocRecord
  {
    guard let time = TaiDocRecord.time(time) else { return .rejected("") }
    return .reading(MeterReading(kind, at: time, measurement, marks: marks))
  }

  @Test(arguments: [
    ("70 00 00 40", reading(.smbg, .value(Quantity(112, .milligramsPerDecilitre)), .beforeMeal)),
    ("70 00 FF 83", reading(.smbg, .value(Quantity(112, .milligramsPerDecilitre)), .afterMeal)),
    ("69 00 00 C0", reading(.smbg, .value(Quantity(105, .milligramsPerDecilitre)), .controlSolution)),
    ("59 02 00 00", reading(.smbg, .high(above: 600, .milligramsPerDecilitre))),
    ("58 02 00 00", reading(.smbg, .value(Quantity(600, .milligramsPerDecilitre)))),
    ("13 00 00 00", reading(.smbg, .low(below: 20, .milligramsPerDecilitre))),
    ("2C 01 00 1C", reading(.ketone, .value(Quantity(1, .millimolesPerLitre)))),
    ("3E 00 00 1C", reading(.ketone, .value(Quantity(0.2, .millimolesPerLitre)))),
    ("A0 00 00 1C", reading(.ketone, .value(Quantity(0.5, .millimolesPerLitre)))),
    ("60 09 00 1C", reading(.ketone, .value(Quantity(8, .millimolesPerLitre)))),
    ("61 09 00 1C", reading(.ketone, .high(above: 8, .millimolesPerLitre))),
    ("FE FF 00 1C", reading(.ketone, .high(above: 8, .millimolesPerLitre))),
    ("FE FF 00 00", reading(.smbg, .high(above: 600, .milligramsPerDecilitre))),
    ("FF FF 00 1C", .skipped("entry that the meter marks as invalid")),
    ("FF FF 00 00", .skipped("entry that the meter marks as invalid")),
    ("FF FF 00 C0", .skipped("entry that the meter marks as invalid")),
    ("70 00 00 18", .skipped("haematocrit")), ("70 00 00 34", .skipped("triglycerides")),
    ("70 00 00 04", .rejected("unknown kind of measurement")),
    ("00 00 00 00", .rejected("the value is zero")),
  ])
  func aTaiDocValueIsReadWithItsKindMealAndLimits(data: String, record: TaiDocRecord) {
    #expect(TaiDocRecord(time: Self.time, value: HexSession.hex(data)) == record)
  }

  @Test func aTaiDocBloodPressureIsCountedAsSkipped() {
    let value = HexSession.hex("70 00 00 00")
    #expect(TaiDocRecord(time: HexSession.hex("04 27 A5 0D"), value: value) == .skipped("blood pressure"))
    #expect(
      TaiDocRecord(time: HexSession.hex("00 27 25 0D"), value: value) == .rejected("invalid time")
    )
  }

  // MARK: Whole sessions, constructed

  private static func session(_ pairs: [(String, String)]) -> [Transcript.Step] {
    pairs.flatMap { asked, answered in
      let (request, answer) = (HexSession.hex(asked), HexSession.hex(answered))
      return [
        HexSession.step(
          .send(TaiDocPacket(request[0], Array(request[1...])).bytes(from: .host)), .success([])),
        HexSession.step(
          .receive(maxBytes: 64), .success(TaiDocPacket(answer[0], Array(answer[1...])).bytes(from: .meter))),
      ]
    }
  }

  private static let discard = HexSession.step(.discard, .success([]))
  private static let identity =
    [discard]
    + session([
      ("24 00000000", "24 77420000"), ("27 00000000", "27 12345678"), ("28 00000000", "28 9ABCDEF0"),
      ("23 00000000", "23 0427250D"),
    ])

  @Test func everyTaiDocRecordIsReadNewestFirst() throws {
    let (meter, transport) = HexSession.meter(
      TaiDocDriver.self,
      Self.identity
        + Self.session([
          ("2B 00000000", "2B 03000300"), ("25 00000000", "25 0427250D"), ("26 00000000", "26 70000040"),
          ("25 01000000", "25 21260E15"), ("26 01000000", "26 2C01001C"), ("25 02000000", "25 21240E15"),
          ("26 02000000", "26 00000000"),
        ]), now: 1_564_925_820)
    let contents = try TaiDocDriver().read(meter)
    #expect(transport.isExhausted)
    #expect(
      contents.identity.device
        == Device(vendor: "TaiDoc", model: "TD-4277", serial: "F0DEBC9A78563412", format: "taidoc"))
    #expect(contents.identity.clock?.meter.text == "2019-08-04T13:37:00")
    #expect(contents.identity.count == 3)
    #expect(contents.readings.map(\.kind) == [.smbg, .ketone])
    #expect(contents.readings.map(\.marks) == [.beforeMeal, []])
    #expect(contents.rejections.map(\.line) == [3])
    #expect(contents.warnings.count == 1)
  }

  @Test func anEmptyTaiDocIsReadAsNoReadings() throws {
    let (meter, _) = HexSession.meter(
      TaiDocDriver.self, Self.identity + Self.session([("2B 00000000", "2B 0000FFFF")]))
    #expect(try TaiDocDriver().read(meter).readings.isEmpty)
  }

  @Test func aRequestToATaiDocIsRepeatedIfItHasJustWoken() throws {
    let woken = [
      Self.discard,
      HexSession.step(.send(HexSession.hex("51 24 00 00 00 00 A3 18")), .success([])),
      HexSession.step(.receive(maxBytes: 64), .success(HexSession.hex("51 54 00 00"))),
      HexSession.step(.receive(maxBytes: 64), .success(HexSession.hex("00 00 A5 4A"))),
    ]
    let (meter, transport) = HexSession.meter(TaiDocDriver.self, woken + Self.identity)
    #expect(try TaiDocDriver().identify(meter).device.model == "TD-4277")
    #expect(transport.isExhausted)
  }

  @Test func anInvalidTaiDocAnswerIsRequestedAgain() throws {
    let broken = [
      HexSession.step(.send(HexSession.hex("51 2B 00 00 00 00 A3 1F")), .success([])),
      HexSession.step(.receive(maxBytes: 64), .success(HexSession.hex("51 2B 03 00 03 00 A5 28"))),
      HexSession.step(.receive(maxBytes: 64), .failure(.timedOut)), Self.discard,
    ]
    let (meter, transport) = HexSession.meter(
      TaiDocDriver.self, Self.identity + broken + Self.session([("2B 00000000", "2B 00000000")]))
    #expect(try TaiDocDriver().read(meter).identity.count == 0)
    #expect(transport.isExhausted)
  }

  @Test func aSilentTaiDocFailsAfterFourTries() {
    let silence = [
      Self.discard, HexSession.step(.send(HexSession.hex("51 24 00 00 00 00 A3 18")), .success([])),
      HexSession.step(.receive(maxBytes: 64), .failure(.timedOut)),
    ]
    let (meter, transport) = HexSession.meter(
      TaiDocDriver.self, [silence, silence, silence, silence].flatMap(\.self))
    #expect {
      try TaiDocDriver().identify(meter)
    } throws: {
      "\($0)".hasPrefix("waking the meter: the meter did not answer")
    }
    #expect(transport.isExhausted)
  }

  @Test func theClockOfATaiDocIsSetAndItsEchoCompared() throws {
    let wake = [Self.discard] + Self.session([("24 00000000", "24 77420000")])
    let time = try #require(DeviceTime(text: "2019-08-04T13:37:00"))
    let (meter, transport) = HexSession.meter(
      TaiDocDriver.self, wake + Self.session([("33 0427250D", "33 0427250D")]))
    try TaiDocDriver().setClock(meter, to: time)
    #expect(transport.isExhausted)
    let (other, _) = HexSession.meter(
      TaiDocDriver.self, wake + Self.session([("33 0427250D", "33 0427240D")]))
    #expect(throws: Failure.self) { try TaiDocDriver().setClock(other, to: time) }
  }

  @Test func arbitraryBytesNeverCrashTheTaiDocRecordParser() {
    var random = SeededGenerator(seed: 4277)
    let bytes = HexSession.hex("51 24 77 42 00 00 A5 D3 51 26 70 00 00 40 A5 CC 51 25 04 27 25 0D A5 78")
    for _ in 0..<5000 {
      var changed = random.mutated(bytes)
      let count = changed.count
      while let packet = TaiDocPacket.next(in: &changed) {
        _ = TaiDocRecord(time: packet.data, value: packet.data)
      }
      #expect(changed.count <= min(7, count))
    }
  }
}
