// SPDX-License-Identifier: Apache-2.0

/// What an input states about the person whose data it contains. It is compared with statements of earlier
/// inputs. It is never printed or sent, and a store keeps only salted digests of it.
package struct StatedPerson: Hashable, Sendable {
  /// The kind of statement.
  package enum StatementKind: Int, Sendable { case name = 0, id, birthDate }

  /// Whether the statement is a name, an id or a date of birth.
  package let kind: StatementKind
  /// The words of a name in any order, or one word for an id or a date. It is never empty.
  package let words: Set<String>
  /// For an id: the format, and the name of the id in that format. Ids are compared only if both are equal.
  /// For the name of an account: the format, and its word for the account. Empty for the name or date of
  /// birth of a person.
  package let place: String

  /// Whether the name is that of the account that made an export. The account can belong to a parent, a
  /// clinician or the person. Different names never prove that two inputs are of two persons. But a name that
  /// no earlier input states can be a sign of another person.
  package var isOfAccount: Bool { kind == .name && !place.isEmpty }

  /// The maximum number of characters of a text that are read.
  private static let maxCharacters = 200

  /// The name of a person; nil for a text that is not a name, such as a placeholder.
  package init?(name: String) {
    let all = Self.words(of: name)
    guard !all.isEmpty, !all.allSatisfy(Self.isPlaceholder) else { return nil }
    (kind, words, place) = (.name, all, "")
  }

  /// The name of the account that made an export; nil for a text that is not a name.
  ///
  /// - Parameter place: the format, and its word for the account.
  package init?(account name: String, of place: String) {
    guard let person = StatedPerson(name: name) else { return nil }
    (kind, words, self.place) = (.name, person.words, place)
  }

  /// The id of a person, which is only compared with ids of the same `place`. Nil for an empty id and a
  /// placeholder.
  ///
  /// - Parameter place: the format, and the name of the id in that format.
  package init?(id: String, of place: String) {
    let plain = id.prefix(Self.maxCharacters).filter { !$0.isWhitespace }.lowercased()
    guard plain.contains(where: { $0 != "0" && $0 != "-" }), !Self.placeholders.contains(plain) else {
      return nil
    }
    (kind, words, self.place) = (.id, [plain], place)
  }

  /// A label that is a name or an id. If it contains a digit, it is an id.
  package init?(label: String, of place: String) {
    if label.contains(where: \.isNumber) { self.init(id: label, of: place) } else { self.init(name: label) }
  }

  /// A date of birth whose day, month and year can be in any order; nil for a text that is not a date.
  package init?(birthDate text: String) {
    let numbers = text.prefix(Self.maxCharacters).split { !$0.isASCII || !$0.isNumber }.prefix(3).compactMap {
      Int($0)
    }
    guard numbers.count == 3, numbers.count(where: { (1880...2100).contains($0) }) == 1,
      numbers.count(where: { (1...31).contains($0) }) == 2, !Self.placeholderDates.contains(numbers.sorted())
    else { return nil }
    (kind, words, place) = (.birthDate, [numbers.sorted().map(String.init).joined(separator: "-")], "")
  }

  /// Whether two names can be of the same person. One name may lack words of the other. Names of brothers and
  /// sisters differ in one word, so each has a word that the other lacks.
  package static func agree<Word: Hashable>(_ one: Set<Word>, _ other: Set<Word>) -> Bool {
    one.intersection(other).count == min(one.count, other.count)
  }
}

// MARK: - Words

extension StatedPerson {
  /// The words of a name in lower case, without accents, titles and initials. Each character of Chinese,
  /// Japanese or Korean is one word, since some programs write a blank between the parts of such a name.
  private static func words(of name: String) -> Set<String> {
    var words: Set<String> = []
    var (word, letters) = ("", 0)
    func endWord() {
      // A single letter is an initial, which is left out.
      if letters > 1 { words.insert(withoutUmlauts(word)) }
      (word, letters) = ("", 0)
    }
    for scalar in String(name.prefix(maxCharacters)).lowercased().unicodeScalars {
      if scalar.value >= 0x2E80, scalar.properties.isIdeographic || (0xAC00...0xD7A3).contains(scalar.value) {
        endWord()
        words.insert(String(scalar))
      } else if isLetter(scalar) {
        word += plainLetters(of: scalar)
        letters += 1
      } else if !scalar.properties.generalCategory.isMark, !apostrophes.contains(scalar) {
        endWord()
      }
    }
    endWord()
    return words.filter { !titles.contains($0) }
  }

  private static let apostrophes: Set<Unicode.Scalar> = [
    "'", "\u{2019}", "\u{2018}", "\u{02BC}", "`", "\u{00B4}",
  ]

  private static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.isAlphabetic && !scalar.properties.generalCategory.isMark
  }

  /// The letter without its accent, by its name in Unicode: `LATIN SMALL LETTER E WITH ACUTE` becomes `e`. A
  /// letter of another script becomes its Unicode name without the accent, so that its variants are equal.
  private static func plainLetters(of scalar: Unicode.Scalar) -> String {
    guard !scalar.isASCII, var name = scalar.properties.name else { return String(scalar) }
    if name.hasPrefix("FULLWIDTH ") { name.removeFirst("FULLWIDTH ".count) }
    name = String(name.prefix(upTo: name.firstRange(of: " WITH ")?.lowerBound ?? name.endIndex))
    for start in ["LATIN SMALL LETTER ", "LATIN SMALL LIGATURE "] where name.hasPrefix(start) {
      let letter = String(name.dropFirst(start.count))
      return latin[letter] ?? (letter.count <= 2 ? letter.lowercased() : String(scalar))
    }
    return "<" + (sameLetters[name] ?? name) + ">"
  }

  /// The replacements that programs write for letters that are not in English.
  private static let latin = [
    "SHARP S": "ss", "DOTLESS I": "i", "ETH": "d", "THORN": "th", "SCHWA": "a",
  ]
  private static let sameLetters = [
    "GREEK SMALL LETTER FINAL SIGMA": "GREEK SMALL LETTER SIGMA",
    "CYRILLIC SMALL LETTER SHORT I": "CYRILLIC SMALL LETTER I",
    "CYRILLIC SMALL LETTER IO": "CYRILLIC SMALL LETTER IE",
  ]

  /// Replaces ae, oe and ue by a, o and u, since some programs write them for ä, ö and ü.
  private static func withoutUmlauts(_ word: String) -> String {
    var plain = word
    for (pair, letter) in [("ae", "a"), ("oe", "o"), ("ue", "u")] {
      plain = plain.replacing(pair, with: letter)
    }
    return plain
  }

  private static func isPlaceholder(_ word: String) -> Bool {
    placeholders.contains(word) || Set(word).count == 1 && word.unicodeScalars.first?.isASCII == true
  }

  private static let titles: Set<String> = [
    "dr", "prof", "mr", "mrs", "ms", "miss", "herr", "frau", "mme", "mlle", "sr", "sra", "dipl", "ing",
  ]
  /// Dates that programs write if the date of birth is unknown.
  private static let placeholderDates: Set<[Int]> = [[1, 1, 1900], [1, 1, 1970], [1, 1, 2000]]
  private static let placeholders: Set<String> = [
    "anonym", "anonymous", "anonymised", "anonymized", "anonymisiert", "anonyme", "anonimo", "patient",
    "patients",
    "data", "daten", "unknown", "unbekannt", "name", "user", "demo", "test", "redacted", "removed", "hidden",
    "none",
    "null", "nil", "na", "n/a", "nan", "undefined", "sample", "example", "first", "last", "deidentified",
  ]
}

extension Unicode.GeneralCategory {
  fileprivate var isMark: Bool {
    switch self {
    case .nonspacingMark, .spacingMark, .enclosingMark: true
    default: false
    }
  }
}
