// SPDX-License-Identifier: Apache-2.0

/// The words by which exports state how long an insulin acts.
enum InsulinWord {
  private static let long = ["long", "lang", "lent", "larg", "lung", "lång"]
  private static let rapid = ["fast", "rapid", "rápid", "schnell", "kurz", "snel", "snabb", "hurtig", "rask"]

  /// The subtype of a dose by parts of a folded word; nil for a word of an unknown language.
  static func subtype(_ word: String) -> String? {
    if long.contains(where: word.contains) { return "long" }
    return rapid.contains(where: word.contains) ? "rapid" : nil
  }
}
