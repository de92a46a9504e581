// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Detects sections of several persons in one table: a line that names a person above each repetition of the
/// header. If a repeated header has no such line above it, exports of one person were joined.
struct GenericSections {
  private static let labels: Set<String> = [
    "patient", "patients", "name", "person", "subject", "participant", "nom", "nombre", "nome", "user",
    "paciente", "paziente", "patientin", "proband", "naam", "navn", "namn",
  ]
  /// The maximum number of words of a line that may name a person. A longer line is a sentence.
  private static let maxWords = 8

  /// The words that name a person in the line above the first header.
  private(set) var first: [String]?
  /// The words that name a person in the last line read, if that line is above the next header.
  private var latest: [String]?
  private var hasHeader = false
  /// Whether the lines above two headers name different persons.
  private(set) var areOfSeveralPersons = false

  /// Adds a line that is neither a header nor has a time.
  mutating func observe(_ row: Row) {
    guard row.count <= Self.maxWords * 2, let person = Self.person(row) else { return }
    latest = person
  }

  /// Adds a header. The line above it names the person of the rows below it.
  mutating func observeHeader() {
    if !hasHeader {
      first = latest
    } else if let latest, latest != first {
      areOfSeveralPersons = true
    }
    (hasHeader, latest) = (true, nil)
  }

  /// Adds a row with a time. A line that names a person above this row is not directly above a header, so it
  /// is forgotten.
  @inline(__always) mutating func observeData() {
    if latest != nil { latest = nil }
  }

  /// The words of the name in a line, after a label such as `Patient Name:` or in a title, sorted. Nil for a
  /// line without a name.
  private static func person(_ row: Row) -> [String]? {
    let cells = row.fields.map { $0.trimmed }.filter { !$0.isEmpty }
    // This check excludes most lines, which are rows with an invalid time, without further work.
    guard let first = cells.first, cells.count <= maxWords,
      cells.allSatisfy({ $0.count <= Field.maxNameBytes }), first[0] &- 0x30 > 9
    else { return nil }
    guard words(of: first).first.map(labels.contains) == true else {
      // A comma in a name splits it into two cells. A line with more cells is a row of the table, and not a
      // name.
      guard cells.count <= 2 else { return nil }
      let name = TitleSentence.name(in: cells.map(\.text).joined(separator: ", "))
      return name.map { $0.withField { Self.words(of: $0) }.sorted() }
    }
    let words = cells.flatMap(words)
    let text = words.drop(while: labels.contains).sorted()
    return words.count <= maxWords && !text.isEmpty ? text : nil
  }

  private static func words(of cell: Field) -> [String] {
    cell.folded.split { !$0.isLetter && !$0.isNumber }.map(String.init)
  }
}
