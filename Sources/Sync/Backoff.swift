// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// When the next attempt is due after failures that pass: later with each one, never all nodes at once.
package struct Backoff: Hashable, Sendable {
  /// The first wait in seconds.
  package static let firstSeconds = 30
  /// The longest wait in seconds: six hours. It bounds `Retry-After`, too.
  package static let longestSeconds = ServiceError.maxRetryAfterSeconds

  /// Failures in a row.
  package private(set) var failures: Int
  /// When the next attempt is due, in UTC seconds of this host; nil for at once.
  package private(set) var nextAttempt: Int64?

  /// What the store keeps.
  package init(failures: Int = 0, nextAttempt: Int64? = nil) {
    self.failures = failures
    self.nextAttempt = nextAttempt
  }

  /// How long to wait. An attempt further ahead than the longest wait is due: the clock was set back meanwhile.
  package func secondsToWait(now: Int64) -> Int64 {
    guard let nextAttempt, nextAttempt > now, nextAttempt - now <= Int64(Self.longestSeconds) else {
      return 0
    }
    return nextAttempt - now
  }

  /// After a failure: one that passes puts the next attempt off, any other needs a person anyway.
  ///
  /// - Parameter jitter: from 0 up to, not including, 1, drawn for each failure.
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
