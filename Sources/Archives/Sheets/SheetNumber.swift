// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Numbers of sheets as text, as somebody typed them.
enum SheetNumber {
  /// A number in binary is this many decimal digits exact: text with more of them is the rest of a conversion.
  private static let exactDigits = 15

  /// The number that a text is; nil for other text.
  static func value(_ text: UnsafeBufferPointer<UInt8>) -> Double? {
    guard text.count <= 64, let number = Double(String(decoding: text, as: UTF8.self)), number.isFinite else {
      return nil
    }
    return number
  }

  /// Appends the file's own text where it is a plain decimal number, else the shortest text of the same number: programs
  /// store 5.6 as `5.5999999999999996`. Other text stays what it is.
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
