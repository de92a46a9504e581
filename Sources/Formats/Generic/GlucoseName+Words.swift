// SPDX-License-Identifier: Apache-2.0

/// The closed lists of words, in the languages of `HeaderWords`.
extension GlucoseName {
  static let glucose: Set<Substring> = [
    "glucose", "glukose", "glukos", "glucosa", "glucosio", "glicose", "glukoza", "glukozy", "glukózy",
    "glükoz", "glukoosi", "glucemia", "glucemias", "glicemia", "glicemie", "glicémia", "glycemia",
    "glycaemia", "glycémie", "glycémies", "glycemie", "glykemie", "glykémie", "glykemia", "glykæmi",
    "glykämie", "blutglukose", "bg", "bgl", "bz", "sgv", "mbg", "egv", "cbg", "smbg", "cgm", "cgms", "bgm",
    "glu", "gl",
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
  private static let harmless: Set<Substring> = [
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
  /// Dexcom's names for a sensor's value include that it is estimated.
  static let estimates: Set<Substring> = [
    "estimated", "estimé", "estimée", "estimados", "estimado", "estimada", "estimadas", "stimato", "stimata",
    "stimati", "geschätzt", "geschätzter", "geschatte", "estimert", "estimeret", "uppskattat",
  ]
  /// Words for the time before or after a meal in a diary.
  static let meals: Set<Substring> = [
    "fasting", "postprandial", "preprandial", "premeal", "postmeal", "nüchtern", "ayunas", "nuchter", "jeun",
    "digiuno", "jejum", "fastende", "fasta", "bedtime",
  ]
  private static let units: Set<Substring> = [
    "mg", "dl", "l", "mgdl", "mmol", "mmoll", "per", "mgperdl", "mmolperl",
  ]
  /// Members of JSON objects that contain others.
  static let containers: Set<Substring> = [
    "data", "item", "items", "entry", "entries", "sample", "samples", "attributes", "payload", "result",
    "results", "record", "records", "node", "fields", "properties", "content", "reading", "readings", "value",
  ]
  static let known = [
    glucose, sugar, blood, values, kinds, harmless, connectors, brands, estimates, meals, units,
  ].reduce(into: Set<Substring>()) { $0.formUnion($1) }
  /// Words that can be parts of longer ones.
  static let compounds = [
    glucose, sugar, blood, values, kinds, ["mgdl", "mmoll", "mmol", "mgperdl", "mmolperl"],
  ].reduce(into: Set<Substring>()) { $0.formUnion($1) }
}
