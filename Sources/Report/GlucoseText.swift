// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// Glucose values as text in a unit.
package struct GlucoseText: Sendable {
  package let unit: GlucoseUnit
  /// The decimal mark.
  package let mark: String

  /// Texts in this unit. The decimal mark is a point by default.
  package init(_ unit: GlucoseUnit, mark: String = ".") {
    self.unit = unit
    self.mark = mark
  }

  /// The text of a value that is given in mg/dL: whole mg/dL, or mmol/L with one decimal.
  package func number(_ milligrams: Double) -> String {
    unit == .milligramsPerDecilitre
      ? decimal(milligrams, 0) : decimal(milligrams / Quantity.milligramsPerDecilitreInMillimole, 1)
  }

  /// A limit of a range, exact in both units.
  package func limit(_ limit: Targets.Limit) -> String {
    unit == .milligramsPerDecilitre ? "\(limit.milligrams)" : decimal(Double(limit.tenthsOfMillimole) / 10, 1)
  }

  /// The limit in mg/dL, for its position in a picture. If the unit is mmol/L, the limit in mmol/L is
  /// converted, so that an equal value is at the same position.
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

  /// A number with as many decimals as it needs, at most two.
  package func plain(_ number: Double) -> String {
    var text = decimal(number, 2)
    while text.hasSuffix("0") { text.removeLast() }
    return text.hasSuffix(mark) ? String(text.dropLast(mark.count)) : text
  }

  /// The bounds of each range, lowest first. Empty for the highest range if the targets do not separate it
  /// from the range below.
  package func ranges(_ targets: Targets) -> [String] {
    func neighbour(_ limit: Targets.Limit, _ steps: Int) -> String {
      unit == .milligramsPerDecilitre
        ? "\(limit.milligrams + steps)" : decimal(Double(limit.tenthsOfMillimole + steps) / 10, 1)
    }
    return [
      "<\(limit(targets.lowest))", "\(limit(targets.lowest))–\(neighbour(targets.low, -1))", range(targets),
      targets.highest.map { "\(neighbour(targets.high, 1))–\(limit($0))" } ?? ">\(limit(targets.high))",
      targets.highest.map { ">\(limit($0))" } ?? "",
    ]
  }
}

/// The percentages of the parts of a whole, for people: each with one decimal, and together 100.0.
package struct PercentTexts: Sendable {
  private let weights: [Int]
  private let tenths: [Int]
  private let sum: Int
  private let mark: String

  /// The percentages of these parts, lowest range first, for example of the minutes in each range.
  ///
  /// Each percentage is first rounded down to a tenth. The remaining tenths go to the parts with the largest
  /// remainders. If two remainders are equal, the lower range comes first. So every percentage differs from
  /// the exact one by less than a tenth.
  ///
  /// - Parameter mark: the sign between a number and its decimal.
  package init(_ weights: [Int], mark: String = ".") {
    let sum = weights.reduce(0, +)
    var tenths = weights.map { sum > 0 ? $0 * 1000 / sum : 0 }
    let left = sum > 0 ? 1000 - tenths.reduce(0, +) : 0
    let order = weights.indices.sorted { first, second in
      let (one, other) = (weights[first] * 1000 % max(1, sum), weights[second] * 1000 % max(1, sum))
      return one == other ? first < second : one > other
    }
    for index in order.prefix(left) { tenths[index] += 1 }
    (self.weights, self.tenths, self.sum, self.mark) = (weights, tenths, sum, mark)
  }

  /// The percentages of the five ranges of a sensor's time.
  package init(minutes ranges: [RangeFigures], mark: String = ".") {
    self.init(ranges.map(\.minutes), mark: mark)
  }

  /// The percentages of the five ranges of readings.
  package init(readings ranges: [RangeFigures], mark: String = ".") {
    self.init(ranges.map(\.readings), mark: mark)
  }

  /// The percentage of one range, such as `4.2`.
  package subscript(band: GlucoseBand) -> String {
    Self.text(tenths: tenths[band.rawValue], isThere: weights[band.rawValue] > 0, mark)
  }

  /// The percentage of several ranges together, from the exact sum and not from rounded parts.
  package func sum(_ bands: GlucoseBand...) -> String {
    let part = bands.reduce(0) { $0 + weights[$1.rawValue] }
    return Self.text(100 * Double(part) / Double(max(1, sum)), mark: mark)
  }

  /// A percentage with one decimal; a part that is not 0 is never shown as 0.0.
  package static func text(_ percent: Double, mark: String = ".") -> String {
    text(tenths: Int((percent * 10).rounded()), isThere: percent > 0, mark)
  }

  private static func text(tenths: Int, isThere: Bool, _ mark: String) -> String {
    tenths == 0 && isThere ? "<0\(mark)1" : "\(tenths / 10)\(mark)\(tenths % 10)"
  }
}

/// Text from a device, a file or a person, made safe for a page or a terminal.
package enum ForeignText {
  /// The text in one line. U+FFFD replaces characters that control a terminal, that are invisible, or that
  /// change the direction of text. So no text can look like another one.
  package static func shown(_ text: String) -> String {
    var shown = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar.value {
      case 0x09, 0x0A, 0x0D, 0x85, 0x2028, 0x2029: shown.append(" ")
      case 0..<0x20, 0x7F..<0xA0, 0x061C, 0x200B, 0x200E, 0x200F, 0x202A...0x202E, 0x2060...0x206F,
        0xFEFF, 0xFFF9...0xFFFB, 0xE0000...0xE007F, 0xFFFE, 0xFFFF:
        shown.append("\u{FFFD}")
      default: shown.append(scalar)
      }
    }
    return String(shown)
  }
}
