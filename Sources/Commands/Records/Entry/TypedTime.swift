// SPDX-License-Identifier: Apache-2.0

import CommandParts
import Logbook

/// Finds words for times in a typed entry, such as `yesterday`. Only `--at` sets the time of an entry, so
/// these words are refused next to a value. A duration normally states exercise. Next to a word such as
/// `after`, it states a time, so it is refused, too.
enum TypedTime {
  /// Refuses a duration that states when a value was measured: `110 2h after lunch`.
  ///
  /// - Parameters:
  ///   - amount: the number with its unit.
  ///   - before: the word before the amount; nil without one.
  ///   - next: the words after the amount.
  static func requireExercise(_ amount: String, _ before: String?, _ next: ArraySlice<String>) throws {
    let (before, after) = (before?.lowercased() ?? "", next.first?.lowercased() ?? "")
    if isExercise(before) || isExercise(after) { return }
    let isOfTime = prepositions.contains(after) || (prepositions.contains(before) && !isText(after))
    guard isOfTime || leading.contains(before) else { return }
    let word = prepositions.contains(after) ? after : before
    throw Failure(
      .usage,
      "'\(displayed(amount))' next to '\(displayed(word))' may be a time, and not exercise; write --mark after-meal or another mark, --at "
        + "for the time, or --note for a text")
  }

  /// Refuses a text which states that a value or amount next to it is from another time: `110 yesterday`.
  static func requireNow(_ words: [String]) throws {
    let words = words.flatMap { $0.lowercased().split { !$0.isLetter && $0 != "-" }.map(String.init) }
    let pairs = zip(words, words.dropFirst()).first { pointers.contains($0) && partsOfDay.contains($1) }
    guard let word = words.first(where: otherTimes.contains) ?? pairs.map({ "\($0) \($1)" }) else { return }
    throw Failure(
      .usage,
      "'\(displayed(word))' says that the entry is of another time; write --at with that time, or --note for a text"
    )
  }

  private static func isText(_ word: String) -> Bool { word.contains(where: \.isLetter) }

  private static func isExercise(_ word: String) -> Bool {
    exerciseStems.contains { word.hasPrefix($0) }
  }

  /// The beginnings of words for exercise.
  private static let exerciseStems = [
    "walk", "run", "ran", "jog", "bike", "biking", "cycl", "swim", "swam", "gym", "sport", "train", "work",
    "exerc",
    "yoga", "danc", "hik", "ski", "row", "tennis", "football", "soccer", "garden", "climb", "lauf", "lief",
    "gelauf",
    "spazier", "gehen", "rad", "fahrrad", "schwimm", "wander", "turn", "march", "cour", "vélo", "natation",
    "nage",
    "camin", "corr", "bici", "nata", "passegg", "nuot", "fiets", "wandel", "zwem", "hardlop", "løb", "cykl",
    "pilates",
    "cardio", "treadmill", "marathon", "stroll", "mow", "clean", "putz",
  ]

  /// Words that turn a duration next to them into a time, as in `2h after`. They follow the duration, or
  /// precede it if no text follows it.
  private static let prepositions: Set<String> = [
    "before", "after", "later", "ago", "past", "post", "pre", "since", "earlier", "until", "till", "into",
    "from", "pp",
    "postprandial", "prior", "vor", "nach", "später", "danach", "davor", "zuvor", "her", "bis", "seit",
    "avant", "après",
    "apres", "depuis", "antes", "después", "despues", "desde", "prima", "dopo", "fa", "voor", "na",
    "geleden",
    "efter", "før", "siden", "sedan",
  ]
  /// Words that turn the duration after them into a time, as in `within 2h`. The text after the duration does
  /// not matter.
  private static let leading: Set<String> = ["hace", "within", "in", "il"]

  private static let otherTimes: Set<String> = [
    "ago", "yesterday", "tomorrow", "earlier", "gestern", "vorgestern", "vorhin", "hier", "avant-hier",
    "ayer", "anteayer",
    "ieri", "gisteren", "eergisteren", "geleden", "ontem", "igår", "wczoraj", "stamattina", "stanotte",
    "stasera",
    "vanmorgen", "vanochtend", "vannacht",
  ]
  private static let pointers: Set<String> = [
    "this", "last", "at", "heute", "letzte", "ce", "cette", "esta", "este", "questa", "anoche",
  ]
  private static let partsOfDay: Set<String> = [
    "morning", "afternoon", "evening", "night", "noon", "midnight", "week", "morgen", "früh", "vormittag",
    "mittag",
    "nachmittag", "abend", "nacht", "matin", "après-midi", "soir", "nuit", "mañana", "tarde", "noche",
    "mattina", "sera",
    "notte",
  ]
}

/// Words that name a nutrient other than carbohydrates. They are next to an amount in grams.
enum TypedFood {
  /// The field of food that a word after grams names; nil for any other word.
  static func field(of word: String) -> String? {
    let word = word.lowercased()
    return proteins.contains(word) ? "protein" : fats.contains(word) ? "fat" : nil
  }

  /// Whether a word names something that no field holds, such as fibre.
  static func isOther(_ word: String) -> Bool { others.contains(word.lowercased()) }

  private static let proteins: Set<String> = [
    "protein", "proteins", "eiweiß", "eiweiss", "proteine", "protéine", "protéines", "proteína", "proteínas",
    "proteina",
    "eiwit", "białko",
  ]
  private static let fats: Set<String> = [
    "fat", "fats", "fett", "lipides", "graisse", "graisses", "grasa", "grasas", "grassi", "gordura", "vet",
    "fedt", "tłuszcz",
  ]
  private static let others: Set<String> = [
    "fiber", "fibre", "fibres", "ballaststoffe", "fibra", "vezels", "salt", "salz", "sel", "sal", "alcohol",
    "alkohol",
    "creatine", "kreatin", "weight",
  ]
}
