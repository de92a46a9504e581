// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Reads what a row above the header of a table states about the person: `Name:Anna`, `# Patient: Anna`,
/// `DOB,1980-01-02`.
enum TitleRow {
  /// The statements of a row; none if it has no word for a person.
  static func persons(in row: [String]) -> [StatedPerson] {
    var statements: [StatedPerson] = []
    for (place, cell) in row.enumerated() {
      let parts = cell.split(separator: ":", maxSplits: 1).map { part in
        String(part.drop { $0 == "#" || $0.isWhitespace }).withField { $0.trimmed.text }
      }
      guard let label = parts.first else { continue }
      let next = row.indices.contains(place + 1) ? row[place + 1] : ""
      if let person = person(label, parts.count == 2 ? parts[1] : next) { statements.append(person) }
    }
    return statements
  }

  private static func person(_ label: String, _ value: String) -> StatedPerson? {
    let words = HeaderWords(label)
    if value.isEmpty || words.name == "client" { return nil }
    if birthNames.contains(words.name) { return StatedPerson(birthDate: value) }
    // The word `name` may also introduce the name of the table.
    if words.isName { return SheetName.mayNamePerson(value) ? StatedPerson(name: value) : nil }
    guard words.isPerson else { return nil }
    return StatedPerson(label: value, of: "\(GenericFormat.id) \(words.name)")
  }

  private static let birthNames: Set<String> = [
    "dob", "date of birth", "birth date", "birthdate", "birthday", "born", "patient dob", "geburtsdatum",
    "date de naissance", "fecha de nacimiento", "data di nascita", "geboortedatum",
  ]
}
