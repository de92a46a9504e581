// SPDX-License-Identifier: Apache-2.0

/// Month names as apps abbreviate them, in the languages of the exports: en, de, fr, nl, es, it, da, sv, nb.
enum MonthNames {
  private static let prefixes: [(name: String, month: Int)] = [
    ("jan", 1), ("gen", 1), ("ene", 1), ("jän", 1), ("janv", 1),
    ("feb", 2), ("fév", 2), ("fev", 2), ("févr", 2),
    ("mar", 3), ("mär", 3), ("mrz", 3), ("mrt", 3), ("maa", 3), ("mars", 3),
    ("apr", 4), ("avr", 4), ("abr", 4),
    ("may", 5), ("mai", 5), ("mei", 5), ("mag", 5), ("maj", 5),
    ("jun", 6), ("juin", 6), ("giu", 6),
    ("jul", 7), ("juil", 7), ("lug", 7),
    ("aug", 8), ("aoû", 8), ("aou", 8), ("ago", 8),
    ("sep", 9), ("set", 9),
    ("oct", 10), ("okt", 10), ("ott", 10), ("out", 10),
    ("nov", 11),
    ("dec", 12), ("déc", 12), ("dez", 12), ("dic", 12), ("des", 12),
  ]

  /// The month of a name, 1 to 12; nil for an unknown word.
  static func month(_ word: some StringProtocol) -> Int? {
    let word = word.lowercased().trimmingSuffix(while: { $0 == "." })
    guard word.count >= 3 else { return nil }
    return prefixes.first { word.hasPrefix($0.name) }?.month
  }

  /// A date with a month's name: `Aug 7, 2017`, `7 août 2017`, `7. Aug. 2017`.
  static func date(_ text: String) -> (year: Int, month: Int, day: Int)? {
    let words = text.split(whereSeparator: { $0 == " " || $0 == "," || $0 == "\u{A0}" || $0 == "\u{202F}" })
      .filter { $0 != "de" && $0 != "del" }
    guard words.count == 3, let year = Int(words[2]), year >= 1900, year <= 9999 else { return nil }
    if let month = month(words[0]), let day = Int(words[1].filter(\.isNumber)) { return (year, month, day) }
    if let month = month(words[1]), let day = Int(words[0].filter(\.isNumber)) { return (year, month, day) }
    return nil
  }
}

extension String {
  fileprivate func trimmingSuffix(while predicate: (Character) -> Bool) -> Substring {
    var rest = Substring(self)
    while let last = rest.last, predicate(last) { rest.removeLast() }
    return rest
  }
}
