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

/// Reads the person's name in a line of prose above a table: `Blood glucose log of Anna Muster`,
/// `Anna's glucose diary`, `Diary: Anna Muster`.
///
/// The rest of the line must consist of words for tables and glucose, so that only a title is read in this
/// way.
enum TitleSentence {
  private static let maxWords = 14
  private static let maxNameWords = 4

  /// The name in a line; nil if it names no person.
  static func name(in line: String) -> String? {
    let words = line.split(whereSeparator: \.isWhitespace)
    guard (2...maxWords).contains(words.count) else { return nil }
    return nameAfterLink(words) ?? nameOfOwner(words) ?? nameAfterTitle(words) ?? nameAfterBook(words)
  }

  /// The name after a word such as `of`.
  private static func nameAfterLink(_ words: [Substring]) -> String? {
    for place in words.indices.dropFirst().dropLast().reversed() {
      let link = words[place].lowercased()
      guard links.contains(link) || vagueLinks.contains(link), isTitle(words[..<place]) else { continue }
      let name = name(words[(place + 1)...])
      // A log for Dr. Smith is a patient's log, so the doctor's name is not read.
      if !["of", "von", "de", "di", "van"].contains(link), words[place + 1].lowercased().hasPrefix("dr") {
        return nil
      }
      // German nouns begin with a capital letter as names do, so two words must follow `für`.
      return vagueLinks.contains(link) && name.count < 2 ? nil : joined(name)
    }
    return nil
  }

  /// The name before an English genitive: `Anna's glucose log`.
  private static func nameOfOwner(_ words: [Substring]) -> String? {
    let owner = words.prefix(3).firstIndex { $0.hasSuffix("'s") || $0.hasSuffix("’s") }
    guard let owner, isTitle(words[(owner + 1)...]) else { return nil }
    let name = name(words[..<owner] + [words[owner].dropLast(2)])
    return name.count == owner + 1 ? joined(name) : nil
  }

  /// One name after a single word for a diary: `Tagebuch Anna`.
  private static func nameAfterBook(_ words: [Substring]) -> String? {
    guard words.count == 2, books.contains(words[0].lowercased()), words[1].allSatisfy(\.isLetter),
      !HeaderWords(String(words[1])).mentionsValue
    else { return nil }
    return joined(name(words[1...]))
  }

  /// Both names of a person after a title and a colon or dash. A single word is not read, since it may be a
  /// place or a program.
  private static func nameAfterTitle(_ words: [Substring]) -> String? {
    let end = words.firstIndex { $0.hasSuffix(":") || ["-", "–", "—"].contains($0) }
    guard let end, end + 1 < words.count else { return nil }
    let title = words[...end].map { $0.filter(\.isLetter) }.filter { !$0.isEmpty }.map { Substring($0) }
    let name = name(words[(end + 1)...])
    guard isTitle(title[...]), name.count == 2, name.count == words.count - end - 1 else { return nil }
    return title.contains { books.contains($0.lowercased()) } ? joined(name) : nil
  }

  /// Whether words are those of a title for a table of glucose or a diary.
  private static func isTitle(_ words: ArraySlice<Substring>) -> Bool {
    guard !words.isEmpty else { return false }
    let own = words.map { $0.lowercased() }.filter { !possessives.contains($0) }
    return !SheetName.mayNamePerson(own.joined(separator: " "))
      && own.contains { word in
        books.contains(word) || GlucoseName.brands.contains(Substring(word))
          || HeaderWords(word).mentionsGlucose || HeaderWords(word).isSugar
      }
  }

  /// The words at the start that can be those of a name.
  private static func name(_ words: ArraySlice<Substring>) -> [Substring] {
    var name: [Substring] = []
    for word in words where name.count < maxNameWords {
      let text = word.drop { "\"'„“".contains($0) }
      let plain = text.prefix { $0.isLetter || "-'’.".contains($0) }
      guard isOfName(plain) else { return name }
      name.append(plain)
      // Only a comma may follow inside of a name: `Muster, Anna`.
      if plain.endIndex != text.endIndex, text[plain.endIndex...] != "," { return name }
    }
    return name
  }

  private static func isOfName(_ word: Substring) -> Bool {
    let folded = foldedHeader(String(word.filter { $0 != "." }))
    guard word.first?.isUppercase == true, !others.contains(folded) else { return false }
    // Initials and titles belong to a name, and `mayNamePerson` reads no single letters.
    return folded.count < 2 || SheetName.mayNamePerson(folded)
  }

  private static func joined(_ name: [Substring]) -> String? {
    name.contains { $0.count > 1 } ? name.joined(separator: " ") : nil
  }

  private static let links: Set<String> = [
    "of", "for", "von", "vom", "de", "di", "van", "do", "da", "af", "av", "dla", "pour", "del",
  ]
  private static let vagueLinks: Set<String> = ["für", "fuer", "voor", "para", "per", "til", "till"]
  private static let possessives: Set<String> = ["my", "the", "mein", "meine", "mon", "mes", "mi", "mijn"]

  /// Words for the kinds of tables that people title with a name.
  private static let books: Set<String> = [
    "log", "logs", "logbook", "diary", "journal", "tagebuch", "logbuch", "protokoll", "blutzuckertagebuch",
    "diabetestagebuch", "blutzuckerprotokoll", "diario", "diário", "carnet", "dagboek", "dagbog", "dagbok",
    "dziennik", "dzienniczek",
  ]

  /// Words that may follow a link such as `for` and begin with a capital letter, but are not part of a name.
  private static let others = Set<String>(
    """
    diabetes diabetic diabetics diabetiker diabetikerin diabétique type typ tipo mellitus gestational pregnancy
    pregnant schwangerschaft schwangere grossesse embarazo gravidanza zwangerschap clinic klinik clinique
    clínica hospital krankenhaus hôpital ospedale ziekenhuis praxis practice doctor doctors arzt ärztin doktor
    médecin médico nurse team center centre zentrum health gesundheit santé salud salute care family familie
    famille familia famiglia children kinder kids women men adults people insurance krankenkasse visit termin
    appointment study studie étude estudio research university universität pharmacy apotheke department ward
    station android ios iphone ipad apple windows google samsung huawei app company gmbh inc ltd software
    online cloud web user users patient patients patienten person program programme challenge trial support
    group gruppe runners athletes last this next every each current today yesterday heute gestern everyone
    zuhause unterwegs beginners seniors life time times reference monitoring control mg mmol
    self results target treatment therapy therapie medication insulin food diet nutrition weight pressure
    """.split { $0.isWhitespace }.map(String.init))
}
