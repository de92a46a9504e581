// SPDX-License-Identifier: Apache-2.0

import Logbook
import SimulatedMeters
import Testing

private func hex(_ text: String) -> [UInt8] { text.split(separator: " ").compactMap { UInt8($0, radix: 16) } }

private func time(_ text: String) -> DeviceTime { DeviceTime(text: text) ?? DeviceTime(seconds: 0) }

private func estimate(_ text: String, _ number: Double) -> SimulatedItem {
  SimulatedItem(.cbg, at: time(text), .value(Quantity(number, .milligramsPerDecilitre)))
}

/// Tests the simulated Dexcom receiver, compared with what a real one sent.
struct DexcomModelTests {
  /// The receiver of the recorded session, at the moment at which its clock was requested.
  private func receiver(
    _ items: [SimulatedItem] = [], events: [SimulatedDexcomG4.Event] = [], isNoisy: Bool = false,
    isReworked: Bool = false
  ) -> SimulatedDexcomG4 {
    var memory = SimulatedMemory(clock: time("2013-09-13T19:44:00"))
    memory.serial = "SM12345678"
    memory.items = items
    return SimulatedDexcomG4(memory, events: events, isNoisy: isNoisy, isReworked: isReworked)
  }

  private func exchange(_ receiver: SimulatedDexcomG4, _ request: [UInt8]) -> [UInt8] {
    #expect(receiver.accept(request, endpoint: 2))
    var answer: [UInt8] = []
    while case .data(let bytes) = receiver.nextPacket(endpoint: 0x83, maxBytes: 64) { answer += bytes }
    return answer
  }

  private func exchange(_ receiver: SimulatedDexcomG4, _ code: UInt8, _ payload: [UInt8] = []) -> [UInt8] {
    exchange(receiver, SimulatedDexcomG4.packet((code, payload)))
  }

  /// Requests and answers of the recorded session.
  @Test(arguments: [
    ("01 06 00 0A 5E 65", "01 06 00 01 35 D4"),
    ("01 07 00 10 09 26 69", "01 0E 00 01 FF FF FF FF FF FF FF FF CD 1D"),
    ("01 07 00 10 00 0F F8", "01 0E 00 01 00 00 00 00 00 00 00 00 2C BB"),
    ("01 06 00 1D 88 07", "01 0A 00 01 B7 9D FF FF 57 99"),
    ("01 06 00 23 15 D0", "01 0A 00 01 2C BE 89 07 A9 52"),
    ("01 06 00 19 0C 47", "01 0B 00 01 36 30 48 4D 57 20 70"),
    ("01 06 00 1B 4E 67", "01 08 00 01 09 04 A1 8A"),
    ("01 06 00 25 D3 B0", "01 07 00 01 01 6C D8"), ("01 06 00 27 91 90", "01 07 00 01 00 4D C8"),
    ("01 06 00 29 5F 71", "01 07 00 01 01 6C D8"), ("01 06 00 22 34 C0", "01 0A 00 01 C9 C5 D7 08 A0 9E"),
    ("01 06 00 1F CA 27", "01 0A 00 01 9D 07 4E 01 A7 5A"),
  ])
  func theSimulatedDexcomAnswersLikeTheRecordedOne(_ request: String, answer: String) {
    #expect(exchange(receiver(), hex(request)) == hex(answer))
  }

  @Test func theDocumentedDexcomCRCsAreReproduced() {
    #expect(crcCCITT(hex("02 06 06 03"), from: 0) == 0xC50D)
    #expect(crcCCITT(Array("0123456789".utf8), from: 0) == 0x9C58)
    #expect(SimulatedDexcomG4.packet((0x10, [4])) == hex("01 07 00 10 04 8B B8"))
  }

  @Test func aRecordOfTheSimulatedDexcomHasTheBytesOfTheRecordedOne() {
    let receiver = receiver([
      estimate("2013-09-13T16:58:10", 88), estimate("2013-09-13T17:03:10", 89),
      SimulatedItem(
        at: time("2013-09-13T19:27:08"), .value(Quantity(85, .milligramsPerDecilitre)), marks: .calibration),
    ])
    #expect(exchange(receiver, 0x10, [4]).dropFirst(4).prefix(8) == hex("DA 04 00 00 DA 04 00 00")[...])
    let page = Array(exchange(receiver, 0x11, [4] + hex("DA 04 00 00 01")).dropFirst(4).dropLast(2))
    #expect(page.count == 528)
    #expect(Array(page[4..<10]) == hex("02 00 00 00 04 02"))
    #expect(littleEndianNumber(page[26..<28]) == Int(crcCCITT(page[..<26], from: 0)))
    #expect(
      Array(page[28..<41]) == hex("EC 9E D7 08 A2 3C D7 08 58 00 14 D2 30"))
    #expect(Array(page[41..<54]) == hex("18 A0 D7 08 CE 3D D7 08 59 00 14 23 54"))
    #expect(page[54...].allSatisfy { $0 == 0xFF })
    #expect(exchange(receiver, 0x12, [4] + hex("DA 04 00 00")).dropFirst(4).dropLast(2) == page[..<28])
    let meter = exchange(receiver, 0x11, [10] + hex("20 00 00 00 01"))
    #expect(Array(meter[32..<46]) == hex("D6 C1 D7 08 8C 5F D7 08 55 00 D6 C1 D7 08"))
  }

  @Test func pagesOfTheSimulatedDexcomFillUpAndAreRequestedInGroups() {
    let start = time("2013-09-01").seconds
    let items = (0..<100).map { index in
      SimulatedItem(
        .cbg, at: DeviceTime(seconds: start + Int64(index) * 300),
        .value(Quantity(100, .milligramsPerDecilitre)))
    }
    let receiver = receiver(items)
    #expect(exchange(receiver, 0x10, [4]).dropFirst(4).prefix(8) == hex("DA 04 00 00 DC 04 00 00")[...])
    let answer = exchange(receiver, 0x11, [4] + hex("DA 04 00 00 03"))
    #expect(answer.count == 6 + 3 * 528)
    #expect(littleEndianNumber(answer[8..<12]) == 38)
    #expect(littleEndianNumber(answer[(4 + 2 * 528)..<(8 + 2 * 528)]) == (1242 + 2) * 38)
    #expect(exchange(receiver, 0x11, [4] + hex("DA 04 00 00 04")) == SimulatedDexcomG4.packet((4, [])))
    #expect(exchange(receiver, 0x11, [4] + hex("DA 04 00 00 05"))[3] == 4)
    #expect(exchange(receiver, 0x11, [4])[3] == 4)
  }

  @Test func specialValuesOfTheSimulatedDexcomAreAsDocumented() {
    let receiver = receiver(
      [
        SimulatedItem(.cbg, at: time("2013-09-13T10:00"), .low(below: 40, .milligramsPerDecilitre)),
        SimulatedItem(.cbg, at: time("2013-09-13T10:05"), .high(above: 400, .milligramsPerDecilitre)),
        estimate("2013-09-13T09:10", 120),
      ], isNoisy: true)
    let page = Array(exchange(receiver, 0x11, [4] + hex("DA 04 00 00 01")).dropFirst(4))
    let records = (0..<7).map { Array(page[(28 + $0 * 13)..<(41 + $0 * 13)]) }
    #expect(records.map { littleEndianNumber($0[8..<10]) & 0x3FF } == [39, 46, 401, 408, 120, 127, 5])
    #expect(records.map { $0[9] & 0x80 != 0 } == [false, true, false, true, false, true, false])
    // The shown time was set back, but the system time was not.
    let systems = records.map { littleEndianNumber($0[0..<4]) }
    #expect(systems == systems.sorted())
    #expect(
      !SimulatedDexcomG4.holds(estimate("2013-09-13", 39))
        && !SimulatedDexcomG4.holds(estimate("2008-01-01", 90)))
  }

  @Test func theSimulatedDexcomStoresEventsAndManufacturingDataAsRecords() {
    let event = SimulatedDexcomG4.Event(
      type: 2, at: time("2013-09-13T12:28:12"), happened: time("2013-09-13T12:28:00"), value: 350)
    let receiver = receiver(events: [event], isReworked: true)
    let page = exchange(receiver, 0x11, [11] + hex("02 00 00 00 01"))
    #expect(Array(page[32..<52]) == hex("A6 5F D7 08 5C FD D6 08 02 00 50 FD D6 08 5E 01 00 00 FC FF"))
    #expect(exchange(receiver, 0x10, [0]).dropFirst(4).prefix(8) == hex("00 00 00 00 01 00 00 00")[...])
    let maker = exchange(receiver, 0x11, [0] + hex("01 00 00 00 01"))
    #expect(String(decoding: maker, as: UTF8.self).contains("SerialNumber=\"SM12345678\""))
    #expect(String(decoding: exchange(receiver, 0x0B), as: UTF8.self).contains("ProductId='G4Receiver'"))
    #expect(
      String(decoding: exchange(receiver, 0x0F), as: UTF8.self).contains(
        "Name='EGVData' Id='4' RecordRevision='2'"))
  }

  @Test func theSimulatedDexcomRefusesInvalidRequestsAndSetsItsClock() {
    let receiver = receiver()
    #expect(exchange(receiver, hex("01 06 00 0A 5E 66"))[3] == 2)
    #expect(exchange(receiver, hex("00 00 01 05 00 0A"))[3] == 2)
    #expect(exchange(receiver, 0x77)[3] == 3)
    #expect(exchange(receiver, 0x0A, [1])[3] == 4)
    #expect(exchange(receiver, 0x10, [99])[3] == 4)
    #expect(exchange(receiver, hex("FF FF 01 06 00")).isEmpty)
    #expect(exchange(receiver, hex("0A 5E 65")) == hex("01 06 00 01 35 D4"))
    #expect(exchange(receiver, hex("01 0A 00 1E 90 9D FF FF 97 9E")) == hex("01 06 00 01 35 D4"))
    #expect(receiver.displayOffset == -25200 && !receiver.wasHarmed)
    #expect(exchange(receiver, 0x2D)[3] == 1)
    #expect(receiver.wasHarmed)
  }

  @Test func theUSBDescriptorsOfTheSimulatedDexcomAreAsDocumented() {
    let receiver = receiver()
    #expect(receiver.deviceDescriptor.count == 18 && receiver.deviceDescriptor[4] == 2)
    #expect(receiver.configurationDescriptor.count == Int(receiver.configurationDescriptor[2]))
    #expect(!receiver.accept([1], endpoint: 5))
    let line = ControlRequest(type: 0x21, request: 0x22, value: 3, index: 0)
    guard case .accepted = receiver.control(line, maxBytes: 0, data: []) else {
      Issue.record("the control lines cannot be set")
      return
    }
  }
}
