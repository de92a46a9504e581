// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Recognises by its name a column that does not hold doses of insulin or grams of carbohydrates, although a
/// person chose it for them.
///
/// For example, a pump writes its basal rate in each row. If 0.8 U/h were read as a dose every 5 minutes, the
/// sum would be 230 U a day.
enum AmountName {
  /// A meaning of a column: the words in its name that show the meaning, and its description in messages.
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
      text: "holds a running total",
      words: [
        "accumulated", "acumulada", "acumulado", "akkumuleret", "cumulata", "cumulated", "cumulatief",
        "cumulatif",
        "cumulative", "cumulativo", "cumulato", "cumulé", "cumulée", "cumulés", "kumulativ", "kumulerad",
        "kumuliert", "kumulierte", "kumuliertes", "narastająco", "progressivo", "running", "нарастающим",
        "累計",
        "累计",
      ]),
    Meaning(
      text: "holds what was recommended",
      words: [
        "berechnet", "berechnete", "berechneter", "calculada", "calculado", "calculated", "calculée",
        "calcolata",
        "consigliata", "empfohlen", "empfohlene", "estimated", "proposed", "recomendada", "recomendado",
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

  /// What a column chosen for doses holds according to its name; nil if the name does not exclude doses.
  static func reasonAgainstDoses(_ name: String) -> String? { reason(name, insulin) }

  /// What a column chosen for carbohydrates holds according to its name; nil if the name does not exclude
  /// grams.
  static func reasonAgainstGrams(_ name: String) -> String? { reason(name, carbohydrates) }

  private static func reason(_ name: String, _ meanings: [Meaning]) -> String? {
    var words = HeaderWords(name).words.union(name.contains("%") ? ["%"] : [])
    // mySugr has the column `Meal Carbohydrates (Grams, Factor 1)`, which holds grams and not a factor.
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
  /// - Throws: `Failure` of category `badInput` if a person chose a column for doses or carbohydrates, but
  ///   its name states something else.
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
