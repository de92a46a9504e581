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
