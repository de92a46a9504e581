// SPDX-License-Identifier: Apache-2.0

import Logbook

/// A column of units, in a table whose column of values is not named for glucose.
///
/// Apps for health data write every quantity under the same names: a value, its unit, and a type. Only the
/// unit `IU` shows that a value is a dose of insulin, and `count/min` that it is a heart rate.
extension GenericFinding {
  /// A column of units. The head has units in it, and none of them can be one of glucose.
  ///
  /// Nil if the name of the values has a word or a unit for glucose. Nil also if the units can be those of
  /// another column with amounts.
  private func indexOfOtherUnits(of value: Int) -> Int? {
    guard value >= 0, !header.words[value].isGlucose, header.words[value].unit == nil else { return nil }
    let foods = header.names.indices.filter { header.words[$0].namesFood && header.content($0) == .number }
    let amounts = indexesOfInsulin(besides: value) + foods
    let isOfOthers = header.rows.contains { row in
      amounts.contains { row.indices.contains($0) && $0 != value && !row[$0].isEmpty }
    }
    if isOfOthers { return nil }
    return header.names.indices.first { place in
      let cells = header.cells(place)
      // A column `Units` with numbers holds amounts of insulin.
      return header.words[place].role == .unit && place != value && !cells.isEmpty
        && cells.allSatisfy { CellContent($0) == .text && GlucoseUnit(name: $0) == nil }
    }
  }

  /// Reads the units of a mapped column of values also if the head has none of glucose. A row in another unit
  /// is then not read as glucose.
  mutating func useOtherUnits() {
    guard valueIsMapped, columns[.unit] < 0, let place = indexOfOtherUnits(of: columns[.value]),
      !columns.isUsed(place)
    else { return }
    columns[.unit] = place
    unitIsDoubtful = true
  }

  /// The sign that the values of a column are not glucose, as text for a message. The head has units, and
  /// none of them is one of glucose.
  func signOfOtherUnits(of value: Int) -> String? {
    guard let place = indexOfOtherUnits(of: value), let cell = header.cells(place).first else { return nil }
    return "\(shownName(cell)) in \(quoted([place])) is not a unit of glucose"
  }
}

/// The units in the rows of a table whose head has no unit of glucose.
struct GenericOtherUnits {
  /// The first unit of another quantity.
  private var other: String?
  private var hasGlucose = false

  mutating func observe(_ row: Row, _ columns: GenericColumns) {
    let unit = row[columns[.unit]].trimmed
    guard !hasGlucose, !unit.isEmpty, !row[columns[.value]].trimmed.isEmpty else { return }
    if GlucoseUnit(name: unit.text) != nil {
      hasGlucose = true
    } else if other == nil {
      other = unit.text
    }
  }

  /// - Throws: `Failure` of category `badInput` if there are units, and none of them is one of glucose.
  func refuse(_ finding: GenericFinding) throws {
    let value = finding.columns[.value]
    // If doses or food have the same column, a table without readings is usual.
    let isShared = (GenericRole.doses + GenericRole.foods).contains { finding.columns[$0] == value }
    guard !hasGlucose, !isShared, let other else { return }
    throw Failure(
      .badInput,
      "the column \(finding.quoted([finding.columns[.unit]])) has no unit of glucose, but \(shownName(other)), so "
        + "\(finding.quoted([value])) may hold something else. If these are doses or meals, use insulin= or carbs= in place of "
        + "value=; if they are readings of glucose, add --force")
  }
}
