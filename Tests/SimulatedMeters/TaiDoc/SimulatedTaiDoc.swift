// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// A TaiDoc meter: packets of eight bytes on the serial line of a CP2110.
///
/// These details of real meters are unknown and were chosen for the simulation:
/// - the answer to the command 22 is 22
/// - undefined bytes of an answer are zero
/// - the meter answers to power off before it turns off
/// - it does not answer requests that it does not understand, or for data that it does not have
package final class SimulatedTaiDoc: SimulatedMeter {
  package let deviceDescriptor = BuiltDescriptors.device(vendorID: 0x10C4, productID: 0xEA80)
  package let configurationDescriptor = BuiltDescriptors.configuration([
    BuiltDescriptors.interface(
      class: (3, 0, 0), extra: BuiltDescriptors.hid(reportBytes: SimulatedCP2110.reportDescriptor.count),
      [
        BuiltDescriptors.Endpoint(address: 0x81, type: 3, size: 64),
        BuiltDescriptors.Endpoint(address: 0x02, type: 3, size: 64),
      ])
  ])
  package let strings = ["Silicon Laboratories", "CP2110 HID USB-to-UART Bridge", "00A1B2C3"]
  package let bridge: SimulatedCP2110
  package private(set) var memory: SimulatedMemory
  /// Whether a host erased the memory. A driver must never do this.
  package private(set) var wasErased = false

  private static let settings = LineSettings(baud: 19200)
  private let model: [UInt8]
  private let items: [SimulatedItem]
  private var received: [UInt8] = []
  private var isOn = true
  /// Whether the meter must still wake up: instead of its first answer, it reports that it is in its mode
  /// for computers.
  private var hasToWake: Bool

  /// - Parameters:
  ///   - model: four decimal digits.
  ///   - maxInReport: the maximum number of an answer's bytes in one report.
  package init(
    _ memory: SimulatedMemory, model: Int = 4279, wakesFirst: Bool = true, maxInReport: Int = 63
  ) {
    self.memory = memory
    self.model = [model % 100, model / 100].map { (digits: Int) -> UInt8 in
      UInt8(digits / 10 * 16 + digits % 10)
    }
    items = memory.items.filter(Self.holds).reversed()
    hasToWake = wakesFirst
    bridge = SimulatedCP2110(maxInReport: maxInReport)
  }

  /// Whether the meter can store the item: glucose and ketones in whole minutes, with the marks for meals or
  /// control solution.
  package static func holds(_ item: SimulatedItem) -> Bool {
    (item.kind == .smbg || item.kind == .ketone) && item.deviceTime.parts.second == 0
      && [[], .beforeMeal, .afterMeal, .controlSolution].contains(item.marks)
  }

  /// The serial number that the meter reports: the hexadecimal digits of the memory's serial number, extended
  /// to sixteen.
  package var serial: String {
    let digits = memory.serial.uppercased().filter { $0.isASCII && $0.isHexDigit }.suffix(16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  package func control(_ request: ControlRequest, maxBytes: Int, data: [UInt8]) -> ControlAnswer {
    bridge.control(request, data: data)
  }

  package func accept(_ packet: [UInt8], endpoint: UInt8) -> Bool {
    guard endpoint == 0x02, let bytes = bridge.accept(packet) else { return false }
    guard isOn, bridge.line == Self.settings else { return true }
    received += bytes
    while let start = received.firstIndex(of: 0x51), received.count >= start + 8 {
      let packet = Array(received[start..<(start + 8)])
      guard packet[6] == 0xA3, packet[7] == Self.sum(packet[..<7]) else {
        received.removeFirst(start + 1)
        continue
      }
      received.removeFirst(start + 8)
      execute(packet)
    }
    return true
  }

  package func nextPacket(endpoint: UInt8, maxBytes: Int) -> PacketAnswer {
    endpoint == 0x81 ? bridge.nextPacket() : .stall
  }
}

extension SimulatedTaiDoc {
  private static func sum(_ bytes: some Sequence<UInt8>) -> UInt8 { bytes.reduce(0, &+) }

  private func execute(_ packet: [UInt8]) {
    let command = packet[1]
    if hasToWake {
      hasToWake = false
      return sendPacket(0x54, [0, 0, 0, 0])
    }
    let index = Int(packet[2]) | Int(packet[3]) << 8
    switch command {
    case 0x22: sendPacket(command, [0, 0, 0, 0])
    case 0x23: sendPacket(command, Self.time(memory.clock))
    case 0x24: sendPacket(command, model + [0, 0])
    case 0x25 where items.indices.contains(index): sendPacket(command, Self.time(items[index].deviceTime))
    case 0x26 where items.indices.contains(index): sendPacket(command, Self.value(items[index]))
    case 0x27: sendPacket(command, serialBytes(8..<16))
    case 0x28: sendPacket(command, serialBytes(0..<8))
    case 0x2B: sendPacket(command, counts)
    case 0x33: set(packet)
    case 0x50:
      sendPacket(command, [0, 0, 0, 0])
      isOn = false
    case 0x52: wasErased = true
    default: break
    }
  }

  private func sendPacket(_ command: UInt8, _ data: [UInt8]) {
    let body = [0x51, command] + data + [0xA5]
    bridge.receive(body + [Self.sum(body)])
  }

  private func set(_ packet: [UInt8]) {
    let date = Int(packet[2]) | Int(packet[3]) << 8
    guard
      let time = DeviceTime(
        year: 2000 + date >> 9, month: date >> 5 & 15, day: date & 31, hour: Int(packet[5] & 0x1F),
        minute: Int(packet[4] & 0x3F))
    else { return }
    memory.clock = time
    sendPacket(0x33, Array(packet[2..<6]))
  }

  /// The number of all records, and of those without control tests; FFFF for an empty memory.
  private var counts: [UInt8] {
    let tests = items.count { !$0.marks.contains(.controlSolution) }
    return [items.count, items.isEmpty ? 0xFFFF : tests].flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
  }

  /// Eight of the sixteen digits of the serial number, as four bytes in reverse order.
  private func serialBytes(_ range: Range<Int>) -> [UInt8] {
    let digits = serial.compactMap { UInt8(String($0), radix: 16) }
    return stride(from: range.upperBound - 2, through: range.lowerBound, by: -2).map {
      digits[$0] << 4 | digits[$0 + 1]
    }
  }

  /// A time in four bytes: year, month and day in a word, then minute and hour.
  private static func time(_ time: DeviceTime) -> [UInt8] {
    let parts = time.parts
    let date = (parts.year - 2000) << 9 | parts.month << 5 | parts.day
    return [UInt8(date & 0xFF), UInt8(date >> 8), UInt8(parts.minute), UInt8(parts.hour)]
  }

  /// A value in four bytes: the number; the low bits of a strip code; and meal, kind and the code's high
  /// bits.
  private static func value(_ item: SimulatedItem) -> [UInt8] {
    let number: Int =
      switch item.measurement {
      case .low: 19
      case .high: item.kind == .ketone ? 2401 : 601
      // One program divides a ketone value by 300 to get mmol/L. No other known program reads ketone values.
      case .value(let quantity) where item.kind == .ketone: Int((quantity.number * 300).rounded())
      case .value(let quantity): Int(quantity.converted(to: .milligramsPerDecilitre).number.rounded())
      }
    let marks: [(ReadingMarks, UInt8)] = [(.beforeMeal, 0x40), (.afterMeal, 0x80), (.controlSolution, 0xC0)]
    let mark = marks.first { item.marks.contains($0.0) }?.1 ?? 0
    let kind: UInt8 = item.kind == .ketone ? 7 : 0
    return [UInt8(number & 0xFF), UInt8(number >> 8), 0, mark | kind << 2]
  }
}
