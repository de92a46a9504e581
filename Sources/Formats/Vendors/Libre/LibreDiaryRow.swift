// SPDX-License-Identifier: Apache-2.0

import Logbook

/// A row with records in one of Abbott's two exports: insulin, food, exercise, notes.
struct LibreDiaryRow {
  let row: Row
  let columns: LibreColumns
  let mark: DecimalMark
  /// The unit of the column of carbohydrates.
  let carbs: CarbohydrateUnit
  let time: ShownTime
  let owner: String
  /// The export's id of this row; empty without one. One row can have two records.
  let sourceID: String
  /// The serial number of the phone or reader, if the export has one for each row. A new phone states the
  /// entries of the old one again, with another serial number.
  var serial = ""

  /// Words that mean exercise if a note consists of one of them: en, es, fr, de, nl, sv, it.
  private static let exerciseWords: Set<String> = [
    "exercise", "ejercicio", "exercice", "bewegung", "training", "sport", "lichaamsbeweging", "beweging",
    "motion",
    "träning", "esercizio", "attività fisica",
  ]

  /// Adds the insulin doses of a row of type 4.
  func addInsulin(to out: inout BatchBuilder) {
    // The bolus calculator's meal part, its correction and the person's change add up to the rapid dose.
    let parts = [columns.meal, columns.correction, columns.userChange].map { row[$0] }.filter { !$0.isEmpty }
    if !row[columns.rapid].isEmpty || isTaken(columns.rapidTaken) {
      addDose("rapid", row[columns.rapid], taken: columns.rapidTaken, to: &out)
      for _ in parts { out.skip("part of a dose") }
    } else if !parts.isEmpty {
      addSum(of: parts, to: &out)
    }
    if !row[columns.long].isEmpty || isTaken(columns.longTaken) {
      addDose("long", row[columns.long], taken: columns.longTaken, to: &out)
    }
  }

  private func addDose(_ subtype: String, _ cell: Field, taken: Int, to out: inout BatchBuilder) {
    var fields: [String: FieldValue] = ["subtype": .text(subtype)]
    if !cell.isEmpty {
      guard let units = cell.number(mark), PlausibleAmounts.units.contains(units) else {
        return out.reject(row, "the insulin dose is not a number of units")
      }
      fields["units"] = .number(units)
    }
    if let text = words(taken) { fields["text"] = .text(text) }
    add(.insulin, subtype, fields, to: &out)
  }

  private func addSum(of parts: [Field], to out: inout BatchBuilder) {
    let numbers = parts.compactMap { $0.number(mark) }
    // Rounded to a thousandth of a unit, so that 0.1 and 0.2 add up to 0.3.
    let units = numbers.reduce(0) { $0 + ($1 * 1000).rounded() } / 1000
    guard numbers.count == parts.count, PlausibleAmounts.units.contains(units) else {
      return out.reject(row, "the insulin dose is not a number of units")
    }
    add(.insulin, "rapid", ["subtype": .text("rapid"), "units": .number(units)], to: &out)
  }

  /// Adds the food of a row of type 5.
  func addFood(to out: inout BatchBuilder) {
    var fields: [String: FieldValue] = [:]
    let (amount, servings) = (row[columns.carbs], row[columns.servings])
    if !amount.isEmpty {
      let range = carbs == .grams ? PlausibleAmounts.grams : PlausibleAmounts.servings
      guard let number = amount.number(mark), range.contains(number) else {
        return out.reject(
          row, "the carbohydrates are not a number from 0 to \(plainNumber(range.upperBound))")
      }
      fields[carbs.field] = .number(number)
    }
    if !servings.isEmpty {
      let range = PlausibleAmounts.servings
      guard let count = servings.number(mark), range.contains(count) else {
        return out.reject(row, "the servings are not a number from 0 to \(plainNumber(range.upperBound))")
      }
      if count > 0 || amount.isEmpty { fields["servings"] = .number(count) }
    }
    if let text = words(columns.foodText) { fields["text"] = .text(text) }
    guard !fields.isEmpty || isTaken(columns.foodText) else { return out.skip("empty food") }
    add(.food, "food", fields, to: &out)
  }

  /// Adds a note, or an exercise if the note consists of one of the words for it.
  func addNote(to out: inout BatchBuilder) {
    let cell = row[columns.notes].trimmed
    if cell.isEmpty { return out.skip("empty note") }
    if Self.exerciseWords.contains(cell.folded) { return add(.exercise, "exercise", [:], to: &out) }
    add(.note, "note", ["text": .text(cell.text)], to: &out)
  }

  /// Whether a cell without an amount states that insulin or food was taken.
  private func isTaken(_ column: Int) -> Bool { !row[column].isEmpty && !row[column].equals("0") }

  /// The text in a cell of insulin or food; nil if the cell only states that something was taken.
  private func words(_ column: Int) -> String? {
    let cell = row[column].trimmed
    return cell.isEmpty || cell.equals("0") || cell.equals("1") ? nil : cell.text
  }

  private func add(
    _ kind: RecordKind, _ part: String, _ fields: [String: FieldValue], to out: inout BatchBuilder
  ) {
    out.add(
      kind, at: time, owner: owner, source: serial, sourceID: sourceID.isEmpty ? "" : "\(sourceID) \(part)",
      line: row.line, fields)
  }
}
