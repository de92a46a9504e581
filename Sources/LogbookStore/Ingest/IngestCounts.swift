// SPDX-License-Identifier: Apache-2.0

import Logbook

/// What became of the items of one ingest.
public struct IngestCounts: Equatable, Sendable {
  /// Readings stored.
  public var newReadings = 0
  /// Readings that were in the store already, from this or another source of the same device.
  public var knownReadings = 0
  /// Readings that occur more than once in this input; each was taken once.
  public var repeatedReadings = 0
  /// Readings for which the source gives another value than before: the first was kept, the other is listed.
  public var changedReadings = 0
  /// Hand-typed readings that this input shows corrected, or given again: their annotation was written.
  public var correctedReadings = 0
  /// Records stored.
  public var newRecords = 0
  /// Records that were in the store already with the same content.
  public var knownRecords = 0
  /// Rows equal to one before in this input.
  public var repeatedRecords = 0
  /// Records whose row changed at the source, and which took the change.
  public var updatedRecords = 0
  /// Records whose row changed, and which were edited or deleted here or come from a later export.
  public var keptRecords = 0
  /// Items that were not taken, readings and records together.
  public var rejected = 0
  /// The same by the reason.
  public var notTaken: [String: Int] = [:]
  /// Items without a kind in glucoport, by name.
  public var skipped: [String: Int] = [:]
  /// Readings whose shown time a clock change skipped or repeated.
  public var ambiguousTimes = 0
  /// Readings whose shown time cannot be right.
  public var doubtfulTimes = 0
  /// New readings by kind and unit name, such as `cbg`.
  public var newByKind: [String: Int] = [:]
  /// The first shown time of all readings in the input, in civil seconds.
  public var firstTime: Int64?
  /// The last shown time of all readings in the input, in civil seconds.
  public var lastTime: Int64?

  /// Counts of an ingest without items.
  public init() {}

  /// Readings in the input, whatever became of them.
  public var readings: Int { newReadings + knownReadings + repeatedReadings + changedReadings }
  /// Records in the input, whatever became of them.
  public var records: Int { newRecords + knownRecords + repeatedRecords + updatedRecords + keptRecords }

  /// Counts items that were not taken. Reasons hold no values, so there are few.
  mutating func note(_ rejections: [Rejection]) {
    rejected += rejections.count
    for rejection in rejections { notTaken[rejection.reason, default: 0] += 1 }
  }
}
