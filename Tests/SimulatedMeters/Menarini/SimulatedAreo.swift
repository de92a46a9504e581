// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// A Menarini GlucoMen areo on its cable. A request is one byte, and an answer is a block of text lines with
/// a checksum.
///
/// These details of real meters are unknown and were chosen for the simulation. Records are newest first, and
/// an areo without ketones does not answer a request for them. The GK has a blank before mg/dL.
package final class SimulatedAreo: SimulatedLine {
  /// Whether the meter is a GK, which also measures ketones.
  package let isGK: Bool
  package private(set) var memory: SimulatedMemory

  /// The settings of the meter's line.
  package static let settings = LineSettings(baud: 9600, parity: .odd)

  private static let start: [UInt8] = [0x5B, 0x0D, 0x0A]
  private static let end: [UInt8] = [0x5D, 0x0D, 0x0A]
  private var received: [UInt8] = []

  package init(_ memory: SimulatedMemory, isGK: Bool = false) {
    self.memory = memory
    self.isGK = isGK
  }

  /// Whether an areo can store the item: glucose in whole minutes with the marks for meals.
  package static func holds(_ item: SimulatedItem) -> Bool {
    item.kind == .smbg && isInWholeMinutes(item) && [[], .beforeMeal, .afterMeal].contains(item.marks)
  }

  /// Whether a GK can store the item: also ketones.
  package static func holdsWithKetones(_ item: SimulatedItem) -> Bool {
    holds(item) || item.kind == .ketone && isInWholeMinutes(item) && item.marks.isEmpty
  }

  /// Returns the answer to bytes from the host. At another speed or parity, the bytes are noise and get no
  /// answer.
  package func accept(_ bytes: [UInt8], line: LineSettings) -> [UInt8] {
    line.baud == Self.settings.baud && line.parity == Self.settings.parity ? accept(bytes) : []
  }

  /// The answer to bytes on a line with the correct settings.
  func accept(_ bytes: [UInt8]) -> [UInt8] {
    received += bytes
    var answer: [UInt8] = []
    while let command = received.first {
      switch command {
      case 0xA2: answer += information
      case 0x80: answer += readings(.smbg)
      case 0xA8 where isGK: answer += readings(.ketone)
      case 0xC2:
        guard received.count >= 5 + Self.end.count, let end = Self.endOfBlock(received) else { return answer }
        answer += [set(Array(received[..<end])) ? 0x50 : 0x46]
        received.removeFirst(end)
        continue
      default: break
      }
      received.removeFirst()
    }
    return answer
  }
}

extension SimulatedAreo {
  private static func isInWholeMinutes(_ item: SimulatedItem) -> Bool { item.deviceTime.parts.second == 0 }

  /// The position after the end of the first block.
  private static func endOfBlock(_ bytes: [UInt8]) -> Int? {
    (0...(bytes.count - end.count)).first { bytes[$0...].starts(with: end) }.map { $0 + end.count }
  }

  /// CRC-8/MAXIM, one bit at a time.
  private static func checksum(_ bytes: [UInt8]) -> String {
    var register: UInt8 = 0
    for byte in bytes {
      register ^= byte
      for _ in 0..<8 { register = register & 1 == 0 ? register >> 1 : register >> 1 ^ 0x8C }
    }
    let digits = String(register, radix: 16, uppercase: true)
    return digits.count < 2 ? "0" + digits : digits
  }

  private static func block(_ lines: [String]) -> [UInt8] {
    let text = start + lines.flatMap { Array(($0 + "\r\n").utf8) }
    return text + Array((checksum(text) + "\r\n").utf8) + end
  }

  private static func padded(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.utf8.count)) + text
  }

  private var information: [UInt8] {
    Self.block([
      "0000000000000,58,59,\(Self.padded(memory.serial, 12)),\(Self.padded(memory.firmware, 4))"
    ])
  }

  private func readings(_ kind: ReadingKind) -> [UInt8] {
    let holds = isGK ? Self.holdsWithKetones : Self.holds
    let items = memory.items.filter { $0.kind == kind && holds($0) }.reversed()
    return items.isEmpty ? Self.start + [0x90, 0x3D, 0x0D, 0x0A] + Self.end : Self.block(items.map(line))
  }

  private func line(_ item: SimulatedItem) -> String {
    let unit = item.kind == .ketone ? .millimolesPerLitre : memory.unit
    let value =
      switch item.measurement {
      case .low: "LO"
      case .high: "HI"
      case .value(let quantity): quantity.displayed(in: unit)
      }
    let marks = item.marks.contains(.beforeMeal) ? "02" : item.marks.contains(.afterMeal) ? "04" : "00"
    let parts = item.deviceTime.parts
    let digits = [parts.year % 100, parts.month, parts.day, parts.hour, parts.minute].map {
      $0 < 10 ? "0\($0)" : "\($0)"
    }
    return [
      item.kind == .ketone ? "Ket" : "Glu", Self.padded(value, 4),
      (isGK && unit == .milligramsPerDecilitre ? " " : "") + unit.name, marks, digits[..<3].joined(),
      digits[3...].joined(),
    ].joined(separator: ",")
  }

  /// Sets the clock from `C2 A1` and a block with one line `YYMMDDHHMM`. Returns false for another command.
  private func set(_ command: [UInt8]) -> Bool {
    let text = Array(command.dropFirst(2).dropFirst(Self.start.count).prefix(10))
    let digits = text.compactMap { Character(UnicodeScalar($0)).wholeNumberValue }
    guard digits.count == 10,
      command == [0xC2, 0xA1] + Self.block([String(decoding: text, as: UTF8.self)])
    else { return false }
    let n = stride(from: 0, to: 10, by: 2).map { (place: Int) in digits[place] * 10 + digits[place + 1] }
    guard let time = DeviceTime(year: 2000 + n[0], month: n[1], day: n[2], hour: n[3], minute: n[4]) else {
      return false
    }
    memory.clock = time
    return true
  }
}
