// SPDX-License-Identifier: Apache-2.0

import Logbook

/// One line of a OneTouch Ultra2: text, a blank and the sum of its characters.
enum Ultra2Line {
  /// The longest line has 67 characters.
  static let maxBytes = 128

  /// The text before the sum; nil if the sum is missing or wrong.
  static func text(_ bytes: some BidirectionalCollection<UInt8>) -> String? {
    let line = Array(bytes)
    guard line.count > 5, line.count <= maxBytes, line[line.count - 5] == 0x20,
      let digits = line.suffix(4).printableText, !digits.contains(where: { "+-".contains($0) }),
      let sum = UInt16(digits, radix: 16)
    else { return nil }
    let text = line.dropLast(5)
    guard text.reduce(UInt16(0), { $0 &+ UInt16($1) }) == sum else { return nil }
    return text.printableText
  }

  /// The texts in quotes; nil if a quote is not closed.
  static func quoted(_ text: String) -> [String]? {
    let parts = text.split(separator: "\"", omittingEmptySubsequences: false)
    guard parts.count % 2 == 1 else { return nil }
    return stride(from: 1, to: parts.count, by: 2).map { String(parts[$0]) }
  }

  /// The shown time of `mm/dd/yy` and `hh:mm:ss`; nil for anything else. Older meters write leading zeros as blanks.
  static func time(_ date: String, _ clock: String) -> DeviceTime? {
    guard let date = numbers(date, "/"), let clock = numbers(clock, ":"), date[2] < 100 else { return nil }
    return DeviceTime(
      year: 2000 + date[2], month: date[0], day: date[1], hour: clock[0], minute: clock[1], second: clock[2])
  }

  private static func numbers(_ text: String, _ separator: Character) -> [Int]? {
    let parts = text.split(separator: separator, omittingEmptySubsequences: false).map { part in
      part.filter { $0 != " " }
    }
    let numbers = parts.compactMap {
      $0.utf8.count <= 2 && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int($0) : nil
    }
    return parts.count == 3 && numbers.count == 3 ? numbers : nil
  }
}
