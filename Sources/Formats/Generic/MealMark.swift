// SPDX-License-Identifier: Apache-2.0

/// The words with which a diary states when a finger stick was taken: `Fasting`, `Before breakfast`,
/// `2 h after meal`.
///
/// Such words must not be taken for kinds of rows, such as `Target`, nor for names of persons.
enum MealMark {
  /// Words that need no other word to be a mark.
  private static let marks: Set<String> = [
    "fasting", "fasted", "fbs", "ppbs", "rbs", "postprandial", "preprandial", "prandial", "premeal",
    "postmeal", "pp", "random", "bedtime", "wakeup", "waking", "breakfast", "lunch", "dinner", "supper",
    "tea", "snack", "morning", "noon", "midday", "afternoon", "evening", "night", "midnight", "overnight",
    "am", "pm", "nüchtern", "frühstück", "mittagessen", "abendessen", "morgens", "mittags", "nachmittags",
    "abends", "nachts", "morgen", "mittag", "abend", "nacht", "schlafengehen", "jeun", "petit déjeuner",
    "déjeuner", "dîner", "diner", "goûter", "coucher", "matin", "midi", "soir", "nuit", "ayunas", "desayuno",
    "almuerzo", "comida", "cena", "merienda", "mañana", "tarde", "noche", "digiuno", "colazione", "pranzo",
    "mattina", "sera", "notte", "jejum", "café da manhã", "almoço", "jantar", "nuchter", "ontbijt",
    "avondeten", "ochtend", "middag", "avond", "fastende", "morgenmad", "frokost", "aftensmad", "frukost",
    "kväll", "na czczo", "śniadanie", "obiad", "kolacja",
  ]
  /// Words that need another word to be a mark, as in `after meal` or `before bed`.
  private static let anchors: Set<String> = [
    "meal", "meals", "food", "eating", "bed", "sleep", "exercise", "essen", "mahlzeit", "repas", "comer",
    "comidas", "pasto", "pasti", "refeição", "maaltijd", "eten", "måltid", "posiłku", "posiłkiem", "sport",
  ]
  private static let places: Set<String> = [
    "before", "after", "pre", "post", "vor", "nach", "avant", "après", "antes", "después", "despues", "prima",
    "dopo", "depois", "voor", "na", "før", "efter", "före", "etter", "przed", "po",
  ]
  private static let links: Set<String> = [
    "the", "at", "a", "à", "le", "la", "l", "du", "de", "del", "di", "da", "do", "in", "im", "am", "zum",
    "dem", "der", "und", "and", "with", "en", "em", "h", "hr", "hrs", "hour", "hours", "std", "stunde",
    "stunden", "1", "2", "up", "on", "wake", "time", "blood", "sugar", "glucose",
  ]
  private static let maxWords = 6

  /// Whether a text consists only of the words of a meal mark.
  static func isMark(_ text: String) -> Bool {
    let folded = foldedHeader(text)
    if marks.contains(folded) { return true }
    let words = folded.split { !$0.isLetter && !$0.isNumber }.map(String.init)
    guard !words.isEmpty, words.count <= maxWords else { return false }
    let known = [marks, anchors, places, links].reduce(into: Set<String>()) { $0.formUnion($1) }
    guard words.allSatisfy(known.contains) else { return false }
    return words.contains(where: marks.contains)
      || (words.contains(where: places.contains) && words.contains(where: anchors.contains))
  }
}
