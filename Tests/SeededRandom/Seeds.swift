// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The numbers of seeds and cases that a test tries. They suit a check of some minutes.
/// `GLUCOPORT_MORE_SEEDS` multiplies them, as in Tests/long.sh.
package enum Seeds {
  /// The seeds from 1 to `count`, or to a multiple of `count` with `GLUCOPORT_MORE_SEEDS`.
  package static func first(_ count: UInt64) -> ClosedRange<UInt64> {
    let times = ProcessInfo.processInfo.environment["GLUCOPORT_MORE_SEEDS"].flatMap { UInt64($0) } ?? 1
    return 1...(count * max(times, 1))
  }

  /// Every `step`-th case of a test that takes seconds. `GLUCOPORT_TURN` chooses the first one, so that the
  /// checks of several commits try all cases. With `GLUCOPORT_MORE_SEEDS`, all cases are returned.
  package static func share<Case>(of cases: some Sequence<Case>, every step: Int) -> [Case] {
    let environment = ProcessInfo.processInfo.environment
    guard environment["GLUCOPORT_MORE_SEEDS"] == nil else { return Array(cases) }
    let turn = environment["GLUCOPORT_TURN"].flatMap { UInt64($0) } ?? 0
    let first = Int(turn % UInt64(step))
    return cases.enumerated().filter { $0.offset % step == first }.map(\.element)
  }
}
