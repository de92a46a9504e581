// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The character between the whole part and the fraction.
enum DecimalMark: UInt8 {
  case point = 0x2E
  case comma = 0x2C

  var name: String { self == .point ? "point" : "comma" }
}

extension Field {
  /// The whole number in this field, with at most 18 digits and an optional sign. Because of this limit, sums
  /// of a few such numbers never overflow.
  var integer: Int64? {
    var index = 0
    var isNegative = false
    if count > 0, start[0] == UInt8(ascii: "-") || start[0] == UInt8(ascii: "+") {
      isNegative = start[0] == UInt8(ascii: "-")
      index = 1
    }
    guard count > index else { return nil }
    guard count - index <= 18 else { return nil }
    var value: Int64 = 0
    while index < count {
      let digit = start[index] &- 0x30
      guard digit <= 9 else { return nil }
      value = value * 10 + Int64(digit)
      index += 1
    }
    return isNegative ? -value : value
  }

  /// The decimal number in this field; nil for any other text.
  ///
  /// Accepts a sign, blanks around the number, and an apostrophe before it, as spreadsheets write them. It
  /// rejects thousands separators, exponents and the other decimal mark: `1,234` could mean two numbers.
  func number(_ mark: DecimalMark = .point) -> Double? {
    if let plain = plainNumber(mark) { return plain }
    var field = trimmed
    if field.count > 0, field[0] == UInt8(ascii: "'") { field = field.slice(1, field.count).trimmed }
    return field.plainNumber(mark)
  }

  /// The number in this field, which is a JSON number or a JSON string with a number. JSON allows exponents.
  var jsonNumber: Double? {
    if let plain = plainNumber(.point) { return plain }
    guard count > 0, count <= 64,
      bytes.allSatisfy({ ($0 >= 0x30 && $0 <= 0x39) || "+-.eE".utf8.contains($0) }),
      let value = Double(text), value.isFinite
    else { return nil }
    return value
  }

  /// Parses digits with at most one decimal mark. Up to 15 digits are exact in a Double, and so is the power
  /// of ten that divides them. Therefore the quotient is the nearest Double. Longer numbers use the system's
  /// slower conversion.
  private func plainNumber(_ mark: DecimalMark) -> Double? {
    var index = 0
    var isNegative = false
    if count > 0, start[0] == UInt8(ascii: "-") || start[0] == UInt8(ascii: "+") {
      isNegative = start[0] == UInt8(ascii: "-")
      index = 1
    }
    guard count > index, count <= 40 else { return nil }
    var digits: UInt64 = 0
    var digitCount = 0
    var fraction = -1
    while index < count {
      let byte = start[index]
      if byte &- 0x30 <= 9 {
        if digitCount < 19 { digits = digits &* 10 &+ UInt64(byte &- 0x30) }
        digitCount += 1
        if fraction >= 0 { fraction += 1 }
      } else if byte == mark.rawValue, fraction < 0, digitCount > 0 {
        fraction = 0
      } else {
        return nil
      }
      index += 1
    }
    guard digitCount > 0, fraction != 0 else { return nil }
    guard digitCount <= 15 else { return longNumber(mark) }
    let value = fraction > 0 ? Double(digits) / Self.powersOfTen[fraction] : Double(digits)
    return isNegative ? -value : value
  }

  private func longNumber(_ mark: DecimalMark) -> Double? {
    Double(mark == .point ? text : text.replacing(",", with: "."))
  }

  private static let powersOfTen: [Double] = (0...15).map { pow(10, Double($0)) }
}
