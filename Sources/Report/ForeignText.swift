// SPDX-License-Identifier: Apache-2.0

/// Text from a device, a file or a person, made safe for a page or a terminal.
package enum ForeignText {
  /// The text in one line. U+FFFD replaces characters that control a terminal, that are invisible, or that
  /// change the direction of text. So no text can look like another one.
  package static func shown(_ text: String) -> String {
    var shown = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar.value {
      case 0x09, 0x0A, 0x0D, 0x85, 0x2028, 0x2029: shown.append(" ")
      case 0..<0x20, 0x7F..<0xA0, 0x061C, 0x200B, 0x200E, 0x200F, 0x202A...0x202E, 0x2060...0x206F,
        0xFEFF, 0xFFF9...0xFFFB, 0xE0000...0xE007F, 0xFFFE, 0xFFFF:
        shown.append("\u{FFFD}")
      default: shown.append(scalar)
      }
    }
    return String(shown)
  }
}
