// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Detects a further column of glucose: a column that has values in the rows whose column of values is empty.
///
/// For example, a diary can have one column for fasting values and another for all other values, under any
/// names. Most other numbers, such as the charge of a battery, are in the same rows as the values. Columns of
/// carbohydrates or steps are known by their names.
struct GenericFurtherValues {
  private static let milligrams = 20.0...600
  private static let millimoles = 1.0...33
  /// If a column has at least this number of values, it must have decimals exactly when the column of values
  /// has them.
  private static let minForms = 3
  /// A column is not examined any more after this number of rows that have a number both in it and in the
  /// column of values. These rows must be the majority.
  private static let maxRowsWithBoth = 64

  private struct FurtherColumn {
    /// Whether the column's name mentions glucose. Its numbers may then be glucose even next to other values.
    let mentionsGlucose: Bool
    var isOther = false
    /// The number of rows with a number in both this column and the column of values.
    var rowsWithBoth = 0
    /// The number of rows with a number only in this column.
    var rowsWithOnlyThis = 0
    var milligrams = 0
    var millimoles = 0
    var decimals = 0

    mutating func countRowWithBoth() {
      rowsWithBoth += 1
      if rowsWithBoth >= maxRowsWithBoth, rowsWithBoth > rowsWithOnlyThis { isOther = true }
    }

    mutating func observe(_ number: Double) {
      rowsWithOnlyThis += 1
      if GenericFurtherValues.milligrams.contains(number) { milligrams += 1 }
      if GenericFurtherValues.millimoles.contains(number) { millimoles += 1 }
      if number != number.rounded() { decimals += 1 }
    }

    func mayHoldGlucose(in unit: GlucoseUnit?, valuesHaveDecimals: Bool) -> Bool {
      let inRange =
        switch unit {
        case .milligramsPerDecilitre: milligrams
        case .millimolesPerLitre: millimoles
        case nil: max(milligrams, millimoles)
        }
      guard rowsWithOnlyThis > 0, inRange * 2 > rowsWithOnlyThis else { return false }
      if mentionsGlucose { return true }
      return !isOther && rowsWithBoth < rowsWithOnlyThis
        && (rowsWithOnlyThis < minForms || (decimals > 0) == valuesHaveDecimals)
    }
  }

  private var candidates: [FurtherColumn]
  private var valuesHaveDecimals = false
  /// Whether a row can still show a further column.
  private(set) var isActive: Bool

  /// - Parameter isForced: whether `--force` was given; other columns are then not examined.
  init(_ finding: GenericFinding, isForced: Bool) {
    candidates = finding.columns.further.map { place in
      let words = finding.header.words[place]
      return FurtherColumn(mentionsGlucose: words.mentionsGlucose && !words.namesNoValue)
    }
    isActive = !candidates.isEmpty && !isForced
  }

  /// Records the further values in a row.
  ///
  /// - Parameters:
  ///   - places: the indexes of the columns in the row, in the order of `GenericColumns.further`.
  ///   - value: the content of the row's column of values; nil if that is empty.
  mutating func observe(_ row: Row, _ places: [Int], value: ValueCell?, _ mark: DecimalMark) {
    if case .number(let number) = value, number != number.rounded() { valuesHaveDecimals = true }
    for (index, place) in zip(candidates.indices, places) where !candidates[index].isOther {
      if value != nil, candidates[index].mentionsGlucose { continue }
      let cell = row[place].trimmed
      if cell.isEmpty { continue }
      if value != nil {
        candidates[index].countRowWithBoth()
        if candidates[index].isOther { isActive = candidates.contains { !$0.isOther } }
      } else if let number = cell.number(mark) ?? cell.jsonNumber, number != 0 {
        candidates[index].observe(number)
      }
    }
  }

  /// The content of a row's cell in the column of values.
  enum ValueCell {
    case number(Double)
    /// LO, HI, or text.
    case other
  }

  /// The indexes of the candidates that may hold glucose, each with the number of rows that have a value only
  /// in that column.
  func found(in unit: GlucoseUnit?) -> [(index: Int, rows: Int)] {
    candidates.indices.filter {
      candidates[$0].mayHoldGlucose(in: unit, valuesHaveDecimals: valuesHaveDecimals)
    }.map { ($0, candidates[$0].rowsWithOnlyThis) }
  }
}

extension GenericFinding {
  /// The columns that are not read, and may hold glucose if their numbers look like it.
  var indexesOfFurtherValues: [Int] {
    guard columns[.value] >= 0 else { return [] }
    return header.names.indices.filter { place in
      // A column named `Meter` may hold the values of a meter instead of its model. So it is examined even if
      // it has the role of the device.
      (!columns.isUsed(place) || place == columns[.device]) && header.words[place].mayHoldFurtherValues
        && holdsValues(place)
    }
  }
}

extension HeaderWords {
  /// Whether a column with this name may hold glucose in rows without another value. Its numbers must be
  /// examined to decide.
  fileprivate var mayHoldFurtherValues: Bool {
    if name.isEmpty || namesOther || isKetone || isPerson || isBareID || ["index", "#"].contains(name) {
      return false
    }
    // A value of a meter, of a laboratory or two hours after a meal may be glucose, unlike a mean or a limit.
    // So words such as `meter` are left out before the name is judged.
    let rest = HeaderWords(
      name.split(separator: " ").filter {
        !["meter", "lab", "labor"].contains($0) && $0.first?.isNumber == false
      }.joined(separator: " "))
    if rest.namesNoValue { return false }
    return mentionsGlucose || !(isTime || GenericUnits.areOfOtherQuantities(words))
  }
}

// MARK: - The rows of an input

extension GenericFormat {
  /// Records the numbers of a row in the columns that may hold further values.
  mutating func observeFurther(_ row: Row) {
    guard units.otherUnit(row[columns[.unit]]) == nil, let word = kind.word(in: row[columns[.kind]]),
      word.kind != .ketone
    else { return }
    further.observe(row, columns.further, value: value(of: row), units.mark)
  }

  private func value(of row: Row) -> GenericFurtherValues.ValueCell? {
    let cell = row[columns[.value]].trimmed
    if let number = cell.number(units.mark) ?? cell.jsonNumber, number != 0 { return .number(number) }
    if columns[.smbg] >= 0, !row[columns[.smbg]].trimmed.isEmpty { return .other }
    return hasNoValue(cell) ? nil : .other
  }

  private func hasNoValue(_ cell: Field) -> Bool {
    if cell.isEmpty || cell.number(units.mark) == 0 { return true }
    if case .some(.none) = ValueWord(cell, mark: units.mark) { return true }
    return false
  }

  /// The reason to reject a row that has its value only in a further column, if no survey was made; nil for
  /// any other row.
  mutating func furtherValueFault(_ row: Row) -> String? {
    observeFurther(row)
    guard value(of: row) == nil else { return nil }
    let places = further.found(in: units.common).map { columns.further[$0.index] }
    guard places.contains(where: { !row[$0].trimmed.isEmpty }) else { return nil }
    return "no value, but another column may hold one; name the column of values with --map"
  }

  /// - Throws: `Failure` of category `badInput` if rows without a value have one in another column.
  func refuseFurtherValues(_ hint: ImportHint) throws {
    let found = further.found(in: units.common)
    guard let first = found.first else { return }
    let places = found.map { finding.columns.further[$0.index] }
    let commands = ([finding.columns[.value]] + places).prefix(4).map { command(forValuesIn: $0, hint) }
    let reason = places.lazy.compactMap { finding.reasonAgainstHint(forValuesIn: $0) }.first
    let lead =
      reason
      ?? (commands.contains("")
        ? "; name the column of values with --map"
        : ". Import each column of your own sensors or meters as a separate device:" + commands.joined())
    throw Failure(
      .badInput,
      "several columns may hold glucose: \(first.rows) rows without a value in "
        + "\(finding.quoted([finding.columns[.value]])) have one in \(finding.quoted(places.prefix(1).map { $0 }))"
        + lead)
  }

  /// The command that imports the values of a column; empty if the columns have no usable names.
  func command(forValuesIn place: Int, _ hint: ImportHint) -> String {
    var names = finding.namesInCommands
    guard !names.isEmpty, let name = finding.nameInCommands(place) else { return "" }
    names[GenericRole.value.name] = name
    return hint.lines([
      {
        $0.columns = names
        $0.device = $0.device ?? name
      }
    ])
  }
}
