// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Reads what a row above the header of a table states about the person: `Name:Anna`, `# Patient: Anna`,
/// `DOB,1980-01-02`.
enum TitleRow {
  /// The statements of a row about a person; none if the row has no word for a person.
  static func persons(in row: [String]) -> [StatedPerson] {
    let persons = statements(in: row).compactMap { person($0.label, $0.value) }
    guard persons.isEmpty else { return persons }
    let line = cells(of: row).filter { !$0.isEmpty }.joined(separator: ", ")
    let name = TitleSentence.name(in: String(line.drop { $0 == "#" || $0.isWhitespace }))
    return name.flatMap { StatedPerson(name: $0) }.map { [$0] } ?? []
  }

  /// The texts of a row that may be labels, each with the value after its colon or in the next cell.
  static func statements(in row: [String]) -> [(label: String, value: String)] {
    let row = cells(of: row)
    return row.enumerated().compactMap { place, cell in
      let parts = cell.split(separator: ":", maxSplits: 1).map { part in
        String(part.drop { $0 == "#" || $0.isWhitespace }).withField { $0.trimmed.text }
      }
      return parts.first.map { ($0, value(of: parts.dropFirst() + row.dropFirst(place + 1))) }
    }
  }

  /// The cells of a row. Its separator may differ from that of the table.
  private static func cells(of row: [String]) -> [String] {
    let filled = row.filter { !$0.isEmpty }
    let text = filled.joined(separator: ",")
    let separator = [";", "\t", "|"].first { filled.first?.contains($0) == true }
    guard let separator = separator ?? (filled.count == 1 ? "," : nil) else { return row }
    return text.split(separator: separator, omittingEmptySubsequences: false).map { part in
      String(part).withField { $0.trimmed.text }
    }
  }

  /// The value after a label, with the next cell if a comma in a name such as `Muster, Anna` split it.
  private static func value(of values: some Sequence<String>) -> String {
    let cells = Array(values.prefix(2))
    guard let first = cells.first else { return "" }
    guard cells.count == 2, let rest = cells.last, isOneWord(first), isOneWord(rest), !isOther(rest) else {
      return first
    }
    return first + " " + rest
  }

  private static func isOneWord(_ text: String) -> Bool {
    text.count > 1 && text.allSatisfy { $0.isLetter || $0 == "-" }
  }

  /// Whether the word after a name is a word for a sex, the name of another column, or the name of a table.
  private static func isOther(_ word: String) -> Bool {
    let words = HeaderWords(word)
    return sexes.contains(words.name) || words.isPerson || words.isOfPerson || words.isName
      || birthNames.contains(words.name) || !SheetName.mayNamePerson(word)
  }

  private static let sexes: Set<String> = [
    "male", "female", "männlich", "weiblich", "homme", "femme", "hombre", "mujer", "uomo", "donna", "divers",
    "man", "woman", "mann", "frau", "boy", "girl",
  ]

  private static func person(_ label: String, _ value: String) -> StatedPerson? {
    let words = HeaderWords(label)
    if value.isEmpty || words.name == "client" { return nil }
    if birthNames.contains(words.name) { return StatedPerson(birthDate: value) }
    // The word `name` may also introduce the name of the table, so the value is checked.
    if words.isName { return SheetName.mayNamePerson(value) ? StatedPerson(name: value) : nil }
    guard words.isPerson else { return nil }
    return StatedPerson(label: value, of: "\(GenericFormat.id) \(words.name)")
  }

  private static let birthNames: Set<String> = [
    "dob", "date of birth", "birth date", "birthdate", "birthday", "born", "patient dob", "geburtsdatum",
    "date de naissance", "fecha de nacimiento", "data di nascita", "geboortedatum",
  ]
}
