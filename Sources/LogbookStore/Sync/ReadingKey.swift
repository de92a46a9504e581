// SPDX-License-Identifier: Apache-2.0

public import Logbook
import SQLiteRows

/// The key of a reading's row in its store. It means nothing elsewhere.
public struct ReadingKey: Hashable, Sendable {
  let partition: Int64
  let position: Int64
  let series: Int64
  let valueBucket: Int64
  let occurrence: Int64

  /// The key without the part of the table in which the row is.
  var place: StoredPlace {
    StoredPlace(series: series, position: position, valueBucket: valueBucket, occurrence: occurrence)
  }
}

extension ReadingKey: Comparable {
  /// The order of the store.
  public static func < (left: Self, right: Self) -> Bool {
    (left.partition, left.position, left.series, left.valueBucket, left.occurrence) < (
      right.partition, right.position, right.series, right.valueBucket, right.occurrence
    )
  }
}

/// Readings that wait to be sent, each with its key.
public struct PendingReadings: Sendable {
  /// The readings, those of one series together, with their devices.
  public let batch: ReadingBatch
  /// The keys, in the order of the batch.
  public let keys: [ReadingKey]
  /// The last reading in the order of the store, behind which the next batch begins; nil when there is none.
  public let last: ReadingKey?
}
