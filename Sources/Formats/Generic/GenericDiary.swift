// SPDX-License-Identifier: Apache-2.0

import Logbook

/// How the doses and meals of a generic input are read, in columns that a person named.
struct GenericDiary {
  /// The subtype of doses that the name of their column states, as `Basal (U)` does; nil if it states none.
  private let subtype: String?
  /// The field of food for the amounts in the column of carbohydrates.
  private let foodField: String

  /// Nil for an input without such columns.
  ///
  /// - Throws: `Failure` of category `badInput` if the column of carbohydrates states energy.
  init?(_ finding: GenericFinding) throws {
    let roles: Set<GenericRole> = [.carbs, .insulin, .note]
    if roles.isDisjoint(with: finding.columns.roles) { return nil }
    subtype = finding.name(of: .insulin).flatMap(InsulinName.subtype)
    let words = finding.name(of: .carbs).map { HeaderWords($0).words } ?? []
    if !words.isDisjoint(with: Self.energyWords) {
      throw Failure(
        .badInput,
        "the column \(finding.quoted([finding.columns[.carbs]])) holds energy, and carbs= is for grams: leave it out of --map"
      )
    }
    foodField = words.isDisjoint(with: Self.exchangeWords) ? "carbs" : "servings"
  }

  /// Units of food that are 10, 12 or 15 g, by country and clinic.
  private static let exchangeWords: Set<String> = [
    "be", "broteinheit", "broteinheiten", "choices", "exch", "exchange", "exchanges", "ke", "khe",
    "kohlenhydrateinheiten", "porties", "portion", "portionen", "portions", "raciones", "ración", "serving",
    "servings", "ww", "xe",
  ]
  private static let energyWords: Set<String> = [
    "cal", "calorie", "calories", "calorías", "energie", "energy", "energía", "kalorien", "kcal", "kj",
  ]

  /// Adds the dose, the meal and the note of a row.
  func read(
    _ row: Row, _ columns: GenericColumns, at time: ShownTime, _ mark: DecimalMark,
    into out: inout BatchBuilder
  ) {
    let owner = row[columns[.serial]].isEmpty ? row[columns[.device]].text : row[columns[.serial]].text
    if columns[.insulin] >= 0, let dose = amount(.insulin, PlausibleAmounts.units) {
      var fields: [String: FieldValue] = ["units": .number(dose)]
      let name = row[columns[.use]].trimmed.text
      if !name.isEmpty { fields["text"] = .text(name) }
      if let subtype = InsulinName.subtype(name) ?? subtype { fields["subtype"] = .text(subtype) }
      out.add(.insulin, at: time, owner: owner, line: row.line, fields)
    }
    let range = foodField == "carbs" ? PlausibleAmounts.grams : PlausibleAmounts.servings
    if columns[.carbs] >= 0, let food = amount(.carbs, range) {
      out.add(.food, at: time, owner: owner, line: row.line, [foodField: .number(food)])
    }
    if columns[.note] >= 0, !row[columns[.note]].isEmpty {
      out.add(.note, at: time, owner: owner, line: row.line, ["text": .text(row[columns[.note]].text)])
    }

    func amount(_ role: GenericRole, _ range: ClosedRange<Double>) -> Double? {
      let cell = row[columns[role]]
      if cell.isEmpty { return nil }
      guard let number = cell.number(mark), range.contains(number) else {
        out.reject(row, "the amount of \(role.name) is not a plausible number")
        return nil
      }
      return number == 0 ? nil : number
    }
  }
}

extension GenericFinding {
  /// The name of the column with a role; nil without one.
  func name(of role: GenericRole) -> String? {
    columns[role] >= 0 ? header.names[columns[role]] : nil
  }

  /// The column that names the insulin of each dose: every filled cell of it next to a dose names a known insulin, or a
  /// use such as `bolus`. Nil without one, or with several.
  var placeOfInsulinNames: Int? {
    let doses = columns[.insulin]
    guard doses >= 0 else { return nil }
    let rows = header.rows.filter { $0.indices.contains(doses) && !$0[doses].isEmpty }
    let found = header.names.indices.filter { place in
      if columns.isUsed(place) { return false }
      let cells = rows.compactMap { $0.indices.contains(place) && !$0[place].isEmpty ? $0[place] : nil }
      return !cells.isEmpty && cells.allSatisfy { InsulinName.subtype($0) != nil }
    }
    return found.count == 1 ? found[0] : nil
  }
}
