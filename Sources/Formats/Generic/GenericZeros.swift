// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Finds out whether 0 in the columns of glucose and of ketones says that there is no value.
struct GenericZeros {
  enum Ketone { case value, none, unknown }

  private var values = ZeroSurvey()
  private var ketones = ZeroSurvey()
  private var isSurveyed = false

  /// Looks at the values of a row.
  mutating func survey(value: Field, ketone: Field, mark: DecimalMark) {
    if let number = value.trimmed.number(mark) ?? value.jsonNumber {
      let isPlausible = GlucoseUnit.allCases.contains { PlausibleAmounts.glucose($0).contains(number) }
      values.note(number, isPlausible: isPlausible)
    }
    if let number = ketone.trimmed.number(mark) ?? ketone.jsonNumber {
      ketones.note(number, isPlausible: PlausibleAmounts.ketone.contains(number))
    }
  }

  mutating func settle() { isSurveyed = true }

  /// Whether a glucose cell is a 0 that says that there is no value.
  @inline(__always) func valueIsNone(_ field: Field) -> Bool {
    isSurveyed && field.isZero && values.zeroIsNone
  }

  /// What a ketone cell is, as far as 0 goes.
  func ketone(_ field: Field, mark: DecimalMark) -> Ketone {
    guard field.isZero else { return .value }
    if !isSurveyed { return .unknown }
    return ketones.zeroIsNone ? .none : .value
  }
}

extension Field {
  /// Whether it is a number without any digit but 0: `0`, `0.0`, `0,00`.
  fileprivate var isZero: Bool {
    count > 0 && start[0] == UInt8(ascii: "0") && bytes.allSatisfy { "0.,".utf8.contains($0) }
  }
}
