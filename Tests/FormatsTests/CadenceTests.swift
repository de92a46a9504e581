// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Formats

@Suite struct CadenceTests {
  /// The first day of 1970 is kept, whichever other days are left out.
  @Test func timesOnOneDayTakeBoundedMemory() {
    var cadence = Cadence()
    for _ in 0..<2_000_000 { cadence.note(0, series: 0) }
    #expect(!cadence.isSensor)
  }
}
