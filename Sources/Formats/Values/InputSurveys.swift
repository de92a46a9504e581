// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Determines the unit of an input that states none, from all of its values.
struct UnitSurvey {
  /// The bounds by which values show their unit: values above `maxMillimoles` are not in mmol/L, and values
  /// below `minMilligrams` are not in mg/dL.
  private static let maxMillimoles = 35.0
  private static let minMilligrams = 36.0

  private let given: GlucoseUnit?
  private let isForced: Bool
  private(set) var unit: GlucoseUnit
  private var basis: Decision.Basis
  private var count = 0
  private var above = 0
  private var hasFraction = false

  /// - Parameters:
  ///   - given: the unit from `--unit`.
  ///   - isForced: whether the given unit is used even if the values exclude it.
  ///   - usual: the usual unit of the format, for an input without values.
  init(given: GlucoseUnit?, isForced: Bool = true, usual: GlucoseUnit = .milligramsPerDecilitre) {
    self.given = given
    self.isForced = isForced
    unit = given ?? usual
    basis = given == nil ? .inferred : .given
  }

  /// Whether all values must be surveyed, because no unit was given.
  var isUndecided: Bool { given == nil }
  /// Whether the survey checks that the values do not contradict the given unit.
  var comparesGiven: Bool { given != nil && !isForced }
  var hasValues: Bool { count > 0 }

  mutating func observe(_ number: Double) {
    guard number > 0, number <= 1000 else { return }
    count += 1
    if number >= Self.minMilligrams { above += 1 }
    if number <= Self.maxMillimoles, number != number.rounded() { hasFraction = true }
  }

  /// Whether the values show that they are not in this unit.
  private func valuesExclude(_ unit: GlucoseUnit) -> Bool {
    unit == .millimolesPerLitre ? above * 100 >= count * 95 : above == 0 && hasFraction
  }

  /// Determines the unit, or checks the given one.
  ///
  /// - Throws: `Failure` of category `badInput` that names the option for the unit.
  mutating func decide() throws {
    if count > 0, comparesGiven, valuesExclude(unit) {
      let other = GlucoseUnit.allCases.first { $0 != unit } ?? unit
      throw Failure(
        .badInput,
        "--unit says \(unit.name), but nearly all values look like \(other.name); use --unit \(other.name), or --force "
          + "if they are \(unit.name)")
    }
    guard isUndecided, count > 0 else { return }
    // If nearly all values are 36 or more, they are in mg/dL: no person repeatedly has 36 mmol/L. The few
    // lower values are then low values in mg/dL, such as 20.
    if above * 100 >= count * 95 {
      unit = .milligramsPerDecilitre
    } else if above == 0, hasFraction {
      unit = .millimolesPerLitre
    } else {
      throw Failure(.badInput, "cannot infer whether the values are mg/dL or mmol/L; use --unit")
    }
  }

  var decision: Decision { Decision("unit", unit.name, basis) }
}

/// Determines the decimal mark of a whole input by the first value cell with a mark.
struct DecimalMarkSurvey {
  private(set) var mark: DecimalMark
  private(set) var isDecided = false

  /// - Parameter presumed: the mark that goes with the input's delimiter or language, until a cell shows one.
  init(presumed: DecimalMark) { mark = presumed }

  /// The decision about the decimal mark, for the report of the import. Empty if no cell proved the mark.
  var decisions: [Decision] { isDecided ? [Decision("decimal-mark", mark.name, .inferred)] : [] }

  /// Records a value cell of digits, one mark and digits. Any other cell proves nothing, nor does `1,234`,
  /// which may mean 1234.
  @inline(__always) mutating func observe(_ cell: some Sequence<UInt8>) {
    if !isDecided { decideMark(by: cell) }
  }

  private mutating func decideMark(by cell: some Sequence<UInt8>) {
    var found: DecimalMark?
    var (whole, fraction) = (0, 0)
    for byte in cell {
      if byte &- 0x30 <= 9 {
        if found == nil { whole += 1 } else { fraction += 1 }
      } else if found == nil, let mark = DecimalMark(rawValue: byte) {
        found = mark
      } else {
        return
      }
    }
    guard let found, whole > 0, fraction > 0, found == .point || fraction != 3 else { return }
    mark = found
    isDecided = true
  }
}

/// Determines whether 0 in a column means that there is no value. It does if nearly all of many cells are 0,
/// and the numbers in the other cells are ones that a meter can show.
struct ZeroSurvey {
  private static let minCells = 50

  private var count = 0
  private var zeros = 0
  private var hasImplausible = false

  /// Records a filled cell.
  ///
  /// - Parameter isPlausible: whether a meter can show this number.
  mutating func observe(_ number: Double, isPlausible: Bool) {
    count += 1
    if number == 0 {
      zeros += 1
    } else if !isPlausible {
      hasImplausible = true
    }
  }

  /// Whether 0 means that there is no value.
  var zeroIsNone: Bool { count >= Self.minCells && zeros * 100 >= count * 95 && !hasImplausible }
}
