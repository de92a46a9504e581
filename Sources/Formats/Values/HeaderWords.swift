// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The meaning of a column's name, in the languages of the exports: en, de, fr, nl, es, it, pt, pl, da, sv,
/// nb.
struct HeaderWords {
  /// The name as `foldedHeader` returns it, but with blanks in place of `_` and `-`.
  let name: String
  /// The sequences of letters and digits in the name. A word in `camelCase` is included as a whole and in
  /// parts.
  let words: Set<String>
  /// The meaning of the name, if it is a name for glucose.
  let glucose: GlucoseName

  /// - Parameter header: a column's name. A text that is longer than any name is read as an empty one.
  init(_ header: String) {
    let header = header.utf8.count > Field.maxNameBytes ? "" : header
    glucose = GlucoseName(header)
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

  var isTime: Bool {
    hasStem(Self.timeStems) || !words.isDisjoint(with: Self.timeWords) || Self.momentNames.contains(name)
  }

  /// Whether the header is a name for times in UTC. `GMT+2`, `UTC offset` and `local, not UTC` are not such
  /// names.
  var isTimeOfUTC: Bool {
    !words.isDisjoint(with: Self.utcWords) && words.isDisjoint(with: Self.otherTimeWords)
      && !words.contains { $0.allSatisfy(\.isNumber) }
  }
  private static let utcWords: Set<String> = ["utc", "gmt", "zulu"]
  private static let otherTimeWords: Set<String> = ["offset", "local", "not", "non", "no", "minus", "plus"]

  /// Whether a cell may be the name of a time column. This check is cheaper than `isTime`. If it is false,
  /// `isTime` is false as well.
  static func mayNameTime(_ field: Field) -> Bool {
    guard field.count <= Field.maxNameBytes else { return false }
    for place in 0..<field.count {
      // These bytes can be part of a quote, a mark or a separate accent between two letters of a name.
      // `foldedHeader` may drop them, so the cell may still be a name of a time.
      if [0x22, 0xAF, 0xCC, 0xEF].contains(field[place]) { return true }
      for name in timeNames[Int(field[place])] where begins(field, at: place, with: name) { return true }
    }
    return false
  }

  private static func begins(_ field: Field, at place: Int, with name: [UInt8]) -> Bool {
    for (offset, letter) in name.enumerated() {
      guard place + offset < field.count else { return false }
      // The bytes of a letter outside ASCII depend on its case and the encoding, so any such byte is
      // accepted.
      if letter >= 0x80 { return field[place + offset] >= 0x80 }
      if field[place + offset] | 0x20 != letter { return false }
    }
    return true
  }

  /// The names of times by their first byte. An upper-case letter has the same names as its lower-case
  /// letter.
  private static let timeNames: [[[UInt8]]] = {
    let moments = momentNames.compactMap { $0.split(separator: " ").first }
    let names =
      timeStems.map { Array($0.description.utf8) } + timeWords.map { Array($0.utf8) }
      + moments.map { Array($0.utf8) }
    return (0...255).map { byte in names.filter { Int($0[0]) == byte | 0x20 } }
  }()

  /// Whether the header is a name for glucose values only.
  var isGlucose: Bool { glucose.isGlucose }

  /// Whether the header has a word for glucose, and other words that may change its meaning. Only a person
  /// can know whether the column holds glucose readings.
  var isPossibleGlucose: Bool {
    mentionsGlucose && !isGlucose && !namesNoValue && !glucose.namesOtherTime
  }

  /// Whether the header is related to glucose in any way.
  var mentionsGlucose: Bool {
    hasStem(Self.glucoseStems) || !words.isDisjoint(with: Self.glucoseWords) || glucose.hasGlucoseWord
      || (isSugar && hasStem(Self.bloodStems))
  }

  /// Whether the header names only a value, and not what is measured, as the header `Value` does. This
  /// includes the word sugar by itself, which may mean sugar in food.
  var isValue: Bool { glucose.isValue && !namesNoValue }

  /// Whether the header has a word for a value or for glucose, as the name of a column of values has.
  var mentionsValue: Bool { glucose.mentionsValue || mentionsGlucose }

  /// Whether the header has a word for sugar, in blood or in food.
  var isSugar: Bool { hasStem(Self.sugarStems) }

  /// Whether the header is a name for the time at which a database made or changed its row.
  var isDatabaseStamp: Bool { !words.isDisjoint(with: Self.stampWords) }

  /// Whether the header shows that the table has another subject: cell cultures, blood gases, predictions,
  /// pictures or the weather. In such a table, glucose or BG is not a person's reading.
  var isOfOtherSubject: Bool { !words.isDisjoint(with: Self.otherSubjectWords) }

  /// Whether the header is a name for glucose in grams per litre, as some laboratories write it.
  var isInGramsPerLitre: Bool { mentionsGlucose && statesGramsPerLitre }

  /// Whether the header has the unit grams per litre.
  var statesGramsPerLitre: Bool { words.contains("g") && words.contains("l") }

  /// Whether the column marks rows that are not readings: deleted, invalid, predicted.
  var isFlag: Bool { !mentionsGlucose && !words.isDisjoint(with: Self.flagWords) }

  /// Whether this text, as a cell, states that its row is not a reading. A text of more than three words is a
  /// sentence and does not count.
  var namesNoReading: Bool {
    name.split(separator: " ").count <= 3
      && (!words.isDisjoint(with: Self.noReadingCells) || statesDeletion)
  }

  /// Whether the column may mark rows that are not readings. The name is not enough, since a word such as
  /// `filled` may mean a prescription: all cells must be true or false, too.
  var isPossibleFlag: Bool {
    !words.isDisjoint(with: Self.possibleFlagWords)
      && words.isSubset(
        of: Self.possibleFlagWords.union(Self.qualityWords).union(["is", "was", "row", "point"]))
  }

  /// Whether the header is a name for the quality of the readings, unlike one for the quality of sleep.
  var isOfQuality: Bool {
    !words.isDisjoint(with: ["quality", "signal", "status", "state", "validity"])
      && words.isSubset(of: Self.qualityWords)
  }

  /// Whether a cell in a column of qualities states that its reading is unreliable.
  var namesBadQuality: Bool { !words.isDisjoint(with: Self.badQualityCells) && words.count <= 3 }

  /// Whether the header is a name for a column of remarks in a person's own words.
  var isRemark: Bool { !words.isDisjoint(with: Self.remarkWords) }

  var isMeal: Bool { hasStem(Self.mealStems) }

  /// Whether the header is a name for a sum or an average, or for a number calculated from one.
  var isAggregate: Bool { !words.isDisjoint(with: Self.aggregateWords) }

  /// Whether the header is a name for something that only sensors have.
  var isOfSensor: Bool {
    !words.isDisjoint(with: Self.trendWords) || hasStem(["transmitter", "sensorid"])
      || (words.contains("sensor") && !words.isDisjoint(with: Self.identityWords))
  }

  var unit: GlucoseUnit? {
    if words.contains("mgdl") || (words.contains("mg") && words.contains("dl")) {
      return .milligramsPerDecilitre
    }
    // HbA1c is in mmol/mol, which is not a unit of glucose.
    let isInMillimoles = words.contains { $0.hasPrefix("mmol") || $0.hasPrefix("ммол") }
    return isInMillimoles && words.isDisjoint(with: ["mol", "моль"]) ? .millimolesPerLitre : nil
  }

  /// The kind of reading that the name states.
  var kind: ReadingKind? {
    if isKetone { return .ketone }
    if words.contains("scan") || name.contains("gescannt") { return .scan }
    if hasStem(Self.sensorStems) { return .cbg }
    return hasStem(Self.stripStems) || !words.isDisjoint(with: Self.stripWords) ? .smbg : nil
  }

  /// The role that follows from the name.
  var role: GenericRole? { Self.roles.first { $0.names.contains(name) }?.role }

  /// Whether a column with this name and with cells of yes and no may be one of control tests.
  var isPossibleControl: Bool { Self.vagueControlNames.contains(name) }

  /// Whether the header is a name for a column with the kind of each row.
  var isRowType: Bool { Self.kindNames.contains(name) }

  /// Whether the header is a name for a column of events.
  var isOfEvents: Bool { !words.isDisjoint(with: Self.eventWords) }
  private static let eventWords: Set<String> = [
    "event", "events", "ereignis", "événement", "evento", "gebeurtenis", "hændelse", "händelse", "hendelse",
    "zdarzenie",
  ]

  /// Whether the header is a name for a column that states the device or the method of measurement.
  var isOrigin: Bool {
    // The names in nested objects have dots, as in `metadata.dataOrigin` and `source.name`, so their last
    // parts are examined as well.
    let members = name.split(separator: ".")
    return [name, members.last.map(String.init) ?? "", members.suffix(2).joined(separator: " ")].contains(
      where: Self.originNames.contains)
  }

  /// Whether the header is a name for a column of names: those of what each value measures, or of persons.
  var isName: Bool { Self.nameNames.contains(name) }

  /// Whether the header is a name for a column that may state what each value measures, or that describes the
  /// rows of a diary.
  var isPossibleName: Bool { Self.possibleNames.contains(name) }

  /// Whether the header is a name for a limit, a mean, a date or something else that is not a reading.
  var namesNoValue: Bool {
    namesOther || hasStem(Self.noValueStems) || !words.isDisjoint(with: Self.noValueWords)
      || glucose.unknown.contains(where: Self.noReadingWords.contains)
  }

  /// Whether the header is a name for a number that a database assigns to its rows.
  var isCounter: Bool { hasStem(["counter", "version", "revision", "sequence"]) }

  func hasStem(_ stems: [StaticString]) -> Bool {
    name.withField { field in
      stems.contains { stem in
        let last = field.count - stem.utf8CodeUnitCount
        return last >= 0 && (0...last).contains { field.slice($0, field.count).starts(with: stem) }
      }
    }
  }

  private static let timeStems: [StaticString] = [
    "time", "zeit", "datum", "dato", "date", "fecha", "hora", "heure", "horod", "tijd", "tidspunkt",
    "tidpunkt", "tidsst", "klok", "orario",
  ]
  private static let timeWords: Set<String> = [
    "ts", "data", "ora", "tid", "czas", "godzina", "epoch", "jour", "day", "dag", "tag", "día", "dia",
    "giorno", "when", "recorded", "occurred", "created",
  ]
  private static let momentNames: Set<String> = [
    "measured at", "measured on", "taken at", "taken on", "tested at", "tested on", "sampled at", "logged at",
    "collected at", "collected on", "observed at", "read at", "entered at",
  ]
  private static let glucoseStems: [StaticString] = [
    "gluco", "gluko", "glucem", "glicem", "glycem", "glycém", "glykem", "glykäm", "glycaem", "glicos",
    "blutzucker",
  ]
  private static let sugarStems: [StaticString] = [
    "sugar", "zucker", "suiker", "sukker", "socker", "azúcar", "azucar", "sucre", "zuccher", "açúcar",
    "acucar", "cukier", "cukr",
  ]
  private static let bloodStems: [StaticString] = [
    "blood", "blut", "bloed", "blod", "sangre", "sang", "krwi",
  ]
  private static let glucoseWords: Set<String> = [
    "bg", "bgl", "bz", "sgv", "mbg", "egv", "cbg", "smbg", "cgm", "cgms", "bgm", "glu", "gl", "bgvalue",
  ]
  private static let noValueStems: [StaticString] = [
    "glucag", "target", "threshold", "average", "input", "eingabe",
    // Goals, limits and alarms.
    "alert", "alarm", "goal", "ziel", "objetivo", "obiettivo", "objectif", "cible", "schwelle", "grenz",
    // Means and guesses.
    "mittel", "durchschnitt", "moyen", "promedio", "gemiddeld", "gennemsnit", "genomsnitt", "gjennomsnitt",
    "median", "predict", "forecast", "estimate", "interpol", "expected", "simulat", "residual",
    // Amounts that are given.
    "intake", "infus",
    // Values for the calibration of a sensor.
    "calib", "kalib", "urin", "temperat",
    // The effect of food on glucose.
    "glykämische last", "glycemische last", "charge glyc", "carga gluc", "carga glic", "carico glic",
    // How a program displays values.
    "color", "colour", "farbe",
  ]
  private static let noValueWords: Set<String> = [
    "rate", "change", "delta", "trend", "min", "max", "avg", "mean", "std", "sd", "stdev", "limit", "factor",
    "unit", "units", "time", "timestamp", "date", "id", "type", "note", "notes", "device", "serial", "range",
    "diff", "direction", "meter", "low", "high", "lower", "upper", "gmi", "eag", "raw", "media", "mål",
    "pred", "preds", "yhat", "lag", "slope", "mage", "confidence", "ml", "percent", "streefwaarde", "index",
    "indice", "índice", "indeks", "load", "variability", "cv",
  ]
  /// Words that show that a column does not hold readings although its name mentions glucose. These are sums,
  /// predictions, values of another time, artificial numbers, device health, raw signals, amounts in food and
  /// medicines, and other fluids.
  private static let noReadingWords: Set<String> = [
    "peak", "highest", "lowest", "baseline", "auc", "iauc", "spike", "spikes", "count", "percentile", "p",
    "coverage", "gap", "minutes", "management", "category", "score", "roc", "eventual", "guard", "next",
    "future", "prev", "previous", "lag", "normalized", "normalised", "norm", "scaled", "bgscaled", "zscore",
    "rssi", "battery", "isig", "na", "mv", "dbm", "mard", "error", "rmse", "mae", "primary", "secondary",
    "background", "class", "friendly", "g", "mg", "µg", "pg", "u", "%", "kg", "min", "h", "csf", "liquor",
    "pleural", "synovial", "ascites", "dialysate", "tear", "sweat", "saliva", "tablets", "tablet", "goal",
    "spread", "age", "signal", "noise", "quality", "glucosamine", "glucosidase", "glucocorticoid",
    "glucocorticoids", "glucosuria", "glucosurie", "glukosurie", "glycogen", "gluten", "imputed", "t", "tir",
    "lbgi", "hbgi", "ma", "ema", "wear", "intercept", "scale", "umbral", "seuil", "gir", "isf", "correction",
    "ratio", "dextrose", "rawbg", "filtered", "unfiltered", "residual", "rolling", "height", "metabolic",
    "strength", "sensitivity", "ogtt", "uric", "acid", "lab", "labor", "gram", "grams", "gramm", "grammes",
    "gramos", "grammi", "bgdelta",
  ]
  private static let sensorStems: [StaticString] = [
    "sensor", "cgm", "cbg", "histor", "egv", "sgv", "continuous", "gewebe", "interstit",
  ]
  private static let stripStems: [StaticString] = [
    "finger", "strip", "teststreifen", "kapill", "capil", "strisc", "teststrook",
  ]
  private static let stripWords: Set<String> = ["smbg", "mbg", "bgm", "streifen", "tiras", "sticka"]
  static let stampWords: Set<String> = [
    "create", "created", "createdat", "update", "updated", "updatedat", "inserted", "insertedat", "synced",
    "syncedat", "modified", "modifiedat", "imported", "uploaded", "edited", "saved", "sysd", "systime",
    "srvcreated", "srvmodified", "upload", "deleted", "deletedat", "removed", "ingested", "received",
  ]
  private static let otherSubjectWords: Set<String> = [
    "horizon", "fg", "foreground", "contrast", "rgb", "humidity", "luftfeuchtigkeit", "humedad", "humidité",
    "lactate", "laktat", "lactat", "lactato", "lattato", "glutamine", "glutamate", "ammonia", "ammonium",
    "viability", "vcd", "od600", "titer", "titre", "osmolality", "pco2", "po2",
  ]
  private static let flagWords: Set<String> = [
    "deleted", "isdeleted", "removed", "void", "voided", "invalid", "valid", "isvalid", "excluded", "ignored",
    "predicted", "imputed", "interpolated", "simulated", "synthetic", "forecast", "error", "errorcode",
    "errors", "fehler", "fehlercode", "fault",
  ]
  private static let possibleFlagWords: Set<String> = [
    "filled", "mask", "masked", "missing", "observed", "artifact", "artefact", "outlier", "flagged", "gap",
    "suspect", "extrapolated", "padded", "noisy", "bad", "unreliable",
  ]
  private static let qualityWords: Set<String> = [
    "quality", "signal", "status", "state", "validity", "data", "reading", "value", "sensor", "cgm",
    "glucose",
    "bg", "measurement", "of", "flag",
  ]
  private static let badQualityCells: Set<String> = [
    "bad", "poor", "lost", "loss", "missing", "fail", "failed", "noisy", "unreliable", "questionable",
    "suspect",
    "nok", "invalid", "dropout", "schlecht", "mauvais", "malo",
  ]
  private static let noReadingCells: Set<String> = [
    "artifact", "artefact", "outlier", "questionable", "unreliable",
    "deleted", "invalid", "voided", "error", "warmup", "predicted", "prediction", "forecast", "simulated",
    "synthetic", "imputed", "interpolated", "average", "mean", "mittelwert", "durchschnitt", "moyenne",
    "promedio", "media", "total", "sum", "summe", "control", "kontrolle", "ctrl", "ctl", "qc",
    // Other fluids than blood.
    "saliva", "sweat", "urine", "csf", "tears", "speichel", "schweiß", "urin", "dialysate",
  ]
  private static let remarkWords: Set<String> = [
    "comment", "comments", "note", "notes", "remark", "remarks", "memo", "bemerkung", "bemerkungen",
    "anmerkung", "anmerkungen", "kommentar", "kommentare", "notiz", "notizen", "commentaire", "commentaires",
    "remarque", "remarques", "nota", "notas", "comentario", "comentarios", "comentário", "observaciones",
    "observações", "commento", "commenti", "opmerking", "opmerkingen", "notitie", "notities", "uwagi",
  ]
  private static let trendWords: Set<String> = ["trend", "trendpfeil", "trends", "trendarrow"]
  private static let aggregateWords: Set<String> = [
    "avg", "average", "mean", "median", "min", "max", "minimum", "maximum", "std", "sd", "stdev", "cv",
    "count", "sum", "total", "tir", "gmi", "mittelwert", "durchschnitt", "moyenne", "promedio", "media",
    "gemiddelde", "gennemsnit", "genomsnitt", "gjennomsnitt", "średnia", "aggregation", "summary",
  ]
  private static let identityWords: Set<String> = ["id", "serial", "number", "sn", "name", "nummer"]
  private static let mealStems: [StaticString] = [
    "breakfast", "lunch", "dinner", "supper", "bedtime", "meal", "snack", "frühstück", "mittag", "abend",
    "déjeuner", "dîner", "repas", "ontbijt", "avondeten", "desayuno", "almuerzo", "comida", "cena",
    "colazione", "pranzo", "morgenmad", "frokost", "aftensmad", "frukost", "middag",
  ]
  private static let kindNames: Set<String> = [
    "type", "kind", "record type", "event type", "reading type", "typ", "art", "tipo", "soort", "slag",
    "item type", "entry type", "data type", "sample type", "test type", "measurement type", "metric", "event",
    "ereignis", "événement", "evento", "gebeurtenis", "hændelse", "händelse", "hendelse", "zdarzenie",
    "категория", "тип", "类型", "類型", "种类", "種類", "종류", "tür", "druh", "τύπος", "loại", "jenis", "vrsta",
    "parametro", "parámetro", "paramètre", "grandeur", "categoria", "kategoria",
    "analyte", "parameter", "parameter name", "test name", "result name", "measurement name", "rodzaj",
  ]
  private static let originNames: Set<String> = [
    "source", "data source", "source name", "source app", "data origin", "origin", "specimen source",
    "method", "measurement method", "input method", "entry method", "quelle", "datenquelle", "herkunft",
    "messart", "messmethode", "fuente", "origen", "método", "origine", "méthode", "fonte", "origem", "bron",
    "kilde", "källa", "źródło", "zdroj", "via", "glucose source", "bg source", "reading source",
    "measurement source", "measured with", "taken with", "gemessen mit", "medido con", "mesuré avec",
    "misurato con", "gemeten met", "app", "app name", "application", "package", "package name", "instrument",
    "device type", "gerätetyp", "source type", "sample source", "collection method", "test method",
    "recorder",
  ]
  /// Names of columns that may describe a row's value, or the person.
  private static let nameNames: Set<String> = [
    "name", "nom", "nombre", "nome", "naam", "navn", "namn", "nazwa", "bezeichnung",
  ]
  private static let possibleNames: Set<String> = [
    "test", "lab test", "laboratory test", "marker", "biomarker", "item", "measurement", "observation",
    "component", "label", "description", "category", "code", "loinc", "loinc code", "test code", "messgröße",
    "messgrösse", "untersuchung", "beschreibung", "kategorie", "examen", "analyse", "catégorie", "prueba",
    "análisis", "descripción", "categoría",
  ]
  /// Names of columns for control tests that can also mean another kind of check.
  private static let vagueControlNames: Set<String> = [
    "contrôle", "controllo", "controle", "controlo", "kontroll", "kontrol", "kontrola",
  ]
  private static let roles: [(role: GenericRole, names: Set<String>)] = [
    (.kind, kindNames),
    (
      .unit,
      [
        "unit", "units", "glucose unit", "glucose units", "value unit", "unit of measure", "einheit",
        "einheiten", "unité", "unités", "eenheid", "eenheden", "unidad", "unidades", "unidade", "unità",
        "enhed", "enhet", "jednostka",
      ]
    ),
    (
      .offset,
      [
        "offset", "tz", "tz offset", "tzoffset", "utc offset", "utcoffset", "gmt offset", "timezone",
        "time zone", "timezone offset", "time zone offset", "timezoneoffset", "zone offset", "zone", "gmt",
        "from utc", "minutes from utc", "hours from utc",
      ]
    ),
    (
      .control,
      [
        "control", "control test", "control solution", "is control", "is control test", "is control solution",
        "control sample", "funktionskontrolle", "kontrolllösung", "kontrolle", "kontrolltest",
        "kontrollmessung", "test de contrôle", "solution de contrôle", "controletest", "controlevloeistof",
        "prueba de control", "solución de control", "test di controllo", "soluzione di controllo",
        "kontroltest", "kontrolvæske", "kontrollösning", "kontrolløsning", "quality control",
        "kontrollmätning", "kontrollmåling", "kontrolmåling", "controlemeting", "mesure de contrôle",
        "solução de controle",
        "solução de controlo", "teste de controle", "roztwór kontrolny", "test kontrolny", "kontrolliliuos",
        "kontrolní roztok",
      ]
    ),
    (
      .device,
      [
        "device", "device name", "device model", "meter", "model", "gerät", "messgerät", "appareil",
        "apparaat", "dispositivo", "apparat",
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
