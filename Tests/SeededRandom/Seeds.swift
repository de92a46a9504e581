// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The seeds that a test tries: as many as a check of minutes has time for, and `GLUCOPORT_MORE_SEEDS` times as many where
/// somebody asks for it, as Tests/long.sh does.
package enum Seeds {
  /// The seeds from 1 on, of which a check tries `count`.
  package static func first(_ count: UInt64) -> ClosedRange<UInt64> {
    let times = ProcessInfo.processInfo.environment["GLUCOPORT_MORE_SEEDS"].flatMap { UInt64($0) } ?? 1
    return 1...(count * max(times, 1))
  }
}
