// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Decides whether the amounts of a row are read, in a table in which a person named columns of doses or
/// carbohydrates. Other columns may state the kind, the unit or the state (such as planned) of each amount.
///
/// In a table with a separate column of glucose or ketones, a column such as `Type` can describe those. There,
/// only a column such as `Insulin type` is used. The words of a row are compared with closed lists. A row of
/// another kind is counted under its word. A row is rejected if its word is on no list, since its amount may or
/// may not be a dose.
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
    /// Whether one of the first words names a dose. A word such as `Meal` is then probably food.
    let namesDoses: Bool
    /// Whether the first words show what the column states. Only a column of states can be without such words.
    let isEvident: Bool
    /// The verdicts on the words that the column had so far.
    var verdicts: [[UInt8]: Verdict] = [:]
  }

  /// The maximum number of words whose verdicts are kept. Further words are judged again in each row.
  private static let maxWords = 256

  private let isFood: Bool
  /// Whether the table has different columns for doses and food. A row of either kind may then have both.
  private let hasBoth: Bool
  /// Whether a column of amounts is also one of glucose or ketones, whose rules count or refuse the other rows.
  private let sharesReadings: Bool
  /// Whether doses and food have one column.
  let sharesAmounts: Bool
  private var columns: [Column] = []

  /// - Parameter isFood: whether the amounts are carbohydrates and not doses.
  init(_ finding: GenericFinding, isFood: Bool) {
    self.isFood = isFood
    let roles = Roles(finding)
    hasBoth = roles.hasBoth
    (sharesReadings, sharesAmounts) = (roles.sharesReadings, roles.sharesAmounts)
    columns = Self.signs(in: finding, isFood: isFood).compactMap { sign in
      finding.columns.amountSigns.firstIndex(of: sign.place).map { index in
        let cells = finding.header.cells(sign.place)
        let words = cells.map { HeaderWords($0) }
        return Column(
          index: index, name: finding.header.names[sign.place], use: sign.use,
          statesUses: sign.use == .kind || cells.allSatisfy(Self.statesUse),
          isPicked: finding.watches.contains { $0.place == sign.place && $0.isPick },
          // Columns of the kind of a bolus have words such as `Meal` and `Correction`.
          namesDoses: words.contains { Self.isDose($0) && $0.words.isDisjoint(with: Self.corrections) },
          isEvident: words.contains { Self.isEvidence($0, sign.use, isFood: isFood) })
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

  /// Which columns have roles for amounts and for readings.
  private struct Roles {
    /// Whether glucose or ketones have a column without amounts.
    let hasReadings: Bool
    let hasBoth: Bool
    let sharesReadings: Bool
    let sharesAmounts: Bool

    init(_ finding: GenericFinding) {
      func places(_ roles: [GenericRole]) -> Set<Int> {
        Set(roles.map { finding.columns[$0] }.filter { $0 >= 0 })
      }
      let (doses, foods) = (places(GenericRole.doses), places(GenericRole.foods))
      let measured = places(GenericRole.measured)
      hasReadings = !measured.isSubset(of: doses.union(foods))
      hasBoth = !doses.isEmpty && !foods.isEmpty && doses.isDisjoint(with: foods)
      sharesReadings = !measured.isDisjoint(with: doses.union(foods))
      sharesAmounts = !doses.isDisjoint(with: foods)
    }
  }

  private static func signs(in finding: GenericFinding, isFood: Bool) -> [Sign] {
    let roles = Roles(finding)
    let used = (GenericRole.doses + GenericRole.foods + [.time, .date, .clock]).map { finding.columns[$0] }
    return finding.header.names.indices.compactMap { place in
      if used.contains(place) { return nil }
      let isOfUse = place == finding.columns[.use]
      guard let use = isOfUse ? .kindOfDose : use(of: finding.header.words[place]) else { return nil }
      let cells = finding.header.cells(place)
      if use == .kindOfDose { return isFood || cells.isEmpty ? nil : Sign(place: place, use: use) }
      // If the table has both doses and food, a column of units can be about either, so it is not read.
      if roles.hasReadings || (use == .unit && roles.hasBoth) { return nil }
      // A column whose words are on no list does not state what the amounts are.
      let isEvident = cells.contains { cell in
        let word = HeaderWords(cell)
        if case .other = verdict(word, use, isFood: isFood), !isFood { return true }
        return isEvidence(word, use, isFood: isFood)
      }
      return isEvident || [.state, .priming].contains(use) ? Sign(place: place, use: use) : nil
    }
  }

  /// Whether a word shows that its column states the kind, the unit or the state of amounts.
  private static func isEvidence(_ word: HeaderWords, _ use: Use, isFood: Bool) -> Bool {
    switch use {
    case .kind where isFood:
      // The name of a food can have words such as `weight` or `glucose`.
      isDose(word) || word.isGlucose || !word.words.isDisjoint(with: carbohydrates)
        || word.consists(of: activities)
    case .kind: isDose(word) || word.consists(of: doseWords)
    case .state: !word.words.isDisjoint(with: given.union(notGiven))
    case .kindOfDose, .unit, .priming: true
    }
  }

  /// Whether the amounts of a row are read. Otherwise the row is counted or rejected.
  ///
  /// - Parameter isFoodRead: whether the same amount of the row is read as food, so that nothing is missing.
  mutating func reads(
    _ row: Row, _ places: GenericColumns, isFoodRead: Bool = false, into out: inout BatchBuilder
  ) -> Bool {
    guard let (column, verdict) = firstObjection(to: row, places) else { return true }
    if isFoodRead || sharesReadings { return false }
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
    let verdict = verdict(HeaderWords(cell.text), of: columns[index])
    if columns[index].verdicts.count < Self.maxWords { columns[index].verdicts[bytes] = verdict }
    return verdict
  }

  private func verdict(_ word: HeaderWords, of column: Column) -> Verdict {
    let verdict = Self.verdict(word, column.use, isFood: isFood, namesDoses: column.namesDoses)
    switch verdict {
    case .other(Self.foodName), .other(Self.insulinName): return hasBoth ? .read : verdict
    case .unknown where column.isPicked: return .read
    case .unknown where column.use == .state && !column.isEvident: return .read
    case .read, .other, .unknown: return verdict
    }
  }

  private static func use(of name: HeaderWords) -> Use? {
    if name.role == .unit { return .unit }
    if !name.words.isDisjoint(with: primingWords) { return .priming }
    if !name.words.isDisjoint(with: states) { return .state }
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

  /// - Parameter namesDoses: whether one of the first words of the column names a dose.
  private static func verdict(
    _ word: HeaderWords, _ use: Use, isFood: Bool, namesDoses: Bool = false
  ) -> Verdict {
    switch use {
    case .unit:
      // A column of numbers, such as `Units`, states amounts and not their unit.
      let isNumber = word.name.contains(where: \.isNumber) && !word.name.contains(where: \.isLetter)
      if isNumber || (isFood ? grams : units).contains(word.name) { return .read }
      return .other("amount in another unit")
    case .priming: return yes.contains(word.name) ? .other("priming of a pen or pump") : .read
    case .state:
      if !word.words.isDisjoint(with: notGiven) { return .other("dose that was not given") }
      return word.words.isDisjoint(with: given) ? .unknown : .read
    case .kind: return isFood ? foodVerdict(word) : doseVerdict(word, namesDoses)
    case .kindOfDose:
      let verdict = doseVerdict(word, namesDoses)
      // A word on no list may be the name of an insulin.
      if case .unknown = verdict, !isCode(word.name), !word.consists(of: meals) { return .read }
      return verdict
    }
  }

  private static func doseVerdict(_ word: HeaderWords, _ namesDoses: Bool = false) -> Verdict {
    if !word.words.isDisjoint(with: primingWords) { return .other("priming of a pen or pump") }
    if !word.words.isDisjoint(with: notGiven) { return .other("dose that was not given") }
    if !word.words.isDisjoint(with: rates) { return .other("basal rate") }
    if !word.words.isDisjoint(with: ["iob", "active", "aktiv"]) { return .other("active insulin") }
    // `Fast acting carbs` is food, although `fast` is also the use of an insulin.
    if !word.words.isDisjoint(with: carbohydrates), !word.namesDose { return .other(foodName) }
    if word.consists(of: meals) { return namesDoses ? .unknown : .read }
    if isDose(word) || word.consists(of: doseWords) { return .read }
    return otherName(word).map { .other($0) } ?? .unknown
  }

  /// Whether a word by itself says that the amount is a dose.
  private static func isDose(_ word: HeaderWords) -> Bool {
    word.namesDose
      || (InsulinName.subtype(word.name) != nil && word.words.isDisjoint(with: carbohydrates))
  }

  private static func foodVerdict(_ word: HeaderWords) -> Verdict {
    if isDose(word) { return .other(insulinName) }
    if !word.words.isDisjoint(with: primingWords) { return .other("priming of a pen or pump") }
    if !word.words.isDisjoint(with: carbohydrates.union(meals)) { return .read }
    // `Glucose tablets` are food.
    if word.mentionsGlucose, !word.isGlucose { return .unknown }
    return otherName(word).map { .other($0) } ?? .unknown
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
  private static let foodName = "carbohydrates"
  private static let insulinName = "insulin"
  private static let primingWords: Set<String> = [
    "airshot", "cannula", "fill", "prime", "primed", "priming", "tubing",
  ]
  /// Words in the name of a column that states whether a dose was given.
  private static let states: Set<String> = [
    "completion", "estado", "state", "stato", "status", "statut", "zustand",
  ]
  private static let given: Set<String> = [
    "abgegeben", "administered", "complete", "completed", "delivered", "done", "given", "ok", "success",
    "successful", "taken", "verabreicht",
  ]
  private static let notGiven: Set<String> = [
    "aborted", "abgebrochen", "abgelehnt", "annulé", "canceled", "cancelled", "declined", "deleted", "failed",
    "geplant", "ikke", "inte", "missed", "nicht", "niet", "not", "pending", "planned", "recommended",
    "refused", "rejected", "scheduled", "skipped", "storniert", "suggested", "undelivered", "void", "voided",
    "vorgeschlagen",
  ]
  private static let doseWords: Set<String> = [
    "acting", "auto", "automatic", "bolus", "breakfast", "combo", "completed", "correction", "delivered",
    "dinner", "dose", "dual", "extended", "food", "given", "injection", "long", "lunch", "manual", "meal",
    "normal", "pen", "pump", "quick", "rapid", "short", "smb", "snack", "square", "superbolus",
  ]
  private static let corrections: Set<String> = ["corrección", "correction", "korrektur"]
  private static let carbohydrates: Set<String> = [
    "carb", "carbohydrate", "carbohydrates", "carbs", "cho", "glucides", "hidratos", "kh", "khe",
    "kohlenhydrate", "koolhydraten",
  ]
  /// Words for meals. For a dose, they can also say what it was for.
  private static let meals: Set<String> = [
    "breakfast", "brunch", "comida", "dessert", "dinner", "drink", "essen", "food", "lunch", "mahlzeit",
    "meal", "repas", "snack", "supper",
  ]
  private static let activities: Set<String> = [
    "activity", "calories", "exercise", "heart", "hba1c", "note", "pressure", "pulse", "sleep", "sport",
    "steps",
    "weight", "workout",
  ]
}

extension HeaderWords {
  /// Whether there are words, and all of them are in the set.
  fileprivate func consists(of set: Set<String>) -> Bool { !words.isEmpty && words.isSubset(of: set) }
}
