// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Detects whether 0 in the columns of glucose and of ketones means that there is no value.
struct GenericZeros {
  enum Ketone { case value, none, unknown }

  private var values = ZeroSurvey()
  private var ketones = ZeroSurvey()
  private var isSurveyed = false

  /// Adds the values of a row.
  mutating func survey(value: Field, ketone: Field, mark: DecimalMark) {
    if let number = value.trimmed.number(mark) ?? value.jsonNumber {
      let isPlausible = GlucoseUnit.allCases.contains { PlausibleAmounts.glucose($0).contains(number) }
      values.observe(number, isPlausible: isPlausible)
    }
    if let number = ketone.trimmed.number(mark) ?? ketone.jsonNumber {
      ketones.observe(number, isPlausible: PlausibleAmounts.ketone.contains(number))
    }
  }

  mutating func decide() { isSurveyed = true }

  /// Whether a glucose cell is a 0 that means no value.
  @inline(__always) func valueIsNone(_ field: Field) -> Bool {
    isSurveyed && field.isZero && values.zeroIsNone
  }

  /// Whether a ketone cell has a value, or is a 0 that means no value. Unknown for a 0 without a survey.
  func ketone(_ field: Field, mark: DecimalMark) -> Ketone {
    guard field.isZero else { return .value }
    if !isSurveyed { return .unknown }
    return ketones.zeroIsNone ? .none : .value
  }
}

extension Field {
  /// Whether the field is a number without any digit except 0: `0`, `0.0`, `0,00`.
  fileprivate var isZero: Bool {
    count > 0 && start[0] == UInt8(ascii: "0") && bytes.allSatisfy { "0.,".utf8.contains($0) }
  }
}

/// Finds a number that a program writes where there is no value, such as 999.
///
/// Such a number is outside the range of meters and sensors, and always the same. Measured values near the
/// limits differ from each other.
struct GenericNoValues {
  /// If one implausible number occurs at least this often, a program writes it in place of a missing value.
  private static let minCount = 3
  private static let maxNumbers = 1024
  private static let milligrams = 20.0...600
  /// The range in mmol/L; 33.3 mmol/L is 600 mg/dL.
  private static let millimoles = 1.1...33.4

  /// The counts of numbers outside of the unit's range, by the unit that the row states. The key is nil if
  /// the row states no unit. Such numbers are outside of at least one of the two ranges.
  private var counts: [GlucoseUnit?: [Double: Int]] = [:]

  /// Adds the number of a row.
  mutating func observe(_ number: Double, _ unit: GlucoseUnit?) {
    // Zero is left out here: `GenericZeros` determines its meaning.
    guard number != 0 else { return }
    let isOutside =
      unit.map { !Self.range($0).contains(number) }
      ?? !(Self.milligrams.contains(number) && Self.millimoles.contains(number))
    guard isOutside,
      let known = counts[unit, default: [:]][number].map({ $0 + 1 })
        ?? (counts[unit, default: [:]].count < Self.maxNumbers ? 1 : nil)
    else { return }
    counts[unit, default: [:]][number] = known
  }

  private static func range(_ unit: GlucoseUnit) -> ClosedRange<Double> {
    unit == .milligramsPerDecilitre ? milligrams : millimoles
  }

  /// The reason why a number means that there is no value, as text after the column's name. Nil if there is
  /// no such number.
  ///
  /// - Parameter common: the unit of values whose rows state none.
  func fault(in common: GlucoseUnit?) -> String? {
    // The units are in a fixed order. The order of a dictionary differs each time that the program runs, and
    // so would the message.
    for stated in [nil] + GlucoseUnit.allCases.map(Optional.some) {
      guard let unit = stated ?? common, let numbers = counts[stated] else { continue }
      // Numbers that are impossible in this unit are left out, since their rows are rejected.
      let outside = numbers.filter { number, _ in
        !Self.range(unit).contains(number) && PlausibleAmounts.glucose(unit).contains(number)
      }
      let total = outside.values.reduce(0, +)
      guard let (number, count) = outside.max(by: { ($0.value, $0.key) < ($1.value, $1.key) }) else {
        continue
      }
      guard number == 999 || (count >= Self.minCount && count * 2 > total) else { continue }
      let times = count == 1 ? "once" : "\(count) times"
      return "holds \(plainNumber(number)) \(times), as programs write it where there is no value"
    }
    return nil
  }
}
