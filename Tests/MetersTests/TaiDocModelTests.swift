// SPDX-License-Identifier: Apache-2.0

import Logbook
import SimulatedMeters
import Testing

/// Tests the simulated TaiDoc meter. No session with a real one is public. Except for the times and two
/// packets, the expected data is constructed from the rules of other programs.
struct TaiDocModelTests {
  private static func meter(
    _ items: [SimulatedItem] = [], wakesFirst: Bool = false, maxInReport: Int = 63
  ) throws -> SimulatedTaiDoc {
    var memory = SimulatedMemory(clock: try #require(DeviceTime(text: "2019-08-04T13:37")))
    memory.serial = "4277-0123456789AB"
    memory.items = items
    let meter = SimulatedTaiDoc(memory, model: 4277, wakesFirst: wakesFirst, maxInReport: maxInReport)
    set(meter, [UInt8](printed: "50 00 00 4B 00 00 00 03 00"))
    set(meter, [0x41, 0x01])
    return meter
  }

  private static func item(
    _ time: String, _ measurement: Measurement, _ marks: ReadingMarks = [], kind: ReadingKind = .smbg
  ) throws -> SimulatedItem {
    SimulatedItem(kind, at: try #require(DeviceTime(text: time)), measurement, marks: marks)
  }

  private static func milligrams(_ number: Double) -> Measurement {
    .value(Quantity(number, .milligramsPerDecilitre))
  }

  @discardableResult
  private static func set(_ meter: SimulatedTaiDoc, _ report: [UInt8]) -> Bool {
    let request = ControlRequest(type: 0x21, request: 0x09, value: 0x0300 | UInt16(report[0]), index: 0)
    if case .accepted = meter.control(request, maxBytes: 0, data: report) { return true }
    return false
  }

  /// Sends a packet and returns the bytes received, joined from all reports.
  private static func exchange(_ meter: SimulatedTaiDoc, _ printed: String) -> [UInt8] {
    let packet = [UInt8](printed: printed)
    #expect(meter.accept([UInt8(packet.count)] + packet, endpoint: 0x02))
    var bytes: [UInt8] = []
    while case .data(let report) = meter.nextPacket(endpoint: 0x81, maxBytes: 64) {
      #expect(report.count == 64)
      bytes += report[1...Int(report[0])]
    }
    return bytes
  }

  @Test(arguments: [
    ("51 24 00 00 00 00 A3 18", "51 24 77 42 00 00 A5 D3"),
    ("51 23 00 00 00 00 A3 17", "51 23 04 27 25 0D A5 76"),
    ("51 33 04 27 25 0D A3 84", "51 33 04 27 25 0D A5 86"),
    ("51 2B 00 00 00 00 A3 1F", "51 2B 00 00 FF FF A5 1F"),
    ("51 28 00 00 00 00 A3 1C", "51 28 23 01 77 42 A5 FB"),
    ("51 27 00 00 00 00 A3 1B", "51 27 AB 89 67 45 A5 FD"),
    ("51 22 00 00 00 00 A3 16", "51 22 00 00 00 00 A5 18"),
  ]) func theSimulatedTaiDocAnswersACommand(request: String, answer: String) throws {
    #expect(Self.exchange(try Self.meter(), request) == [UInt8](printed: answer))
  }

  /// The times are from the tests of another program.
  @Test(arguments: [
    ("2018-01-01T21:14", "21 24 0E 15"), ("2019-01-01T21:14", "21 26 0E 15"),
    ("2019-08-04T13:37", "04 27 25 0D"),
  ]) func theSimulatedTaiDocSendsTheDateInTwoBytesAndThenMinuteAndHour(time: String, printed: String) throws {
    let meter = try Self.meter([Self.item(time, Self.milligrams(100))])
    #expect(Self.exchange(meter, "51 25 00 00 00 00 A3 19")[2..<6].elementsEqual([UInt8](printed: printed)))
  }

  @Test func theSimulatedTaiDocSendsTheNewestRecordFirst() throws {
    let time = "2019-08-04T13:37"
    let meter = try Self.meter([
      Self.item(time, Self.milligrams(105), .controlSolution),
      Self.item(time, .value(Quantity(1, .millimolesPerLitre)), kind: .ketone),
      Self.item(time, .high(above: nil, .milligramsPerDecilitre)),
      Self.item(time, Self.milligrams(112), .beforeMeal),
    ])
    #expect(Self.exchange(meter, "51 2B 00 00 00 00 A3 1F") == [UInt8](printed: "51 2B 04 00 03 00 A5 28"))
    #expect(Self.exchange(meter, "51 26 00 00 00 00 A3 1A") == [UInt8](printed: "51 26 70 00 00 40 A5 CC"))
    #expect(Self.exchange(meter, "51 26 01 00 00 00 A3 1B") == [UInt8](printed: "51 26 59 02 00 00 A5 77"))
    #expect(
      Self.exchange(meter, "51 26 02 00 00 00 A3 1C")[2..<6].elementsEqual([UInt8](printed: "2C 01 00 1C")))
    #expect(Self.exchange(meter, "51 26 03 00 00 00 A3 1D") == [UInt8](printed: "51 26 69 00 00 C0 A5 45"))
    #expect(Self.exchange(meter, "51 26 04 00 00 00 A3 1E") == [])
  }

  @Test func theSimulatedTaiDocCanFirstReportThatItIsAwake() throws {
    let meter = try Self.meter(wakesFirst: true)
    #expect(Self.exchange(meter, "51 24 00 00 00 00 A3 18") == [UInt8](printed: "51 54 00 00 00 00 A5 4A"))
    #expect(Self.exchange(meter, "51 24 00 00 00 00 A3 18") == [UInt8](printed: "51 24 77 42 00 00 A5 D3"))
  }

  @Test func theSimulatedTaiDocSendsAnAnswerInReportsOfAnySize() throws {
    let meter = try Self.meter(maxInReport: 3)
    _ = meter.accept([8] + [UInt8](printed: "51 24 00 00 00 00 A3 18"), endpoint: 0x02)
    var counts: [UInt8] = []
    while case .data(let report) = meter.nextPacket(endpoint: 0x81, maxBytes: 64) { counts.append(report[0]) }
    #expect(counts == [3, 3, 2])
  }

  @Test(arguments: ["51 24 00 00 00 00 A3 19", "51 24 00 00 00 00 A5 1A", "51 99 00 00 00 00 A3 8D"])
  func theSimulatedTaiDocIgnoresInvalidPackets(printed: String) throws {
    #expect(Self.exchange(try Self.meter(), printed) == [])
  }

  @Test func theSimulatedTaiDocSkipsNoiseBeforeAPacket() throws {
    #expect(Self.exchange(try Self.meter(), "00 51 24 00 00 00 00 A3 18").count == 8)
  }

  @Test func theSimulatedTaiDocIgnoresAWrongSpeedOrDisabledLine() throws {
    let meter = try Self.meter()
    Self.set(meter, [UInt8](printed: "50 00 00 25 80 00 00 03 00"))
    #expect(Self.exchange(meter, "51 24 00 00 00 00 A3 18") == [])
    Self.set(meter, [UInt8](printed: "50 00 00 4B 00 00 00 03 00"))
    Self.set(meter, [0x41, 0x00])
    #expect(Self.exchange(meter, "51 24 00 00 00 00 A3 18") == [])
    #expect(!Self.set(meter, [0x99, 0x00]))
    #expect(!meter.accept([64] + [UInt8](repeating: 0, count: 64), endpoint: 0x02))
  }

  @Test func theSimulatedUSBSerialChipReportsItsSettings() throws {
    let meter = try Self.meter()
    #expect(meter.bridge.line == LineSettings(baud: 19200))
    let request = ControlRequest(type: 0xA1, request: 0x01, value: 0x0350, index: 0)
    guard case .data(let feature) = meter.control(request, maxBytes: 64, data: []) else {
      Issue.record("no feature")
      return
    }
    #expect(feature == [UInt8](printed: "50 00 00 4B 00 00 00 03 00"))
  }

  @Test func theSimulatedTaiDocSetsItsClockErasesItsMemoryAndPowersOff() throws {
    let meter = try Self.meter()
    #expect(Self.exchange(meter, "51 33 21 26 0E 15 A3 91") == [UInt8](printed: "51 33 21 26 0E 15 A5 93"))
    #expect(meter.memory.clock.text == "2019-01-01T21:14:00")
    #expect(Self.exchange(meter, "51 52 00 00 00 00 A3 46") == [])
    #expect(meter.wasErased)
    #expect(Self.exchange(meter, "51 50 00 00 00 00 A3 44").count == 8)
    #expect(Self.exchange(meter, "51 24 00 00 00 00 A3 18") == [])
  }
}
