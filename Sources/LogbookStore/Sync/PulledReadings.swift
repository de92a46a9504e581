// SPDX-License-Identifier: Apache-2.0

import Logbook

/// What came of readings that a remote gave.
package struct PulledReadings: Hashable, Sendable {
  /// The ingest to which they belong; nil where none was begun so far.
  package var ingest: Int64?
  /// Readings that were not here yet. A known one with another value is listed as changed at the source.
  package var new = 0
  /// Readings that the store has from its own source.
  package var same = 0
  /// Readings of the store that were hidden, and that are shown again because the remote states them.
  package var shown = 0
  /// Readings of the store, from its own sources, for whose moment the remote gave another value; both are kept.
  package var disputed: Set<ReadingKey> = []

  /// Readings of the store that are hidden, and that documents of other programs state, by their series.
  var restated: [Int64: [SeriesPoint]] = [:]

  init(ingest: Int64?) { self.ingest = ingest }
}

extension PulledReadings {
  /// A hidden reading that a document of another program states.
  mutating func restate(_ key: ReadingKey) {
    restated[key.series, default: []].append(
      SeriesPoint(position: key.position, valueBucket: key.valueBucket, occurrence: key.occurrence))
  }
}
