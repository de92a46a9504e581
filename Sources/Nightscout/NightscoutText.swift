// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Converts texts between this program and a site.
package enum NightscoutText {
  /// The text without blanks at both ends.
  static func trimmed(_ text: String) -> String {
    let scalars = text.unicodeScalars
    guard let first = scalars.firstIndex(where: { !isBlank($0) }),
      let last = scalars.lastIndex(where: { !isBlank($0) })
    else { return "" }
    return String(scalars[first...last])
  }

  private static func isBlank(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.isWhitespace || scalar == "\u{FEFF}"
  }

  /// The original characters of a text that API v1 has stored. API v1 parses a text that contains `<` as
  /// HTML, and escapes its characters. Other texts are not changed.
  package static func unescaped(_ text: String) -> String {
    guard text.contains("&lt;") || text.contains("<") else { return text }
    return [
      ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&nbsp;", "\u{A0}"), ("&amp;", "&"),
    ]
    .reduce(text) { $0.replacing($1.0, with: $1.1) }
  }

  /// A JSON value for a text that API v1 cannot change. A text with `<` is encoded in base64, since API v1
  /// would treat it as HTML.
  static func encoded(_ text: String) -> JSONValue {
    guard text.contains("<") else { return .text(text) }
    return .object([base64: .text(Data(text.utf8).base64EncodedString())])
  }

  /// The text in a value that `encoded` made; nil for any other value.
  package static func decoded(_ value: JSONValue?) -> String? {
    if let text = value?.text { return text }
    guard let bytes = value?[base64]?.text.flatMap({ Data(base64Encoded: $0) }) else { return nil }
    return String(validating: bytes, as: UTF8.self)
  }

  /// The member that contains the encoded text.
  private static let base64 = "base64"
}
