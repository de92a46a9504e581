// SPDX-License-Identifier: Apache-2.0

import Logbook
import SimulatedMeters
import Testing

/// Tests the simulated Contour meters, compared with the answers of real ones to the same bytes.
struct ContourModelTests {
  private typealias Variant = SimulatedContour.Variant

  private static func memory(_ unit: GlucoseUnit = .milligramsPerDecilitre) throws -> SimulatedMemory {
    var memory = SimulatedMemory(clock: try #require(DeviceTime(text: "2019-09-22T13:04:55")))
    memory.unit = unit
    memory.serial = "2336773"
    memory.firmware = "01.24"
    return memory
  }

  private static func item(
    _ time: String, _ measurement: Measurement, _ marks: ReadingMarks = []
  ) throws -> SimulatedItem {
    SimulatedItem(at: try #require(DeviceTime(text: time)), measurement, marks: marks)
  }

  /// Sends bytes and returns the joined payloads of all reports received, and their sizes.
  private static func session(_ meter: SimulatedContour, _ bytes: [UInt8], usesNext: Bool = false)
    -> (bytes: [UInt8], sizes: [Int])
  {
    let (out, into): (UInt8, UInt8) = usesNext ? (0x04, 0x83) : (0x01, 0x81)
    #expect(meter.accept([0, 0, 0, UInt8(bytes.count)] + bytes, endpoint: out))
    var all: [UInt8] = []
    var sizes: [Int] = []
    while case .data(let report) = meter.nextPacket(endpoint: into, maxBytes: 64) {
      #expect(report.count == 64 && Array(report.prefix(3)) == Array("ABC".utf8))
      all += report[4..<4 + Int(report[3])]
      sizes.append(Int(report[3]))
    }
    return (all, sizes)
  }

  private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

  @Test func theSimulatedContourUSBSendsItsHeaderBetweenEOTAndENQ() throws {
    let meter = SimulatedContour(try Self.memory())
    let (bytes, sizes) = Self.session(meter, [0x58])
    #expect(bytes.first == 0x04 && bytes[1] == 0x02 && bytes.last == 0x05)
    #expect(sizes.dropLast().allSatisfy { $0 == 60 } && sizes.count == 4)
    let text = Self.text(bytes)
    #expect(text.contains("|Bayer7390^01.24\\01.04\\02.40^7390-2336773^7403-|A=1^C=63^G=1^I=0200"))
    #expect(text.contains("^V=10600^") && text.contains("|0||||||1|201909221304\r\u{17}"))
  }

  @Test func theSimulatedContourNextLinkSendsENQInASeparateReport() throws {
    let (bytes, sizes) = Self.session(SimulatedContour(try Self.memory(), variant: .nextLink), [0x04])
    #expect(sizes.last == 1 && bytes.last == 0x05)
    #expect(!Self.text(bytes).contains("^V="))
  }

  @Test func theSimulatedContourNextUSBAnswersTheFirstACKWithENQ() throws {
    let meter = SimulatedContour(try Self.memory(), variant: .nextUSB)
    #expect(
      Self.text(Self.session(meter, [0x04], usesNext: true).bytes).contains("|0|||||P|1|20190922130455"))
    #expect(Self.session(meter, [0x06], usesNext: true).bytes == [0x05])
    #expect(Self.text(Self.session(meter, [0x15], usesNext: true).bytes).hasPrefix("\u{2}1H|"))
    #expect(Self.text(Self.session(meter, [0x06], usesNext: true).bytes) == "\u{2}2P|1\r\u{17}53\r\n")
  }

  @Test func anEmptySimulatedContourAnswersLikeTheCapturedMeter() throws {
    let meter = SimulatedContour(try Self.memory())
    let first = Self.session(meter, [0x04]).bytes
    let second = Self.session(meter, [0x06]).bytes
    #expect(Self.text(second).contains("|0|||||P|1|201909221304"))
    #expect(first[8..<14] != second[8..<14], "each header has another password")
    #expect(Self.text(Self.session(meter, [0x06]).bytes) == "\u{2}2P|1\r\u{17}53\r\n")
    #expect(Self.text(Self.session(meter, [0x06]).bytes) == "\u{2}3L|1||N\r\u{3}82\r\n")
    #expect(Self.text(Self.session(meter, [0x15]).bytes) == "\u{2}3L|1||N\r\u{3}82\r\n", "NAK repeats")
    #expect(Self.session(meter, [0x06]).bytes == [0x04])
  }

  @Test func recordsOfTheSimulatedContourHaveTheLayoutOfRealOnes() throws {
    var memory = try Self.memory()
    memory.items = [
      try Self.item("2014-02-05T21:34:00", .value(Quantity(101, .milligramsPerDecilitre)), .controlSolution),
      try Self.item("2014-02-05T21:35:00", .value(Quantity(102, .milligramsPerDecilitre))),
      try Self.item("2015-05-26T11:50:00", .value(Quantity(93, .milligramsPerDecilitre)), .afterMeal),
      try Self.item("2015-05-26T11:51:00", .low(below: 20, .milligramsPerDecilitre)),
      try Self.item("2015-05-26T11:52:00", .high(above: 600, .milligramsPerDecilitre), .beforeMeal),
    ]
    let meter = SimulatedContour(memory, variant: .nextUSB)
    _ = Self.session(meter, [0x04], usesNext: true)
    _ = Self.session(meter, [0x06], usesNext: true)
    let frames = (0..<8).map { _ in Self.text(Self.session(meter, [0x06], usesNext: true).bytes) }
    #expect(frames[2].hasPrefix("\u{2}3R|1|^^^Glucose|101|mg/dL^P||C/M0/T1||201402052134\r\u{17}"))
    #expect(
      frames[3] == "\u{2}4R|2|^^^Glucose|102|mg/dL^P||M0/T1||201402052135\r\u{17}26\r\n", "a real frame")
    #expect(
      frames[4] == "\u{2}5R|3|^^^Glucose|93|mg/dL^P||A/M0/T1||201505261150\r\u{17}74\r\n", "a real frame")
    #expect(frames[5].contains("|19|mg/dL^P||</M0/T1|"))
    #expect(frames[6].contains("|601|mg/dL^P||B/>/M0/T1|"))
    #expect(frames[7].hasPrefix("\u{2}0L|1||N\r\u{3}"), "the number goes round at eight")
  }

  @Test func theSimulatedContourSendsAFrameOfSixtyBytesInOneReport() throws {
    var memory = try Self.memory(.millimolesPerLitre)
    memory.items = try (0..<11).map { _ in
      try Self.item("2013-02-08T10:17:00", .value(Quantity(10.9, .millimolesPerLitre)), .fasting)
    }
    let meter = SimulatedContour(memory, variant: .nextUSB)
    for byte in [0x04, 0x06, 0x06, 0x06] as [UInt8] { _ = Self.session(meter, [byte], usesNext: true) }
    let frames = (0..<11).map { _ in Self.session(meter, [0x06], usesNext: true) }
    #expect(
      Self.text(frames[10].bytes)
        == "\u{2}5R|11|^^^Glucose|10.9|mmol/L^P||F/M0/T1||201302081017\r\u{17}7E\r\n",
      "a real frame")
    #expect(frames[10].sizes == [60])
  }

  @Test func laterSimulatedContourModelsSendSeconds() throws {
    var memory = try Self.memory()
    memory.items = [try Self.item("2026-01-25T08:55:19", .value(Quantity(126, .milligramsPerDecilitre)))]
    let generation = SimulatedContour(memory, variant: .nextGeneration)
    #expect(Self.text(Self.session(generation, [0x04]).bytes).contains("|1||||||1|20190922130455|\r"))
    _ = Self.session(generation, [0x06])
    _ = Self.session(generation, [0x06])
    #expect(
      Self.text(Self.session(generation, [0x06]).bytes).contains(
        "R|1|^^^Glucose|126|mg/dL^P||T0||20260125085519\r"))
    let one = SimulatedContour(memory, variant: .nextOne)
    for byte in [0x04, 0x06, 0x06, 0x06, 0x06] as [UInt8] { _ = Self.session(one, [byte]) }
    #expect(Self.session(one, [0x06]).bytes.isEmpty)
    #expect(Self.session(one, [0x15]).bytes == [0x04])
  }

  @Test func theClockOfTheSimulatedContourIsReadAndSetInCommandMode() throws {
    let meter = SimulatedContour(try Self.memory())
    _ = Self.session(meter, [0x58])
    #expect(Self.session(meter, [0x15]).bytes == [0x04])
    #expect(Self.session(meter, [0x05]).bytes == [0x06])
    func command(_ text: String) -> String { Self.text(Self.session(meter, Array(text.utf8)).bytes) }
    #expect(command("R|") == "\u{6}")
    #expect(command("D|") == "D|190922|\r\n\u{6}")
    #expect(command("R|\r") == "\u{6}")
    #expect(command("T|\r") == "D|1304|\r\n\u{6}")
    #expect([command("W|"), command("D|"), command("261121|\r")] == ["\u{6}", "\u{6}", "\u{6}"])
    #expect([command("W|"), command("T|"), command("0907|\r")] == ["\u{6}", "\u{6}", "\u{6}"])
    #expect(meter.memory.clock.text == "2026-11-21T09:07:00")
    #expect([command("W|"), command("Q|")] == ["\u{6}", "\u{15}"], "a reader must not bridge to the pump")
    #expect(Self.session(meter, [0x0D, 0x04]).bytes == [0x05])
  }

  @Test func theSimulatedContourPairedWithAPumpRefusesToSetItsClock() throws {
    let meter = SimulatedContour(try Self.memory(), variant: .nextLink)
    meter.isPairedWithPump = true
    for byte in [0x04, 0x15, 0x05] as [UInt8] { _ = Self.session(meter, [byte]) }
    _ = Self.session(meter, Array("W|".utf8))
    #expect(Self.session(meter, Array("D|".utf8)).bytes == [0x15])
  }

  @Test(arguments: SimulatedContour.Variant.allCases)
  func theUSBDescriptorsOfTheSimulatedContourAreComplete(variant: SimulatedContour.Variant) throws {
    let meter = SimulatedContour(try Self.memory(), variant: variant)
    #expect(meter.deviceDescriptor.count == 18)
    let configuration = meter.configurationDescriptor
    #expect(Int(configuration[2]) | Int(configuration[3]) << 8 == configuration.count)
    #expect(meter.strings[2] == "0000000002336773")
    #expect(!meter.accept([0, 0, 0, 1, 4], endpoint: 0x09))
    #expect(!meter.accept([0, 0, 0, 61], endpoint: variant == .nextUSB ? 0x04 : 0x01))
  }

  @Test func itemsThatAContourCannotStoreAreLeftOut() throws {
    let time = try #require(DeviceTime(text: "2026-01-25T08:55:19"))
    #expect(
      !SimulatedContour.holds(SimulatedItem(.ketone, at: time, .value(Quantity(1, .millimolesPerLitre)))))
    #expect(
      !SimulatedContour.holds(
        SimulatedItem(at: time, .value(Quantity(100, .milligramsPerDecilitre)), marks: .bedtime)))
    var memory = try Self.memory()
    memory.items = [SimulatedItem(.ketone, at: time, .value(Quantity(1, .millimolesPerLitre)))]
    #expect(Self.text(Self.session(SimulatedContour(memory), [0x04]).bytes).contains("|0||||||1|"))
  }
}
