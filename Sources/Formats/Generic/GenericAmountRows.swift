// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Decides whether the amounts of a row are read, in a table in which a person named columns of doses or
/// carbohydrates. Other columns may state the kind, the unit or the state (such as planned) of each amount.
///
/// It is only used for tables without glucose or ketones: in other tables, such a column can describe the
/// glucose or ketones. The words of a row are compared with closed lists. A row of another kind is counted
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
  private enum Use { case kind, unit, state, priming }

  private struct Column {
    let place: Int
    let name: String
    let use: Use
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
    guard GenericRole.measured.allSatisfy({ finding.columns[$0] < 0 }) else { return }
    let used = (GenericRole.doses + GenericRole.foods + [.use, .time, .date, .clock]).map {
      finding.columns[$0]
    }
    // If the table has both doses and food, a column of units can be about either, so it is not read.
    let hasBoth = [GenericRole.doses, GenericRole.foods].allSatisfy { roles in
      roles.contains { finding.columns[$0] >= 0 }
    }
    for place in finding.header.names.indices where !used.contains(place) {
      guard let use = Self.use(of: finding.header.words[place]), use != .unit || !hasBoth else { continue }
      let words = finding.header.cells(place).map { HeaderWords($0) }
      // A column whose words are on no list does not state what the amounts are.
      let isEvident = words.contains { word in
        switch Self.verdict(word, use, isFood: isFood) {
        case .unknown: false
        case .read: !isFood || use != .kind
        case .other: true
        }
      }
      if isEvident { columns.append(Column(place: place, name: finding.header.names[place], use: use)) }
    }
  }

  /// Whether the amounts of a row are read. Otherwise the row is counted or rejected.
  mutating func reads(_ row: Row, into out: inout BatchBuilder) -> Bool {
    for index in columns.indices {
      let cell = row[columns[index].place].trimmed
      if cell.isEmpty { continue }
      switch verdict(cell, index) {
      case .read: continue
      case .other(let name): out.skip(name)
      case .unknown:
        out.reject(
          row,
          "by \(shownName(columns[index].name)), this may not be \(isFood ? "food" : "a dose"); use --where to choose rows, or --force"
        )
      }
      return false
    }
    return true
  }

  /// The subtype of the dose in a row by the word for its kind, such as `Long-acting dose`; nil without one.
  func subtype(of row: Row) -> String? {
    let kinds = columns.filter { $0.use == .kind }.map { row[$0.place].trimmed.text }
    return kinds.lazy.flatMap { HeaderWords($0).words.sorted() }.compactMap(InsulinName.subtype).first
  }

  private mutating func verdict(_ cell: Field, _ index: Int) -> Verdict {
    let bytes = Array(cell.bytes)
    if let known = columns[index].verdicts[bytes] { return known }
    let verdict = Self.verdict(HeaderWords(cell.text), columns[index].use, isFood: isFood)
    if columns[index].verdicts.count < Self.maxWords { columns[index].verdicts[bytes] = verdict }
    return verdict
  }

  private static func use(of name: HeaderWords) -> Use? {
    if name.role == .unit { return .unit }
    if !name.words.isDisjoint(with: primingWords) { return .priming }
    if !name.words.isDisjoint(with: ["status", "state"]) { return .state }
    return name.isRowType || name.isPossibleName ? .kind : nil
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
    }
  }

  private static func doseVerdict(_ word: HeaderWords) -> Verdict {
    if !word.words.isDisjoint(with: primingWords) { return .other("priming of a pen or pump") }
    if !word.words.isDisjoint(with: notGiven) { return .other("dose that was not given") }
    if !word.words.isDisjoint(with: ["rate", "rates", "temp", "temporary"]) { return .other("basal rate") }
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
