// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The messages of a Roche meter, in big-endian numbers.
enum RocheAPDU {
  static func word(_ number: Int) -> [UInt8] { [UInt8(number >> 8 & 0xFF), UInt8(number & 0xFF)] }

  static func long(_ number: Int) -> [UInt8] { word(number >> 16) + word(number) }

  static func number(_ bytes: [UInt8], at offset: Int, size: Int = 2) -> Int? {
    guard offset >= 0, offset + size <= bytes.count else { return nil }
    return bytes[offset..<(offset + size)].reduce(0) { $0 << 8 | Int($1) }
  }

  /// A message of this type.
  static func message(_ type: Int, _ body: [UInt8]) -> [UInt8] { word(type) + word(body.count) + body }

  /// A data message with the id that connects a request and its answer. `choice` states what kind of data
  /// follows.
  static func data(_ id: Int, _ choice: Int, _ content: [UInt8]) -> [UInt8] {
    let inner = word(id) + word(choice) + word(content.count) + content
    return message(0xE700, word(inner.count) + inner)
  }

  /// An attribute: its id, its length and its value.
  static func attribute(_ id: Int, _ value: [UInt8]) -> [UInt8] { word(id) + word(value.count) + value }

  /// A shown time as eight bytes of two decimal digits, the last for hundredths.
  static func time(_ time: DeviceTime, hundredths: UInt8 = 0) -> [UInt8] {
    let parts = time.parts
    let numbers = [
      parts.year / 100, parts.year % 100, parts.month, parts.day, parts.hour, parts.minute, parts.second,
    ]
    return numbers.map { UInt8(($0 / 10) << 4 | ($0 % 10)) } + [hundredths]
  }

  /// The time in eight bytes of two decimal digits; nil if it is invalid.
  static func time(_ bytes: [UInt8]) -> DeviceTime? {
    guard bytes.count >= 7, bytes.prefix(7).allSatisfy({ $0 >> 4 < 10 && $0 & 15 < 10 }) else { return nil }
    let numbers = bytes.prefix(7).map { Int($0 >> 4) * 10 + Int($0 & 15) }
    return DeviceTime(
      year: numbers[0] * 100 + numbers[1], month: numbers[2], day: numbers[3], hour: numbers[4],
      minute: numbers[5],
      second: numbers[6])
  }
}
