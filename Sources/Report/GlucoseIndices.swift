// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook

/// Published formulas for figures of many values.
package enum GlucoseIndices {
  /// The glucose management indicator in percent, for a mean in mg/dL (Bergenstal et al. 2018).
  package static func managementIndicator(mean milligrams: Double) -> Double {
    3.31 + 0.02392 * milligrams
  }

  /// The same in mmol/mol.
  package static func managementIndicatorInMillimoles(mean milligrams: Double) -> Double {
    12.71 + 4.70587 * milligrams / Quantity.milligramsPerDecilitreInMillimole
  }

  /// The means for which the management indicator was fitted, in mg/dL.
  package static let managementIndicatorMeans = 80.0...350

  /// The risk of a value in mg/dL (Kovatchev et al.). The indices LBGI and HBGI are its means: `low` counts
  /// below 112.5 mg/dL, `high` above.
  package static func risk(_ milligrams: Double) -> (low: Double, high: Double) {
    let step = Int(milligrams)
    if Double(step) == milligrams, step < wholeRisks.count { return split(wholeRisks[step]) }
    return split(signedRoot(milligrams))
  }

  /// The glycemia risk index for shares of the time in percent (Klonoff et al. 2022), with the standard
  /// ranges.
  package static func glycemiaRisk(_ percent: [Double]) -> (index: Double, low: Double, high: Double) {
    let low = percent[0] + 0.8 * percent[1]
    let high = percent[4] + 0.5 * percent[3]
    return (min(100, 3 * low + 1.6 * high), low, high)
  }

  /// The zone of a glycemia risk index, A to E.
  package static func zone(ofGlycemiaRisk index: Double) -> String {
    switch index.rounded() {
    case ...20: "A"
    case ...40: "B"
    case ...60: "C"
    case ...80: "D"
    default: "E"
    }
  }

  /// Precalculated, since the logarithm and the power take longer than all other work for a value.
  private static let wholeRisks = (0...1000).map { signedRoot(Double($0)) }

  private static func signedRoot(_ milligrams: Double) -> Double {
    milligrams > 1 ? 1.509 * (pow(log(milligrams), 1.084) - 5.381) : 1.509 * -5.381
  }

  private static func split(_ root: Double) -> (low: Double, high: Double) {
    let risk = 10 * root * root
    return root < 0 ? (risk, 0) : (0, risk)
  }
}
