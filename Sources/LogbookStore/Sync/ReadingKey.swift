// SPDX-License-Identifier: Apache-2.0

package import Logbook
import SQLiteRows

/// The key of a reading's row in its store. It has no meaning in other stores.
package struct ReadingKey: Hashable, Sendable {
  let partition: Int64
  let position: Int64
  let series: Int64
  let valueBucket: Int64
  let occurrence: Int64

  /// The key without the partition of the table.
  var place: StoredPlace {
    StoredPlace(series: series, position: position, valueBucket: valueBucket, occurrence: occurrence)
  }
}

extension ReadingKey: Comparable {
  /// The order of the store.
  package static func < (left: Self, right: Self) -> Bool {
    (left.partition, left.position, left.series, left.valueBucket, left.occurrence) < (
      right.partition, right.position, right.series, right.valueBucket, right.occurrence
    )
  }
}

/// Pending readings, each with its key.
package struct PendingReadings: Sendable {
  /// The readings with their devices. Readings of one series are next to each other.
  package let batch: ReadingBatch
  /// The keys, in the order of the batch.
  package let keys: [ReadingKey]
  /// The last reading in the order of the store; the next batch begins after it. Nil if there is none.
  package let last: ReadingKey?
}
