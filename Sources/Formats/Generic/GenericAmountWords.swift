// SPDX-License-Identifier: Apache-2.0

import Logbook

/// What a word in a column means for the amount of its row.
enum AmountVerdict {
  /// The amount is of the kind in question: a dose, or food.
  case positive
  /// The word does not show what the amount is.
  case neutral
  /// The amount is something else. It is counted under this name.
  case other(String)
  /// The amount may be of the kind in question or something else.
  case unknown
}

/// What the words of a column of kinds name, as far as its rows were examined.
///
/// A word for a meal can also state the reason of a dose. Only the other words of its column show its
/// meaning.
struct AmountKinds {
  /// Whether a word names a dose, and not only a meal or a correction.
  private(set) var haveDoses = false
  private(set) var haveCorrections = false
  private(set) var haveCarbohydrates = false
  /// Whether a word is a general one for a meal, such as `Food`.
  private(set) var haveMeals = false
  /// Whether a word names glucose, ketones or an activity.
  private(set) var haveOthers = false
  private(set) var haveUnknown = false

  mutating func observe(_ word: HeaderWords) {
    if AmountWords.isGeneralMeal(word) { haveMeals = true }
    if !word.words.isDisjoint(with: AmountWords.corrections) { haveCorrections = true }
    if AmountWords.isMealOrCorrection(word) { return }
    switch AmountWords.doseVerdict(word, AmountKinds()) {
    case .positive: if AmountWords.namesDoseItself(word) { haveDoses = true }
    case .other(AmountWords.foodName): haveCarbohydrates = true
    case .other: if AmountWords.namesOtherThing(word) { haveOthers = true }
    case .neutral, .unknown: haveUnknown = true
    }
  }

  /// Whether the words name kinds of rows, so that only some of the rows have the amounts.
  var areOfRows: Bool {
    [haveDoses, haveCarbohydrates || haveMeals, haveOthers].count { $0 } > 1
  }

  /// What a word for a meal means for a dose in its row.
  var verdictOnMeals: AmountVerdict {
    if haveCarbohydrates || haveDoses {
      return haveOthers && !haveCorrections ? .other(AmountWords.foodName) : .unknown
    }
    if haveOthers { return haveCorrections ? .unknown : .other(AmountWords.foodName) }
    return haveUnknown && !haveCorrections ? .unknown : .positive
  }
}

/// The words that state the kind, the unit or the state of amounts of insulin or carbohydrates.
enum AmountWords {
  /// What a column states about the amount of its row.
  enum SignUse { case kind, kindOfDose, unit, state, priming }

  static let foodName = "carbohydrates"
  static let insulinName = "insulin"

  /// - Parameters:
  ///   - kinds: what the other words of the column name.
  ///   - isFood: whether the amounts are carbohydrates and not doses.
  static func verdict(
    _ word: HeaderWords, _ use: SignUse, isFood: Bool, _ kinds: AmountKinds = AmountKinds()
  ) -> AmountVerdict {
    switch use {
    case .unit:
      // A column of numbers, such as `Units`, states amounts and not their unit.
      let isNumber = word.name.contains(where: \.isNumber) && !word.name.contains(where: \.isLetter)
      if isNumber { return .neutral }
      return (isFood ? grams : units).contains(word.name) ? .positive : .other("amount in another unit")
    case .priming: return yes.contains(word.name) ? .other("priming of a pen or pump") : .neutral
    case .state:
      if !word.words.isDisjoint(with: notGiven) { return .other("dose that was not given") }
      return word.words.isDisjoint(with: given) ? .unknown : .neutral
    case .kind: return isFood ? foodVerdict(word) : doseVerdict(word, kinds)
    case .kindOfDose:
      let verdict = doseVerdict(word, kinds)
      // A word on no list may be the name of an insulin. A phrase such as `Bolus edited` is an event only if
      // other rows have plain words for a dose.
      if case .unknown = verdict, !GenericAmountRows.isCode(word.name), !word.consists(of: meals),
        !(kinds.haveDoses && mayBeEvent(word))
      {
        return .neutral
      }
      return verdict
    }
  }

  static func doseVerdict(_ word: HeaderWords, _ kinds: AmountKinds) -> AmountVerdict {
    if !word.words.isDisjoint(with: primingWords) { return .other("priming of a pen or pump") }
    if !word.words.isDisjoint(with: notGiven) { return .other("dose that was not given") }
    if !word.words.isDisjoint(with: rates) { return .other("basal rate") }
    if !word.words.isDisjoint(with: ["iob", "active", "aktiv"]) { return .other("active insulin") }
    // `Fast acting carbs` is food, although `fast` is also the use of an insulin.
    if !word.words.isDisjoint(with: carbohydrates), !word.namesDose { return .other(foodName) }
    if word.consists(of: meals) { return kinds.verdictOnMeals }
    if isDose(word) || word.consists(of: doseWords) { return .positive }
    if mentionsDose(word) { return .unknown }
    return otherName(word).map { .other($0) } ?? .unknown
  }

  private static func foodVerdict(_ word: HeaderWords) -> AmountVerdict {
    // `Long grain rice` and `Fast food` are food, although `long` is also the use of an insulin.
    if isDose(word) || mayBeEvent(word) { return .other(insulinName) }
    if !word.words.isDisjoint(with: primingWords) { return .other("priming of a pen or pump") }
    if !word.words.isDisjoint(with: carbohydrates.union(meals)) { return .positive }
    // `Glucose tablets` are food.
    if word.mentionsGlucose, !word.isGlucose { return .unknown }
    return otherName(word).map { .other($0) } ?? .unknown
  }

  /// Whether a text has a word for a dose or an insulin.
  private static func mentionsDose(_ word: HeaderWords) -> Bool {
    word.namesDose
      || (InsulinName.subtype(word.name) != nil && word.words.isDisjoint(with: carbohydrates))
  }

  /// Whether a text by itself shows that the amount is a dose. The log of an app has rows such as `Bolus
  /// removed`, so each word must be known. The name of an insulin can have any further words.
  private static func isDose(_ word: HeaderWords) -> Bool {
    guard mentionsDose(word) else { return false }
    let parts = parts(of: word)
    if parts.allSatisfy(isOfDose) { return true }
    let rest = parts.filter { !isOfDose($0) || isOfProduct($0) }
    return InsulinName.subtype(rest.joined(separator: " ")) != nil
  }

  /// Whether a word is one for insulin or the name of an insulin, and not a word for its use, such as
  /// `bolus`.
  private static func isOfProduct(_ part: String) -> Bool {
    // Only names, and not words for a use, are also found inside a longer word.
    InsulinName.subtype("x\(part)x") != nil || (!nounsOfDoses.contains(part) && HeaderWords(part).namesDose)
  }

  private static func parts(of word: HeaderWords) -> [String] {
    word.name.split { !$0.isLetter && !$0.isNumber }.map(String.init)
  }

  /// Whether a word can be a part of a name for a dose.
  private static func isOfDose(_ part: String) -> Bool {
    // The lists are examined first, since an examination of the word is slow.
    if partsOfDoses.contains(part) || part.allSatisfy(\.isNumber) || InsulinName.subtype(part) != nil {
      return true
    }
    let word = HeaderWords(part)
    return word.namesDose || word.isMeal || word.mentionsGlucose
  }

  private static let partsOfDoses = [
    doseWords, meals, corrections, carbohydrates, given, kindWords, insulinWords, units, companions,
  ].reduce(into: Set<String>()) { $0.formUnion($1) }

  /// Whether a short text on no list has a word for a dose, but none for insulin, as `Bolus edited` has. It
  /// may be an event and not the name of an insulin. A longer text is a remark.
  private static func mayBeEvent(_ word: HeaderWords) -> Bool {
    let parts = parts(of: word)
    return parts.count <= maxEventWords && !mentionsInsulin(parts)
      && parts.contains { nounsOfDoses.contains($0) || corrections.contains($0) }
  }
  private static let maxEventWords = 4

  private static func mentionsInsulin(_ parts: [String]) -> Bool {
    parts.contains { !nounsOfDoses.contains($0) && HeaderWords($0).namesDose }
  }

  /// Whether a positive word names a dose, and not only its course, as `Extended` does.
  static func namesDoseItself(_ word: HeaderWords) -> Bool {
    mentionsDose(word) || !word.words.isDisjoint(with: nounsOfDoses)
  }

  static func namesOtherThing(_ word: HeaderWords) -> Bool { !mentionsDose(word) && otherName(word) != nil }

  static func isMealOrCorrection(_ word: HeaderWords) -> Bool {
    word.consists(of: meals.union(corrections)) || MealMark.isMark(word.name)
  }

  static func isGeneralMeal(_ word: HeaderWords) -> Bool { word.consists(of: nounsOfMeals) }

  /// Whether a word shows that its column states the kind, the unit or the state of amounts.
  ///
  /// - Parameter isOfRows: whether the column is named for kinds of rows. In another column, such as `Label`,
  ///   a phrase with a word for a dose can be a remark.
  static func isEvidence(_ word: HeaderWords, _ use: SignUse, isFood: Bool, isOfRows: Bool) -> Bool {
    switch use {
    case .kind where isFood:
      // The name of a food can have words such as `weight` or `glucose`.
      return isDose(word) || word.isGlucose || !word.words.isDisjoint(with: carbohydrates)
        || word.consists(of: activities)
    case .kind:
      if case .other = doseVerdict(word, AmountKinds()) { return true }
      return (isOfRows ? mentionsDose(word) : isDose(word)) || word.consists(of: doseWords)
    case .state: return !word.words.isDisjoint(with: given.union(notGiven))
    case .kindOfDose, .unit, .priming: return true
    }
  }

  /// Whether a word states the use of a dose, or that its amount is something else.
  static func statesUse(_ cell: String) -> Bool {
    if case .other = doseVerdict(HeaderWords(cell), AmountKinds()) { return true }
    return InsulinName.subtype(cell) != nil
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
  static let kindWords: Set<String> = [
    "art", "category", "class", "code", "kategorie", "kind", "mode", "rodzaj", "slag", "soort", "tipo", "typ",
    "type", "types",
  ]
  static let insulinWords: Set<String> = [
    "basal", "bolus", "delivery", "dosis", "dose", "injection", "insulin", "insulina", "insuline", "insuliny",
  ]
  /// Words that are names for the kinds of doses.
  static let kindsOfDoses: Set<String> = [
    "bolusart", "bolustyp", "bolustype", "dosetype", "insulinart", "insulinekind", "insulinkind",
    "insulinsoort",
    "insulinesoort", "insulintyp", "insulintype", "insulinetype",
  ]
  static let primingWords: Set<String> = [
    "airshot", "cannula", "fill", "prime", "primed", "priming", "tubing",
  ]
  /// Words in the name of a column that states whether a dose was given.
  static let states: Set<String> = [
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
  /// The words among these for a dose itself, and not for its reason or its course.
  private static let nounsOfDoses: Set<String> = [
    "basal", "bolus", "dose", "injection", "pen", "pump", "smb", "superbolus",
  ]
  static let corrections: Set<String> = ["corrección", "correction", "korrektur"]
  /// Other words of a name for a dose, as in `Bolus entry`, `Evening bolus` or `Insulin delivery in U`.
  private static let companions: Set<String> = [
    "a", "analog", "analogue", "and", "calculator", "des", "easy", "entry", "evening", "for", "für",
    "hkquantity",
    "human", "identifier", "in", "injected", "inpen", "iv", "micro", "microbolus", "morning", "multiwave",
    "night", "of", "or", "per", "quick", "record", "regular", "remote", "sc", "standard", "subcutaneous",
    "super",
    "syringe", "the", "to", "treatment", "und", "wave", "with", "wizard", "zu", "zum", "zur",
  ]
  private static let carbohydrates: Set<String> = [
    "carb", "carbohydrate", "carbohydrates", "carbs", "cho", "glucides", "hidratos", "kh", "khe",
    "kohlenhydrate", "koolhydraten",
  ]
  /// Words for meals. For a dose, they can also state what it was for.
  private static let meals: Set<String> = [
    "breakfast", "brunch", "comida", "dessert", "dinner", "drink", "essen", "food", "lunch", "mahlzeit",
    "meal", "repas", "snack", "supper",
  ]
  /// General words for a meal, which no app uses for one food.
  private static let nounsOfMeals: Set<String> = ["essen", "food", "mahlzeit", "meal", "repas"]
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
