// SPDX-License-Identifier: Apache-2.0

/// One pass through all possible changes, over any number of pages.
struct NightscoutRound: Codable, Hashable, Sendable {
  enum Task: String, Codable, Sendable {
    /// Writes and deletions by API v3; in a first pull, everything.
    case history
    /// Writes by API v1, which leave no mark of change.
    case sweep
  }

  struct Step: Codable, Hashable, Sendable {
    let task: Task
    var walk: NightscoutWalk
    /// Whether an earlier page belongs to the sweep, so that no single page is the whole sweep.
    var isSplit = false
    /// The records on earlier pages of a sweep of treatments.
    var seen: [String: NightscoutCursor.Seen] = [:]
  }

  /// The start of the round, and the latest times then.
  let asked: Int64
  let latest: [String: Int64]
  var steps: [Step]

  /// Whether the round reads the history.
  var readsHistory: Bool
}
