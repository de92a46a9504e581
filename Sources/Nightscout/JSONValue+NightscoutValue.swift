// SPDX-License-Identifier: Apache-2.0

package import Logbook

extension JSONValue: NightscoutValue {
  /// Whether it is `null` or an empty text.
  package var isEmpty: Bool { self == .null || self == .text("") }

  /// The number, also of a text; nil for anything else.
  package var jsonNumber: Double? {
    guard case .text(let text) = self else { return number }
    // As the reader of exports takes it: no words such as `nan`, and no hexadecimal numbers.
    return text.utf8.allSatisfy { ($0 >= 0x30 && $0 <= 0x39) || "+-.eE".utf8.contains($0) } ? number : nil
  }

  /// The text; the digits of a number, and empty for a list or an object.
  package var plainText: String {
    switch self {
    case .text(let text): text
    case .number(let number): plainNumber(number)
    case .flag(let flag): flag ? "true" : "false"
    case .null, .list, .object: ""
    }
  }

  /// The point in time; nil for what is none.
  package var instant: Instant? {
    if let number = jsonNumber { return NightscoutTime.instant(number) }
    return text.flatMap(NightscoutTime.instant)
  }

  /// The offset in seconds that a time in words states.
  package var statedOffset: Int32? { text.flatMap(NightscoutTime.instant)?.utcOffset }

  /// Whether it ends as a time in UTC does.
  package var endsInZ: Bool { text?.last == "Z" || text?.last == "z" }

  /// Whether it is exactly this text.
  package func equals(_ text: StaticString) -> Bool { plainText == text.description }

  /// Whether it is this text, whatever the case of letters.
  package func equalsFolded(_ text: StaticString) -> Bool {
    plainText.lowercased() == text.description.lowercased()
  }

  /// A site keeps numbers, whatever a table of its values may hold.
  package func glucoseWord(_ unit: GlucoseUnit) -> CellValue {
    .rejected("the glucose value is not a number")
  }
}
