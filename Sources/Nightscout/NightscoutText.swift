// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Texts on a site.
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

  /// A text stored by API v1, with its original characters. API v1 parses a text with `<` as HTML and escapes its
  /// characters; other texts are unchanged.
  package static func unescaped(_ text: String) -> String {
    guard text.contains("&lt;") || text.contains("<") else { return text }
    return [
      ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&nbsp;", "\u{A0}"), ("&amp;", "&"),
    ]
    .reduce(text) { $0.replacing($1.0, with: $1.1) }
  }

  /// A text that must stay unchanged, even if API v1 rewrites the document: that treats `<` as HTML.
  static func sealed(_ text: String) -> JSONValue {
    guard text.contains("<") else { return .text(text) }
    return .object([base64: .text(Data(text.utf8).base64EncodedString())])
  }

  /// The text in a sealed value; nil for any other value.
  package static func opened(_ value: JSONValue?) -> String? {
    if let text = value?.text { return text }
    guard let bytes = value?[base64]?.text.flatMap({ Data(base64Encoded: $0) }) else { return nil }
    return String(validating: bytes, as: UTF8.self)
  }

  /// The member of an object with a sealed text.
  private static let base64 = "base64"
}
