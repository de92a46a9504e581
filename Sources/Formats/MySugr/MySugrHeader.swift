// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The header of a mySugr table in any language: its first 25 columns are always in the same order.
struct MySugrHeader {
  static let columnCount = 25

  /// The meaning of the column of carbohydrates.
  enum Carbs: Equatable {
    case grams
    /// Exchanges of this many grams.
    case exchanges(grams: Double)
    /// An unknown unit.
    case servings
  }

  /// The number of columns of this table: more if a spreadsheet padded them, or with newer columns of the app.
  let width: Int
  let unit: GlucoseUnit
  let carbs: Carbs
  let isEnglish: Bool

  /// The word before the factor in known languages.
  private static let factorWords = ["factor", "faktor", "facteur", "fattore", "fator"]
  /// Columns after the 25 in newer exports. They state the person's location, and are never read.
  private static let newColumns: Set<String> = ["timezone", "time zone", "latitude", "longitude"]
  private static let english: [String] = [
    "date", "time", "tags", "blood glucose measurement|blood sugar measurement", "insulin injection units",
    "basal injection units", "insulin injection units", "insulin", "insulin", "temporary basal percentage",
    "temporary basal duration", "meal carbohydrates", "meal descriptions", "activity duration",
    "activity intensity", "activity description", "steps", "note", "location", "blood pressure",
    "body weight", "hba1c", "ketones", "food type", "medication",
  ]

  /// Parses folded cells; nil if they are not a header of mySugr.
  init?(_ cells: [String]) {
    guard cells.count >= Self.columnCount, let unit = Self.unit(in: cells[MySugrFormat.Column.glucose]),
      let carbs = Self.carbs(in: cells[MySugrFormat.Column.carbs])
    else { return nil }
    width = cells.count
    self.unit = unit
    self.carbs = carbs
    isEnglish = cells[MySugrFormat.Column.date] == "date" && cells[MySugrFormat.Column.time] == "time"
  }

  /// Whether folded cells are a header of mySugr with moved columns: the same number of names, including a unit of
  /// glucose and a factor of carbohydrates in mySugr's form.
  static func isReordered(_ cells: [String]) -> Bool {
    let names = cells.filter { !$0.isEmpty }.count
    return (columnCount...columnCount + newColumns.count).contains(names) && MySugrHeader(cells) == nil
      && cells.contains { $0.hasSuffix(")") && unit(in: $0) != nil }
      && cells.contains { carbs(in: $0) != nil }
  }

  /// Warnings about unusual names in the header line.
  func warnings(_ names: [String]) -> [String] {
    let cells = names.map(foldedHeader)
    let unusual = HeaderNames(cells, among: [Self.english])?.warnings(names) ?? []
    let unread = zip(names, cells).dropFirst(Self.columnCount).filter {
      !$1.isEmpty && !Self.newColumns.contains($1)
    }
    return unusual + unread.map { HeaderNames.warning($0.0, readAs: nil) }
  }

  private static func unit(in cell: String) -> GlucoseUnit? {
    if cell.contains("mmol/l") { return .millimolesPerLitre }
    return cell.contains("mg/dl") ? .milligramsPerDecilitre : nil
  }

  /// The meaning of a name such as `meal carbohydrates (grams, factor 1)`; nil for any other.
  private static func carbs(in cell: String) -> Carbs? {
    guard cell.last == ")", let open = cell.lastIndex(of: "(") else { return nil }
    let inside = cell[cell.index(after: open)...].dropLast()
    guard let word = factorWords.lazy.compactMap({ inside.firstRange(of: $0) }).first else { return nil }
    let named = inside[..<word.lowerBound].filter { $0 != "," && $0 != " " }
    let digits = inside[word.upperBound...].drop { $0 == " " || $0 == ":" }
    guard !named.isEmpty, digits.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == "." || $0 == ",") }) else {
      return nil
    }
    if named == "g" || CarbohydrateUnit(header: String(named)) == .grams { return .grams }
    guard let grams = Double(digits.replacing(",", with: ".")), (1.5...100).contains(grams) else {
      return .servings
    }
    return .exchanges(grams: grams)
  }
}
