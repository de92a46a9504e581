// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The results for readings that a remote returned.
package struct PulledReadings: Hashable, Sendable {
  /// The ingest of the readings; nil if none has begun.
  package var ingest: Int64?
  /// Readings that were not here yet. A known one with another value is listed as changed at the source.
  package var new = 0
  /// Readings that the store has from its own source.
  package var same = 0
  /// Hidden readings of the store that are visible again because the remote states them.
  package var shown = 0
  /// The store's readings from its own sources for whose moment the remote has another value; both are kept.
  package var disputed: Set<ReadingKey> = []

  /// Hidden readings of the store that documents of other programs state, by series.
  var restated: [Int64: [SeriesPoint]] = [:]

  init(ingest: Int64?) { self.ingest = ingest }
}

extension PulledReadings {
  /// Adds a hidden reading that a document of another program states.
  mutating func restate(_ key: ReadingKey) {
    restated[key.series, default: []].append(
      SeriesPoint(position: key.position, valueBucket: key.valueBucket, occurrence: key.occurrence))
  }
}
