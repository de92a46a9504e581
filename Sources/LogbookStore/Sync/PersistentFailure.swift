// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// A reported failure of uploads that only a person can correct, such as a refused login. It is stored, so
/// that an unattended job reports it only once.
package struct PersistentFailure: Hashable, Sendable {
  /// The category, which determines what a person can do about it.
  package let category: FailureCategory
  /// When the failure was first reported, in UTC seconds.
  package let since: Int64
  /// A text that identifies the token that failed; empty if no token could be read.
  package let tokenMark: String
  /// The sentence that was reported.
  package let message: String

  /// A failure as it was reported.
  package init(_ failure: Failure, since: Int64, tokenMark: String) {
    (category, message) = (failure.category, failure.message)
    (self.since, self.tokenMark) = (since, tokenMark)
  }

  /// Whether a failure is the one that was reported: it has the same category, and the same token failed.
  package func isSame(as failure: Failure, tokenMark: String) -> Bool {
    failure.category == category && tokenMark == self.tokenMark
  }
}

extension PersistentFailure {
  /// The text in the setting: category, time and token mark, separated by blanks, then the message.
  var stored: String { "\(category.rawValue) \(since) \(tokenMark) \(message)" }

  /// Parses the text of a setting, as `stored` writes it. Nil for a text with another layout, which another
  /// version of the program may have written.
  init?(stored: String) {
    let parts = stored.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false)
    guard parts.count == 4, let category = FailureCategory(rawValue: String(parts[0])),
      let since = Int64(parts[1])
    else { return nil }
    self.init(Failure(category, String(parts[3])), since: since, tokenMark: String(parts[2]))
  }
}
