// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A face of the font that the program carries.
package enum PDFFace: Int, CaseIterable, Sendable {
  case regular, bold

  private static let fonts: [TrueTypeFont?] = [
    TrueTypeFont(FontData.bytes(of: FontData.regular, count: FontData.regularCount)),
    TrueTypeFont(FontData.bytes(of: FontData.bold, count: FontData.boldCount)),
  ]

  /// The font; nil where its bytes are damaged, which a test excludes.
  var font: TrueTypeFont? { Self.fonts[rawValue] }

  /// The name in a PDF.
  var name: String { self == .regular ? "DejaVuSansCondensed" : "DejaVuSansCondensed-Bold" }

  /// How wide a text is, in the unit of the size.
  package func width(_ text: String, size: Double) -> Double {
    guard let font else { return 0 }
    return Self.letters(text).reduce(0) { sum, scalar in
      sum + ((font.glyph(scalar) ?? font.glyph(Self.substitute)).map(font.width) ?? 0)
    } * size / 1000
  }

  /// The letters of a text that a PDF cannot show, each once, in their order.
  package static func missing(in text: String) -> [Character] {
    guard let font = regular.font else { return [] }
    var missing: [Character] = []
    for scalar in letters(text) where font.glyph(scalar) == nil && !missing.contains(Character(scalar)) {
      missing.append(Character(scalar))
    }
    return missing
  }

  /// Replaces each letter that the font lacks, so that no box for a missing glyph is drawn.
  static let substitute: Unicode.Scalar = "?"

  /// The letters of a text as the font has them: an accent and its letter are one, and what has no shape is left out.
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
