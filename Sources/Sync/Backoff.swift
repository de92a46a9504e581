// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// When the next attempt may start after temporary failures. The delay grows with each failure. A random part
/// prevents that many nodes try again at the same time.
package struct Backoff: Hashable, Sendable {
  /// The first delay in seconds.
  package static let firstSeconds = 30
  /// The maximum delay in seconds: six hours. A longer `Retry-After` is reduced to it.
  package static let longestSeconds = RetryAfter.maxSeconds

  /// The number of consecutive failures.
  package private(set) var failures: Int
  /// The earliest time of the next attempt, in UTC seconds of this host; nil for immediately.
  package private(set) var nextAttempt: Int64?

  /// A backoff with the values that the store has stored since the last upload.
  package init(failures: Int = 0, nextAttempt: Int64? = nil) {
    self.failures = failures
    self.nextAttempt = nextAttempt
  }

  /// The remaining delay in seconds. It is 0 if the next attempt is more than the maximum delay ahead, since
  /// this only happens after the clock was set back.
  package func secondsToWait(now: Int64) -> Int64 {
    guard let nextAttempt, nextAttempt > now, nextAttempt - now <= Int64(Self.longestSeconds) else {
      return 0
    }
    return nextAttempt - now
  }

  /// Determines the next attempt after a failure. Only temporary failures delay it, since only a person can
  /// correct other failures.
  ///
  /// - Parameter jitter: a random number from 0 up to, but not including, 1. It must be drawn for each
  ///   failure.
  package mutating func postpone(after error: ServiceError, now: Int64, jitter: Double) {
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

/// The minimum time between two pulls of changes for which no person asks.
package struct PullInterval: Hashable, Sendable {
  /// The minimum time in seconds.
  package let seconds: Int

  /// - Parameter seconds: the minimum time; with 0, every upload pulls.
  package init(seconds: Int) { self.seconds = seconds }

  /// Whether a pull is due. It is also due if the last one seems to be in the future, since the clock was
  /// then set back.
  ///
  /// - Parameters:
  ///   - last: when all changes were last pulled, in UTC seconds of this host; nil for never.
  ///   - now: this host's clock in UTC seconds.
  package func isOver(since last: Int64?, now: Int64) -> Bool {
    guard let last, last <= now else { return true }
    return now - last >= Int64(seconds)
  }
}
