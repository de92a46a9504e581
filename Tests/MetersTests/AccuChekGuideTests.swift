// SPDX-License-Identifier: Apache-2.0

import Logbook
import SeededRandom
import Testing

@testable import Meters

/// Tests the Accu-Chek Guide's messages and sessions. The attributes and segments are from a real Guide 925,
/// with another serial number and date. The reports and whole sessions are constructed by the same rules.
struct AccuChekGuideTests {
  /// The message in which a real Guide states its attributes.
  private static let attributes = HexSession.hex(
    """
    E70000D400D200A4020300CC0000000800C60928000E0006526F636865000004393235000984000A0008006019
    00000000420A4400024000092D00560003005200010000001A73657269616C2D6E756D6265723A20393235303030
    303030343200031000001268772D7265766973696F6E3A20470000000000050000001466772D7265766973696F6E
    3A2076312E392E36000987000820261001210658000A450010C0001F00FFFFFFFF00640000000000000A4B001600
    0200120201000804010001000220110202000200000A5A00080001000410110002
    """)
  /// The message in which a real Guide lists its memory segments.
  private static let segments = HexSession.hex(
    """
    E70001D201D000A5020701CA00050C0D01C4000401C000000009006C0922000200000A4E001A80000001001400060002
    72700001000200080A4C0002094700020953000200000A58000C000A504D536567476C7563200A620006000000000000
    099200082025010108000000098A00082025013119300000097B00040000027E0A6400040002710000010009006C0922
    000200010A4E001A8000000100140006000271D00002000200080A4C0002094700020953000200000A58000C000A504D
    5365674374726C200A620006000000000000099200082014010100000000098A00082014010100000000097B00040000
    00000A640004000271000002000900680922000200020A4E00168000000100100005008071D80003000100040A660002
    0953000200000A58000C000A504D5365674572726F720A620006000000000000099200082014010100000000098A0008
    2014010100000000097B0004000000000A640004000271000003000900680922000200030A4E00168000000100100005
    008072480004000100040A4900020953000200000A58000C000A504D536567434D65616C0A6200060000000000000992
    00082025010108000000098A00082025013119300000097B0004000002400A64000400027100
    """)

  private static func content(_ message: [UInt8]) throws -> [UInt8] {
    try DataAPDU(parsing: APDU(parsing: message).body).content
  }

  @Test func theAttributesOfARealAccuChekGuideAreParsed() throws {
    let device = try MedicalDevice(parsing: Self.content(Self.attributes))
    #expect(device.manufacturer == "Roche")
    #expect(device.model == "925")
    #expect(device.product == "Accu-Chek Guide")
    #expect(device.serial == "92500000042")
    #expect(device.firmware == "v1.9.6")
    #expect(device.clock?.text == "2026-10-01T21:06:58")
    #expect(device.canSetClock)
    #expect(device.lowLimit == 20)
  }

  @Test(arguments: [
    ("958", "Accu-Chek Instant", 10.0), ("970", "Accu-Chek Instant S", 10),
    ("483", "Accu-Chek Aviva Connect", 20),
    ("982", "ReliOn Platinum", 20), ("123", "Accu-Chek 123", 20), ("", "Accu-Chek", 20),
  ])
  func theModelNumberOfAnAccuChekGuideDeterminesTheProductName(number: String, product: String, limit: Double)
    throws
  {
    var device = try MedicalDevice(parsing: Self.content(Self.attributes))
    device.model = number
    #expect(device.product == product)
    #expect(device.lowLimit == limit)
  }

  @Test func theMemorySegmentsOfARealAccuChekGuideAreParsed() throws {
    let segments = try MemorySegment.parse(Self.content(Self.segments))
    // The third segment holds errors, not measurements.
    #expect(segments.map(\.instance) == [0, 1, 3])
    #expect(segments.map(\.count) == [638, 0, 576])
    #expect(segments.map(\.content) == [.glucose, .controlSolution, .meals])
    #expect(segments.map(\.entryLength) == [12, 12, 10])
    #expect(segments.map(\.valueOffset) == [8, 8, 8])
    #expect(segments.map(\.statusOffset) == [10, 10, nil])
  }

  @Test func aDataReportIsParsedAndAnsweredWithItsConfirmation() throws {
    let bytes = HexSession.hex(
      """
      E700003800360020010100300100FFFFFFFF0D21002600000000000000000002800000182026093007311200007000
      00202609301302400000B60000
      """)
    let data = try DataAPDU(parsing: APDU(parsing: bytes).body)
    let report = try #require(try SegmentReport(parsing: data.content))
    #expect(report.first == 0 && report.count == 2 && !report.isLast && !report.isAborted)
    #expect(report.split(every: 12)?.count == 2)
    #expect(report.split(every: 10) == nil)
    #expect(
      DataAPDU(data.invokeID, .eventResponse, report.confirmation(handle: 0x0100)).apdu.bytes
        == HexSession.hex("E700001E001C0020020100160100FFFFFFFF0D21000C000000000000000000020080"))
  }

  @Test(arguments: [
    (0x0070, 112.0), (0xF045, 6.9), (0x1003, 30), (0x0FFF, -1), (0x8001, 1e-8), (0x7001, 1e7),
    (0x07FE, nil), (0x0802, nil), (0x07FF, nil), (0x0800, nil), (0x0801, nil),
  ])
  func aShortFloatIsReadAsADecimalNumber(bits: Int, number: Double?) {
    #expect(ShortFloat(UInt16(bits)).number(timesTenTo: 0) == number)
  }

  @Test func specialShortFloatCodesAreReadAsHighLowOrNoNumber() {
    #expect(ShortFloat(0x07FE) == .high)
    #expect(ShortFloat(0x0802) == .low)
    #expect([0x07FF, 0x0800, 0x0801].map { ShortFloat($0) } == [.none, .none, .none])
  }

  @Test func aTimeInDecimalDigitsIsReadAndItsHundredthsAreIgnored() {
    #expect(MedicalTime.parse(HexSession.hex("20260930073112FF"))?.text == "2026-09-30T07:31:12")
    #expect(MedicalTime.parse(HexSession.hex("2026093A07311200")) == nil)
    #expect(MedicalTime.parse(HexSession.hex("2026133007311200")) == nil)
    #expect(MedicalTime.parse(HexSession.hex("20260930073112")) == nil)
    let time = DeviceTime(text: "2026-10-01T20:42:52")
    #expect(time.map(MedicalTime.bytes) == HexSession.hex("2026100120425200"))
  }

  // MARK: Whole sessions, constructed

  private static let opening =
    [
      HexSession.step(
        .controlIn(ControlRequest(type: 0x80, request: 0, value: 0, index: 0), maxBytes: 2), .success([0, 0]))
    ]
    + HexSession.steps(
      """
      < E20000328000000000 01002A507900268000000080008000000000000000008000000008006019000000004240000001010000000000
      > E300002C0003507900268000000280008000000000000000800000000008123456780000000000000000000000000000
      < E700003A0038001001010032 0000FFFFFFFF0D1C0028400000020022 0006000100010006092F00027144003D010000020 00C092100020100095100020004
      > E7000016001400100201000E0000000000000D1C000440000000
      """)
  private static let identity =
    opening + [
      HexSession.step(.send(HexSession.hex("E700000E000C001101030006000000000000")), .success([])),
      HexSession.step(.receive(maxBytes: 1024), .success(answered(attributes, by: 0x11))),
    ]
  private static let closing = HexSession.steps(
    """
    > E40000020000
    < E50000020000
    """)

  /// The answer of a real meter, changed to have this invoke id. The driver compares this id with that of its
  /// request.
  private static func answered(_ message: [UInt8], by id: UInt8) -> [UInt8] {
    message.enumerated().map { $0.offset == 6 ? 0 : $0.offset == 7 ? id : $0.element }
  }

  private static func askedForSegments(_ answer: [UInt8]) -> [Transcript.Step] {
    [
      HexSession.step(
        .send(HexSession.hex("E7000014001200120107000C01000C0D00060001000200 00")), .success([])),
      HexSession.step(.receive(maxBytes: 1024), .success(answer)),
    ]
  }

  private static func transfer(_ segment: UInt8, id: UInt8, result: UInt8 = 0) -> [Transcript.Step] {
    [
      HexSession.step(
        .send([0xE7, 0, 0, 0x10, 0, 0x0E, 0, id, 1, 7, 0, 8, 1, 0, 0x0C, 0x1C, 0, 2, 0, segment]),
        .success([])),
      HexSession.step(
        .receive(maxBytes: 1024),
        .success(
          [0xE7, 0, 0, 0x12, 0, 0x10, 0, id, 2, 7, 0, 0x0A, 1, 0, 0x0C, 0x1C, 0, 4, 0, segment, 0, result])),
    ]
  }

  /// A data report with entries of a segment, and the confirmation that the driver must send.
  private static func report(
    _ segment: UInt8, id: UInt8, first: UInt8 = 0, status: UInt8 = 0xC0, _ entries: [String]
  ) -> [Transcript.Step] {
    let bytes = entries.flatMap { HexSession.hex($0) }
    let position: [UInt8] = [0, segment, 0, 0, 0, first, 0, 0, 0, UInt8(entries.count)]
    let info = position + [status, 0] + UInt16(bytes.count).bigEndianBytes + bytes
    let event: [UInt8] =
      [1, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0x0D, 0x21] + UInt16(info.count).bigEndianBytes + info
    let confirmed: [UInt8] =
      [0xE7, 0, 0, 0x1E, 0, 0x1C, 0, id, 2, 1, 0, 0x16, 1, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0x0D, 0x21, 0, 0x0C]
      + position + [0, 0x80]
    return [
      HexSession.step(
        .receive(maxBytes: 1024), .success(DataAPDU(UInt16(id), .confirmedEvent, event).apdu.bytes)),
      HexSession.step(.send(confirmed), .success([])),
    ]
  }

  private static let nothingDescribed = HexSession.hex("E700000E000C00120207000601000C0D0000")

  private func read(_ steps: [Transcript.Step]) throws -> MeterContents {
    let (meter, transport) = HexSession.meter(AccuChekGuideDriver.self, steps)
    let contents = try AccuChekGuideDriver().read(meter)
    #expect(transport.isExhausted)
    return contents
  }

  /// The memory segments of a real Guide, where the second segment is changed to state one control test.
  private static var segmentsWithControl: [UInt8] {
    var bytes = answered(segments, by: 0x12)
    let counts = bytes.indices.dropLast(7).filter { Array(bytes[$0..<$0 + 4]) == [0x09, 0x7B, 0, 4] }
    bytes[counts[1] + 7] = 1
    return bytes
  }

  @Test func everyMemorySegmentIsReadAndMealMarksAreAddedToTheirReadings() throws {
    let contents = try read(
      Self.identity + Self.askedForSegments(Self.segmentsWithControl)
        + Self.transfer(0, id: 0x13)
        + Self.report(0, id: 0x20, status: 0x80, ["202609300731120000700000", "202609301302400000B60000"])
        + Self.report(
          0, id: 0x21, first: 2, status: 0x40, ["202609302145030000970000", "202610010710590000620000"])
        + Self.transfer(1, id: 0x14) + Self.report(1, id: 0x22, ["202609010800000000780000"])
        + Self.transfer(3, id: 0x15)
        + Self.report(
          3, id: 0x23, ["20260930073112007254", "20260930130240007250", "20200101000000007274"])
        + Self.closing)
    #expect(contents.identity.device.serial == "92500000042")
    #expect(contents.identity.count == 638)
    #expect(
      contents.readings.map(\.deviceTime.text) == [
        "2026-09-30T07:31:12", "2026-09-30T13:02:40", "2026-09-30T21:45:03", "2026-10-01T07:10:59",
        "2026-09-01T08:00:00",
      ])
    #expect(contents.readings.compactMap(\.measurement.quantity?.number) == [112, 182, 151, 98, 120])
    #expect(contents.readings.map(\.marks) == [.fasting, .afterMeal, [], [], .controlSolution])
    #expect(contents.skipped == ["meal mark without a reading": 1])
    #expect(contents.warnings.count == 2, "the real segments hold more than the constructed ones")
  }

  @Test func anAccuChekGuideThatDescribesNoMemorySegmentsIsRead() throws {
    let contents = try read(
      Self.identity + Self.askedForSegments(Self.nothingDescribed) + Self.transfer(0, id: 0x13)
        + Self.report(
          0, id: 0x20,
          [
            "202609010800000000780000", "202609011200000007FE0000", "202609020315000008020000",
            "2026090208000000008C0001", "202609020900000007FF0000", "202609020901000000788000",
            "202699020901000000780000", "2026090209020000F0000000",
          ]) + Self.closing)
    #expect(
      contents.readings.map(\.measurement) == [
        .value(Quantity(120, .milligramsPerDecilitre)), .high(above: 600, .milligramsPerDecilitre),
        .low(below: 20, .milligramsPerDecilitre), .value(Quantity(140, .milligramsPerDecilitre)),
      ])
    #expect(
      contents.skipped == [
        "entry without a value": 1, "entry that the meter marks as invalid or as a test": 1,
      ])
    #expect(contents.rejections.map(\.line) == [7, 8])
    #expect(contents.identity.count == 4)
  }

  @Test func memorySegmentsReportedAsEmptyAreNotRequested() throws {
    let contents = try read(
      Self.identity + Self.askedForSegments(Self.answered(Self.segments, by: 0x12))
        + Self.transfer(0, id: 0x13, result: 3) + Self.transfer(3, id: 0x14, result: 3) + Self.closing)
    #expect(contents.readings.isEmpty)
  }

  @Test func anAccuChekGuideWithoutAttributesIsRead() throws {
    let nothing = HexSession.steps(
      """
      > E700000E000C001101030006000000000000
      < E700000E000C001102030006000000000000
      """)
    let contents = try read(
      Self.opening + nothing + Self.askedForSegments(Self.nothingDescribed) + Self.transfer(0, id: 0x13)
        + Self.report(0, id: 0x20, ["20260901080000FF00780000"]) + Self.closing)
    #expect(contents.readings.map(\.deviceTime.text) == ["2026-09-01T08:00:00"])
    #expect(contents.identity.device.serial.isEmpty && contents.identity.clock == nil)
  }

  @Test func anEmptyAccuChekGuideIsReadAsNoReadings() throws {
    let contents = try read(
      Self.identity + Self.askedForSegments(Self.nothingDescribed) + Self.transfer(0, id: 0x13, result: 3)
        + Self.closing)
    #expect(contents.readings.isEmpty && contents.rejections.isEmpty)
  }

  @Test func readingsAfterAClockSetBackAreMarkedAndKeepTheirTimes() throws {
    let contents = try read(
      Self.identity + Self.askedForSegments(Self.nothingDescribed) + Self.transfer(0, id: 0x13)
        + Self.report(
          0, id: 0x20,
          [
            "202609010800000000780000", "202609011200000000790000", "202609011130000000800000",
          ]) + Self.closing)
    #expect(contents.readings.map(\.marks) == [[], [], .clockSetBack])
  }

  @Test func identifyingAnAccuChekGuideRequestsOnlyItsIdentity() throws {
    let (meter, transport) = HexSession.meter(AccuChekGuideDriver.self, Self.identity + Self.closing, now: 7)
    let identity = try AccuChekGuideDriver().identify(meter)
    #expect(transport.isExhausted)
    #expect(
      identity.device
        == Device(
          vendor: "Roche", model: "Accu-Chek Guide", serial: "92500000042", format: "accu-chek-guide"))
    #expect(identity.clock?.host == 7)
  }

  @Test func theClockOfAnAccuChekGuideIsSetInDecimalDigits() throws {
    let (meter, transport) = HexSession.meter(
      AccuChekGuideDriver.self,
      Self.identity
        + HexSession.steps(
          """
          > E700001A001800120107001200000C17000C202610012042520000000000
          < E700000E000C00120207000600000C170000
          """) + Self.closing)
    try AccuChekGuideDriver().setClock(meter, to: #require(DeviceTime(text: "2026-10-01T20:42:52")))
    #expect(transport.isExhausted)
  }

  @Test(arguments: [
    ("a report out of order", report(0, id: 0x20, first: 5, ["202609010800000000780000"])),
    ("a report with half an entry", report(0, id: 0x20, ["2026090108000000"])),
    ("a meter that gives up", report(0, id: 0x20, status: 0x48, ["202609010800000000780000"])),
    ("an abort", HexSession.steps("< E60000020000")),
    ("a message of no known type", HexSession.steps("< E80000020000")),
    ("silence", HexSession.steps("!")),
  ])
  func anInterruptedMemoryTransferFailsTheRead(what: String, steps: [Transcript.Step]) throws {
    let broken = steps.filter { if case .receive = $0.exchange { true } else { false } }
    // If the driver sent a further request, the replay would fail in another category.
    #expect("\(what)") {
      try read(
        Self.identity + Self.askedForSegments(Self.nothingDescribed) + Self.transfer(0, id: 0x13) + broken
          + Self.closing)
    } throws: {
      ($0 as? Failure)?.category == .protocolViolation
    }
  }

  @Test func anUnexpectedSegmentNumberIsReportedAndTheReadingsAreKept() throws {
    let transfer = HexSession.steps(
      """
      > E7000010000E001301070008 01000C1C00020000
      < E700001200100013 0207000A 01000C1C 0004 0007 0000
      """)
    let contents = try read(
      Self.identity + Self.askedForSegments(Self.nothingDescribed) + transfer
        + Self.report(5, id: 0x20, ["202609010800000000780000"]) + Self.closing)
    #expect(contents.readings.compactMap(\.measurement.quantity?.number) == [120])
    #expect(contents.warnings.count == 1)
  }

  /// Ways in which the transfer of the meal marks can fail after the glucose was read.
  private static let spoiltMealMarks: [(String, [Transcript.Step])] = [
    ("a refusal", HexSession.steps("< E700000E000C0014 03000006 000900000000")),
    ("no such segment", transfer(3, id: 0x14, result: 1)), ("a busy meter", transfer(3, id: 0x14, result: 2)),
    (
      "a report out of order",
      transfer(3, id: 0x14) + report(3, id: 0x21, first: 5, ["20260930073112007254"])
    ),
    ("entries of another length", transfer(3, id: 0x14) + report(3, id: 0x21, ["202609300731120072540000"])),
    (
      "a meter that gives up",
      transfer(3, id: 0x14) + report(3, id: 0x21, status: 0x48, ["20260930073112007254"])
    ),
    ("a message of no known type", HexSession.steps("< E80000020000")), ("silence", HexSession.steps("!")),
    ("an abort", HexSession.steps("< E60000020000")),
  ]

  @Test(arguments: spoiltMealMarks)
  func glucoseReadingsAreKeptIfMealMarksCannotBeRead(what: String, steps: [Transcript.Step]) throws {
    let asked = Self.transfer(3, id: 0x14).prefix(1)
    let came = steps.filter { if case .receive = $0.exchange { true } else { false } }
    let (meter, _) = HexSession.meter(
      AccuChekGuideDriver.self,
      Self.identity + Self.askedForSegments(Self.answered(Self.segments, by: 0x12))
        + Self.transfer(0, id: 0x13) + Self.report(0, id: 0x20, ["202609300731120000700000"]) + asked + came
        + Self.closing)
    let contents = try AccuChekGuideDriver().read(meter)
    #expect(contents.readings.compactMap(\.measurement.quantity?.number) == [112], "\(what)")
    #expect(contents.readings.map(\.marks) == [[]])
    #expect(contents.skipped == ["entry of a part that cannot be read": 576])
    #expect(contents.warnings.contains { $0.hasPrefix("the meal marks were left out") })
  }

  /// The read fails instead of leaving out the meal marks. A person can reconnect the meter, while readings
  /// stored without marks would never get them.
  @Test(arguments: [TransportError.unplugged, .interrupted])
  func aLostConnectionFailsTheReadAndIsNotTreatedAsAMissingSegment(error: TransportError) throws {
    let (meter, _) = HexSession.meter(
      AccuChekGuideDriver.self,
      Self.identity + Self.askedForSegments(Self.answered(Self.segments, by: 0x12))
        + Self.transfer(0, id: 0x13) + Self.report(0, id: 0x20, ["202609300731120000700000"])
        + Self.transfer(3, id: 0x14).prefix(1) + [HexSession.step(.receive(maxBytes: 1024), .failure(error))])
    #expect(throws: Failure.self) { try AccuChekGuideDriver().read(meter) }
  }

  @Test func onlyGlucoseIsReadIfTheSegmentListIsDamagedOrRefused() throws {
    // The list of segments is truncated.
    let cut = Self.answered(HexSession.hex("E700001400120012 0207000C 01000C0D0006 0004 01C0 0000"), by: 0x12)
    let refused = HexSession.hex("E700000E000C0012 03000006 000900000000")
    for answer in [cut, refused] {
      let contents = try read(
        Self.identity + Self.askedForSegments(answer) + Self.transfer(0, id: 0x13)
          + Self.report(0, id: 0x20, ["202609010800000000780000"]) + Self.closing)
      #expect(contents.readings.count == 1 && contents.warnings.count == 1)
    }
  }

  @Test func aMemorySegmentWithAnUnknownEntryLayoutIsLeftOut() throws {
    // The attribute map of the meal marks is changed to state more fields than it contains.
    var bytes = Self.answered(Self.segments, by: 0x12)
    let map = try #require(
      bytes.indices.dropLast(3).first { Array(bytes[$0..<$0 + 4]) == [0x72, 0x48, 0x00, 0x04] })
    bytes[map + 5] = 9
    let segments = try MemorySegment.parse(Self.content(bytes))
    #expect(segments.map(\.content) == [.glucose, .controlSolution, .unreadable])
    let contents = try read(
      Self.identity + Self.askedForSegments(bytes) + Self.transfer(0, id: 0x13)
        + Self.report(0, id: 0x20, ["202609010800000000780000"]) + Self.closing)
    #expect(contents.readings.count == 1)
    #expect(contents.warnings.contains { $0.hasPrefix("part 3 of the memory") })
  }

  @Test func afterAFailedReadTheMeterAssociationIsReleased() throws {
    let (meter, transport) = HexSession.meter(
      AccuChekGuideDriver.self,
      Self.opening
        + HexSession.steps(
          """
          > E700000E000C001101030006000000000000
          < E700000E000C009901030006000000000000
          """) + Self.closing)
    #expect(throws: Failure.self) { try AccuChekGuideDriver().identify(meter) }
    #expect(transport.isExhausted)
  }

  @Test func arbitraryBytesNeverCrashTheAccuChekGuideParser() {
    var random = SeededGenerator(seed: 11073)
    for message in [Self.attributes, Self.segments] {
      for _ in 0..<3000 {
        let bytes = random.mutated(message)
        _ = try? MedicalDevice(parsing: Array(bytes.dropFirst(12)))
        _ = try? MemorySegment.parse(Array(bytes.dropFirst(12)))
        _ = try? SegmentReport(parsing: Array(bytes.dropFirst(12)))
        _ = try? DataAPDU(parsing: APDU(parsing: bytes).body)
      }
    }
  }
}
