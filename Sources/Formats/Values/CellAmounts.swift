// SPDX-License-Identifier: Apache-2.0

import Logbook

/// A column of amounts, the record field that stores them, and their permitted range.
struct AmountColumn {
  let column: Int
  let field: String
  let range: ClosedRange<Double>

  init(_ column: Int, _ field: String, _ range: ClosedRange<Double>) {
    (self.column, self.field, self.range) = (column, field, range)
  }
}

extension BatchBuilder {
  /// The amounts in a row by their record fields, for formats that write 0 or nothing for a missing amount.
  /// Returns nil if the row was rejected because a cell holds other text, or a number outside the range of
  /// its column.
  mutating func amounts(
    _ row: Row, _ columns: [AmountColumn], _ mark: DecimalMark = .point
  ) -> [String: FieldValue]? {
    var fields: [String: FieldValue] = [:]
    for column in columns {
      let cell = row[column.column].trimmed
      if cell.isEmpty { continue }
      guard let number = cell.number(mark), column.range.contains(number) else {
        reject(row, "an amount is not a number from 0 to \(plainNumber(column.range.upperBound))")
        return nil
      }
      if number != 0 { fields[column.field] = .number(number) }
    }
    return fields
  }
}

/// Chooses the name under which a row is counted if the format does not store rows of its kind.
struct OtherKinds {
  /// The maximum number of kinds counted by their names, more than any format has. Further kinds are counted
  /// under one name.
  private static let maxNames = 40
  private static let longestName = 40

  private var names: Set<String> = []

  /// The name for a row with this cell as its kind. The cell of a damaged row may hold a value or a note, so
  /// only short text of letters becomes a name.
  mutating func name(_ cell: Field) -> String {
    let cell = cell.trimmed
    guard cell.count > 0, cell.count <= Self.longestName else { return "other row" }
    let name = cell.text
    if names.contains(name) { return name }
    guard names.count < Self.maxNames, name.allSatisfy({ $0.isLetter || " -/()._".contains($0) }) else {
      return "other row"
    }
    names.insert(name)
    return name
  }
}

/// The unit of a column of carbohydrates. A portion has no known weight, so it is never converted to grams.
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

  /// The unit that a column's folded name states; nil if it states no known unit.
  init?(header: String) {
    if Self.gramWords.contains(where: header.contains) {
      self = .grams
    } else if Self.servingWords.contains(where: header.contains) {
      self = .servings
    } else {
      return nil
    }
  }

  /// The field of a food record that stores a number in this unit.
  var field: String { self == .grams ? "carbs" : "servings" }
}
