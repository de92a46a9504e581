// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// Glucose values as text in a unit.
package struct GlucoseText: Sendable {
  /// The unit.
  package let unit: GlucoseUnit
  /// The decimal mark.
  package let mark: String

  /// Texts in this unit, with a decimal point unless another mark is given.
  package init(_ unit: GlucoseUnit, mark: String = ".") {
    self.unit = unit
    self.mark = mark
  }

  /// A value in mg/dL: whole mg/dL, or mmol/L with one decimal.
  package func number(_ milligrams: Double) -> String {
    unit == .milligramsPerDecilitre
      ? decimal(milligrams, 0) : decimal(milligrams / Quantity.milligramsPerDecilitreInMillimole, 1)
  }

  /// A limit of a range, exact in both units.
  package func limit(_ limit: Targets.Limit) -> String {
    unit == .milligramsPerDecilitre ? "\(limit.milligrams)" : decimal(Double(limit.tenthsOfMillimole) / 10, 1)
  }

  /// The position of a limit among values in mg/dL. It is converted from the limit in the unit, so that an
  /// equal value is at the same position.
  func milligrams(_ limit: Targets.Limit) -> Double {
    unit == .milligramsPerDecilitre
      ? Double(limit.milligrams)
      : Double(limit.tenthsOfMillimole) / 10 * Quantity.milligramsPerDecilitreInMillimole
  }

  /// The target range, such as `70–180`.
  package func range(_ targets: Targets) -> String { "\(limit(targets.low))–\(limit(targets.high))" }

  /// A level: `LO`, `HI` or its number.
  package func level(_ level: GlucoseLevel) -> String {
    switch level.beyond {
    case .low: "LO"
    case .high: "HI"
    case .neither: number(level.milligrams)
    }
  }

  /// A number with 0, 1 or 2 decimals, rounded half away from zero.
  package func decimal(_ number: Double, _ decimals: Int = 1) -> String {
    let scale = decimals == 0 ? 1 : decimals == 1 ? 10 : 100
    let steps = Int((abs(number) * Double(scale)).rounded())
    let sign = number < 0 && steps > 0 ? "-" : ""
    guard decimals > 0 else { return "\(sign)\(steps)" }
    let rest = String(steps % scale)
    return "\(sign)\(steps / scale)\(mark)\(String(repeating: "0", count: decimals - rest.count))\(rest)"
  }

  /// A number with its own decimals, at most two.
  package func plain(_ number: Double) -> String {
    var text = decimal(number, 2)
    while text.hasSuffix("0") { text.removeLast() }
    return text.hasSuffix(mark) ? String(text.dropLast(mark.count)) : text
  }

  /// The bounds of each range, lowest first; empty for one that is part of another.
  package func ranges(_ targets: Targets) -> [String] {
    func beside(_ limit: Targets.Limit, _ steps: Int) -> String {
      unit == .milligramsPerDecilitre
        ? "\(limit.milligrams + steps)" : decimal(Double(limit.tenthsOfMillimole + steps) / 10, 1)
    }
    return [
      "<\(limit(targets.lowest))", "\(limit(targets.lowest))–\(beside(targets.low, -1))", range(targets),
      targets.highest.map { "\(beside(targets.high, 1))–\(limit($0))" } ?? ">\(limit(targets.high))",
      targets.highest.map { ">\(limit($0))" } ?? "",
    ]
  }
}
