// SPDX-License-Identifier: Apache-2.0

import Logbook

/// A record of ASTM E1394: fields between `|`, components between `^`. Field 0 is the type.
struct ASTMRecord: Hashable {
  /// The record as received.
  let text: String
  private let fields: [Substring]

  init(_ text: [UInt8]) {
    self.text = String(decoding: text, as: UTF8.self)
    fields = self.text.split(separator: "|", omittingEmptySubsequences: false)
  }

  /// The letter of the record's type.
  var type: Substring { self[0] }

  /// A field; empty past the end of the record.
  subscript(_ index: Int) -> Substring { fields.indices.contains(index) ? fields[index] : "" }

  func components(_ index: Int) -> [Substring] {
    self[index].split(separator: "^", omittingEmptySubsequences: false)
  }

  /// A time of twelve digits, to the minute, or of fourteen, to the second.
  func time(_ index: Int) -> DeviceTime? {
    let digits = self[index].utf8.map { Int($0) - 0x30 }
    guard digits.count == 12 || digits.count == 14, digits.allSatisfy({ (0...9).contains($0) }) else {
      return nil
    }
    func number(_ start: Int, _ end: Int) -> Int { digits[start..<end].reduce(0) { $0 * 10 + $1 } }
    return DeviceTime(
      year: number(0, 4), month: number(4, 6), day: number(6, 8), hour: number(8, 10),
      minute: number(10, 12), second: digits.count == 14 ? number(12, 14) : 0)
  }

  /// A number in plain decimal digits, such as `102` or `10.9`; nil for anything else.
  func number(_ index: Int) -> Double? {
    let text = self[index]
    let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    let isPlain = parts.allSatisfy { part in
      (1...9).contains(part.count) && part.allSatisfy { (0x30...0x39).contains($0) }
    }
    return parts.count <= 2 && isPlain ? Double(text) : nil
  }
}
