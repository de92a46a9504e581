// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The meaning of a column's name for glucose, by closed lists of words.
///
/// A column counts as glucose only if its name consists of a glucose word and harmless words. There are
/// endless names such as `glucose_next`, `cgm rssi` or `Glucose (g)`, so no list of exceptions could be
/// complete.
struct GlucoseName {
  /// The words of the name that are in no list, in lower case.
  private(set) var unknown: [String] = []
  private var tokens: [Substring] = []
  private var hasUnit = false

  /// - Parameter header: a column's name; dots separate the members of nested objects.
  init(_ header: String) {
    let members = Self.withoutMolarMass(header).split(separator: ".")
    if header.contains("%") { unknown.append("%") }
    for (place, member) in members.enumerated() {
      let isContainer = place < members.count - 1
      for piece in member.split(whereSeparator: { !$0.isLetter && !$0.isNumber }) {
        add(piece, isContainer: isContainer)
      }
    }
    decideUnit()
    decideConditions()
  }

  /// Whether the name states only glucose values.
  var isGlucose: Bool {
    guard unknown.isEmpty else { return false }
    return has(Self.glucose) || (has(Self.sugar) && (has(Self.blood) || has(["gewebe"]) || hasUnit))
      || (hasUnit && namesOnlyAValue)
  }

  /// Whether the name states only a value, without stating what it measures.
  var isValue: Bool { unknown.isEmpty && (has(Self.values) || has(Self.sugar)) }

  /// Whether the name has a number that states a time before or after, as in `bg+0:30`. One digit does not
  /// count, since it may number one of a few devices.
  var namesOtherTime: Bool {
    let numbers = unknown.filter { $0.allSatisfy(\.isNumber) }
    return numbers.count > 1 || numbers.contains { $0.count > 1 }
  }

  /// Whether the name has a word for glucose, among any other words.
  var hasGlucoseWord: Bool { has(Self.glucose) }

  /// Whether the name has a word for a value, among any other words.
  var mentionsValue: Bool { has(Self.values) || has(Self.sugar) }

  /// Whether the name states a value at a meal or before breakfast. Only a diary has such values.
  var isOfMeal: Bool { has(Self.meals) || namesMeal }

  /// Whether the name has both parts of a time of a diary: `before` and `breakfast`.
  private var namesMeal: Bool {
    has(Self.mealPlaces) && has(Self.mealParts.subtracting(Self.mealPlaces).subtracting(["petit", "dem"]))
  }

  /// Whether the name only states a sensor, a meter or how a value was measured, such as `Libre`.
  var namesOnlyASource: Bool {
    unknown.isEmpty && (has(Self.brands) || has(Self.kinds)) && namesOnlyAValue
  }

  /// The kind of reading that a sensor's name states, or a word for a sensor or its scans in another language
  /// than English. Nil without one, and next to a word for a meter or a meal.
  var kindOfSensor: ReadingKind? {
    if has(Self.metersAndMeals) { return nil }
    if has(Self.scans) { return .scan }
    return has(Self.sensors) ? .cbg : nil
  }

  /// Whether the name has the word CBG: capillary glucose in hospitals, continuous glucose in some programs.
  var isCBG: Bool { has(["cbg"]) }

  /// Whether all words of the name, without its unit, are words for a value, its kind, or a device.
  /// With any other word, a unit of glucose proves nothing, since laboratories measure many other things in
  /// these units.
  private var namesOnlyAValue: Bool {
    tokens.allSatisfy { token in
      [Self.values, Self.kinds, Self.brands, Self.connectors].contains { $0.contains(token) }
    }
  }

  private func has(_ words: Set<Substring>) -> Bool { tokens.contains(where: words.contains) }
}

// MARK: - Splitting a name

extension GlucoseName {
  private mutating func add(_ piece: Substring, isContainer: Bool) {
    let whole = Substring(piece.lowercased())
    if Self.containers.contains(whole), isContainer { return }
    if let parts = Self.parts(of: whole) { return tokens += parts }
    for part in NameParts.parted(piece) {
      if let parts = Self.parts(of: part) {
        tokens += parts
      } else if ["2", "3"].contains(part), tokens.last == "libre" {
        continue
      } else {
        unknown.append(String(part))
      }
    }
  }

  /// The name with `mmol/L` for Apple's `mmol<180.1558800000541>/L`.
  private static func withoutMolarMass(_ header: String) -> String {
    guard let start = header.firstRange(of: "<180.15"),
      let end = header[start.upperBound...].firstIndex(of: ">")
    else { return header }
    return String(header[..<start.lowerBound] + header[header.index(after: end)...])
  }

  /// The known words in a word; nil for any other word.
  private static func parts(of word: Substring) -> [Substring]? {
    NameParts.words(of: word, known: known, compounds: compounds)
  }

  /// Counts `mg` and `dl` as a unit only together: separately they are units of food and medicines.
  private mutating func decideUnit() {
    var rest: [Substring] = []
    var place = 0
    while place < tokens.count {
      let token = tokens[place]
      let next = place + 1 < tokens.count ? tokens[place + 1] : ""
      let afterNext = place + 2 < tokens.count ? tokens[place + 2] : ""
      place += 1
      switch token {
      case "mgdl", "mmoll", "mgperdl", "mmolperl": hasUnit = true
      case "mg" where next == "dl", "mmol" where next == "l":
        hasUnit = true
        place += 1
      case "mg" where next == "per" && afterNext == "dl", "mmol" where next == "per" && afterNext == "l":
        hasUnit = true
        place += 2
      case "mmol": hasUnit = true
      case "mg", "dl", "l", "per": unknown.append(String(token))
      default: rest.append(token)
      }
    }
    tokens = rest
  }

  /// Adds the words to `unknown` that are harmless only together with other words which the name lacks.
  private mutating func decideConditions() {
    if !namesMeal { unknown += tokens.filter(Self.mealParts.contains).map(String.init) }
    if !isOfMeal { unknown += tokens.filter(Self.mealLinks.contains).map(String.init) }
    // `bs` means blood sugar only if the name also has a unit.
    if hasUnit, unknown == ["bs"] {
      unknown = []
      tokens.append("bg")
    }
    if has(Self.estimates), !has(Self.values), !tokens.contains("egv") { unknown.append("estimated") }
    // `no` means number, except in `glicose no sangue`.
    if has(["no", "na"]), !has(["sangue", "krwi"]) { unknown.append("no") }
    if has(Self.sugar), !has(Self.blood), !hasUnit, has(Self.glucose) { unknown.append("sugar") }
  }
}

/// The closed lists of words, in the languages of `HeaderWords`.
extension GlucoseName {
  static let glucose: Set<Substring> = [
    "glucose", "glukose", "glukos", "glucosa", "glucosio", "glicose", "glukoza", "glukozy", "glukózy",
    "glükoz", "glukoosi", "glucemia", "glucemias", "glicemia", "glicemie", "glicémia", "glycemia",
    "glycaemia", "glycémie", "glycémies", "glycemie", "glykemie", "glykémie", "glykemia", "glykæmi",
    "glykämie", "blutglukose", "bg", "bgl", "bz", "sgv", "mbg", "egv", "cbg", "smbg", "cgm", "cgms", "bgm",
    "glu", "gl", "bsl", "fbs", "fbg", "ppbs", "ppbg", "rbs", "grbs", "glykémia", "glykemia",
  ]
  static let sugar: Set<Substring> = [
    "sugar", "zucker", "suiker", "sukker", "socker", "azúcar", "azucar", "sucre", "zucchero", "zuccheri",
    "açúcar", "acucar", "cukier", "cukru", "cukr",
  ]
  static let blood: Set<Substring> = [
    "blood", "blut", "bloed", "blod", "blodet", "sangre", "sang", "sanguin", "sanguine", "sangue", "krwi",
    "krew", "krvi",
  ]
  /// Words for a value.
  static let values: Set<Substring> = [
    "value", "values", "wert", "werte", "messwert", "messwerte", "valeur", "valeurs", "valor", "valores",
    "valore", "valori", "waarde", "waarden", "værdi", "værdier", "värde", "värden", "verdi", "verdier",
    "wartość", "wartosc", "pomiar", "pomiary", "wynik", "wyniki", "reading", "readings", "result", "results",
    "level", "levels", "measurement", "measurements", "messung", "messungen", "medida", "mesure", "mesures",
    "misura", "misurazione", "meting", "metingen", "måling", "målinger", "mätning", "mätvärde", "mätvärden",
    "spiegel", "nivel", "niveles", "nível", "nivå", "niveau", "livello", "poziom", "taux", "lectura",
    "lecturas", "lettura", "letture", "leitura", "leituras", "lecture", "lectures", "resultado", "resultados",
    "résultat", "résultats", "risultato", "resultaat", "resultat", "odczyt", "medición", "medicion",
    "medição", "concentration", "konzentration", "hladina", "hodnota",
  ]
  /// Words for how a value was measured.
  static let kinds: Set<Substring> = [
    "sensor", "sensors", "capteur", "sensore", "czujnik", "historic", "historical", "history", "historial",
    "histórico", "historico", "historique", "storico", "historische", "historischer", "historisk", "verlauf",
    "scan", "scanned", "gescannt", "gescannte", "gescannter", "gescande", "skanning", "skannet", "escaneo",
    "scansione", "strip", "strips", "teststreifen", "streifen", "teststrook", "bandelette", "tira", "tiras",
    "striscia", "strimmel", "sticka", "finger", "stick", "fingerstick", "fingersticks", "fingerprick",
    "prick", "fingertip", "kapillar", "kapillär", "kapillær", "kapillare", "capillary", "capillaire",
    "capilar", "capillare", "capillair", "interstitial", "interstitiell", "intersticial", "interstitiel",
    "gewebe", "continuous", "cgm", "cgms", "bgm", "smbg", "mbg", "egv", "sgv", "meter", "manual",
  ]
  /// Those of `kinds` that are words for a sensor and for its scans, and those of `brands` whose devices are
  /// only sensors.
  private static let sensors: Set<Substring> = [
    "capteur", "sensore", "czujnik", "interstitiel", "intersticial", "dexcom", "libre", "libre2", "libre3",
    "librelink", "libreview", "guardian", "enlite", "simplera", "eversense", "senseonics", "sibionics",
    "stelo", "lingo", "aidex", "g4", "g5", "g6", "g7",
  ]
  /// Words for a drop of blood, a meter and a meal. Next to them, the name of a sensor does not state what
  /// measured the value.
  private static let metersAndMeals = meals.union([
    "strip", "strips", "teststreifen", "streifen", "teststrook", "bandelette", "tira", "tiras", "striscia",
    "strimmel", "sticka", "finger", "stick", "fingerstick", "fingersticks", "fingerprick", "prick",
    "fingertip",
    "bgm", "smbg", "mbg", "meter", "manual", "blood", "capillary", "contour", "accu", "chek", "accuchek",
    "onetouch", "verio",
  ])
  private static let scans: Set<Substring> = [
    "scan", "scanned", "gescannt", "gescannte", "gescannter", "gescande", "skanning", "skannet", "escaneo",
    "scansione",
  ]
  static let harmless: Set<Substring> = [
    "actual", "true", "current", "measured", "measure", "plasma", "whole", "monitored", "monitoring",
    "monitor", "linked", "self", "aktuell", "aktueller", "aktuelle", "gemessen", "gemessener", "gemessene",
    "actuel", "actuelle", "mesuré", "mesurée", "actueel", "huidige", "attuale", "atual", "aktualny",
    "stężenie", "nuværende", "utc", "gmt", "local",
  ]
  static let connectors: Set<Substring> = [
    "of", "the", "in", "im", "de", "du", "la", "le", "del", "en", "di", "do", "da", "nel", "dans", "van",
    "het", "i", "w", "we", "no", "na",
  ]
  /// Names of makers and their devices.
  static let brands: Set<Substring> = [
    "dexcom", "libre", "libre2", "libre3", "freestyle", "librelink", "libreview", "abbott", "medtronic",
    "guardian", "enlite", "simplera", "minimed", "contour", "ascensia", "bayer", "accu", "chek", "accuchek",
    "roche", "onetouch", "verio", "lifescan", "eversense", "senseonics", "sibionics", "stelo", "lingo",
    "aidex", "medtrum", "caresens", "tandem", "glooko", "mysugr", "nightscout", "xdrip", "sugarmate",
    "livongo", "nutrisense", "g4", "g5", "g6", "g7",
  ]
  /// Words for `estimated`, which Dexcom's names for a sensor's value contain.
  static let estimates: Set<Substring> = [
    "estimated", "estimé", "estimée", "estimados", "estimado", "estimada", "estimadas", "stimato", "stimata",
    "stimati", "geschätzt", "geschätzter", "geschatte", "estimert", "estimeret", "uppskattat",
  ]
  /// Words for the time before or after a meal in a diary.
  static let meals: Set<Substring> = [
    "fasting", "postprandial", "preprandial", "premeal", "postmeal", "nüchtern", "ayunas", "nuchter", "jeun",
    "digiuno", "jejum", "fastende", "fasta", "bedtime", "nuchtere", "nüchterner", "nüchternwert", "fbs",
    "fbg", "ppbs", "ppbg", "rbs", "grbs", "random", "nalačno", "nalacno",
  ]
  /// Words that name a time of a diary only together: `before breakfast`.
  private static let mealParts: Set<Substring> = [
    "before", "after", "pre", "post", "meal", "meals", "breakfast", "lunch", "dinner", "supper", "snack",
    "bed", "vor", "nach", "dem", "frühstück", "mittagessen", "abendessen", "essen", "avant", "après", "repas",
    "petit", "déjeuner", "dîner", "antes", "después", "desayuno", "almuerzo", "cena", "comida", "prima",
    "dopo", "colazione", "pranzo", "voor", "ontbijt", "lunchen", "avondeten",
  ]
  private static let mealPlaces: Set<Substring> = [
    "before", "after", "pre", "post", "vor", "nach", "avant", "après", "antes", "después", "prima", "dopo",
    "voor",
  ]
  /// Linking words that are accepted only in a name for a meal: `glicemia a digiuno`.
  private static let mealLinks: Set<Substring> = ["a", "à", "em", "al"]
  private static let units: Set<Substring> = [
    "mg", "dl", "l", "mgdl", "mmol", "mmoll", "per", "mgperdl", "mmolperl",
  ]
  /// Members of JSON objects that contain other members.
  static let containers: Set<Substring> = [
    "data", "item", "items", "entry", "entries", "sample", "samples", "attributes", "payload", "result",
    "results", "record", "records", "node", "fields", "properties", "content", "reading", "readings", "value",
  ]
  static let known = [
    glucose, sugar, blood, values, kinds, harmless, connectors, brands, estimates, meals, units, mealParts,
    mealLinks,
  ].reduce(into: Set<Substring>()) { $0.formUnion($1) }
  /// Words that can be parts of longer ones.
  static let compounds = [
    glucose, sugar, blood, values, kinds, ["mgdl", "mmoll", "mmol", "mgperdl", "mmolperl", "nüchtern"],
  ].reduce(into: Set<Substring>()) { $0.formUnion($1) }
}
