// SPDX-License-Identifier: Apache-2.0

import LogbookStore

/// How far a run is with removing and moving documents.
struct MoveProgress {
  /// How many more it removes.
  var removalsLeft: Int
  /// How many more it moves.
  var left: Int
  /// Whether the moves lead to later instants, so that it begins with the last ones; nil before the first.
  var isLater: Bool?
  /// The last reading that it looked at.
  var lastReading: ReadingKey?
  /// The last record that it looked at.
  var lastRecord = ""

  init(left: Int, removalsLeft: Int) { (self.left, self.removalsLeft) = (left, removalsLeft) }
}
