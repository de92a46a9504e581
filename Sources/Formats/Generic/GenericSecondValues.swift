// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Finds a second column of glucose next to the one that is named for it. In the second column, a diary may
/// have the values after meals, and an app the same values in the other unit.
extension GenericFinding {
  /// The columns without those that repeat the values of another column in mmol/L. The column in mg/dL is
  /// kept, since it is more exact: apps show mmol/L with one decimal.
  func withoutTwins(_ places: [Int]) -> [Int] {
    places.filter { place in !places.contains { isTwin(place, of: $0) } }
  }

  /// Whether a column has the same values in mmol/L as the other column has in mg/dL.
  func isTwin(_ place: Int, of other: Int) -> Bool {
    let units = (header.words[place].unit, header.words[other].unit)
    guard place != other, units.0 != nil || units.1 != nil, units.0 != .milligramsPerDecilitre,
      units.1 != .millimolesPerLitre
    else { return false }
    var agreeing = 0
    for row in header.rows {
      let cells = [place, other].map { row.indices.contains($0) ? row[$0] : "" }
      if cells[0].isEmpty, cells[1].isEmpty { continue }
      guard let agree = TwinCells.agree(milligrams: cells[1], millimoles: cells[0]) else { continue }
      if !agree { return false }
      agreeing += 1
    }
    return agreeing >= TwinCells.minCount
  }

  /// The column with the same values in the other unit; nil without one.
  func twin(of value: Int) -> Int? {
    header.names.indices.first { $0 != value && header.words[$0].isGlucose && isTwin($0, of: value) }
  }

  /// The problem of further columns whose names and cells may be those of glucose, although another column is
  /// named for it. If the problem were not reported, their values would be lost.
  func secondProblem(besides value: Int) -> GenericProblem? {
    let others = header.names.indices.filter { place in
      place != value && !columns.isUsed(place) && header.words[place].mayBeSecondGlucose
        && looksLikeGlucose(place, besides: value) && !isTwin(place, of: value) && !isTwin(value, of: place)
    }
    return others.isEmpty ? nil : severalProblem([value] + others)
  }

  /// Whether most cells of a column are numbers in the range of glucose, and the column does not repeat the
  /// values.
  private func looksLikeGlucose(_ place: Int, besides value: Int) -> Bool {
    let cells = header.cells(place)
    let numbers = cells.compactMap(TwinCells.number)
    let values = header.cells(value).compactMap(TwinCells.number)
    // Rows with a number in only one of the two columns are examined by `GenericFurtherValues`, in the whole
    // input.
    let pairs = header.rows.compactMap { row in
      row.indices.contains(place) && row.indices.contains(value) && !row[place].isEmpty && !row[value].isEmpty
        ? (row[place], row[value]) : nil
    }
    guard !numbers.isEmpty, pairs.count * 2 > header.rows.count,
      numbers.count < 3 || Set(numbers).count > 1, pairs.contains(where: { $0.0 != $0.1 })
    else { return false }
    let median = values.sorted().dropFirst(values.count / 2).first ?? 0
    let unit = header.words[place].unit ?? header.words[value].unit
    let isInMillimoles = unit.map { $0 == .millimolesPerLitre } ?? (median < 30)
    // If the values have decimals and the other column has only whole numbers, that column measures something
    // else.
    let haveDecimals = { (numbers: [Double]) in numbers.contains { $0 != $0.rounded() } }
    if isInMillimoles, numbers.count >= 3, haveDecimals(values), !haveDecimals(numbers) { return false }
    let range = isInMillimoles ? 1.0...33 : 20.0...600
    return numbers.count { range.contains($0) } * 10 >= cells.count * 9
  }
}

/// Compares two cells that may hold the same value in mg/dL and in mmol/L.
enum TwinCells {
  /// The minimum number of rows that show that two columns have the same values. One row can agree by chance.
  static let minCount = 2

  /// Whether both cells state one value; nil if neither is a number, as for LO and HI.
  static func agree(milligrams: String, millimoles: String) -> Bool? {
    let numbers = (number(milligrams), number(millimoles))
    if numbers.0 == nil, numbers.1 == nil { return nil }
    guard let high = numbers.0, let low = numbers.1 else { return false }
    return Quantity.conversionFactors.contains { factor in
      abs(high / factor - low) < step(millimoles) || abs(low * factor - high) < step(milligrams)
    }
  }

  static func number(_ cell: String) -> Double? {
    cell.withField { $0.trimmed.number(.point) ?? $0.trimmed.number(.comma) ?? $0.trimmed.jsonNumber }
  }

  /// The value of one step in the last digit of a number, such as 0.1 for `5.5`. Programs round or cut to
  /// such a step.
  private static func step(_ cell: String) -> Double {
    guard let mark = cell.lastIndex(where: { $0 == "." || $0 == "," }) else { return 1 }
    let digits = cell[mark...].dropFirst().prefix { $0.isNumber }.count
    return (0..<digits).reduce(1) { step, _ in step / 10 }
  }
}

extension HeaderWords {
  /// Whether a column with this name may hold further glucose, if its cells look like it. The name mentions
  /// glucose or a sensor, or consists of a unit of glucose or a moment after a meal.
  fileprivate var mayBeSecondGlucose: Bool {
    guard !namesOther, !isKetone, !isPerson, !isBareID, !isRemark, !glucose.namesOtherTime else {
      return false
    }
    let all = name.split(separator: " ").map(String.init)
    let hasNumber = all.contains { $0.first?.isNumber == true }
    let kept = all.filter { word in
      let letters = word.filter { $0.isLetter || $0 == "/" }
      return word.first?.isNumber != true && !Self.mealWords.contains(word)
        && !(hasNumber && Self.hourWords.contains(word))
        && !(unit != nil && Self.unitWords.contains(letters))
    }
    if kept.isEmpty { return unit != nil || all.contains(where: Self.mealWords.contains) }
    let rest = HeaderWords(kept.joined(separator: " "))
    if rest.namesNoValue || rest.isFlag { return false }
    return rest.mentionsGlucose || rest.glucose.namesOnlyASource
  }

  /// The parts of a unit in a name. The split into words also splits `dL`.
  private static let unitWords: Set<String> = [
    "mg/d", "mg/dl", "mgdl", "mg", "dl", "d", "l", "mmol/l", "mmoll", "mmol", "/",
  ]

  /// Words for a moment around a meal, and for a second value or another meter.
  private static let mealWords: Set<String> = [
    "after", "before", "later", "post", "pre", "prandial", "post-prandial", "postprandial", "pp", "recheck",
    "nach", "vor",
    "après", "avant", "después", "antes", "dopo", "prima", "depois", "na", "meter", "lab", "labor",
  ]
  private static let hourWords: Set<String> = [
    "h", "hr", "hrs", "hour", "hours", "std", "stunde", "stunden", "heure", "heures", "hora", "horas", "ora",
    "ore", "uur", "timer", "timmar",
  ]
}

// MARK: - The rows of an input

/// The comparison of the column of values with its twin in the other unit.
struct GenericTwins {
  /// Whether the two columns have different values in some row.
  var differs = false

  /// Whether the value in the twin differs from that in the column of values, or only the twin has a value.
  static func differ(in row: Row, _ columns: GenericColumns) -> Bool {
    let cells = (row[columns[.value]].trimmed, row[columns.twin].trimmed)
    // A value that is only in the twin would be lost, so the row differs. A 0 means that there is no value.
    if cells.0.isEmpty { return TwinCells.number(cells.1.text).map { $0 != 0 } ?? false }
    return !cells.1.isEmpty && TwinCells.agree(milligrams: cells.0.text, millimoles: cells.1.text) == false
  }
}

extension GenericFormat {
  /// - Throws: `Failure` of category `badInput` if the columns in mg/dL and mmol/L have different values in a
  ///   row.
  func refuseOtherTwin(_ hint: ImportHint) throws {
    guard twins.differs else { return }
    let places = [finding.columns[.value], finding.columns.twin]
    throw Failure(
      .badInput,
      "several columns may hold glucose: \(finding.quoted(places)) differ in some rows. Import each column of your own "
        + "sensors or meters as a separate device:" + places.map { command(forValuesIn: $0, hint) }.joined())
  }
}
