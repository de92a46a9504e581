// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Converts values to numbers like JavaScript, the site's language.
enum JavaScriptNumber {
  /// Converts a value like `Number(value)`: an invalid number becomes NaN, and an empty text becomes 0.
  static func of(_ value: DocumentValue?) -> Double {
    switch value {
    case nil: .nan
    case .null?: 0
    case .bool(let bool)?: bool ? 1 : 0
    case .number(let number)?: number
    case .string(let text)?: of(text)
    case .id?, .object?: .nan
    case .array(let items)?: items.isEmpty ? 0 : items.count == 1 ? of(items[0]) : .nan
    }
  }

  static func of(_ text: String) -> Double {
    let plain = text.trimmingCharacters(in: .whitespacesAndNewlines)
    if plain.isEmpty { return 0 }
    guard plain.utf8.allSatisfy({ (48...57).contains($0) || "+-.eE".utf8.contains($0) }) else { return .nan }
    return Double(plain) ?? .nan
  }

  /// Converts a text like `parseFloat`; nil if any part of the text does not belong to the number.
  static func whole(_ text: String) -> Double? {
    let number = text.isEmpty ? .nan : of(text)
    return number.isFinite && text.contains(where: \.isNumber) ? number : nil
  }

  /// Reads the integer at the start of a text, like `parseInt`. The characters after the integer are
  /// ignored.
  static func leadingInteger(_ text: String) -> Double? {
    let plain = text.drop(while: \.isWhitespace)
    let sign = plain.first == "-" || plain.first == "+" ? String(plain.prefix(1)) : ""
    let digits = plain.dropFirst(sign.count).prefix { $0.isASCII && $0.isNumber }
    return digits.isEmpty ? nil : Double(sign + digits)
  }

  /// Rounds like `Math.round`.
  static func rounded(_ number: Double) -> Double { (number + 0.5).rounded(.down) }

  /// Whether JavaScript treats the value as true in a condition.
  static func isTruthy(_ value: DocumentValue?) -> Bool {
    switch value {
    case nil, .null?, .bool(false)?, .string("")?: false
    case .number(let number)?: number != 0 && !number.isNaN
    default: true
    }
  }
}
