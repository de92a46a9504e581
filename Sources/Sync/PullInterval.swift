// SPDX-License-Identifier: Apache-2.0

/// How long what others changed is left where it is while nobody asks for it.
package struct PullInterval: Hashable, Sendable {
  /// The least time between two fetches.
  package let seconds: Int

  /// An interval of so many seconds; with 0 every run fetches.
  package init(seconds: Int) { self.seconds = seconds }

  /// Whether it is time to fetch again. A last time that lies ahead was reported by a clock that was set back since.
  ///
  /// - Parameters:
  ///   - last: when everything was last fetched, in UTC seconds of this host; nil for never.
  ///   - now: this host's clock in UTC seconds.
  package func isOver(since last: Int64?, now: Int64) -> Bool {
    guard let last, last <= now else { return true }
    return now - last >= Int64(seconds)
  }
}
