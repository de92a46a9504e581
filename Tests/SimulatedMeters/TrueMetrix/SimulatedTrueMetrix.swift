// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// A TRUE METRIX in its dock: text in brackets, in HID reports of at most eight bytes each.
///
/// These details of real meters are unknown and were chosen for the simulation:
/// - it sleeps until it is woken, and while it sleeps, it answers only a command to power off
/// - it does not answer unknown commands
///
/// Sources disagree about its marks for control solution, so it holds none.
package final class SimulatedTrueMetrix: SimulatedMeter {
  /// The model.
  package enum Model: String, Sendable {
    case trueMetrix = "MR2"
    case go = "RC2"
    case air = "BLU"
  }

  package let deviceDescriptor: [UInt8]
  package let configurationDescriptor = BuiltDescriptors.configuration([
    BuiltDescriptors.interface(
      class: (3, 0, 0), extra: BuiltDescriptors.hid(reportBytes: reportDescriptor.count),
      [
        BuiltDescriptors.Endpoint(address: 0x81, type: 3, size: 64),
        BuiltDescriptors.Endpoint(address: 0x01, type: 3, size: 64),
      ])
  ])
  package let strings = ["Trividia Health", "TRUE METRIX", ""]
  package private(set) var memory: SimulatedMemory
  /// Whether the meter is in its dock. The dock is on the USB bus even without the meter.
  package var isDocked = true

  /// The report descriptor: reports of 64 bytes in each direction, without ids.
  private static let reportDescriptor: [UInt8] = [
    0x06, 0x00, 0xFF, 0x09, 0x01, 0xA1, 0x01, 0x15, 0x00, 0x26, 0xFF, 0x00, 0x75, 0x08, 0x95, 0x40, 0x09,
    0x01, 0x81,
    0x02, 0x09, 0x01, 0x91, 0x02, 0xC0,
  ]
  private static let maxInReport = 8
  private let model: Model
  private let records: [String]
  private var isAwake = false
  private var wasPoweredOff = false
  private var received: [UInt8] = []
  private var outgoing: [UInt8] = []
  /// The last report. A shorter report changes only its first bytes, and the others stay.
  private var report = [UInt8](repeating: 0, count: 64)

  package init(_ memory: SimulatedMemory, model: Model = .trueMetrix, productID: UInt16 = 0x0000) {
    self.memory = memory
    self.model = model
    deviceDescriptor = BuiltDescriptors.device(vendorID: 0x1F41, productID: productID, serial: 0)
    records = memory.items.filter(Self.holds).reversed().map(Self.record)
  }

  /// Whether the meter can store the item: glucose in whole minutes with the marks for meals.
  package static func holds(_ item: SimulatedItem) -> Bool {
    item.kind == .smbg && item.deviceTime.parts.second == 0
      && [[], .beforeMeal, .afterMeal].contains(item.marks)
  }

  package func control(_ request: ControlRequest, maxBytes: Int, data: [UInt8]) -> ControlAnswer {
    switch (request.type, request.request, request.value >> 8) {
    case (0x81, 0x06, 0x22): .data(Self.reportDescriptor)
    case (0x21, 0x0A, _): .accepted
    case (0x21, 0x09, 2): accept(data, endpoint: 0x01) ? .accepted : .stall
    default: .stall
    }
  }

  package func accept(_ packet: [UInt8], endpoint: UInt8) -> Bool {
    guard endpoint == 0x01 else { return false }
    // A packet that begins with A1 is for the dock and not for the meter.
    guard packet.count >= 2, packet[0] == 0xA0, isDocked else { return true }
    received += packet[2...].prefix(Int(packet[1]))
    while let end = received.firstIndex(of: UInt8(ascii: ")")), received.count >= end + 3 {
      let message = Array(received[...(end + 2)])
      received.removeFirst(end + 3)
      if let start = message.lastIndex(of: UInt8(ascii: "(")), let content = Self.content(message[start...]) {
        execute(content)
      }
    }
    return true
  }

  package func nextPacket(endpoint: UInt8, maxBytes: Int) -> PacketAnswer {
    guard endpoint == 0x81 else { return .stall }
    guard !outgoing.isEmpty else { return .nothing }
    let bytes = outgoing.takeFirst(Self.maxInReport)
    report.replaceSubrange(0...bytes.count, with: [UInt8(bytes.count)] + bytes)
    return .data(report)
  }
}

extension SimulatedTrueMetrix {
  /// The text between the brackets; nil if the digits after them are not its checksum.
  private static func content(_ message: ArraySlice<UInt8>) -> String? {
    let text = String(decoding: message.dropLast(2), as: UTF8.self)
    guard frame(String(text.dropFirst().dropLast())) == String(decoding: message, as: UTF8.self) else {
      return nil
    }
    return String(text.dropFirst().dropLast())
  }

  /// A text in brackets with its checksum.
  private static func frame(_ content: String) -> String {
    let text = "(\(content))"
    return text + hexadecimal(text.utf8.reduce(0) { $0 + Int($1) } & 0xFF, 2)
  }

  private static func hexadecimal(_ number: Int, _ width: Int) -> String {
    let digits = String(number, radix: 16, uppercase: true)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }

  private func queue(_ content: String) { outgoing += Array((Self.frame(content) + "\r\n").utf8) }

  private func execute(_ command: String) {
    switch command {
    case "^":
      isAwake = true
      queue("^*")
      if wasPoweredOff { queue("i\(model.rawValue)") }
      wasPoweredOff = false
    case "_":
      queue("_")
      (isAwake, wasPoweredOff) = (false, true)
    case _ where isAwake: answer(command)
    default: break
    }
  }

  private func answer(_ command: String) {
    switch command {
    case "I": queue("i\(model.rawValue)")
    case "Z1": queue("z1\(memory.serial)")
    case "V": queue("v\(memory.firmware)")
    case "S": queue("sh01907625")
    case "T": queue("t" + Self.clock(memory.clock))
    case "P41": queue("p*")
    case "G": download("g5")
    case "ZG1": download("zg5")
    case _ where command.hasPrefix("Q"): set(String(command.dropFirst()))
    default: break
    }
  }

  /// Sends every record, newest first, and then the checksum of their characters.
  private func download(_ prefix: String) {
    for record in records { queue(prefix + record) }
    let sum = records.reduce(0) { $0 + $1.utf8.reduce(0) { $0 + Int($1) } }
    queue("x1" + Self.hexadecimal(sum & 0xFFFF, 4))
  }

  /// Sets the clock from a text in the format `ssmmHHDDMMYYCC`.
  private func set(_ text: String) {
    let digits = text.compactMap(\.wholeNumberValue)
    guard digits.count == 14, text.count == 14 else { return }
    let n = stride(from: 0, to: 14, by: 2).map { (place: Int) in digits[place] * 10 + digits[place + 1] }
    guard
      let time = DeviceTime(
        year: n[6] * 100 + n[5], month: n[4], day: n[3], hour: n[2], minute: n[1], second: n[0])
    else { return }
    memory.clock = time
    queue("q*")
  }

  /// A time in the format `ssmmHHDDMMYY`.
  private static func clock(_ time: DeviceTime) -> String {
    let parts = time.parts
    return [parts.second, parts.minute, parts.hour, parts.day, parts.month, parts.year % 100].map {
      $0 < 10 ? "0\($0)" : "\($0)"
    }.joined()
  }

  /// A record: month; day and year; hour and minute, each in decimal digits of a hexadecimal number; the
  /// value; and the meal.
  private static func record(_ item: SimulatedItem) -> String {
    let parts = item.deviceTime.parts
    let value: Int =
      switch item.measurement {
      case .low: 19
      case .high: 601
      case .value(let quantity): Int(quantity.converted(to: .milligramsPerDecilitre).number.rounded())
      }
    let tag = item.marks.contains(.beforeMeal) ? 1 : item.marks.contains(.afterMeal) ? 2 : 0
    return hexadecimal(parts.month, 1) + hexadecimal(parts.day * 100 + parts.year % 100, 3)
      + hexadecimal(parts.hour * 100 + parts.minute, 3) + hexadecimal(value, 3) + "0\(tag)"
  }
}
