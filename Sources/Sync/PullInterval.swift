// SPDX-License-Identifier: Apache-2.0

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
