// SPDX-License-Identifier: Apache-2.0

import Logbook

/// What the header of a mySugr table says, in any language: its 25 columns always stand in the same order.
struct MySugrHeader {
  static let columnCount = 25

  /// How the column of carbohydrates is to be read.
  enum Carbs: Equatable {
    case grams
    /// Exchanges of this many grams.
    case exchanges(grams: Double)
    /// Of no known unit.
    case servings
  }

  /// The columns of this table: more where a spreadsheet padded them.
  let width: Int
  let unit: GlucoseUnit
  let carbs: Carbs
  let isEnglish: Bool

  /// The word before the factor, in the languages in which it is known.
  private static let factorWords = ["factor", "faktor", "facteur", "fattore", "fator"]

  /// The header of folded cells; nil when it is none of mySugr.
  init?(_ cells: [String]) {
    guard cells.count >= Self.columnCount, cells[Self.columnCount...].allSatisfy(\.isEmpty),
      let unit = Self.unit(in: cells[MySugrFormat.Column.glucose]),
      let carbs = Self.carbs(in: cells[MySugrFormat.Column.carbs])
    else { return nil }
    width = cells.count
    self.unit = unit
    self.carbs = carbs
    isEnglish = cells[MySugrFormat.Column.date] == "date" && cells[MySugrFormat.Column.time] == "time"
  }

  /// Whether folded cells are a header of mySugr whose columns somebody moved.
  static func isReordered(_ cells: [String]) -> Bool {
    cells.count >= columnCount && MySugrHeader(cells) == nil && cells.contains { unit(in: $0) != nil }
      && cells.contains { carbs(in: $0) != nil }
  }

  private static func unit(in cell: String) -> GlucoseUnit? {
    if cell.contains("mmol/l") { return .millimolesPerLitre }
    return cell.contains("mg/dl") ? .milligramsPerDecilitre : nil
  }

  private static func carbs(in cell: String) -> Carbs? {
    guard let word = factorWords.lazy.compactMap({ cell.firstRange(of: $0) }).first else { return nil }
    if cell.contains("gram") { return .grams }
    let digits = cell[word.upperBound...].drop { $0 == " " || $0 == ":" }
      .prefix { $0.isASCII && ($0.isNumber || $0 == "." || $0 == ",") }
    guard let grams = Double(digits.replacing(",", with: ".")), (1.5...100).contains(grams) else {
      return .servings
    }
    return .exchanges(grams: grams)
  }
}
