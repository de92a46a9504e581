// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A face of the font that the program carries.
package enum PDFFace: Int, CaseIterable, Sendable {
  case regular, bold

  private static let fonts: [TrueTypeFont?] = [
    TrueTypeFont(FontData.bytes(of: FontData.regular, count: FontData.regularCount)),
    TrueTypeFont(FontData.bytes(of: FontData.bold, count: FontData.boldCount)),
  ]

  /// The font; nil if its bytes are damaged. A test shows that they are not.
  var font: TrueTypeFont? { Self.fonts[rawValue] }

  /// The PostScript name of the font, by which the PDF refers to it.
  var name: String { self == .regular ? "DejaVuSansCondensed" : "DejaVuSansCondensed-Bold" }

  /// The width of a text, in the unit of `size`.
  package func width(_ text: String, size: Double) -> Double {
    guard let font else { return 0 }
    return Self.letters(text).reduce(0) { sum, scalar in
      sum + ((font.glyph(scalar) ?? font.glyph(Self.substitute)).map(font.width) ?? 0)
    } * size / 1000
  }

  /// The letters of a text that the font lacks, each once, in the order of the text.
  package static func missing(in text: String) -> [Character] {
    guard let font = regular.font else { return [] }
    var missing: [Character] = []
    for scalar in letters(text) where font.glyph(scalar) == nil && !missing.contains(Character(scalar)) {
      missing.append(Character(scalar))
    }
    return missing
  }

  /// Drawn in place of each letter that the font lacks; a viewer would draw an empty box.
  static let substitute: Unicode.Scalar = "?"

  /// The code points that are drawn for a text. Accents are combined with their letters, blanks and line
  /// breaks are spaces, and invisible characters are left out.
  static func letters(_ text: String) -> [Unicode.Scalar] {
    if text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) { return Array(text.unicodeScalars) }
    return text.precomposedStringWithCanonicalMapping.unicodeScalars.compactMap { scalar in
      switch scalar.value {
      case 0x09, 0x0A, 0x0D, 0xA0, 0x2009: " "
      case 0x00..<0x20, 0x7F..<0xA0, 0xAD, 0x200B...0x200F, 0x202A...0x202E, 0x2060...0x206F, 0xFE00...0xFE0F:
        nil
      default: scalar
      }
    }
  }
}
