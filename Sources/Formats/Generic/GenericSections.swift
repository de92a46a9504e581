// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Detects sections of several persons in one table: a line that names a person above each repetition of the
/// header. If a repeated header has no such line above it, exports of one person were joined.
///
/// A line without a word such as `Patient` may name a place or anything else. Lines such as `Anna` and
/// `Ben` are names only if the rows below them are of the same days.
struct GenericSections {
  /// The line above a header.
  struct SectionTitle: Equatable {
    let text: String
    /// The words that name a person, after a label or in a title, sorted; empty without such words.
    let person: [String]
  }

  private static let labels: Set<String> = [
    "patient", "patients", "name", "person", "subject", "participant", "nom", "nombre", "nome", "user",
    "paciente", "paziente", "patientin", "proband", "naam", "navn", "namn",
  ]
  /// The maximum number of words of a line that may name a person. A longer line is a sentence.
  private static let maxWords = 8
  /// The number of days that sections of two persons share. At the end of a journey, sections of one person
  /// share a day.
  private static let minOfSharedDays = 2
  private static let maxDays = 4096

  /// The line above the first header, if it may name a person.
  private(set) var first: SectionTitle?
  /// The last line read, if it is above the next header.
  private var latest: SectionTitle?
  private var hasHeader = false
  private var hasRows = false
  /// Whether the line above the last header may name another person than the line above the first one.
  private var isOther = false
  /// The days of the rows below the first line, and those that the rows of others share.
  private var days: Set<Int64> = []
  private var sharedDays: Set<Int64> = []
  /// Whether the lines above two headers name different persons.
  private(set) var areOfSeveralPersons = false

  /// Adds a line that is neither a header nor has a time.
  mutating func observe(_ row: Row) {
    guard row.count <= Self.maxWords * 2, let title = Self.title(row) else { return }
    latest = title
  }

  /// Adds a header. The line above it names the person of the rows below it.
  mutating func observeHeader() {
    if !hasHeader {
      first = latest.flatMap { $0.person.isEmpty && !SheetName.mayNamePerson($0.text) ? nil : $0 }
    } else if let latest {
      isOther = first.map { Self.mayNamePersons($0.text, latest.text) } ?? false
      if !latest.person.isEmpty, latest.person != first?.person { areOfSeveralPersons = true }
    }
    (hasHeader, latest) = (true, nil)
  }

  /// Adds a row with a time.
  @inline(__always) mutating func observeData(at seconds: Int64) {
    if let latest { observeSubheading(latest) }
    hasRows = true
    if first != nil { observeDay(of: seconds) }
  }

  /// Adds a line between the header and a row, or between two rows. It may name the person of the rows
  /// below it.
  @inline(never) private mutating func observeSubheading(_ title: SectionTitle) {
    latest = nil
    guard hasHeader else { return }
    if let first {
      isOther = Self.mayNamePersons(first.text, title.text)
    } else if !hasRows, title.person.isEmpty, SheetName.mayNamePerson(title.text) {
      first = title
    }
  }

  @inline(never) private mutating func observeDay(of seconds: Int64) {
    let day = seconds / 86400
    if !isOther {
      if days.count < Self.maxDays { days.insert(day) }
    } else if days.contains(day) {
      sharedDays.insert(day)
      if sharedDays.count >= Self.minOfSharedDays { areOfSeveralPersons = true }
    }
  }

  /// Whether two lines differ only in one or two words with capital letters, which may be names.
  private static func mayNamePersons(_ one: String, _ other: String) -> Bool {
    let words = [one, other].map { text in Set(text.split { !$0.isLetter }) }
    let names = [words[0].subtracting(words[1]), words[1].subtracting(words[0])]
    return names.allSatisfy { (1...2).contains($0.count) && $0.allSatisfy { $0.first?.isUppercase == true } }
      && SheetName.mayNamePersonsOfDoses(one, other)
  }

  /// The line as a title; nil for a line that is a row of the table.
  private static func title(_ row: Row) -> SectionTitle? {
    if let person = person(row) { return SectionTitle(text: text(of: row), person: person) }
    let isOneCell = row.fields.count { !$0.isEmpty && $0.count <= Field.maxNameBytes } == 1
    return isOneCell ? SectionTitle(text: text(of: row), person: []) : nil
  }

  private static func text(of row: Row) -> String {
    row.fields.map { $0.trimmed.text }.filter { !$0.isEmpty }.joined(separator: " ")
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
