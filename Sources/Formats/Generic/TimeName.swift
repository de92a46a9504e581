// SPDX-License-Identifier: Apache-2.0

/// The meaning of a column's name for the times of measurements, by closed lists of words.
///
/// A column counts as the times of measurements only if its name consists of words for a time and harmless
/// ones. There are endless names such as `Expiry date`, `Time of last meal` or `Date printed`, so no list of
/// exceptions could be complete.
struct TimeName {
  /// The words of the name that are in no list, in lower case.
  private(set) var unknown: [String] = []
  private var words: Set<Substring> = []
  /// Whether the name has no known word at all. It is then probably in another language.
  private var isForeign = false

  /// - Parameter header: a column's name; dots separate the members of nested objects.
  init(_ header: String) {
    // A byte order mark that was encoded twice is not a part of the name.
    let header = header.replacing("ï»¿", with: "")
    for piece in Self.withoutZones(header).split(whereSeparator: { !$0.isLetter && !$0.isNumber }) {
      add(piece)
    }
    isForeign = words.isEmpty && !HeaderWords(header).isTime
    // The start and the end of a sensor are days away from most of its readings, so they are not times of
    // measurements.
    if !words.isDisjoint(with: Self.limits), !words.isDisjoint(with: Self.wearables) {
      unknown += words.intersection(Self.limits).sorted().map(String.init)
    }
  }

  /// Whether nothing in the name shows that its times are those of something else.
  ///
  /// A name in an unknown language means nothing, so the cells decide about its column.
  var isOfMeasurement: Bool { unknown.isEmpty || (isForeign && !isOfOther) }

  /// Whether the name is certainly one for times of something else, so that another column of times is used.
  var isOfOther: Bool { unknown.contains { Self.others.contains(Substring($0)) } }

  private mutating func add(_ piece: Substring) {
    let whole = Substring(piece.lowercased())
    if let parts = Self.parts(of: whole) { return words.formUnion(parts) }
    for part in NameParts.parted(piece) {
      // The `2` in `UTC+2` is not counted as an unknown word: another rule refuses names with zones.
      let isOffset = part.allSatisfy(\.isNumber) && !words.isDisjoint(with: ["utc", "gmt"])
      if let parts = Self.parts(of: part) {
        words.formUnion(parts)
      } else if !isOffset {
        unknown.append(String(part))
      }
    }
  }

  private static func parts(of word: Substring) -> [Substring]? {
    NameParts.words(of: word, known: known, compounds: compounds)
  }

  /// The name without a time zone such as `(America/New_York)` or `EST`. Another rule refuses names with
  /// zones.
  private static func withoutZones(_ header: String) -> String {
    header.split { $0 == " " || $0 == "(" || $0 == ")" }.filter { !GenericFinding.isZoneName(String($0)) }
      .joined(separator: " ")
  }
}

/// The closed lists of words, in the languages of `HeaderWords`.
extension TimeName {
  /// Words for a time.
  private static let times: Set<Substring> = [
    "time", "times", "timestamp", "stamp", "date", "dates", "datetime", "day", "clock", "hour", "moment",
    "when", "epoch", "ts", "zeit", "uhrzeit", "uhr", "datum", "zeitpunkt", "zeitstempel", "stempel", "tag",
    "fecha", "hora", "horario", "sello", "tiempo", "marca", "dia", "día", "heure", "horodatage", "jour",
    "data", "ora", "orario", "giorno", "carimbo", "tijd", "tijdstip", "tijdstempel", "dag", "dato", "tid",
    "tidspunkt", "tidpunkt", "tidsstempel", "tidsstämpel", "klok", "klokke", "klokken", "klokkeslett",
    "klokkeslæt", "klockslag", "klockan", "kl", "czas", "godzina", "dzień", "horário", "horas", "heures",
  ]
  /// Words for a time, a measurement and "and" in languages with few words in the other lists. They are
  /// Czech, Slovak, Slovene, Croatian, Serbian, Latvian, Lithuanian, Romanian, Albanian and Catalan.
  private static let foreign: Set<Substring> = [
    "čas", "cas", "den", "deň", "hodina", "měření", "mereni", "merania", "meranie", "záznamu", "ura", "dan",
    "meritve", "merjenja", "vrijeme", "vreme", "sat", "mjerenja", "merenja", "mjerenje", "merenje", "i", "in",
    "aj", "ili", "datums", "laiks", "diena", "mērījuma", "un", "laikas", "matavimo", "ir", "timp",
    "măsurării", "măsurare", "și", "şi", "koha", "dhe", "mesurament", "medició",
  ]
  /// Words for a measurement and its record.
  private static let measurements: Set<Substring> = [
    "test", "tests", "tested", "check", "checked", "taken", "sample", "samples", "sampled", "sampling",
    "collection", "collected", "draw", "drawn", "observation", "observed", "effective", "record", "records",
    "recorded", "recording", "log", "logged", "entry", "entered", "event", "occurred", "period", "acquired",
    "acquisition", "mess", "messen", "eintrag", "eintrags", "ereignis", "ereignisses", "aufnahme", "probe",
    "erfasst", "erfassung", "aufgezeichnet", "aufzeichnung", "eingabe", "prueba", "toma", "muestra",
    "registro", "evento", "creation", "prélèvement", "enregistrement", "événement", "prelievo",
    "registrazione", "coleta", "colheita", "exame", "gebeurtenis", "registratie", "invoer", "hændelse",
    "händelse", "hendelse", "registrering", "prøve", "prov", "pomiaru", "odczytu", "badania", "zdarzenia",
    "gerätes", "geräts", "wpisu", "wykonania", "messung", "blutentnahme", "entnahme", "kontrolle", "ablesung",
    "control", "controle", "contrôle", "contrôles", "controllo", "controles", "análisis", "analyse",
    "analisi", "análise", "lectura", "lettura", "leitura", "lecture", "registo", "aflæsning", "aflesning",
    "avläsning", "mätning", "måling", "meting", "metingen", "medida", "misura", "mesures", "mediciones",
    "rilevazione", "examen", "esame", "meet", "mät", "måle", "målings", "abnahme", "ablese", "kontroll",
    "provtagning", "prøvetaking",
  ]
  /// Words for where a time is shown and how it is written.
  private static let forms: Set<Substring> = [
    "device", "transmitter", "receiver", "phone", "mobile", "pump", "display", "displayed", "system",
    "internal", "user", "iso", "iso8601", "unix", "posix", "string", "str", "text", "formatted", "parsed",
    "full", "complete", "combined", "exact", "real", "civil", "shifted", "corrected", "adjusted", "number",
    "num", "serial", "excel", "seconds", "secs", "sec", "milliseconds", "millis", "msec", "ms", "micros",
    "us", "ns", "hh", "mm", "ss", "sss", "dd", "yyyy", "yy", "yyyymmdd", "ddmmyyyy", "mmddyyyy", "hhmm",
    "hhmmss", "ddthh", "thh", "z", "h", "d", "m", "y", "s", "t", "l", "am", "pm", "zulu", "gerät", "anzeige",
    "lokal", "lokale", "lokaler", "lokala", "dispositivo", "aparelho", "appareil", "apparaat", "locale",
    "enhed", "enhet", "enhedens", "enhetens", "urządzenia", "lokalny", "lokalna", "format", "12", "24", "64",
    "8601", "0", "1",
  ]
  /// Words for the two ends of a measurement.
  private static let limits: Set<Substring> = [
    "start", "started", "starting", "begin", "beginning", "end", "ended", "ending", "stop", "from", "to",
    "beginn", "ende", "inicio", "início", "fin", "fim", "début", "inizio", "fine", "einde", "slut",
  ]
  private static let wearables: Set<Substring> = [
    "sensor", "sensors", "sensore", "capteur", "czujnik", "cgm", "cgms", "transmitter", "pump", "device",
    "receiver", "meter", "gerät",
  ]
  private static let links: Set<Substring> = [
    "and", "or", "at", "on", "for", "by", "with", "und", "der", "des", "am", "um", "y", "e", "et", "og",
    "och", "o", "för", "av", "af", "della", "dell", "delle", "à", "a", "al", "aan", "op", "na", "not",
    "did", "you",
  ]
  /// Members of objects, and of the tables of databases, that mean nothing for a time.
  private static let members: Set<Substring> = [
    "info", "body", "doc", "document", "message", "object", "row", "rows", "point", "points", "list", "egvs",
    "bgs", "index", "column", "field",
  ]
  /// Words for when a database created or changed its rows. Another rule judges names with these words.
  private static let stamps = Set(HeaderWords.stampWords.map { Substring($0) })
  /// Words for other events and persons.
  private static let others: Set<Substring> = [
    "expiry", "expiration", "expires", "exp", "birth", "birthday", "born", "dob", "printed", "print", "meal",
    "meals", "breakfast", "lunch", "dinner", "snack", "insulin", "bolus", "basal", "dose", "medication",
    "calibration", "warranty", "appointment", "visit", "report", "export", "exported", "download", "sync",
    "order", "ordered", "payment", "delivery", "due", "review", "signed", "enrollment", "enrolment",
    "diagnosis", "insertion", "activation", "sleep", "wake", "wakeup", "bed", "bedtime", "alarm", "alert",
    "next", "exercise", "workout", "purchase", "manufacture", "geburt", "geburts", "verfall", "ablauf",
    "druck", "mahlzeit", "nacimiento", "caducidad", "naissance", "péremption", "expiration", "nascita",
    "scadenza", "nascimento", "validade", "geboorte",
  ]
  private static let known = [
    times, foreign, measurements, forms, limits, wearables, links, members, stamps,
    GlucoseName.glucose, GlucoseName.sugar, GlucoseName.blood, GlucoseName.values, GlucoseName.kinds,
    GlucoseName.harmless, GlucoseName.brands, GlucoseName.connectors, GlucoseName.containers,
  ].reduce(into: Set<Substring>()) { $0.formUnion($1) }.subtracting(["calibration"])
  /// Words that can be parts of longer ones.
  private static let compounds = [
    times, measurements, GlucoseName.glucose, GlucoseName.sugar, GlucoseName.blood, GlucoseName.values,
    GlucoseName.kinds,
    [
      "device", "display", "system", "internal", "local", "utc", "string", "unix", "gerät", "geräte", "lokal",
    ],
  ].reduce(into: Set<Substring>()) { $0.formUnion($1) }
}
