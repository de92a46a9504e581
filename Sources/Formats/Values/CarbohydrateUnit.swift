// SPDX-License-Identifier: Apache-2.0

/// The unit of a column of carbohydrates. A portion has no known size, so it is never converted to grams.
enum CarbohydrateUnit {
  case grams, servings

  /// Parts of the word for grams, in the languages of the exports.
  private static let gramWords = ["gram", "(g)", "γραμμ", "грам", "グラム", "克", "그램", "גרם", "غرام", "جرام"]
  /// Parts of the words for portions, exchanges and bread units.
  private static let servingWords = [
    "serving", "porti", "porc", "porç", "porz", "porsi", "racion", "ración", "annos", "adag", "μερίδ",
    "порци",
    "exchange", "broteinheit", "(be)", "(ke)", "(khe)",
  ]

  /// The unit in a column's folded name; nil if there is no known one.
  init?(header: String) {
    if Self.gramWords.contains(where: header.contains) {
      self = .grams
    } else if Self.servingWords.contains(where: header.contains) {
      self = .servings
    } else {
      return nil
    }
  }

  /// The field of a food record that takes the number.
  var field: String { self == .grams ? "carbs" : "servings" }
}
