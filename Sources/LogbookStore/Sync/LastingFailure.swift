// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// A failure of uploads that no later attempt mends by itself, such as a login that is refused: what was reported of it,
/// so that a job that nobody watches reports it once.
package struct LastingFailure: Hashable, Sendable {
  /// What a person can do about it.
  package let category: FailureCategory
  /// When it was first reported, in UTC seconds.
  package let since: Int64
  /// A mark of the token with which it failed; empty where none could be read.
  package let tokenMark: String
  /// The sentence that was reported.
  package let message: String

  /// A failure as it was reported.
  package init(_ failure: Failure, since: Int64, tokenMark: String) {
    (category, message) = (failure.category, failure.message)
    (self.since, self.tokenMark) = (since, tokenMark)
  }

  /// Whether a failure with this token is the one that was reported.
  package func isSame(as failure: Failure, tokenMark: String) -> Bool {
    failure.category == category && tokenMark == self.tokenMark
  }
}

extension LastingFailure {
  /// As the setting keeps it: category, time and mark with a blank between them, then the sentence.
  var stored: String { "\(category.rawValue) \(since) \(tokenMark) \(message)" }

  /// What a setting says; nil for what no program of this version wrote.
  init?(stored: String) {
    let parts = stored.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false)
    guard parts.count == 4, let category = FailureCategory(rawValue: String(parts[0])),
      let since = Int64(parts[1])
    else { return nil }
    self.init(Failure(category, String(parts[3])), since: since, tokenMark: String(parts[2]))
  }
}
