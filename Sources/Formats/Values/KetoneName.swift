// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Recognises the names of columns for ketones in blood, in mmol/L.
///
/// Other ketones have other units: strips for urine show 1 to 4 plus signs, breath is measured in ppm, and
/// some programs use mg/dL. So a name must have a word for ketones, and its other words must be in a closed
/// list.
extension HeaderWords {
  /// Whether the header is a name for ketone values. A name that also mentions glucose is not one, since it
  /// does not state which of the two a row holds.
  var isKetone: Bool {
    guard !name.contains("+"), !mentionsGlucose else { return false }
    let parts = name.split { !$0.isLetter && !$0.isNumber }.map(String.init)
    return parts.contains { Self.ketoneWords.contains($0) }
      && parts.allSatisfy { Self.ketoneWords.contains($0) || Self.harmlessKetoneWords.contains($0) }
  }

  /// The reason why the column's own name excludes ketones in mmol/L, although a person chose this column for
  /// ketones. Nil if the name does not exclude them.
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
  /// The problem of a column of ketones that has no unit and only whole numbers: they may be the grades of a
  /// urine strip.
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

  /// - Throws: `Failure` of category `badInput` if a person chose a column for ketones, but its name excludes
  ///   values in mmol/L or values of blood.
  func requireBloodKetones() throws {
    let place = columns[.ketone]
    guard place >= 0, let reason = header.words[place].reasonAgainstKetones else { return }
    throw Failure(
      .badInput,
      "the column \(quoted([place])) \(reason); leave it out of --map, or add --force if its name is wrong")
  }
}
