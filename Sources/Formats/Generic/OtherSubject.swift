// SPDX-License-Identifier: Apache-2.0

import Logbook

/// A word in an input which shows that no device measured its values of a person. It names an animal, or a
/// computation such as a simulation.
///
/// Such words are read above the header of a table, in JSON around the list of readings, and in columns for
/// the person. In a person's own remarks they mean nothing.
enum OtherSubject: Equatable {
  /// The word for an animal, or the name of the column, row or member for one.
  case animal(String)
  /// The word for a computation.
  case computation(String)

  /// - Throws: `Failure` of category `badInput`.
  func refuse(_ forced: String) throws {
    switch self {
    case .animal(let word):
      throw Failure(
        .badInput,
        "by the word \(shownName(word)), the input is of an animal, and a store is for one person. If it is right nevertheless, "
          + "import it with:" + forced)
    case .computation(let word):
      throw Failure(
        .badInput,
        "the input states \(shownName(word)), so its values may be computed and not measured. If they are readings, import "
          + "them with:" + forced)
    }
  }
}

// MARK: - Places where an input states its subject

extension OtherSubject {
  private static let maxTitleWords = 14
  private static let maxWordsOfComputation = 8
  private static let maxWordsOfText = 3

  /// The subject that the rows above a header state; nil without one.
  init?(title rows: some Sequence<[String]>) {
    let titles = rows.filter { row in !row.contains { [.time, .epoch, .date].contains(CellContent($0)) } }
    for row in titles {
      for (label, value) in TitleRow.statements(in: row) {
        if let word = AnimalWord.word(in: value, under: HeaderWords(label)) {
          self = .animal(word)
          return
        }
      }
      let text = row.joined(separator: " ")
      let words = text.split(whereSeparator: \.isWhitespace)
      guard words.count <= Self.maxTitleWords else { continue }
      if let word = AnimalWord.word(inTitle: words) {
        self = .animal(word)
        return
      }
      // A report may state a predicted HbA1c above its readings.
      let isOfReadings = !HeaderWords(text).hasStem(["a1c", "hba1"])
      if words.count <= Self.maxWordsOfComputation, isOfReadings, let word = ComputationWord.word(in: text) {
        self = .computation(word)
        return
      }
    }
    return nil
  }

  /// The subject that the members around a list of JSON objects state; nil without one.
  init?(around members: [OuterMember]) {
    for member in members where !member.path.contains(where: Self.isOfSettings) {
      let name = HeaderWords(member.name)
      switch member.value {
      case .object where AnimalWord.areNames(name): self = .animal(member.name)
      case .object where ComputationWord.isSimulation(name): self = .computation(member.name)
      case .word("true") where ComputationWord.isName(name): self = .computation(member.name)
      case .text(let text):
        if let word = AnimalWord.word(in: text, under: name) {
          self = .animal(word)
        } else if ComputationWord.isSimulation(name), !ComputationWord.denies(text) {
          self = .computation(member.name)
        } else if !Self.labelsOfPrograms.contains(name.name), !name.isPerson,
          text.split(separator: " ").count <= Self.maxWordsOfText, let word = ComputationWord.word(in: text)
        {
          self = .computation(word)
        } else {
          continue
        }
      default: continue
      }
      return
    }
    return nil
  }

  /// The animal that a column for the person or the species names in the first rows; nil without one.
  ///
  /// A column with several persons or animals is another question, after which a person selects one of them.
  init?(columns header: GenericHeader, selected rows: [RowFilter]) {
    let selected = rows.compactMap { header.index(of: $0.column) }
    for place in header.names.indices where !selected.contains(place) {
      let words = header.words[place]
      guard AnimalWord.mayName(words) else { continue }
      let cells = header.cells(place)
      if words.isPerson, Set(cells).count > 1 { continue }
      let found = cells.lazy.compactMap { AnimalWord.word(in: $0, under: words) }.first
      guard let found else { continue }
      self = .animal(found)
      return
    }
    return nil
  }

  private static func isOfSettings(_ name: String) -> Bool {
    HeaderWords(name).hasStem(["setting", "config", "preference", "option", "feature", "einstellung"])
  }
  /// Members whose text names a program, which may have such a word in its name.
  private static let labelsOfPrograms: Set<String> = ["app", "app name", "application", "package", "program"]
}

/// Words for animals. Studies and owners of pets write tables of glucose, too.
private enum AnimalWord {
  /// The animal that a value under a label names; nil if it names none.
  ///
  /// - Parameter label: a column, the word before a colon, or a member of JSON.
  static func word(in value: String, under label: HeaderWords) -> String? {
    let name = label.name.split(separator: ".").last.map(String.init) ?? label.name
    let cells = HeaderWords(value)
    guard value.contains(where: \.isLetter), cells.words.isDisjoint(with: noes) else { return nil }
    // The value may be the name of an animal or a person, which must not be in a log.
    if speciesNames.contains(name) { return cells.words.isDisjoint(with: humans) ? label.name : nil }
    if animalNames.contains(name) { return label.name }
    if namesOfSeveral.contains(name) { return isName(value) ? label.name : nil }
    return label.isPerson || label.isName ? word(inName: value) : nil
  }

  /// Whether a label may be one for an animal, its species or a person.
  static func mayName(_ label: HeaderWords) -> Bool {
    let name = label.name.split(separator: ".").last.map(String.init) ?? label.name
    return speciesNames.contains(name) || animalNames.contains(name) || namesOfSeveral.contains(name)
      || label.isPerson || label.isName
  }

  /// Whether a label is one for an animal, so that any value under it is of an animal.
  static func areNames(_ label: HeaderWords) -> Bool { animalNames.contains(label.name) }

  /// Whether a value may be the name of an animal.
  private static func isName(_ value: String) -> Bool {
    PersonWord.looksLikeName(Array(value.utf8)) && !value.contains(where: \.isNumber)
      && !levels.contains(value.lowercased())
  }
  private static let levels: Set<String> = [
    "basic", "basis", "bronze", "enterprise", "family", "free", "gold", "platinum", "plus", "premium", "pro",
    "silber",
    "silver", "tier",
  ]

  /// The word for an animal in a name: `Bello (Hund)`, `Bello / dog`, `Bello, dog`, or only the word.
  ///
  /// Most of these words are also names, as in `Hund, Peter` and `Miller, Cat`. So a word with a capital
  /// letter counts only if it is a noun, or in brackets.
  private static func word(inName value: String) -> String? {
    let parts = value.split { "(),;/[]|".contains($0) }.map { part in part.split { !$0.isLetter } }
    let hasBrackets = value.contains { "(/[|".contains($0) }
    let others = parts.count > 1 ? parts.dropFirst().filter { $0.count <= 2 } : parts.filter { $0.count == 1 }
    return others.joined().first { word in
      let folded = word.lowercased()
      return animals.contains(folded)
        && (word.first?.isUppercase != true || nouns.contains(folded)
          || (hasBrackets && surest.contains(folded)))
    }?.lowercased()
  }

  /// The word for a pet in a line of prose, such as `Blutzuckertagebuch Hund Bello` or `Glucose of my cat`.
  static func word(inTitle words: [Substring]) -> String? {
    var before: Substring = ""
    for word in words {
      defer { before = word }
      let folded = word.filter(\.isLetter).lowercased()
      let isOwned = possessives.contains(before.lowercased())
      let isPet =
        titleWords.contains(folded) || (folded == "cat" && word.first?.isLowercase == true)
        || (isOwned && animals.contains(folded))
      guard isPet, before.lowercased() != "hot" else { continue }
      // `Hund` after another name is a surname.
      let isSurname =
        surnames.contains(folded) && before.first?.isUppercase == true
        && SheetName.mayNamePerson(String(before))
      if !isSurname || isOwned { return folded }
    }
    return nil
  }

  private static func set(_ text: String) -> Set<String> {
    Set(text.split(whereSeparator: \.isWhitespace).map(String.init))
  }

  private static let animalNames: Set<String> = [
    "pet", "pets", "pet name", "petname", "pet id", "animal", "animals", "animal name", "animal id",
    "animal type", "animal no", "dog name", "cat name", "horse name", "tiere", "tiername", "tier name",
    "haustier", "hundename", "katzenname", "mascota", "nombre de la mascota", "animal de compagnie",
    "animale",
    "nome animale", "huisdier", "husdjur", "kæledyr", "kjæledyr", "zwierzę", "zwierzak", "питомец",
    "животное",
    "ペット", "ペット名", "宠物", "寵物", "반려동물",
  ]
  /// Labels for an animal that have other meanings, too: `Tier` is German for an animal, and English for a
  /// level.
  private static let namesOfSeveral: Set<String> = [
    "tier", "dog", "horse", "hund", "katze", "chien", "perro", "gato", "gatto",
  ]
  private static let speciesNames: Set<String> = [
    "species", "breed", "dog breed", "spezies", "tierart", "rasse", "hunderasse", "espèce", "especie",
    "specie",
    "espécie", "diersoort", "art des tieres", "gatunek", "вид животного", "порода", "種", "物种",
  ]
  private static let humans: Set<String> = [
    "human", "humans", "homo", "sapiens", "mensch", "humain", "humano", "umano", "uomo", "mens", "menneske",
    "människa", "człowiek", "человек", "person", "people", "ヒト", "人", "unknown", "unbekannt",
  ]
  private static let noes: Set<String> = ["no", "none", "false", "nein", "null", "non", "nil", "na", "keine"]

  /// Words that do not name persons.
  private static let surest = set(
    """
    dog dogs hund hündin rüde welpe katze kätzin canine canines feline felines canis felis equine murine porcine
    bovine perro perra perrito gato gatito gatto gattino chienne chaton chiot puppy kitten kitty 犬 猫 狗 愛犬
    愛猫 고양이 강아지 собака кошка пёс köpek cachorro cadela koira kissa kočka horse pferd pony caballo cavallo
    paard mouse mice rattus mus rabbit kaninchen ferret frettchen hamster minipig macaque monkey swine
    """)
  /// Words that may also be names of persons, if they begin with a capital letter, or other words.
  private static let animals = surest.union(
    set(
      "cat cats chat chatte chien cane gatta kat poes hond kater katt pies kot pes kedi cão hest häst rat rats pig"
    ))
  /// Words that no person has as a given name.
  private static let nouns = set(
    "dog hund hündin rüde welpe katze kätzin kaninchen pferd frettchen canine feline")
  private static let titleWords = set(
    """
    dog dogs hund hunde hündin katze katzen canine feline perro gato gatto chienne puppy kitten 犬 猫 狗 愛犬 愛猫
    고양이 강아지 собака собаки кошка кошки köpek cachorro koira kissa kočka
    """)
  private static let surnames = set("hund hunde katze perro gato gatto")
  private static let possessives = set("my our mein meine meiner meinem unser mon ma mi mio mia mijn min vår")
}

/// Words for values that a program computed.
private enum ComputationWord {
  /// The word for a computation in a short text; nil without one, or if the text denies it.
  static func word(in text: String) -> String? {
    let words = text.split { !$0.isLetter }.map { $0.lowercased() }
    guard Set(words).isDisjoint(with: denials) else { return nil }
    return words.first { isSimulation($0) || forecasts.contains($0) }
  }

  /// Whether a name consists of words for a computation.
  static func isName(_ name: HeaderWords) -> Bool {
    consists(name) { isSimulation($0) || forecasts.contains($0) }
  }

  /// Whether a name consists of words for a simulation. Next to readings, a member may have the forecast of a
  /// later value.
  static func isSimulation(_ name: HeaderWords) -> Bool { consists(name, isSimulation) }

  /// Whether a text states that something does not apply.
  static func denies(_ text: String) -> Bool {
    !HeaderWords(text).words.isDisjoint(with: denials) || !text.contains { $0.isLetter || $0.isNumber }
  }

  private static func consists(_ name: HeaderWords, _ isOf: (String) -> Bool) -> Bool {
    let words = name.name.split { !$0.isLetter && !$0.isNumber }.map(String.init).filter {
      !links.contains($0)
    }
    return !words.isEmpty && words.allSatisfy(isOf)
  }

  private static func isSimulation(_ word: String) -> Bool {
    stems.contains(where: word.hasPrefix) || others.contains(word)
  }

  private static let stems = [
    "simulat", "simulac", "simulaz", "simulaç", "simulier", "simuler", "symulac", "симуля",
  ]
  private static let others: Set<String> = ["simglucose", "simglu", "padova", "synthetic", "synthetisch"]
  private static let forecasts: Set<String> = [
    "forecast", "forecasts", "forecasted", "predicted", "prediction", "predictions", "prognose", "prognosen",
    "vorhersage", "vorhersagen", "prévision", "prévisions", "prédiction", "prédictions", "predicción",
    "predicciones", "pronóstico", "pronósticos", "previsione", "previsioni", "predizione", "voorspelling",
    "voorspellingen", "previsão", "predição", "prognos", "prognoza", "прогноз", "予測", "预测",
  ]
  private static let links: Set<String> = [
    "is", "are", "data", "run", "info", "id", "model", "meta", "params", "parameters",
  ]
  private static let denials: Set<String> = [
    "no", "not", "none", "off", "without", "excluding", "excluded", "false", "disabled", "non", "kein",
    "keine",
    "ohne", "nicht", "aus", "sans", "pas", "sin", "senza", "zonder", "uden", "utan", "null",
  ]
}
