// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Texts as they go through a site.
package enum NightscoutText {
  /// The text without blanks at its ends.
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

  /// A text as API v1 keeps it, with the signs back that it replaces. It reads a text with a `<` in it as HTML and
  /// writes it again, so that signs are escaped; any other text stays as it was typed.
  package static func unescaped(_ text: String) -> String {
    guard text.contains("&lt;") || text.contains("<") else { return text }
    return [
      ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&nbsp;", "\u{A0}"), ("&amp;", "&"),
    ]
    .reduce(text) { $0.replacing($1.0, with: $1.1) }
  }

  /// A text that has to come back as it is, whoever rewrites the document by API v1: that one takes a `<` for HTML.
  static func sealed(_ text: String) -> JSONValue {
    guard text.contains("<") else { return .text(text) }
    return .object([base64: .text(Data(text.utf8).base64EncodedString())])
  }

  /// The text of a sealed one; nil for what is none.
  package static func opened(_ value: JSONValue?) -> String? {
    if let text = value?.text { return text }
    guard let bytes = value?[base64]?.text.flatMap({ Data(base64Encoded: $0) }) else { return nil }
    return String(validating: bytes, as: UTF8.self)
  }

  /// The member of an object that holds a sealed text.
  private static let base64 = "base64"
}
