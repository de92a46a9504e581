// SPDX-License-Identifier: Apache-2.0

/// A piece of HTML or SVG. Text can be inserted only through the escaper, so that no text can act as markup.
package struct Markup: Hashable, Sendable, CustomStringConvertible {
  /// The markup itself.
  package let description: String
  /// The text of which it was made; empty for markup that this program made.
  let source: String

  /// Text from any source. Characters that could disturb a page are replaced, and the five special characters
  /// of markup are escaped.
  ///
  /// Scalars are compared, not characters: `<` with a combining mark is one character in Swift, but two for a
  /// browser.
  package init(_ text: String) {
    var escaped = String.UnicodeScalarView()
    source = ForeignText.shown(text)
    for scalar in source.unicodeScalars {
      switch scalar {
      case "&": escaped.append(contentsOf: "&amp;".unicodeScalars)
      case "<": escaped.append(contentsOf: "&lt;".unicodeScalars)
      case ">": escaped.append(contentsOf: "&gt;".unicodeScalars)
      case "\"": escaped.append(contentsOf: "&quot;".unicodeScalars)
      case "'": escaped.append(contentsOf: "&#39;".unicodeScalars)
      default: escaped.append(scalar)
      }
    }
    description = String(escaped)
  }

  /// Markup that this program made.
  init(made markup: String) { (description, source) = (markup, "") }
}
