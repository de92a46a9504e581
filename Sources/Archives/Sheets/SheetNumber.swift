// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Converts numbers of sheets to text in the form in which people type them.
enum SheetNumber {
  /// A binary number represents this many decimal digits exactly. Further digits in a text come from a conversion.
  private static let exactDigits = 15

  /// The value of a text; nil if it is not a number.
  static func value(_ text: UnsafeBufferPointer<UInt8>) -> Double? {
    guard text.count <= 64, let number = Double(String(decoding: text, as: UTF8.self)), number.isFinite else {
      return nil
    }
    return number
  }

  /// Appends a plain decimal number unchanged, and any other number as the shortest text of the same value: programs
  /// store 5.6 as `5.5999999999999996`. Other text stays unchanged.
  static func append(_ text: UnsafeBufferPointer<UInt8>, to out: inout [UInt8]) {
    if isPlain(text) { return out.append(contentsOf: text) }
    guard let number = value(text) else { return out.append(contentsOf: text) }
    out.append(contentsOf: plainNumber(number).utf8)
  }

  private static func isPlain(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    var (digits, points) = (0, 0)
    for (place, byte) in text.enumerated() {
      switch byte {
      case 0x30...0x39: digits += digits > 0 || byte != 0x30 ? 1 : 0
      case UInt8(ascii: "."): points += 1
      case UInt8(ascii: "-") where place == 0: break
      default: return false
      }
    }
    return digits <= exactDigits && points <= 1
  }
}
