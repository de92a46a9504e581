// SPDX-License-Identifier: Apache-2.0

/// Compares the names of a header with those that its format is known to use. Formats that read columns by their place
/// take a misspelt name unchanged; a person should still learn of it, and of columns that are not read.
struct HeaderNames {
  /// The known names in the order of the columns, folded and without units; variants have a bar between them.
  private let known: [String]

  /// The names of the language that most of the cells are in; nil when no language has most of them.
  ///
  /// - Parameters:
  ///   - cells: the folded cells of a header, from its first column on.
  ///   - languages: for each language the names as `known`.
  init?(_ cells: [String], among languages: [[String]]) {
    let scored = languages.map { names in (names: names, hits: zip(names, cells).count { Self.fits($1, $0) })
    }
    guard let best = scored.max(by: { $0.hits < $1.hits }), best.hits * 3 >= best.names.count * 2 else {
      return nil
    }
    known = best.names
  }

  /// What a person should know of the names: those that are not known in their place.
  ///
  /// - Parameter cells: the cells, unchanged, from the first column on.
  func warnings(_ cells: [String]) -> [String] {
    zip(known, cells).compactMap { name, cell in
      if Self.fits(foldedHeader(cell), name) { return nil }
      return Self.warning(cell, readAs: String(name.prefix { $0 != "|" }))
    }
  }

  /// What a person should know of a column with an unknown name.
  ///
  /// - Parameter usual: the name of the column that it is read as; nil when it is not read.
  static func warning(_ cell: String, readAs usual: String?) -> String {
    let use = usual.map { "read as '\($0)', because of its position" } ?? "not read"
    return "unknown column '\(shortened(cell))': \(use)"
  }

  private static func shortened(_ cell: String) -> String {
    String(cell.split(whereSeparator: \.isWhitespace).joined(separator: " ").prefix(60))
  }

  /// Whether a folded cell has this name, with or without a unit.
  private static func fits(_ cell: String, _ name: String) -> Bool {
    var plain = cell.replacing("\u{2019}", with: "'")
    for unit in ["(mg/dl)", "(mmol/l)", "mg/dl", "mmol/l"] { plain = plain.replacing(unit, with: "") }
    let bare = plain.last == " " ? String(plain.dropLast()) : plain
    return name.split(separator: "|").contains { bare == $0 || bare.hasPrefix("\($0) (") }
  }
}
