// SPDX-License-Identifier: Apache-2.0

/// Splits the names of columns into words.
enum NameParts {
  /// The maximum length of a word that is split into known ones.
  private static let maxWord = 40

  /// The parts of a word in lower case. The word is split where lower case changes to upper, before the last
  /// of several capitals, and between letters and digits.
  static func parted(_ piece: Substring) -> [Substring] {
    var parts: [Substring] = []
    var part = ""
    let letters = Array(piece)
    for (place, letter) in letters.enumerated() {
      if place > 0 {
        let last = letters[place - 1]
        let startsWord =
          letter.isUppercase
          && (last.isLowercase
            || (last.isUppercase && place + 1 < letters.count && letters[place + 1].isLowercase))
        if startsWord || letter.isNumber != last.isNumber {
          parts.append(Substring(part))
          part = ""
        }
      }
      part += letter.lowercased()
    }
    return part.isEmpty ? parts : parts + [Substring(part)]
  }

  /// The known words in a compound: `blut`, `zucker` and `wert` in `blutzuckerwert`; nil for any other word.
  ///
  /// - Parameters:
  ///   - known: words that are whole names.
  ///   - compounds: words that can be parts of longer ones.
  static func words(
    of word: Substring, known: Set<Substring>, compounds: Set<Substring>
  ) -> [Substring]? {
    if known.contains(word) { return [word] }
    guard word.count <= maxWord else { return nil }
    for length in stride(from: word.count - 1, to: 1, by: -1) where compounds.contains(word.prefix(length)) {
      if let rest = words(of: word.dropFirst(length), known: known, compounds: compounds),
        rest.allSatisfy(compounds.contains)
      {
        return [word.prefix(length)] + rest
      }
    }
    return nil
  }
}
