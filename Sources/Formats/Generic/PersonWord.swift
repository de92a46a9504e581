// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Decides whether a word in a column of unknown meaning may be the name, the initials or the number of a
/// person.
enum PersonWord {
  /// Words that describe a reading, its day or the person's state.
  private static let descriptions: Set<String> = [
    "yes", "no", "y", "n", "true", "false", "ja", "nein", "oui", "non", "sí", "si", "não", "sim", "nee",
    "nej", "ok", "good", "bad", "fair", "poor", "great", "well", "tired", "sick", "ill", "happy", "sad",
    "stress", "stressed", "calm", "normal", "high", "low", "in range", "above", "below", "inrange", "hyper",
    "hypo", "left", "right", "links", "rechts", "gauche", "droite", "izquierda", "derecha", "thumb", "index",
    "middle", "ring", "little", "arm", "finger", "forearm", "palm", "mon", "tue", "wed", "thu", "fri", "sat",
    "sun", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "mo", "di", "mi",
    "do", "fr", "sa", "so", "montag", "dienstag", "mittwoch", "donnerstag", "freitag", "samstag", "sonntag",
    "lun", "mar", "mer", "mié", "jeu", "jue", "ven", "vie", "sam", "sáb", "dim", "dom", "weekday", "weekend",
    "work", "home", "holiday", "school", "travel", "spring", "summer", "autumn", "winter", "rest", "running",
    "walking", "cycling", "swimming", "gym", "sport", "sports", "exercise", "none", "light", "moderate",
    "heavy", "insulin", "food", "rapid", "long", "first", "second", "manual", "auto", "automatic", "sensor",
    "meter", "cgm", "smbg", "valid", "invalid", "error", "control", "test", "final", "preliminary",
    "capillary", "venous", "plasma", "blood", "rising", "falling", "stable", "steady", "flat", "up", "down",
    "hand", "side", "foot", "leg", "belly", "abdomen", "thigh", "heel", "toe", "earlobe", "profile", "profil",
    "standard", "default",
  ]
  /// Words for members of a family. They name a person even in small letters.
  private static let families: Set<String> = [
    "mum", "mom", "mummy", "mommy", "dad", "daddy", "mama", "papa", "mother", "father", "son", "daughter",
    "brother", "sister", "wife", "husband", "grandma", "grandpa", "granny", "oma", "opa", "mutter", "vater",
    "sohn", "tochter", "bruder", "schwester", "frau", "mann", "maman", "fils", "fille", "frère", "sœur",
    "mamá", "papá", "hijo", "hija", "hermano", "hermana", "mamma", "babbo", "figlio", "figlia", "moeder",
    "vader", "zoon", "dochter", "mor", "far", "søn", "datter",
  ]
  private static let maxBytes = 40

  /// Whether a word begins with a capital letter or has a digit, and is not a word of a diary, a device or a
  /// kind.
  static func looksLikeName(_ bytes: [UInt8]) -> Bool {
    let text = String(decoding: bytes, as: UTF8.self)
    guard bytes.count <= maxBytes, let first = text.first else { return false }
    let folded = foldedHeader(text)
    if families.contains(folded) { return true }
    guard first.isUppercase || text.contains(where: \.isNumber) else { return false }
    if descriptions.contains(folded) || MealMark.isMark(text) || KindWord(text) != nil { return false }
    let words = text.split { !$0.isLetter && !$0.isNumber }
    let known = words.filter { isKnown($0) }
    // `Anna (home)` is a name, and `Left hand` is not.
    return words.count <= 3
      && (known.isEmpty || words.contains { !isKnown($0) && $0.first?.isUppercase == true && $0.count > 1 })
  }

  /// Whether each word of a text describes something else than a person.
  static func describes(_ bytes: [UInt8]) -> Bool {
    let words = String(decoding: bytes, as: UTF8.self).split { !$0.isLetter }
    return !words.isEmpty && words.allSatisfy(isKnown)
  }

  /// A key that is equal for cells that name the same person, even in another case or with the words in
  /// another order.
  struct PersonKey: Hashable {
    private let person: StatedPerson?
    private let text: String

    init(_ bytes: [UInt8]) {
      let label = String(decoding: bytes, as: UTF8.self)
      // An id is compared exactly, and so is a text that is not a name, such as a placeholder.
      person = label.contains(where: \.isNumber) ? nil : StatedPerson(name: label)
      text = person == nil ? label : ""
    }
  }

  /// Words of the names of phones, programs and meters that `SourceName` does not have.
  private static let products: Set<String> = [
    "iphone", "ipad", "android", "phone", "watch", "apple", "health", "samsung", "google", "pixel", "huawei",
    "xiaomi", "garmin", "fitbit", "oura", "whoop", "app", "keto", "mojo", "dario", "beurer", "sinocare",
    "bionime", "rightest", "fora", "wellion", "medisana", "omron", "yuwell", "ihealth", "onedrop", "drop",
    "agamatrix", "menarini", "sannuo", "trividia", "nipro", "arkray", "ysi", "hemocue", "nova", "statstrip",
    "clarity", "connect", "diasend", "tidepool", "sugar", "buddy", "device", "import", "user", "default",
    "home", "hospital", "clinic", "lab", "laboratory", "labor", "praxis", "bluetooth", "usb",
  ]

  /// Whether the only value of a column `Name` is a person's name. Such a column may also name devices,
  /// measures, meals or events.
  static func isName(_ bytes: [UInt8]) -> Bool {
    let text = String(decoding: bytes, as: UTF8.self)
    let (words, header) = (text.split { !$0.isLetter }, HeaderWords(text))
    guard bytes.count <= maxBytes, (1...4).contains(words.count),
      text.allSatisfy({ $0.isLetter || " ,.-'’".contains($0) }), SheetName.mayNamePerson(text)
    else { return false }
    if words.contains(where: { products.contains(foldedHeader(String($0))) }) || describes(bytes) {
      return false
    }
    return !header.namesOther && !header.isSugar && !header.namesNoValue && KindWord(text) == nil
      && !MealMark.isMark(text) && SourceName.statedDeviceKind(text) == nil
      && SourceName.deviceKind(of: [text]) == nil
  }

  private static func isKnown(_ word: Substring) -> Bool {
    let folded = foldedHeader(String(word))
    return descriptions.contains(folded) || GlucoseName.known.contains(Substring(folded))
  }
}
