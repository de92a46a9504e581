// SPDX-License-Identifier: Apache-2.0

/// A piece of HTML or SVG. Text becomes one only by the escaper, so that no text can act as markup.
package struct Markup: Hashable, Sendable, CustomStringConvertible {
  /// The markup itself.
  package let description: String

  /// Text, which may be of anybody: what could disturb a page is replaced, and the five signs of markup are escaped.
  ///
  /// Scalars are compared, not characters: `<` and a combining mark are one character, but two to a browser.
  package init(_ text: String) {
    var escaped = String.UnicodeScalarView()
    for scalar in ForeignText.shown(text).unicodeScalars {
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
  init(made markup: String) { description = markup }
}
