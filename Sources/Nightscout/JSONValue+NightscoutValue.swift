// SPDX-License-Identifier: Apache-2.0

package import Logbook

extension JSONValue: NightscoutValue {
  /// Whether it is `null` or an empty text.
  package var isEmpty: Bool { self == .null || self == .text("") }

  /// The number, including a number in a text; nil for anything else.
  package var jsonNumber: Double? {
    guard case .text(let text) = self else { return number }
    // Accepts the same texts as the reader of exports: no words such as `nan`, and no hexadecimal numbers.
    return text.utf8.allSatisfy { ($0 >= 0x30 && $0 <= 0x39) || "+-.eE".utf8.contains($0) } ? number : nil
  }

  /// The text, or the digits of a number; empty for a list or an object.
  package var plainText: String {
    switch self {
    case .text(let text): text
    case .number(let number): plainNumber(number)
    case .flag(let flag): flag ? "true" : "false"
    case .null, .list, .object: ""
    }
  }

  /// The instant; nil for an invalid time.
  package var instant: Instant? {
    if let number = jsonNumber { return NightscoutTime.instant(number) }
    return text.flatMap(NightscoutTime.instant)
  }

  /// The offset in seconds in a time as text.
  package var statedOffset: Int32? { text.flatMap(NightscoutTime.instant)?.utcOffset }

  /// Whether it ends like a time in UTC.
  package var endsInZ: Bool { text?.last == "Z" || text?.last == "z" }

  package func equals(_ text: StaticString) -> Bool { plainText == text.description }

  /// Whether it is this text, ignoring case.
  package func equalsFolded(_ text: StaticString) -> Bool {
    plainText.lowercased() == text.description.lowercased()
  }

  /// Always rejected: a site stores glucose values as numbers, while a table may contain words.
  package func glucoseWord(_ unit: GlucoseUnit) -> CellValue {
    .rejected("the glucose value is not a number")
  }
}
