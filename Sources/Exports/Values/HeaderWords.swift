// SPDX-License-Identifier: Apache-2.0

import Logbook

/// What a column's name says, in the languages of the exports: en, de, fr, nl, es, it, da, sv, nb.
struct HeaderWords {
  /// The name as headers are compared, with `_` and `-` as blanks.
  let name: String
  /// Its runs of letters and digits; those that change from lower to upper case also parted there.
  private let words: Set<String>

  init(_ header: String) {
    var parted = ""
    var last: Character = " "
    for character in header {
      if last.isLowercase, character.isUppercase { parted.append(" ") }
      parted.append(character)
      last = character
    }
    let isPart = { (character: Character) in character.isLetter || character.isNumber }
    let whole = foldedHeader(header).split { !isPart($0) }.map(String.init)
    let parts = foldedHeader(parted).split { !isPart($0) }.map(String.init)
    words = Set(whole + parts)
    name = foldedHeader(parted).split { $0 == "_" || $0 == "-" || $0 == " " }.joined(separator: " ")
  }

  var isTime: Bool { hasStem(Self.timeStems) || !words.isDisjoint(with: Self.timeWords) }

  /// Whether it names glucose values themselves, and no change, limit or mean of them.
  var isGlucose: Bool {
    !isNoValue && (unit != nil || mentionsGlucose)
  }

  /// Whether it has to do with glucose in any way.
  var mentionsGlucose: Bool { hasStem(Self.glucoseStems) || !words.isDisjoint(with: Self.glucoseWords) }

  /// Whether it names a value without saying of what.
  var isValue: Bool { !isNoValue && !words.isDisjoint(with: Self.valueWords) }

  /// Whether it names ketone values. One name for both kinds says of no row which of them it is.
  var isKetone: Bool {
    hasStem(Self.ketoneStems) && !mentionsGlucose && words.isDisjoint(with: ["unit", "units"])
  }

  var isMeal: Bool { hasStem(Self.mealStems) }

  /// Whether only sensors have what it names.
  var isTrend: Bool { words.contains("trend") || words.contains("trendpfeil") }

  var unit: GlucoseUnit? {
    if words.contains("mgdl") || (words.contains("mg") && words.contains("dl")) {
      return .milligramsPerDecilitre
    }
    return words.contains { $0.hasPrefix("mmol") } ? .millimolesPerLitre : nil
  }

  /// The kind of reading that it names.
  var kind: ReadingKind? {
    if isKetone { return .ketone }
    if words.contains("scan") || name.contains("gescannt") { return .scan }
    return hasStem(Self.sensorStems) ? .cbg : nil
  }

  /// The role that a name settles by itself.
  var role: GenericRole? { Self.roles.first { $0.names.contains(name) }?.role }

  /// Names of columns that tell what kind of row it is.
  var isRowType: Bool { Self.kindNames.contains(name) }

  private var isNoValue: Bool { hasStem(Self.noValueStems) || !words.isDisjoint(with: Self.noValueWords) }

  private func hasStem(_ stems: [StaticString]) -> Bool {
    name.withField { field in
      stems.contains { stem in
        let last = field.count - stem.utf8CodeUnitCount
        return last >= 0 && (0...last).contains { field.slice($0, field.count).starts(with: stem) }
      }
    }
  }

  private static let timeStems: [StaticString] = [
    "time", "zeit", "datum", "dato", "date", "fecha", "hora", "heure", "horod", "tijd", "tidspunkt",
    "tidpunkt",
    "tidsst", "klok", "orario",
  ]
  private static let timeWords: Set<String> = [
    "ts", "data", "ora", "tid", "epoch", "jour", "day", "dag", "tag", "día", "dia", "giorno", "when",
    "recorded",
    "created",
  ]
  private static let glucoseStems: [StaticString] = [
    "gluco", "gluko", "glucem", "glicem", "glycem", "glycém", "glykem", "glykäm", "glycaem", "sugar",
    "zucker",
    "suiker", "sukker", "socker",
  ]
  private static let glucoseWords: Set<String> = [
    "bg", "bgl", "bz", "sgv", "mbg", "egv", "cbg", "smbg", "cgm", "cgms", "bgm", "glu", "bgvalue",
  ]
  private static let valueWords: Set<String> = [
    "value", "wert", "messwert", "valeur", "valor", "valore", "waarde", "værdi", "värde", "verdi", "reading",
    "readings", "result", "level",
  ]
  private static let noValueStems: [StaticString] = [
    "keton", "ceton", "céton", "cheton", "insulin", "glucid", "glucag", "carb", "a1c", "hémoglob", "hemoglob",
    "target", "threshold", "average", "kohlenhydr", "input", "eingabe",
    // Goals, limits and alarms.
    "alert", "alarm", "goal", "ziel", "objetivo", "obiettivo", "objectif", "cible", "schwelle", "grenz",
    // Means and guesses.
    "mittel", "durchschnitt", "moyen", "promedio", "gemiddeld", "gennemsnit", "genomsnitt", "gjennomsnitt",
    "median", "predict", "forecast", "estimate",
    // Values that adjust a sensor, and those of other things.
    "calib", "kalib", "urin", "pressure", "blutdruck", "heart", "pulse", "weight", "gewicht", "temperat",
    "oxygen", "cholest",
  ]
  private static let noValueWords: Set<String> = [
    "rate", "change", "delta", "trend", "min", "max", "avg", "mean", "std", "sd", "stdev", "limit", "factor",
    "unit", "units", "time", "timestamp", "date", "id", "type", "note", "notes", "device", "serial", "range",
    "diff", "direction", "meter", "low", "high", "lower", "upper", "gmi", "eag", "raw", "media", "mål",
    "streefwaarde",
  ]
  private static let ketoneStems: [StaticString] = ["keton", "ceton", "céton", "cheton"]
  private static let sensorStems: [StaticString] = [
    "sensor", "cgm", "cbg", "histor", "egv", "sgv", "continuous", "gewebe", "interstit",
  ]
  private static let mealStems: [StaticString] = [
    "breakfast", "lunch", "dinner", "supper", "bedtime", "meal", "snack", "frühstück", "mittag", "abend",
    "déjeuner", "dîner", "repas", "ontbijt", "avondeten", "desayuno", "almuerzo", "comida", "cena",
    "colazione",
    "pranzo", "morgenmad", "frokost", "aftensmad", "frukost", "middag",
  ]
  private static let kindNames: Set<String> = [
    "type", "kind", "record type", "event type", "reading type", "typ", "art", "tipo", "soort", "slag",
    "item type", "entry type", "data type", "sample type", "test type", "measurement type", "metric",
  ]
  private static let roles: [(role: GenericRole, names: Set<String>)] = [
    (.kind, kindNames),
    (
      .unit,
      [
        "unit", "units", "glucose unit", "glucose units", "value unit", "unit of measure", "einheit",
        "einheiten",
        "unité", "unités", "eenheid", "eenheden", "unidad", "unidades", "unità", "enhed", "enhet",
      ]
    ),
    (
      .control,
      [
        "control", "control test", "control solution", "is control", "is control test",
        "is control solution", "control sample", "funktionskontrolle", "kontrolllösung", "kontrolle",
        "kontrolltest", "kontrollmessung", "test de contrôle", "solution de contrôle", "controletest",
        "controlevloeistof", "prueba de control", "solución de control", "test di controllo",
        "soluzione di controllo", "kontroltest", "kontrolvæske", "kontrollösning", "kontrolløsning",
      ]
    ),
    (
      .device,
      [
        "device", "device name", "device model", "meter", "model", "gerät", "messgerät", "appareil",
        "apparaat",
        "dispositivo", "apparat",
      ]
    ),
    (
      .serial,
      [
        "serial", "serial number", "serial no", "serial no.", "sn", "device serial", "device serial number",
        "device id", "seriennummer", "numéro de série", "serienummer", "número de serie", "numero di serie",
      ]
    ),
  ]
}
