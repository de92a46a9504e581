// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The seeds of a test: as many as a check of some minutes allows, or `GLUCOPORT_MORE_SEEDS` times as many, as in
/// Tests/long.sh.
package enum Seeds {
  /// The first seeds, from 1 on. A check tries `count` of them.
  package static func first(_ count: UInt64) -> ClosedRange<UInt64> {
    let times = ProcessInfo.processInfo.environment["GLUCOPORT_MORE_SEEDS"].flatMap { UInt64($0) } ?? 1
    return 1...(count * max(times, 1))
  }
}
