// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Decides whether the amounts of a row are read, in a table in which a person named columns of doses or
/// carbohydrates. Other columns may state the kind, the unit or the state (such as planned) of each amount.
///
/// In a table with glucose or ketones, a column such as `Type` can describe those, so only a column such as
/// `Insulin type` is used. The words of a row are compared with closed lists. A row of another kind is counted
/// under its word. A row is rejected if its word is on no list, since its amount may or may not be a dose.
struct GenericAmountRows {
  /// What a row's amount is.
  private enum Verdict {
    case read
    /// The amount is something else. It is counted under this name.
    case other(String)
    case unknown
  }

  /// What a column says about the amount of its row.
  private enum Use { case kind, kindOfDose, unit, state, priming }

  /// A column that states what the amounts are, and its index in the header.
  private struct Sign {
    let place: Int
    let use: Use
  }

  private struct Column {
    /// The index of the column in `GenericColumns.amountSigns`.
    let index: Int
    let name: String
    let use: Use
    /// Whether all words in the first rows state the use of a dose, or that it is something else.
    let statesUses: Bool
    /// Whether a person selected the rows by this column, so that unknown words in it are read.
    let isPicked: Bool
    /// The verdicts on the words that the column had so far.
    var verdicts: [[UInt8]: Verdict] = [:]
  }

  /// The maximum number of words whose verdicts are kept. Further words are judged again in each row.
  private static let maxWords = 256

  private let isFood: Bool
  private var columns: [Column] = []

  /// - Parameter isFood: whether the amounts are carbohydrates and not doses.
  init(_ finding: GenericFinding, isFood: Bool) {
    self.isFood = isFood
    columns = Self.signs(in: finding, isFood: isFood).compactMap { sign in
      finding.columns.amountSigns.firstIndex(of: sign.place).map { index in
        let cells = finding.header.cells(sign.place)
        return Column(
          index: index, name: finding.header.names[sign.place], use: sign.use,
          statesUses: sign.use == .kind || cells.allSatisfy(Self.statesUse),
          isPicked: finding.watches.contains { $0.place == sign.place && $0.isPick })
      }
    }
  }

  /// The columns of a table that state what its mapped amounts are.
  static func places(in finding: GenericFinding) -> [Int] {
    let kinds = [(GenericRole.doses, false), (GenericRole.foods, true)]
    let places = kinds.flatMap { roles, isFood in
      roles.contains { finding.columns[$0] >= 0 } ? signs(in: finding, isFood: isFood).map(\.place) : []
    }
    return Array(Set(places)).sorted()
  }

  private static func signs(in finding: GenericFinding, isFood: Bool) -> [Sign] {
    let hasReadings = GenericRole.measured.contains { finding.columns[$0] >= 0 }
    let used = (GenericRole.doses + GenericRole.foods + [.time, .date, .clock]).map { finding.columns[$0] }
    // If the table has both doses and food, a column of units can be about either, so it is not read.
    let hasBoth = [GenericRole.doses, GenericRole.foods].allSatisfy { roles in
      roles.contains { finding.columns[$0] >= 0 }
    }
    return finding.header.names.indices.compactMap { place in
      guard !used.contains(place), let use = use(of: finding.header.words[place]) else { return nil }
      let cells = finding.header.cells(place)
      if use == .kindOfDose { return isFood || cells.isEmpty ? nil : Sign(place: place, use: use) }
      if hasReadings || (use == .unit && hasBoth) || place == finding.columns[.use] { return nil }
      // A column whose words are on no list does not state what the amounts are.
      let isEvident = cells.contains { cell in
        switch verdict(HeaderWords(cell), use, isFood: isFood) {
        case .unknown: false
        case .read: !isFood || use != .kind
        case .other: true
        }
      }
      return isEvident ? Sign(place: place, use: use) : nil
    }
  }

  /// Whether the amounts of a row are read. Otherwise the row is counted or rejected.
  mutating func reads(_ row: Row, _ places: GenericColumns, into out: inout BatchBuilder) -> Bool {
    guard let (column, verdict) = firstObjection(to: row, places) else { return true }
    if case .other(let name) = verdict {
      out.skip(name)
    } else {
      out.reject(
        row,
        "by \(shownName(column)), this may not be \(isFood ? "food" : "a dose"); use --where to choose rows, or --force"
      )
    }
    return false
  }

  /// Whether the amounts of a row are read.
  mutating func reads(_ row: Row, _ places: GenericColumns) -> Bool { firstObjection(to: row, places) == nil }

  /// The first column by which the amounts of a row are not read, and its verdict.
  private mutating func firstObjection(
    to row: Row, _ places: GenericColumns
  ) -> (column: String, verdict: Verdict)? {
    for index in columns.indices {
      let cell = row[places.amountSigns[columns[index].index]].trimmed
      if cell.isEmpty { continue }
      let verdict = verdict(cell, index)
      if case .read = verdict { continue }
      return (columns[index].name, verdict)
    }
    return nil
  }

  /// The subtype of the dose in a row by the word for its kind, such as `Long-acting dose`; nil without one.
  func subtype(of row: Row, _ places: GenericColumns) -> String? {
    let kinds = columns.filter { [.kind, .kindOfDose].contains($0.use) && $0.statesUses }.map {
      row[places.amountSigns[$0.index]].trimmed.text
    }
    return kinds.lazy.flatMap { HeaderWords($0).words.sorted() }.compactMap(InsulinName.subtype).first
  }

  private mutating func verdict(_ cell: Field, _ index: Int) -> Verdict {
    let bytes = Array(cell.bytes)
    if let known = columns[index].verdicts[bytes] { return known }
    var verdict = Self.verdict(HeaderWords(cell.text), columns[index].use, isFood: isFood)
    if case .unknown = verdict, columns[index].isPicked { verdict = .read }
    if columns[index].verdicts.count < Self.maxWords { columns[index].verdicts[bytes] = verdict }
    return verdict
  }

  private static func use(of name: HeaderWords) -> Use? {
    if name.role == .unit { return .unit }
    if !name.words.isDisjoint(with: primingWords) { return .priming }
    if !name.words.isDisjoint(with: ["status", "state"]) { return .state }
    if isOfKindsOfDoses(name) { return .kindOfDose }
    return name.isRowType || name.isPossibleName ? .kind : nil
  }

  /// Whether a column may state the kinds of doses. Next to readings, a column `Type` may be about those.
  static func mayStateKinds(_ name: HeaderWords, hasReadings: Bool) -> Bool {
    isOfKindsOfDoses(name) || (name.isRowType && !hasReadings)
  }

  /// Whether a word is a code of one or two letters that no insulin has as its name.
  static func isCode(_ word: String) -> Bool {
    (1...maxCode).contains(word.count) && word.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
      && word.contains(where: \.isLetter) && InsulinName.subtype(word) == nil
  }
  private static let maxCode = 2

  /// Whether a column is named for the kinds of doses, such as `insulin_kind` or `Insulinart`.
  static func isOfKindsOfDoses(_ name: HeaderWords) -> Bool {
    if !name.words.isDisjoint(with: kindsOfDoses) { return true }
    return !name.words.isDisjoint(with: kindWords) && !name.words.isDisjoint(with: insulinWords)
  }

  /// Whether a word states the use of a dose, or that its amount is something else.
  private static func statesUse(_ cell: String) -> Bool {
    if case .other = doseVerdict(HeaderWords(cell)) { return true }
    return InsulinName.subtype(cell) != nil
  }

  private static func verdict(_ word: HeaderWords, _ use: Use, isFood: Bool) -> Verdict {
    switch use {
    case .unit:
      // A column of numbers, such as `Units`, states amounts and not their unit.
      let isNumber = word.name.contains(where: \.isNumber) && !word.name.contains(where: \.isLetter)
      if isNumber || (isFood ? grams : units).contains(word.name) { return .read }
      return .other("amount in another unit")
    case .priming: return yes.contains(word.name) ? .other("priming of a pen or pump") : .read
    case .state:
      return word.words.isDisjoint(with: notGiven) ? .read : .other("dose that was not given")
    case .kind: return isFood ? foodVerdict(word) : doseVerdict(word)
    case .kindOfDose:
      // A word on no list may be the name of an insulin.
      if case .other(let name) = doseVerdict(word) { return .other(name) }
      return isCode(word.name) ? .unknown : .read
    }
  }

  private static func doseVerdict(_ word: HeaderWords) -> Verdict {
    if !word.words.isDisjoint(with: primingWords) { return .other("priming of a pen or pump") }
    if !word.words.isDisjoint(with: notGiven) { return .other("dose that was not given") }
    if !word.words.isDisjoint(with: rates) { return .other("basal rate") }
    if !word.words.isDisjoint(with: ["iob", "active", "aktiv"]) { return .other("active insulin") }
    let isDose =
      word.namesDose || InsulinName.subtype(word.name) != nil || word.words.isSubset(of: doseWords)
    if isDose { return .read }
    if let other = otherName(word) { return .other(other) }
    return foods.isDisjoint(with: word.words) ? .unknown : .other("carbohydrates")
  }

  /// A word that is on no list is the name of a food.
  private static func foodVerdict(_ word: HeaderWords) -> Verdict {
    if !foods.isDisjoint(with: word.words) { return .read }
    if word.namesDose || InsulinName.subtype(word.name) != nil { return .other("insulin") }
    return otherName(word).map { .other($0) } ?? .read
  }

  /// The name for the count of an amount that is neither insulin nor food. Nil for a word on no list.
  private static func otherName(_ word: HeaderWords) -> String? {
    if word.isKetone { return "ketones" }
    if word.mentionsGlucose { return "glucose" }
    return word.words.isDisjoint(with: activities) ? nil : "activity or body"
  }

  private static let units: Set<String> = [
    "u", "iu", "ie", "ui", "e", "unit", "units", "einheit", "einheiten", "unité", "unités", "unidad",
    "unidades",
    "unità", "eenheid", "eenheden", "jedn", "jedn.",
  ]
  private static let grams: Set<String> = [
    "g", "gr", "gram", "grams", "gramm", "gramme", "grammes", "gramos",
  ]
  private static let yes: Set<String> = ["true", "yes", "1", "y", "ja", "oui", "sí", "si", "x"]
  private static let rates: Set<String> = ["csii", "rate", "rates", "tbr", "temp", "temporary"]
  /// Parts of names for the kinds of doses. A name has one of each.
  private static let kindWords: Set<String> = [
    "art", "category", "class", "code", "kategorie", "kind", "mode", "rodzaj", "slag", "soort", "tipo", "typ",
    "type", "types",
  ]
  private static let insulinWords: Set<String> = [
    "basal", "bolus", "delivery", "dosis", "dose", "injection", "insulin", "insulina", "insuline", "insuliny",
  ]
  /// Words that are names for the kinds of doses.
  private static let kindsOfDoses: Set<String> = [
    "bolusart", "bolustyp", "bolustype", "dosetype", "insulinart", "insulinekind", "insulinkind",
    "insulinsoort",
    "insulinesoort", "insulintyp", "insulintype", "insulinetype",
  ]
  private static let primingWords: Set<String> = ["prime", "primed", "priming", "airshot"]
  private static let notGiven: Set<String> = [
    "aborted", "abgebrochen", "canceled", "cancelled", "declined", "deleted", "failed", "planned",
    "recommended",
    "rejected", "scheduled", "skipped", "suggested", "vorgeschlagen",
  ]
  private static let doseWords: Set<String> = [
    "acting", "auto", "automatic", "bolus", "breakfast", "combo", "completed", "correction", "delivered",
    "dinner",
    "dose", "dual", "extended", "food", "given", "injection", "long", "lunch", "manual", "meal", "normal",
    "pen",
    "pump", "quick", "rapid", "short", "smb", "snack", "square", "superbolus",
  ]
  private static let foods: Set<String> = [
    "carb", "carbohydrate", "carbohydrates", "carbs", "food", "glucides", "hidratos", "khe", "kohlenhydrate",
    "koolhydraten", "meal", "snack",
  ]
  private static let activities: Set<String> = [
    "activity", "calories", "exercise", "heart", "hba1c", "note", "pressure", "pulse", "sleep", "sport",
    "steps",
    "weight", "workout",
  ]
}
