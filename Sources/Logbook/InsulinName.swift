// SPDX-License-Identifier: Apache-2.0

/// Determines how long an insulin works, by its brand, its substance or a word for its use.
package enum InsulinName {
  /// The names of the insulins of one subtype.
  private struct Names {
    let subtype: String
    /// Brands, substances and mixtures. They are also found inside a longer text such as `Insulin glargine`.
    let brands: [String]
    /// Words that name the subtype only as whole words, with or without `insulin` after them.
    let words: Set<String>
  }

  private static let mixed = Names(
    subtype: "mix",
    brands: [
      "actraphane", "huminsulin profil", "humulin m3", "insuman comb", "mixtard", "novomix", "ryzodeg",
      "25/75", "30/70",
      "50/50", "70/30", "75/25",
    ],
    words: [
      "mix", "mix25", "mix30", "mix50", "mixed", "misch", "mixte", "mista", "mixta", "mezcla", "premezclada",
      "premix",
      "premixed",
    ])

  /// Glargine, detemir, degludec, icodec and NPH, which work half a day or longer.
  private static let long = Names(
    subtype: "long",
    brands: [
      "abasaglar", "awiqli", "basaglar", "degludec", "detemir", "glargin", "humulin i", "humulin n", "icodec",
      "insulatard", "isophan", "lantus", "levemir", "novolin n", "protaphan", "rezvoglar", "semglee",
      "toujeo",
      "tresiba", "ultralente",
    ],
    words: [
      "background", "basal", "basale", "intermediate", "lang", "langwerkend", "langwerkende", "langwirkend",
      "langwirkendes",
      "langwirksam", "langwirksames", "langzeit", "lenta", "lente", "lento", "long", "longue",
      "långtidsverkande",
      "langtidsvirkende", "nph", "prolongada", "prolongé", "prolongée", "retard", "retardada", "slow",
      "verzögerungs",
    ])

  /// Insulin that is injected with meals and for corrections.
  private static let rapid = Names(
    subtype: "rapid",
    brands: [
      "actrapid", "admelog", "afrezza", "apidra", "aspart", "fiasp", "glulisin", "humalog",
      "huminsulin normal",
      "humulin r", "humulin s", "liprolog", "lispro", "lyumjev", "novolin r", "novolog", "novorapid",
      "trurapi",
    ],
    words: [
      "bolo", "bolus", "corrección", "correction", "fast", "hurtigvirkende", "korrektur", "kortwerkend",
      "kurz",
      "kurzwirksam", "kurzwirksames", "kurzzeit", "mealtime", "prandial", "rapid", "rapida", "rapide",
      "rapido", "rápida",
      "rápido", "schnell", "schnelles", "short", "snabbverkande", "ultrarapid",
    ])

  /// The subtype of a dose: `rapid`, `long` or `mix`. Nil for a text that names no known insulin, or both a
  /// rapid and a long one.
  package static func subtype(_ text: String) -> String? {
    if text.isEmpty { return nil }
    let text = text.lowercased()
    let words = Set(
      text.split { !$0.isLetter && !$0.isNumber }.map { word in
        word.hasSuffix("insulin") ? String(word.dropLast("insulin".count)) : String(word)
      })
    // A mixture has the name of its rapid part, as in Humalog Mix25, so mixtures are checked first.
    let branded = subtypesOfBrands(in: Array(text.utf8))
    let found = [mixed, long, rapid].filter { names in
      branded.contains(names.subtype) || !names.words.isDisjoint(with: words)
    }.map(\.subtype)
    if found.first == mixed.subtype { return mixed.subtype }
    return found.count == 1 ? found[0] : nil
  }

  /// The subtype of an insulin if the text is only the name of its brand or substance. An amount may follow,
  /// as in `Lantus 18 U` or `Lantus 18u`. Nil for any other text.
  package static func subtypeOfBrand(_ text: String) -> String? {
    let words = text.lowercased().split { !$0.isLetter && !$0.isNumber }.filter { word in
      !["", "e", "ie", "iu", "u", "ui", "units"].contains(word.drop(while: \.isNumber))
    }
    let name = words.joined(separator: " ")
    return [mixed, long, rapid].first { $0.brands.contains(name) }?.subtype
  }

  /// The bytes of each brand with its subtype, by the first byte. A search for one brand after another would
  /// take longer than all other work for a dose.
  private static let brandsByFirstByte = Dictionary(
    grouping: [mixed, long, rapid].flatMap { names in
      names.brands.map { (bytes: Array($0.utf8), subtype: names.subtype) }
    }, by: { $0.bytes[0] })

  /// The subtypes of all brands that a text in lower case contains.
  private static func subtypesOfBrands(in text: [UInt8]) -> Set<String> {
    var found: Set<String> = []
    for start in text.indices {
      for brand in brandsByFirstByte[text[start]] ?? [] where text[start...].starts(with: brand.bytes) {
        found.insert(brand.subtype)
      }
    }
    return found
  }
}
