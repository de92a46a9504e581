// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The seeds and cases of a test: as many as a check of some minutes allows, or `GLUCOPORT_MORE_SEEDS` times
/// as many, as in Tests/long.sh.
package enum Seeds {
  /// The first seeds, from 1 on. A check tries `count` of them.
  package static func first(_ count: UInt64) -> ClosedRange<UInt64> {
    let times = ProcessInfo.processInfo.environment["GLUCOPORT_MORE_SEEDS"].flatMap { UInt64($0) } ?? 1
    return 1...(count * max(times, 1))
  }

  /// A share of the cases of a test that takes seconds: every `step`-th, from a place that `GLUCOPORT_TURN`
  /// moves, so that several commits try all of them. With `GLUCOPORT_MORE_SEEDS`, all cases.
  package static func share<Case>(of cases: some Sequence<Case>, every step: Int) -> [Case] {
    let environment = ProcessInfo.processInfo.environment
    guard environment["GLUCOPORT_MORE_SEEDS"] == nil else { return Array(cases) }
    let turn = environment["GLUCOPORT_TURN"].flatMap { UInt64($0) } ?? 0
    let first = Int(turn % UInt64(step))
    return cases.enumerated().filter { $0.offset % step == first }.map(\.element)
  }
}
