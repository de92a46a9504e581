// SPDX-License-Identifier: Apache-2.0

/// Names for what is measured, given or eaten besides glucose.
package enum OtherMeasure {
  /// Whether a word names something other than glucose that is measured, given or eaten, such as `insulin`,
  /// `Novorapid` or `Ruhepuls`.
  ///
  /// The word must begin or end with a stem, since in prose a stem also occurs inside other words. For
  /// example, `impulsive` does not mean a pulse.
  package static func isNamed(by word: String) -> Bool {
    let word = HeaderWords(word)
    return word.namesOther(by: word.beginsOrEnds(with:))
  }
}

/// Column names for other substances, devices and measures, and for persons, in the languages of
/// `HeaderWords`.
extension HeaderWords {
  /// Whether the header is a name for something other than glucose that is measured, given or eaten.
  var namesOther: Bool { namesOther(by: hasStem) }

  /// - Parameter has: whether the name has one of the stems.
  fileprivate func namesOther(by has: ([StaticString]) -> Bool) -> Bool {
    namesFood(by: has) || has(Self.otherStems) || !words.isDisjoint(with: Self.otherWords)
  }

  /// Whether the header is a name for a part of food. If so, a column of sugar in the same table is a part of
  /// food, too.
  var namesFood: Bool { namesFood(by: hasStem) }

  /// Whether the header is a name for something in daily life that a person rates, such as diet or sleep.
  var isOfDailyLife: Bool { namesFood || isMeal || !words.isDisjoint(with: Self.dailyWords) }

  private static let dailyWords: Set<String> = [
    "diet", "sleep", "mood", "exercise", "sport", "workout", "training", "activity", "stress", "rest", "day",
    "diät", "ernährung", "schlaf", "stimmung", "régime", "sommeil", "humeur", "dieta", "sueño", "sonno",
    "umore",
    "dieet", "slaap", "dag", "tag", "life", "energy", "work",
  ]

  private func namesFood(by has: ([StaticString]) -> Bool) -> Bool {
    has(Self.foodStems) || !words.isDisjoint(with: Self.foodWords)
  }

  /// Whether a word of the name begins with one of the stems, or ends with it as compounds do.
  fileprivate func beginsOrEnds(with stems: [StaticString]) -> Bool {
    stems.contains { stem in
      words.contains { $0.hasPrefix(stem.description) || $0.hasSuffix(stem.description) }
    }
  }

  /// Whether the header is a name for the person to whom the row belongs.
  var isPerson: Bool {
    // The names in nested objects have dots, as in `patient.firstName`, so their last part is examined as
    // well.
    let last = name.split(separator: ".").last.map(String.init) ?? name
    if Self.personNames.contains(name) || Self.personNames.contains(last) { return true }
    // Names such as `patientid`, `id_patient`, `user no.`, `patient's initials` or `brother/sister` consist
    // of a word for a person and other such words, numbers or names.
    let parts = name.split { !$0.isLetter && !$0.isNumber }.map(String.init).filter {
      !Self.linkWords.contains($0)
    }
    return (2...3).contains(parts.count)
      && parts.contains { Self.personWords.contains($0) || Self.familyNames.contains($0) }
      && parts.allSatisfy {
        Self.personWords.contains($0) || Self.familyNames.contains($0) || Self.numberWords.contains($0)
      }
  }

  /// Whether the header is only `id`, which can identify each row or the person.
  var isBareID: Bool { name == "id" }

  /// Whether the header is a name for an attribute with only one value for each person, such as a sex or a
  /// bed. Unlike a header with `isPerson`, it does not identify the person.
  var isOfPerson: Bool { Self.attributeNames.contains(name) || Self.attributeNames.contains(whole) }

  private var whole: String { name.filter { $0 != " " } }

  private static let attributeNames: Set<String> = [
    "sex", "gender", "geschlecht", "sexe", "sexo", "sesso", "geslacht", "køn", "kön", "kjønn", "płeć", "dob",
    "dateofbirth", "birthdate", "birthday", "yearofbirth", "birthyear", "geburtsdatum", "geburtsjahr",
    "datedenaissance", "fechadenacimiento", "datadinascita", "geboortedatum", "age", "alter", "âge", "edad",
    "età", "idade", "leeftijd", "ethnicity", "race", "room", "roomno", "roomnumber", "bed", "bedno",
    "bednumber", "ward", "zimmer", "zimmernummer", "bett", "bettplatz", "profile", "profilename",
    "fallnummer", "fallnr", "mouse", "mouseid", "mouseno", "rat", "ratid", "ratno", "cage", "tier",
    "tiernummer", "maus", "ratte",
  ]

  private static let otherStems: [StaticString] = [
    // Insulin, its doses, and the devices for them.
    "insulin", "insuliin", "bolus", "basal", "bazal", "dose", "dosis", "dosi", "dosag", "dawk", "pump",
    "pompe", "bomba", "lantus", "tresiba", "levemir", "toujeo", "humalog", "novorapid", "novolog", "fiasp",
    "apidra",
    // Medicines.
    "medic", "médic", "medik", "drug", "läkemedel", "lægemiddel", "legemiddel", "farmac", "fármac",
    "geneesmid", "metformin", "wirkstoff",
    // Heart, pressure, breath.
    "heart", "herz", "cardia", "cardía", "coeur", "cœur", "corazón", "cuore", "coração", "hjert", "hjärt",
    "hartsl", "hartfr", "hartri", "serca", "pulse", "puls", "polso", "polssl", "pouls", "tętno", "pressure",
    "blutdruck", "bloeddruk", "blodtryk", "blodtryc", "pressi", "presió", "presion", "pressã", "pressao",
    "tension", "tensión", "ciśnien", "systol", "diastol", "sistól", "sistol", "mmhg", "oxygen", "spo2",
    "sauerstoff", "oxíg", "rmssd", "respirat",
    // Movement and sleep.
    "step count", "stepcount", "schritt", "stappen", "skridt", "exercis", "workout", "activit", "aktivit",
    "distance", "duration", "sleep", "schlafd", "schlafp",
    // Ketones and what laboratories measure.
    "keton", "ceton", "céton", "cheton", "a1c", "hba1", "hémoglob", "hemoglob", "hämoglob", "cholest",
    "kolest", "colest", "triglyc", "triglic", "creatin", "kreatin", "créatin", "lactat", "laktat",
    "potassium", "kalium", "potasio", "sodium", "natrium", "sodio", "calcium", "kalzium", "harnst", "harns",
    "bilirub", "albumin", "peptid", "ferritin", "hydroxybut", "chlorid", "magnes", "phosph", "fructos",
    "lipoprot",
    // The body.
    "weight", "gewicht", "poids", "vikt", "vægt",
  ]
  private static let otherWords: Set<String> = [
    "bolo", "boli", "lek", "leki", "pill", "pills", "tablet", "tablets", "hr", "bpm", "hrv", "bp", "sys",
    "step", "steps", "pas", "pasos", "passi", "passos", "steg", "skritt", "kroki", "peso", "vekt", "waga",
    "bmi", "kg", "hdl", "ldl", "vldl", "tg", "lp", "bun", "bhb", "urea", "crp", "iob", "cob", "kwh",
  ]
  private static let foodStems: [StaticString] = [
    "carb", "kohlenhydr", "glucid", "koolhydr", "kulhydr", "kolhydr", "karbohydr", "węglowod", "hydrate",
    "hidrat", "broteinh", "protein", "proteín", "protéin", "eiwei", "eiwit", "białk", "graisse", "lipid",
    "lípid", "grassi", "gordur", "tłuszcz", "calor", "kalor", "kcal", "fiber", "fibre", "fibra", "ballastst",
    "food", "nutri", "aliment", "lebensmittel",
  ]
  private static let foodWords: Set<String> = [
    "kh", "be", "ke", "fat", "fats", "fett", "grasa", "grasas", "vet", "fedt",
  ]

  private static let personWords: Set<String> = [
    "user", "person", "subject", "patient", "participant", "member", "client", "benutzer", "nutzer",
    "patientin", "patienten", "proband", "teilnehmer", "utilisateur", "sujet", "personne", "usuario",
    "paciente", "sujeto", "persona", "participante", "utente", "paziente", "soggetto", "partecipante",
    "gebruiker", "patiënt", "persoon", "deelnemer", "usuário", "utilizador", "pessoa", "uczestniczka",
    "użytkownik", "pacjent", "osoba", "uczestnik", "bruger", "deltager", "användare", "deltagare", "bruker",
    "pasient", "deltaker", "family", "pt", "resident", "bewohner", "bewohnerin", "employee", "staff",
    "worker", "mitarbeiter", "student", "deident", "child", "kid", "case", "volunteer", "respondent", "pat",
  ]
  private static let linkWords: Set<String> = [
    "s", "fk", "pk", "ref", "of", "the", "or", "and", "der", "des", "von", "du", "de", "del", "della", "van",
  ]
  private static let numberWords: Set<String> = [
    "id", "ids", "no", "nr", "number", "nummer", "num", "code", "name", "key", "uuid", "guid", "email",
    "kennung", "numéro", "número", "numero", "nom", "nombre", "nome", "naam", "navn", "namn", "ident",
    "identifier", "display", "reference", "initials", "initialen", "first", "last",
  ]
  private static let personNames: Set<String> = personWords.subtracting([
    "family", "pt", "pat", "staff", "worker",
  ]).union([
    "username", "userid", "patientid", "subjectid", "ptid", "pid", "subj", "subj id", "participantid",
    "personid", "full name", "first name", "last name", "vorname", "nachname", "prénom", "apellido",
    "apellidos", "cognome", "mrn", "medical record number", "hospital no", "hospital number", "nhs number",
    "sid", "uid", "usubjid", "subjid", "subject no", "animal", "animal id", "pet", "pet name", "dog",
    "dog name", "cat", "cat name", "horse", "rfid", "badge", "badge id", "card id", "ptnum", "p num", "pt no",
    "case id", "family member", "who", "deidentid", "owner", "account", "email", "e mail", "deidentified id",
    "study id", "whose", "initials", "initialen", "initiales", "iniciales", "iniziali", "initialer",
    "nickname", "nick name", "surname", "given name", "firstname", "lastname",
  ]).union(familyNames)
  private static let familyNames: Set<String> = [
    "sibling", "brother", "sister", "twin", "son", "daughter", "mother", "father", "mom", "mum", "dad",
    "parent", "wife", "husband", "spouse", "partner", "geschwister", "bruder", "schwester", "sohn", "tochter",
    "mutter", "vater", "enfant", "frère", "sœur", "soeur", "fils", "fille", "hermano", "hermana", "hijo",
    "hija", "niño", "niña", "figlio", "figlia", "fratello", "sorella", "bambino", "bambina", "broer", "zus",
    "zoon", "dochter", "dziecko", "brat", "siostra", "syn", "córka", "barn", "søsken", "søskende", "syskon",
    "irmão", "irmã", "filho", "filha", "criança",
  ]
}

/// The words by which exports state how long an insulin acts.
enum InsulinWord {
  private static let long = ["long", "lang", "lent", "larg", "lung", "lång", "intermedi"]
  private static let rapid = ["fast", "rapid", "rápid", "schnell", "kurz", "snel", "snabb", "hurtig", "rask"]

  /// The subtype of a dose, if a folded word contains one of the known parts; nil for a word of an unknown
  /// language.
  static func subtype(_ word: String) -> String? {
    if long.contains(where: word.contains) { return "long" }
    return rapid.contains(where: word.contains) ? "rapid" : nil
  }
}
