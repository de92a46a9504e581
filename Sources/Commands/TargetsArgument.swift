// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logbook
import Report

/// Typed targets: a name, or the lowest and the highest value.
struct TargetsArgument {
  private enum Form {
    case named(Targets)
    case range(low: Double, high: Double)
  }

  private let text: String
  private let form: Form

  /// - Throws: `ValidationError` unless it is a name or a range, and for a range whose lower value is not the
  ///   first.
  static func validate(_ text: String) throws {
    if let targets = TargetsArgument(text) { return try targets.checkOrder() }
    throw ValidationError(
      "Unknown targets '\(text)'; use \(alternatives(Targets.named.map(\.name))), or a range such as 70-180.")
  }

  init?(_ text: String) {
    self.text = text
    if let named = Targets.named.first(where: { $0.name == text }) {
      form = .named(named)
      return
    }
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, let low = Self.number(parts[0]), let high = Self.number(parts[1]) else {
      return nil
    }
    form = .range(low: low, high: high)
  }

  /// The targets, with numbers in this unit. If it is nil, the size of the numbers decides.
  ///
  /// - Throws: `Failure` of category `usage` for a range that is empty or too wide.
  func targets(in unit: GlucoseUnit?) throws -> Targets {
    switch form {
    case .named(let targets): return targets
    case .range(let low, let high):
      let unit = unit ?? (high < 30 ? .millimolesPerLitre : .milligramsPerDecilitre)
      if let targets = Targets(from: low, to: high, unit) { return targets }
      let (least, most) = unit == .milligramsPerDecilitre ? ("54", "250") : ("3", "13.9")
      throw Failure(
        .usage, "--targets \(text): a range in \(unit.name) is within \(least)-\(most); --unit sets the unit")
    }
  }

  private func checkOrder() throws {
    guard case .range(let low, let high) = form, low >= high else { return }
    let advice =
      low == high
      ? "the two values must differ" : "the lower value comes first: \(plainNumber(high))-\(plainNumber(low))"
    throw ValidationError("--targets \(text): \(advice).")
  }

  private static func number(_ text: Substring) -> Double? {
    guard !text.isEmpty, text.utf8.count <= 6, text.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") })
    else { return nil }
    return Double(text)
  }
}
