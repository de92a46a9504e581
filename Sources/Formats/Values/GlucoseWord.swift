// SPDX-License-Identifier: Apache-2.0

import Logbook

/// A word or sign that a value cell can have instead of a number.
enum ValueWord {
  case low(below: Double?)
  case high(above: Double?)
  /// `---`, `NaN`, `null`: there is no value.
  case none

  private static let lows: Set<String> = [
    "low", "lo", "niedrig", "bajo", "bas", "basso", "laag", "låg", "lav", "baixo", "niski",
  ]
  private static let highs: Set<String> = [
    "high", "hi", "hoch", "alto", "haut", "élevé", "hoog", "hög", "høj", "høy", "wysoki",
  ]
  private static let nones: Set<String> = ["-", "--", "---", "#n/a", "n/a", "nan", "null", "none"]

  /// The word in this field, in any language of the exports; nil for any other text.
  init?(_ field: Field, mark: DecimalMark) {
    guard field.count > 0, field.count <= 12 else { return nil }
    let first = field[0]
    if first == UInt8(ascii: "<") || first == UInt8(ascii: ">") {
      guard let limit = field.slice(1, field.count).number(mark) else { return nil }
      self = first == UInt8(ascii: "<") ? .low(below: limit) : .high(above: limit)
      return
    }
    let word = field.folded
    if Self.lows.contains(word) {
      self = .low(below: nil)
    } else if Self.highs.contains(word) {
      self = .high(above: nil)
    } else if Self.nones.contains(word) {
      self = .none
    } else {
      return nil
    }
  }
}

extension GlucoseUnit {
  /// The unit that a title in lower case names, such as `glucose value (mg/dl)`; nil if it names none.
  init?(in title: String) {
    if title.contains("mmol/l") {
      self = .millimolesPerLitre
    } else if title.contains("mg/dl") {
      self = .milligramsPerDecilitre
    } else {
      return nil
    }
  }
}

/// Reads the value cells of one input, with one unit, one decimal mark, and the device's limits if they are
/// known.
struct GlucoseReader {
  var unit: GlucoseUnit
  var mark: DecimalMark
  /// The ends of the device's range in `unit`: `lowLimit` is reported with LO, `highLimit` with HI.
  var lowLimit: Double?
  var highLimit: Double?

  init(unit: GlucoseUnit, mark: DecimalMark = .point, lowLimit: Double? = nil, highLimit: Double? = nil) {
    self.unit = unit
    self.mark = mark
    self.lowLimit = lowLimit
    self.highLimit = highLimit
  }

  /// The glucose value in a cell: a number, optionally with a unit, or a word for LO, HI or no value.
  func read(_ field: Field) -> CellValue {
    if field.isEmpty { return .empty }
    if let number = field.number(mark) { return CellValue(glucose: number, unit) }
    switch ValueWord(field, mark: mark) {
    case .low(let below): return .measurement(.low(below: below ?? lowLimit, unit))
    case .high(let above): return .measurement(.high(above: above ?? highLimit, unit))
    case ValueWord.none?: return .empty
    case nil: return readWithUnit(field)
    }
  }

  /// The ketone value in a cell. Ketones are always in mmol/L.
  static func ketone(_ field: Field, mark: DecimalMark) -> CellValue {
    if field.isEmpty { return .empty }
    if let number = field.number(mark) { return CellValue(ketone: number) }
    switch ValueWord(field, mark: mark) {
    case .low(let below): return .measurement(.low(below: below, .millimolesPerLitre))
    case .high(let above): return .measurement(.high(above: above, .millimolesPerLitre))
    case ValueWord.none?: return .empty
    case nil: return .rejected("the ketone value is not a number")
    }
  }

  private func readWithUnit(_ field: Field) -> CellValue {
    guard let (number, unit) = field.glucoseWithUnit(mark) else {
      return .rejected("the glucose value is not a number")
    }
    return CellValue(glucose: number, unit)
  }
}

extension Field {
  /// The number and the unit of glucose after it, as in `162 mg/dL`; nil for other text.
  func glucoseWithUnit(_ mark: DecimalMark) -> (number: Double, unit: GlucoseUnit)? {
    guard count > 6, count <= 40, bytes.contains(UInt8(ascii: "/")) else { return nil }
    let text = folded
    for unit in GlucoseUnit.allCases where text.hasSuffix(unit.name.lowercased()) {
      guard let number = slice(0, count - unit.name.utf8.count).trimmed.number(mark) else { return nil }
      return (number, unit)
    }
    return nil
  }
}
