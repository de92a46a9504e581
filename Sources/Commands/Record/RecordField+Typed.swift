// SPDX-License-Identifier: Apache-2.0

import Logbook

/// A typed field of a record.
extension RecordField {
  /// Far more than a person types, and little enough for every remote.
  private static let maxTextBytes = 64 * 1024
  /// A larger number is a typing error in any unit of any field.
  private static let largestNumber = 1_000_000.0

  /// The value for a text; nil for the empty text, which removes the field.
  ///
  /// - Throws: `Failure` of category `usage`.
  func value(_ text: String) throws -> FieldValue? {
    guard text.utf8.count <= Self.maxTextBytes else {
      throw Failure(.usage, "\(name): the text is longer than 64 KiB")
    }
    guard !text.utf8.contains(0) else { throw Failure(.usage, "\(name): the text holds a zero byte") }
    if text.isEmpty { return nil }
    switch content {
    case .number: return .number(try number(text))
    case .choice(let words):
      guard words.contains(text) else {
        throw Failure(.usage, "\(name) is \(words.joined(separator: ", ")), not '\(displayed(text))'")
      }
      return .text(text)
    case .words:
      return .words(Set(text.split(separator: ",").map(String.init)).sorted())
    case .text: return .text(text)
    case .flag, .byteCount, .digest:
      throw Failure(.usage, "\(name): this field is not set by its name")
    }
  }

  /// The amount for a text.
  func number(_ text: String) throws -> Double { try Self.number(text, of: name) }

  /// Digits, optionally with a point and more digits: no signs, exponents or other notations.
  static func number(_ text: String, of name: String) throws -> Double {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    let isPlain =
      (1...2).contains(parts.count) && parts.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy(isDigit) }
    guard isPlain, let number = Double(text), number <= largestNumber else {
      throw Failure(
        .usage,
        "\(name): '\(displayed(text))' is no number from 0 to \(plainNumber(largestNumber)), such as 4.5"
      )
    }
    return number
  }

  private static func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }
}
