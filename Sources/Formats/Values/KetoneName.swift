// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Whether the name of a column is one for ketones in blood, in mmol/L.
///
/// Strips for urine have 1 to 4 plus signs, breath has ppm, and some programs have mg/dL. So a name is one of ketones only by
/// a word for them and words of a closed list, as with glucose.
extension HeaderWords {
  /// Whether the header is a name for ketone values. A name for both kinds does not say which kind a row is.
  var isKetone: Bool {
    guard !name.contains("+"), !mentionsGlucose else { return false }
    let parts = name.split { !$0.isLetter && !$0.isNumber }.map(String.init)
    return parts.contains { Self.ketoneWords.contains($0) }
      && parts.allSatisfy { Self.ketoneWords.contains($0) || Self.harmlessKetoneWords.contains($0) }
  }

  /// Why a column that a person named for ketones does not hold them in mmol/L by its own name; nil if nothing shows it.
  var reasonAgainstKetones: String? {
    if unit == .milligramsPerDecilitre { return "is in mg/dL; divide its values by 10.4 for mmol/L" }
    let other = name.split { !$0.isLetter }.first { part in
      Self.otherKetoneStems.contains { part.hasPrefix($0) } || ["ppm", "breath", "atem"].contains(part)
    }
    return other == nil && !name.contains("+") ? nil : "is not of blood, whose ketones are in mmol/L"
  }

  private static let otherKetoneStems = [
    "urin", "orin", "aceton", "acéton", "cetonuri", "cétonuri", "ketonuri",
  ]

  private static let ketoneWords: Set<String> = [
    "keton", "ketone", "ketones", "ketonen", "ketoner", "ketonwert", "ketonwerte", "ketonkörper",
    "ketonkoerper",
    "blutketon", "blutketone", "blutketonwert", "bloedketonen", "blodketon", "blodketoner", "bloodketone",
    "bloodketones", "cetona", "cetonas", "cetónicos", "cetônicos", "cetonemia", "cétone", "cétones",
    "cétoniques",
    "cétonémie", "cetone", "cetones", "chetone", "chetoni", "chetonici", "chetonemia", "ketonemia",
    "ketonaemia",
    "ketonämie", "ketony", "ketonów", "ketonowe", "ketonlegemer", "ketonlichamen", "ketonkroppar",
    "ketonstof",
    "ketonstoffer", "betahydroxybutyrat", "betahydroxybutyrate", "bhb", "bohb", "hidroxibutirato",
    "hydroxybutyraat", "hydroxybutyrat", "hydroxybutyrate", "hydroxybutyric", "idrossibutirrato", "βhb",
  ]
  private static let harmlessKetoneWords: Set<String> = [
    "blood", "blut", "bloed", "blod", "sang", "sanguin", "sangre", "sangue", "krwi", "level", "levels",
    "value", "values",
    "reading", "readings", "result", "results", "measurement", "test", "wert", "werte", "messwert", "valeur",
    "valeurs",
    "valor", "valores", "valore", "valori", "waarde", "værdi", "värde", "verdi", "mmol", "l", "mmoll", "per",
    "beta", "β", "ß",
    "d", "acid", "3", "oh", "ohb", "body", "bodies", "corps", "corpi",
    "cuerpos", "corpos",
    "ciała", "capillary", "kapillar", "finger", "fingerstick", "sensor", "meter", "in", "of", "im", "de",
    "en", "nel", "w", "ve", "we", "krvi", "b",
    "i", "dans", "le", "no", "na",
  ]
}

extension GenericFinding {
  /// The question for a column of ketones that has no unit and only whole numbers, as the marks of a urine strip.
  var wholeKetonesProblem: GenericProblem? {
    let place = columns[.ketone]
    guard place >= 0, header.words[place].isKetone, header.words[place].unit == nil else { return nil }
    let cells = header.cells(place)
    let numbers = cells.compactMap { $0.withField { $0.trimmed.integer } }
    guard numbers.count == cells.count, numbers.contains(where: { $0 > 0 }),
      numbers.allSatisfy({ PlausibleAmounts.ketone.contains(Double($0)) })
    else { return nil }
    let others = columns.without(.ketone)
    return GenericProblem(
      "the column \(quoted([place])) has only whole numbers and no unit, so that they may be the marks of a urine strip, and not "
        + "ketones of blood in mmol/L",
      choices: columns[.value] >= 0 || columns[.smbg] >= 0 ? [others, columns] : [columns])
  }

  /// - Throws: `Failure` of category `badInput` if a person named a column for ketones that holds others by its name.
  func requireBloodKetones() throws {
    let place = columns[.ketone]
    guard place >= 0, let reason = header.words[place].reasonAgainstKetones else { return }
    throw Failure(
      .badInput,
      "the column \(quoted([place])) \(reason); leave it out of --map, or add --force if its name is wrong")
  }
}
