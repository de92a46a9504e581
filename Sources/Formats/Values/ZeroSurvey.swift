// SPDX-License-Identifier: Apache-2.0

/// Finds out whether 0 in a column means no value. It does if nearly all of many cells are 0, and the other cells hold
/// what a meter can show.
struct ZeroSurvey {
  private static let minCells = 50

  private var count = 0
  private var zeros = 0
  private var hasImplausible = false

  /// Notes a filled cell. `isPlausible` says whether a meter can show this number.
  mutating func note(_ number: Double, isPlausible: Bool) {
    count += 1
    if number == 0 {
      zeros += 1
    } else if !isPlausible {
      hasImplausible = true
    }
  }

  /// Whether 0 means that there is no value.
  var zeroIsNone: Bool { count >= Self.minCells && zeros * 100 >= count * 95 && !hasImplausible }
}
