// SPDX-License-Identifier: Apache-2.0

import LogbookStore

/// The progress of removing and moving documents in a run.
struct MoveProgress {
  /// The remaining number of removals in this run.
  var removalsLeft: Int
  /// The remaining number of moves in this run.
  var left: Int
  /// Whether the moves lead to later instants, so that the last items are moved first; nil before the first move.
  var isLater: Bool?
  /// The last reading examined.
  var lastReading: ReadingKey?
  /// The last record examined.
  var lastRecord = ""

  init(left: Int, removalsLeft: Int) { (self.left, self.removalsLeft) = (left, removalsLeft) }
}
