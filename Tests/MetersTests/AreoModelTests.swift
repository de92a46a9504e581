// SPDX-License-Identifier: Apache-2.0

import Logbook
import SimulatedMeters
import Testing

/// Tests the simulated GlucoMen areo. The expected blocks are invented: the block that sets the clock for
/// this test, and the others by the author of another program.
struct AreoModelTests {
  private static func memory(_ items: [SimulatedItem] = [], _ unit: GlucoseUnit = .millimolesPerLitre)
    -> SimulatedMemory
  {
    var memory = SimulatedMemory(clock: DeviceTime(seconds: 1_700_000_000))
    memory.serial = "DEMOSN"
    memory.firmware = "B.0"
    memory.unit = unit
    memory.items = items
    return memory
  }

  private static func item(
    _ time: String, _ measurement: Measurement, _ marks: ReadingMarks = [], kind: ReadingKind = .smbg
  ) throws -> SimulatedItem {
    SimulatedItem(kind, at: try #require(DeviceTime(text: time)), measurement, marks: marks)
  }

  private static func exchange(_ meter: SimulatedAreo, _ bytes: [UInt8]) -> String {
    String(decoding: meter.accept(bytes, line: SimulatedAreo.settings), as: UTF8.self)
  }

  @Test func theSimulatedGlucoMenAreoReportsItsIdentity() {
    #expect(
      Self.exchange(SimulatedAreo(Self.memory()), [0xA2])
        == "[\r\n0000000000000,58,59,      DEMOSN, B.0\r\nE6\r\n]\r\n")
  }

  @Test func theSimulatedGlucoMenAreoSendsReadingsInItsUnit() throws {
    let items = [
      try Self.item("2024-06-09T18:12", .low(below: nil, .milligramsPerDecilitre)),
      try Self.item("2024-01-01T08:00", .value(Quantity(94, .milligramsPerDecilitre)), .beforeMeal),
    ]
    let text = Self.exchange(SimulatedAreo(Self.memory(items)), [0x80])
    #expect(text.hasPrefix("[\r\nGlu, 5.2,mmol/L,02,240101,0800\r\nGlu,  LO,mmol/L,00,240609,1812\r\n"))
    let milligrams = Self.exchange(
      SimulatedAreo(Self.memory(items, .milligramsPerDecilitre), isGK: true), [0x80])
    #expect(milligrams.contains("Glu,  94, mg/dL,02,240101,0800\r\n"))
    let plain = Self.exchange(SimulatedAreo(Self.memory(items, .milligramsPerDecilitre)), [0x80])
    #expect(plain.contains("Glu,  94,mg/dL,02,240101,0800\r\n"))
  }

  @Test func theSimulatedGlucoMenAreoSendsKetonesInASeparateBlock() throws {
    let items = [
      try Self.item("2024-06-09T18:12", .high(above: nil, .millimolesPerLitre), kind: .ketone),
      try Self.item("2024-01-01T08:00", .value(Quantity(0.2, .millimolesPerLitre)), kind: .ketone),
    ]
    #expect(
      Self.exchange(SimulatedAreo(Self.memory(items), isGK: true), [0xA8])
        == "[\r\nKet, 0.2,mmol/L,00,240101,0800\r\nKet,  HI,mmol/L,00,240609,1812\r\nF0\r\n]\r\n")
    #expect(Self.exchange(SimulatedAreo(Self.memory(items)), [0xA8]) == "")
    #expect(SimulatedAreo.holdsWithKetones(items[0]))
    #expect(!SimulatedAreo.holds(items[0]))
  }

  @Test func theSimulatedGlucoMenAreoReportsAnEmptyMemoryWithAFixedAnswer() {
    let meter = SimulatedAreo(Self.memory())
    #expect(
      meter.accept([0x80], line: SimulatedAreo.settings) == [UInt8](printed: "5B 0D 0A 90 3D 0D 0A 5D 0D 0A"))
  }

  private static let setting = [UInt8](
    printed: "C2 A1 5B 0D 0A 32 34 30 32 32 39 31 35 33 30 0D 0A 41 36 0D 0A 5D 0D 0A")

  @Test func theClockOfTheSimulatedGlucoMenAreoIsSetByABlockWithItsChecksum() {
    let meter = SimulatedAreo(Self.memory())
    #expect(Self.exchange(meter, Array(Self.setting.prefix(9))) == "")
    #expect(Self.exchange(meter, Array(Self.setting.dropFirst(9))) == "P")
    #expect(meter.memory.clock.text == "2024-02-29T15:30:00")
    var wrong = Self.setting
    wrong[17] = 0x61
    #expect(Self.exchange(meter, wrong) == "F")
    #expect(Self.exchange(meter, [0xA2]).hasPrefix("["))
  }

  @Test func theSimulatedGlucoMenAreoIgnoresAWrongSpeedOrParity() {
    let meter = SimulatedAreo(Self.memory())
    #expect(meter.accept([0xA2], line: LineSettings(baud: 9600)) == [])
    #expect(meter.accept([0xA2], line: LineSettings(baud: 19200, parity: .odd)) == [])
  }

  @Test func theSimulatedAreoGKAnswersTheSameOverUSBCDC() throws {
    let memory = Self.memory([
      try Self.item("2024-01-01T08:00", .value(Quantity(94, .milligramsPerDecilitre)))
    ])
    let meter = SimulatedAreoGK(memory)
    let coding = ControlRequest(type: 0x21, request: 0x20, value: 0, index: 0)
    guard case .accepted = meter.control(coding, maxBytes: 0, data: [0x80, 0x25, 0, 0, 0, 1, 8]) else {
      Issue.record("the line cannot be set")
      return
    }
    #expect(meter.accept([0x80], endpoint: 0x01))
    var bytes: [UInt8] = []
    while case .data(let part) = meter.nextPacket(endpoint: 0x81, maxBytes: 7) { bytes += part }
    #expect(bytes == SimulatedAreo(memory, isGK: true).accept([0x80], line: SimulatedAreo.settings))
    #expect(meter.configurationDescriptor.count == Int(meter.configurationDescriptor[2]))
  }
}
