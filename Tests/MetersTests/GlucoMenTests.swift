// SPDX-License-Identifier: Apache-2.0

import Logbook
import SeededRandom
import Testing

@testable import Meters

/// Tests the GlucoMen areo's blocks, lines and sessions. The blocks with stated check digits are invented
/// examples from the tests of another program. No capture is public.
struct GlucoMenTests {
  private static let information = "0000000000000,58,59,      DEMOSN, B.0"
  private static let glucose = [
    "Glu, 5.2,mmol/L,00,240101,0800", "Glu, 125, mg/dL,00,240609,1812", "Glu,  HI,mmol/L,00,250203,1232",
    "Glu,  LO,mmol/L,00,250603,1232",
  ]
  private static let ketones = ["Ket, 0.2,mmol/L,00,240101,0800", "Ket,  HI,mmol/L,00,240609,1812"]
  private static let nothing = HexSession.hex("5B 0D 0A 90 3D 0D 0A 5D 0D 0A")

  @Test func theGlucoMenChecksumHasItsPublishedCheckValue() {
    #expect(GlucoMenBlock.checksum("123456789".utf8) == 0xA1)
  }

  @Test(arguments: [
    ([information], "E6"), (glucose, "D8"), (ketones, "F0"), (["Glu,10.2,    %,00,240101,0800"], "67"),
    (["Hug,10.2,mmol/L,00,240101,0800"], "A4"), (["Glu,10.2,mmol/L,240101,0800"], "94"),
  ])
  func aGlucoMenBlockEndsInItsCheckDigits(lines: [String], digits: String) {
    let text = "[\r\n" + lines.map { $0 + "\r\n" }.joined() + digits + "\r\n]\r\n"
    #expect(GlucoMenBlock.bytes(lines) == Array(text.utf8))
    #expect(GlucoMenBlock(parsing: [0, 0x5B] + Array(text.utf8)) == .lines(lines))
    #expect(GlucoMenBlock(parsing: Array(text.utf8.dropLast())) == nil)
    #expect(GlucoMenBlock(parsing: Array(text.replacing(digits + "\r\n]", with: "00\r\n]").utf8)) == .broken)
  }

  @Test func theFixedAnswerOfAnEmptyGlucoMenIsReadAsAnEmptyMemory() {
    #expect(GlucoMenBlock(parsing: Self.nothing) == .empty)
    #expect(GlucoMenBlock(parsing: HexSession.hex("5B 0D 0A")) == nil)
    #expect(GlucoMenBlock(parsing: HexSession.hex("5B 0D 0A 0D 0A 5D 0D 0A")) == .broken)
  }

  @Test func everyGlucoMenLineIsReadAsAReadingInItsStatedUnit() throws {
    let readings = (Self.glucose + Self.ketones).compactMap { line in
      if case .reading(let reading) = GlucoMenLine(parsing: line) { reading } else { nil }
    }
    #expect(readings.map(\.kind) == [.smbg, .smbg, .smbg, .smbg, .ketone, .ketone])
    #expect(
      readings.map(\.measurement) == [
        .value(Quantity(5.2, .millimolesPerLitre)), .value(Quantity(125, .milligramsPerDecilitre)),
        .high(above: nil, .millimolesPerLitre), .low(below: nil, .millimolesPerLitre),
        .value(Quantity(0.2, .millimolesPerLitre)), .high(above: nil, .millimolesPerLitre),
      ])
    #expect(readings[1].deviceTime.text == "2024-06-09T18:12:00")
  }

  @Test(
    arguments: [
      ("00", []), ("01", []), ("02", .beforeMeal), ("04", .afterMeal), ("08", []),
      ("06", [.beforeMeal, .afterMeal]),
    ] as [(String, ReadingMarks)])
  func theMarkBitsOfAGlucoMenLineAreRead(text: String, marks: ReadingMarks) throws {
    guard case .reading(let reading) = GlucoMenLine(parsing: "glu,5.2,mmol/L,\(text),240101,0800") else {
      Issue.record("no reading")
      return
    }
    #expect(reading.marks == marks)
  }

  @Test(arguments: [
    "Glu,10.2,    %,00,240101,0800", "Glu,10.2,mmol/L,240101,0800", "Glu,1e2,mmol/L,00,240101,0800",
    "Glu,5.2,mmol/L,00,240230,0800", "Glu,5.2,mmol/L,00,24010,0800", "Glu,5.2,mmol/L,0,240130,2400",
    "Glu,5.2,mmol/L,00,240101,2400", "Glu,0,mg/dL,00,240101,0800", "",
  ])
  func anAmbiguousGlucoMenLineIsRejected(line: String) {
    guard case .rejected = GlucoMenLine(parsing: line) else {
      Issue.record("taken")
      return
    }
  }

  @Test(arguments: ["0", "GG", "", "002"])
  func aGlucoMenValueWithInvalidMarksIsKept(text: String) {
    guard case .readingWithoutMarks(let reading) = GlucoMenLine(parsing: "Glu,5.2,mmol/L,\(text),240101,0800")
    else {
      Issue.record("no reading")
      return
    }
    #expect(reading.measurement == .value(Quantity(5.2, .millimolesPerLitre)) && reading.marks == [])
  }

  @Test(arguments: [
    ("Ctl,112,mg/dL,00,240101,0800", "Ctl"), (";;\u{1B}[2J,1,mg/dL,00,240101,0800", "2J"),
    ("Haematocrit,40,%,00,240101,0800", "Haematoc"),
  ])
  func aGlucoMenMeasurementOfAnotherTypeIsCountedByName(line: String, name: String) {
    #expect(GlucoMenLine(parsing: line) == .skipped("measurement of the type '\(name)'"))
  }

  // MARK: Whole sessions, constructed

  private static func asked(_ byte: UInt8, _ pieces: [[UInt8]]) -> [Transcript.Step] {
    [HexSession.step(.discard, .success([])), HexSession.step(.send([byte]), .success([]))]
      + pieces.map { HexSession.step(.receive(maxBytes: 4096), .success($0)) }
  }

  private static func read(_ steps: [Transcript.Step], model: Int) throws -> MeterContents {
    let transport = HexSession.replay(steps)
    let meter = MeterConnection(transport, model: GlucoMenDriver.models[model]) { 1_800_000_000 }
    let contents = try GlucoMenDriver().read(meter)
    #expect(transport.isExhausted)
    return contents
  }

  private static let identity = asked(0xA2, [GlucoMenBlock.bytes([information])])

  @Test func onlyTheGlucoMenAreoGKIsAskedForKetones() throws {
    let glucose = GlucoMenBlock.bytes(Self.glucose + ["Hug,10.2,mmol/L,00,240101,0800"])
    let steps = Self.identity + Self.asked(0x80, [Array(glucose[..<40]), Array(glucose[40...])])
    let areo = try Self.read(steps, model: 0)
    #expect(
      areo.identity.device
        == Device(vendor: "Menarini", model: "GlucoMen areo", serial: "DEMOSN", format: "glucomen-areo"))
    #expect(areo.identity.firmware == "B.0")
    #expect(areo.readings.count == 4)
    #expect(areo.skipped == ["measurement of the type 'Hug'": 1])
    let gk = try Self.read(steps + Self.asked(0xA8, [GlucoMenBlock.bytes(Self.ketones)]), model: 1)
    #expect(gk.readings.count == 6)
    #expect(gk.identity.device.model == "GlucoMen areo GK")
  }

  /// Only one source states that an areo GK sends its ketones, so the driver does not depend on them.
  @Test func theGlucoseOfAGlucoMenWithoutKetonesIsRead() throws {
    let glucose = Self.asked(0x80, [GlucoMenBlock.bytes(Self.glucose + ["Glu,5.2,mmol/L,x,240101,0900"])])
    let silence = Self.asked(0xA8, []) + [HexSession.step(.receive(maxBytes: 4096), .failure(.timedOut))]
    let contents = try Self.read(Self.identity + glucose + silence + silence + silence, model: 1)
    #expect(contents.readings.count == 5)
    #expect(contents.skipped == ["ketones that cannot be read": 1])
    #expect(contents.warnings.count == 2)
    let gone = Self.asked(0xA8, []) + [HexSession.step(.receive(maxBytes: 4096), .failure(.unplugged))]
    #expect {
      try Self.read(Self.identity + glucose + gone, model: 1)
    } throws: {
      ($0 as? Failure)?.category == .unavailable
    }
  }

  @Test func anEmptyGlucoMenIsReadAsNoReadings() throws {
    let contents = try Self.read(Self.identity + Self.asked(0x80, [Self.nothing]), model: 0)
    #expect(contents.readings.isEmpty && contents.identity.count == 0)
  }

  @Test func aDamagedOrTruncatedGlucoMenBlockIsRequestedAgain() throws {
    var broken = GlucoMenBlock.bytes(Self.glucose)
    broken[5] ^= 1
    let contents = try Self.read(
      Self.identity + Self.asked(0x80, [broken])
        + Self.asked(0x80, [Array(GlucoMenBlock.bytes(Self.glucose)[..<50])])
        + [HexSession.step(.receive(maxBytes: 4096), .failure(.timedOut))]
        + Self.asked(0x80, [GlucoMenBlock.bytes(Self.glucose)]), model: 0)
    #expect(contents.readings.count == 4)
  }

  @Test func aGlucoMenBlockThatStaysDamagedFailsTheRead() {
    var broken = GlucoMenBlock.bytes(Self.glucose)
    broken[5] ^= 1
    #expect {
      try Self.read(
        Self.identity + (0..<3).flatMap { _ in Self.asked(0x80, [broken]) }, model: 0)
    } throws: {
      ($0 as? Failure)?.category == .protocolViolation
    }
  }

  @Test(arguments: [("50", true), ("46", false)])
  func settingTheClockOfAGlucoMenSucceedsOrIsReportedAsRefused(answer: String, isDone: Bool) throws {
    let (meter, _) = HexSession.meter(
      GlucoMenDriver.self,
      [HexSession.step(.discard, .success([]))]
        + HexSession.steps(
          """
          > C2 A1 5B 0D 0A 32 34 30 32 32 39 31 35 33 30 0D 0A 41 36 0D 0A 5D 0D 0A
          < \(answer)
          """))
    let time = try #require(DeviceTime(text: "2024-02-29T15:30:00"))
    if isDone {
      try GlucoMenDriver().setClock(meter, to: time)
    } else {
      #expect(throws: Failure.self) { try GlucoMenDriver().setClock(meter, to: time) }
    }
  }

  @Test func arbitraryBytesNeverCrashTheGlucoMenBlockParser() {
    var random = SeededGenerator(seed: 0x31)
    let block = GlucoMenBlock.bytes(Self.glucose)
    for _ in 0..<1000 {
      _ = GlucoMenBlock(parsing: random.mutated(block))
      _ = GlucoMenLine(parsing: String(decoding: random.mutated(Array(Self.glucose[0].utf8)), as: UTF8.self))
    }
  }
}
