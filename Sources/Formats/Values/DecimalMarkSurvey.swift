// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Settles the decimal mark of a whole input by the first value cell with a mark.
struct DecimalMarkSurvey {
  private(set) var mark: DecimalMark
  private(set) var isSettled = false

  /// - Parameter presumed: the mark that goes with the input's delimiter or language, until a cell shows one.
  init(presumed: DecimalMark) { mark = presumed }

  /// The decision for the report; empty if no cell has a mark.
  var decisions: [Decision] { isSettled ? [Decision("decimal-mark", mark.name, .inferred)] : [] }

  /// Looks at a value cell: digits, one mark, digits. Any other cell proves nothing, nor does `1,234`, which may be a
  /// thousand.
  @inline(__always) mutating func note(_ cell: some Sequence<UInt8>) {
    if !isSettled { settle(by: cell) }
  }

  private mutating func settle(by cell: some Sequence<UInt8>) {
    var found: DecimalMark?
    var (whole, fraction) = (0, 0)
    for byte in cell {
      if byte &- 0x30 <= 9 {
        if found == nil { whole += 1 } else { fraction += 1 }
      } else if found == nil, let mark = DecimalMark(rawValue: byte) {
        found = mark
      } else {
        return
      }
    }
    guard let found, whole > 0, fraction > 0, found == .point || fraction != 3 else { return }
    mark = found
    isSettled = true
  }
}
