// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Determines the unit and the decimal mark of a generic input, and reads its values.
///
/// The priority is: the row's own unit, the header, the unit that a person gave, all of the values. A header
/// that nearly all values contradict is ignored.
struct GenericUnits {
  /// The minimum number of values with which the header's unit is doubted.
  private static let minToDoubt = 3

  private(set) var mark: DecimalMark = .point
  private var markIsInferred = false
  private let isJSON: Bool
  private let given: GlucoseUnit?
  /// The unit of rows that state none.
  private var unit: GlucoseUnit?
  private var basis = Decision.Basis.read
  /// The unit in the header of a column of finger sticks.
  private let stickUnit: GlucoseUnit?
  private let hasColumn: Bool
  /// Whether cells of the head have a unit after their number.
  private let cellsStateUnits: Bool
  /// Whether the name of the values does not state what they measure, so that rows in other units measure
  /// other things.
  private let isNameless: Bool
  /// Whether the head's values contradict the header, so that all values must be examined.
  private var isDoubted = false
  private(set) var isUndecided = false
  /// Whether the values may show that the given unit is wrong.
  private(set) var comparesGiven = false
  private var values = Values()
  private var milligrams = GlucoseReader(unit: .milligramsPerDecilitre)
  private var millimoles = GlucoseReader(unit: .millimolesPerLitre)

  /// The statistics of values without their own unit.
  private struct Values {
    var count = 0
    var least = Double.infinity
    var greatest = 0.0
    var below30 = 0
    var above35 = 0
    var hasDecimals = false

    mutating func observe(_ number: Double, hasMark: Bool) {
      // Zero means no value, and a number above 1000 is invalid in any unit.
      guard number > 0, number <= 1000 else { return }
      count += 1
      least = min(least, number)
      greatest = max(greatest, number)
      if number < 30 { below30 += 1 }
      if number > 35 { above35 += 1 }
      if hasMark { hasDecimals = true }
    }

    /// Whether a unit in the header is doubtful: there are enough values, and nearly all are impossible in
    /// it.
    func contradict(_ unit: GlucoseUnit) -> Bool {
      count >= GenericUnits.minToDoubt && exclude(unit)
    }

    /// Whether nearly all values, even if there are few, are impossible in a unit.
    func exclude(_ unit: GlucoseUnit) -> Bool {
      let odd = unit == .milligramsPerDecilitre ? below30 : above35
      return odd * 100 > count * 95
    }
  }

  /// - Parameters:
  ///   - given: the unit in `--unit`.
  ///   - isForced: whether values that contradict this unit are accepted.
  init(_ finding: GenericFinding, given: GlucoseUnit?, isForced: Bool) {
    self.given = given
    let stick = finding.columns[.smbg]
    stickUnit = stick >= 0 ? finding.header.words[stick].unit : nil
    isJSON = finding.delimiter == nil
    hasColumn = finding.columns[.unit] >= 0
    let value = finding.columns[.value]
    cellsStateUnits = finding.header.cells(value).contains { cell in
      cell.withField {
        $0.trimmed.glucoseWithUnit(.point) != nil || $0.trimmed.glucoseWithUnit(.comma) != nil
      }
    }
    isNameless = value >= 0 && !finding.header.words[value].isGlucose
    decideMark(of: finding)
    guard value >= 0 else { return }
    if let named = finding.header.words[value].unit {
      unit = named
      for text in finding.header.cells(value) { text.withField { observe($0, in: .absent) } }
      isDoubted = !hasColumn && values.contradict(named)
      isUndecided = isDoubted
      values = Values()
    } else if let given {
      unit = given
      basis = .given
      comparesGiven = !isForced
    } else {
      isUndecided = !finding.needsUnitWord && !rowsStateUnits(finding)
    }
  }

  /// Whether every row of the head that has a value states its unit.
  private func rowsStateUnits(_ finding: GenericFinding) -> Bool {
    let (value, column) = (finding.columns[.value], finding.columns[.unit])
    guard column >= 0 else { return false }
    return finding.header.rows.allSatisfy { row in
      guard row.indices.contains(value), !row[value].isEmpty else { return true }
      return row.indices.contains(column) && !row[column].isEmpty
    }
  }

  private mutating func decideMark(of finding: GenericFinding) {
    guard !isJSON else { return }
    var (commas, points) = (0, 0)
    let roles = GenericRole.measured + GenericRole.foods + GenericRole.doses
    for role in roles where finding.columns[role] >= 0 {
      for text in finding.header.cells(finding.columns[role]) {
        if text.contains(".") { points += 1 }
        let isOfCommas = text.withField {
          $0.number(.comma) != nil || $0.trimmed.glucoseWithUnit(.comma) != nil
        }
        if isOfCommas, text.contains(",") { commas += 1 }
      }
    }
    // If commas and points are equally frequent, a file with semicolons has decimal commas: it probably uses
    // semicolons because numbers have commas.
    if commas > points || (commas == points && finding.delimiter == UInt8(ascii: ";")) { mark = .comma }
    markIsInferred = commas + points > 0
    milligrams.mark = mark
    millimoles.mark = mark
  }

  /// The units that a person may give if the unit is not determined by anything.
  var choices: [GlucoseUnit] {
    guard isDoubted || basis == .given, let unit else {
      return GlucoseUnit.allCases.filter { !values.exclude($0) }
    }
    return GlucoseUnit.allCases.filter { $0 != unit }
  }

  var hasValues: Bool { values.count > 0 }

  /// The unit of rows that state none; nil if each row must state it.
  var common: GlucoseUnit? { unit }

  /// Whether only the values themselves show that they are in mmol/L.
  var isInferredMillimoles: Bool { basis == .inferred && unit == .millimolesPerLitre }

  /// Adds a value of a row to the statistics.
  mutating func observe(_ field: Field, in stated: Field) {
    guard stated.isEmpty, let number = field.number(mark) else { return }
    values.observe(number, hasMark: field.bytes.contains(mark.rawValue))
  }

  /// - Throws: `Failure` of category `badInput` with the option that determines the unit.
  mutating func decide() throws {
    if comparesGiven { try compareWithGiven() }
    guard isUndecided else { return }
    isUndecided = false
    if isDoubted { return try decideDoubt() }
    guard values.count > 0 else { return }
    basis = .inferred
    if values.greatest <= 35, values.hasDecimals {
      unit = .millimolesPerLitre
    } else if values.least >= 36 {
      unit = .milligramsPerDecilitre
    } else {
      throw Failure(
        .badInput, "cannot infer whether the values are mg/dL or mmol/L; use --unit")
    }
  }

  /// - Throws: `Failure` of category `badInput` if the values fit only the other unit.
  private func compareWithGiven() throws {
    guard let unit, values.exclude(unit) else { return }
    let other = GlucoseUnit.allCases.first { $0 != unit } ?? unit
    throw Failure(
      .badInput,
      "--unit says \(unit.name), but nearly all values look like \(other.name); use --unit \(other.name), or --force "
        + "if they are \(unit.name)")
  }

  private mutating func decideDoubt() throws {
    guard let named = unit, values.contradict(named) else { return }
    guard let given, given != named else {
      let other = GlucoseUnit.allCases.first { $0 != named } ?? named
      throw Failure(
        .badInput,
        "the header says \(named.name), but nearly all values look like \(other.name); "
          + "if the header is wrong, use --unit \(other.name)")
    }
    unit = given
    basis = .given
  }

  var decisions: [Decision] {
    var decisions: [Decision] = []
    if let unit { decisions.append(Decision("unit", unit.name, basis)) }
    if unit == nil, hasColumn || cellsStateUnits {
      decisions.append(Decision("unit", "stated by each row", .read))
    }
    if markIsInferred { decisions.append(Decision("decimal-mark", mark.name, .inferred)) }
    return decisions
  }

  /// The name with which a row is counted if its unit is for other things; nil for a row to read.
  @inline(__always) func otherUnit(_ stated: Field) -> String? {
    isNameless && !stated.isEmpty && !stated.equals("mg/dL") && !stated.equals("mmol/L")
      ? Self.name(ofOther: stated) : nil
  }

  private static func name(ofOther stated: Field) -> String? {
    let text = stated.trimmed.folded
    let first = text.split(separator: " ").first.map(String.init) ?? ""
    // `mg / dL` is a mistyped unit of glucose. Such a row is rejected, and not counted as one of other
    // things.
    let isOther = otherUnits.contains(text) || (otherUnits.contains(first) && !text.contains("dl"))
    return isOther ? "value in \(first)" : nil
  }

  /// Whether a unit is used only for glucose. For example, `mg` is used for medicines as well.
  static func isOfGlucose(_ text: String) -> Bool {
    GlucoseUnit(name: text) != nil && !otherUnits.contains(foldedHeader(text))
  }

  /// Whether the words of a column's name have a unit of another quantity, and none of glucose.
  static func areOfOtherQuantities(_ words: Set<String>) -> Bool {
    !words.isDisjoint(with: otherUnits) && words.isDisjoint(with: ["dl", "mgdl", "mmol", "mmoll"])
  }

  /// Units of insulin, food, heart, body and movement.
  private static let otherUnits: Set<String> = [
    "u", "iu", "ie", "ui", "e", "u/h", "ie/h", "ui/h", "e/h", "units", "unit", "einheiten", "unités",
    "unidades",
    "unità", "eenheden", "%", "g", "gr", "gram", "grams", "gramm", "grammes", "kg", "lb", "lbs", "mg", "µg",
    "mcg",
    "ml", "l", "be", "ke", "kh", "bpm", "mmhg", "kcal", "cal", "kj", "min", "mins", "minutes", "h", "s",
    "sec", "ms",
    "steps", "schritte", "km", "m", "mi", "°c", "°f", "mmol/mol", "count",
  ]

  /// The glucose value in a cell, in the row's own unit or the input's.
  @inline(__always) func read(_ field: Field, unit stated: Field) -> CellValue {
    if stated.isEmpty {
      if let unit { return read(field, in: unit) }
      guard let own = field.glucoseWithUnit(mark) else {
        return .rejected("a value without a unit; use --unit mg/dL or --unit mmol/L")
      }
      return CellValue(glucose: own.number, own.unit)
    }
    if stated.equals("mg/dL") { return read(field, in: .milligramsPerDecilitre) }
    if stated.equals("mmol/L") { return read(field, in: .millimolesPerLitre) }
    guard let unit = GlucoseUnit(name: stated.trimmed.text) else {
      return .rejected("the unit is neither mg/dL nor mmol/L")
    }
    return read(field, in: unit)
  }

  @inline(__always) private func read(_ field: Field, in unit: GlucoseUnit) -> CellValue {
    let reader = unit == .milligramsPerDecilitre ? milligrams : millimoles
    if isJSON, let number = field.jsonNumber { return CellValue(glucose: number, reader.unit) }
    return reader.read(field)
  }

  /// Reads a finger stick in a row that also has a sensor's value.
  func readStick(_ field: Field, unit stated: Field) -> CellValue {
    if stated.isEmpty, let stickUnit { return read(field, in: stickUnit) }
    return read(field, unit: stated)
  }

  /// A ketone value in a cell whose row may name a unit.
  func ketone(_ field: Field, unit stated: Field) -> CellValue {
    if !stated.isEmpty, GlucoseUnit(name: stated.trimmed.text) != .millimolesPerLitre {
      return .rejected("the ketone value is not in mmol/L")
    }
    return GlucoseReader.ketone(field, mark: mark)
  }
}
