// SPDX-License-Identifier: Apache-2.0

/// One way through what may have changed, over as many pages as it takes.
struct NightscoutRound: Codable, Hashable, Sendable {
  enum Task: String, Codable, Sendable {
    /// What API v3 wrote or deleted, or all there is where nothing was pulled yet.
    case history
    /// What API v1 wrote, which leaves no mark of change.
    case sweep
  }

  struct Step: Codable, Hashable, Sendable {
    let task: Task
    var walk: NightscoutWalk
    /// Whether a page was taken already, so that no page is the whole sweep.
    var isSplit = false
    /// What a sweep of treatments saw on the pages before.
    var seen: [String: NightscoutCursor.Seen] = [:]
  }

  /// When it began, and the latest times then.
  let asked: Int64
  let latest: [String: Int64]
  var steps: [Step]

  /// Whether the history is read in it.
  var readsHistory: Bool
}
