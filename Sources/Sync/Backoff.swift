// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// The time of the next attempt after temporary failures. It increases with each failure, and is random so that nodes
/// differ.
package struct Backoff: Hashable, Sendable {
  /// The first delay in seconds.
  package static let firstSeconds = 30
  /// The maximum delay in seconds: six hours. It also limits `Retry-After`.
  package static let longestSeconds = RetryAfter.maxSeconds

  /// The number of consecutive failures.
  package private(set) var failures: Int
  /// The time of the next attempt in UTC seconds of this host; nil for immediately.
  package private(set) var nextAttempt: Int64?

  /// Restores the state from the store.
  package init(failures: Int = 0, nextAttempt: Int64? = nil) {
    self.failures = failures
    self.nextAttempt = nextAttempt
  }

  /// The remaining delay. A next attempt further ahead than the maximum delay is due: the clock was set back meanwhile.
  package func secondsToWait(now: Int64) -> Int64 {
    guard let nextAttempt, nextAttempt > now, nextAttempt - now <= Int64(Self.longestSeconds) else {
      return 0
    }
    return nextAttempt - now
  }

  /// Records a failure. A temporary one delays the next attempt; any other needs a person anyway.
  ///
  /// - Parameter jitter: a random number from 0 up to, not including, 1, drawn for each failure.
  package mutating func note(_ error: ServiceError, now: Int64, jitter: Double) {
    switch error {
    case .busy(_, let seconds): fail(now: now, retryAfterSeconds: seconds, jitter: jitter)
    case .unavailable, .serverFailure: fail(now: now, retryAfterSeconds: nil, jitter: jitter)
    case .tooLarge, .refused, .loginRefused, .readOnly, .nodeReused, .otherLogbook, .positionUnknown,
      .protocolViolation, .purged:
      nextAttempt = nil
    }
  }

  private mutating func fail(now: Int64, retryAfterSeconds: Int?, jitter: Double) {
    failures = min(failures + 1, 30)
    let doubled = min(
      Double(Self.longestSeconds), Double(Self.firstSeconds) * Double(1 << min(failures - 1, 16)))
    let spread = doubled * (0.5 + jitter / 2)
    let asked = Double(min(max(retryAfterSeconds ?? 0, 0), Self.longestSeconds))
    nextAttempt = now + Int64(max(spread, asked).rounded(.up))
  }
}

/// The minimum time between two fetches of changes, unless a person asks for them.
package struct PullInterval: Hashable, Sendable {
  /// The minimum time in seconds.
  package let seconds: Int

  /// - Parameter seconds: with 0 every run fetches.
  package init(seconds: Int) { self.seconds = seconds }

  /// Whether a fetch is due. A last time in the future comes from a clock that was set back since.
  ///
  /// - Parameters:
  ///   - last: the time of the last complete fetch, in UTC seconds of this host; nil for never.
  ///   - now: this host's clock in UTC seconds.
  package func isOver(since last: Int64?, now: Int64) -> Bool {
    guard let last, last <= now else { return true }
    return now - last >= Int64(seconds)
  }
}
