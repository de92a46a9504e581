// SPDX-License-Identifier: Apache-2.0

/// Compares the names of a header with the known names of its format. Formats that read columns by position accept a
/// misspelt name. A person should still learn about it, and about columns that are not read.
struct HeaderNames {
  /// The known names in the order of the columns, folded and without units; variants have a bar between them.
  private let known: [String]

  /// The names of the language of most cells; nil if there is no such language.
  ///
  /// - Parameters:
  ///   - cells: the folded cells of a header, from its first column on.
  ///   - languages: for each language, the names in the form of `known`.
  init?(_ cells: [String], among languages: [[String]]) {
    let scored = languages.map { names in (names: names, hits: zip(names, cells).count { Self.fits($1, $0) })
    }
    guard let best = scored.max(by: { $0.hits < $1.hits }), best.hits * 3 >= best.names.count * 2 else {
      return nil
    }
    known = best.names
  }

  /// Warnings about names that are unknown in their position.
  ///
  /// - Parameter cells: the unchanged cells from the first column on.
  func warnings(_ cells: [String]) -> [String] {
    zip(known, cells).compactMap { name, cell in
      if Self.fits(foldedHeader(cell), name) { return nil }
      return Self.warning(cell, readAs: String(name.prefix { $0 != "|" }))
    }
  }

  /// The warning about a column with an unknown name.
  ///
  /// - Parameter usual: the name of the column as which it is read; nil if it is not read.
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
