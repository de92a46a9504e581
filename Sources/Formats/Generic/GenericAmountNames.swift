// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The names of columns that hold no doses of insulin, or no grams of carbohydrates, although a person named
/// them for these.
///
/// A pump writes its basal rate in each row. Read as doses, 0.8 U/h each 5 minutes are 230 U a day.
enum AmountName {
  /// Words for one meaning, and what a column of this meaning holds.
  private struct Meaning {
    let text: String
    let words: Set<String>
  }

  private static let ofBoth = [
    Meaning(
      text: "holds a ratio, a factor or a limit",
      words: [
        "factor", "faktor", "goal", "icr", "index", "isf", "limit", "max", "maximum", "minimum",
        "ratio", "sensitivity", "target", "ziel", "zielwert",
      ]),
    Meaning(
      text: "holds what is still active",
      words: [
        "active", "activa", "actieve", "actif", "aktiv", "aktives", "aktywna", "ativa", "attiva", "board",
        "bob", "cob", "iob", "restinsulin", "активный",
      ]),
    Meaning(
      text: "holds a sum of the day",
      words: [
        "daily", "diaria", "diária", "gesamtinsulin", "gesamttagesdosis", "giornaliera", "journalière",
        "quotidienne", "tagesdosis", "tagesinsulin", "tagessumme", "tdd", "tdi",
      ]),
    Meaning(
      text: "holds what was recommended",
      words: [
        "calculated", "consigliata", "empfohlen", "empfohlene", "estimated", "proposed", "recomendada",
        "recommandée", "recommended", "sugerida", "suggested", "vorgeschlagen", "zalecana",
      ]),
    Meaning(
      text: "holds a stock or its price",
      words: [
        "cost", "inventory", "kosten", "preis", "price", "remaining", "reservoir", "restante", "stock",
        "verbleibend",
      ]),
  ]

  private static let insulin =
    [
      Meaning(
        text: "holds a rate",
        words: [
          "basalhastighed", "basalrate", "débit", "debiet", "h", "heure", "hora", "hour", "hr", "ora", "rate",
          "rates", "snelheid", "std", "stunde", "tasa", "timme", "tasso", "uur", "velocidad",
        ])
    ] + ofBoth + [
      Meaning(
        text: "is in another unit than U",
        words: ["clicks", "kg", "mg", "ml", "mu", "ng", "nmol", "pmol", "µg", "µl", "µu", "μu"])
    ]

  private static let carbohydrates =
    ofBoth + [
      Meaning(
        text: "is in another unit than g",
        words: [
          "%", "cup", "cups", "kg", "lb", "lbs", "mg", "mmol", "ounce", "ounces", "oz", "part", "parts",
          "percent", "points", "punkte", "unit", "units", "unités",
        ])
    ]

  /// What a column of doses holds instead, by its name; nil if nothing shows it.
  static func reasonAgainstDoses(_ name: String) -> String? { reason(name, insulin) }

  /// What a column of carbohydrates holds instead, by its name; nil if nothing shows it.
  static func reasonAgainstGrams(_ name: String) -> String? { reason(name, carbohydrates) }

  private static func reason(_ name: String, _ meanings: [Meaning]) -> String? {
    var words = HeaderWords(name).words.union(name.contains("%") ? ["%"] : [])
    // A column of mySugr: `Meal Carbohydrates (Grams, Factor 1)`.
    if !words.isDisjoint(with: ["gram", "gramm", "grammes", "grams"]) {
      words.subtract(["factor", "faktor"])
    }
    // `IE pro BE` and `I:C` are ratios.
    let isPerExchange = words.contains("pro") && !words.isDisjoint(with: ["be", "ke", "khe"])
    if isPerExchange || words == ["i", "c"] {
      return ofBoth.first?.text
    }
    return meanings.first { !$0.words.isDisjoint(with: words) }?.text
  }
}

extension GenericFinding {
  /// - Throws: `Failure` of category `badInput` if a person named a column for doses or carbohydrates that holds
  ///   others by its name.
  func requireAmounts() throws {
    for role in GenericRole.foods + GenericRole.doses {
      let isFood = GenericRole.foods.contains(role)
      guard let name = name(of: role),
        let reason = isFood ? AmountName.reasonAgainstGrams(name) : AmountName.reasonAgainstDoses(name)
      else { continue }
      throw Failure(
        .badInput,
        "the column \(quoted([columns[role]])) \(reason), and \(role.name)= is for \(isFood ? "grams" : "doses in U"); "
          + "leave it out of --map, or add --force if its name is wrong")
    }
  }
}
