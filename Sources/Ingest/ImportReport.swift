// SPDX-License-Identifier: Apache-2.0

package import Logbook
package import LogbookStore

/// What an import did.
package struct ImportReport: Sendable {
  /// How many rejections a report names.
  static let maxRejections = 20

  /// The number of the ingest.
  package let ingest: Int64
  /// The path, `-`, or `meter`.
  package let source: String
  /// The id of the format or driver.
  package let format: String
  /// What was decided about the input.
  package let decisions: [Decision]
  /// Things a person should know that reject nothing.
  package let warnings: [String]
  /// What became of the items.
  package let counts: IngestCounts
  /// How the input ended.
  package let end: InputEnd
  /// The first rejections, for people; all are counted.
  package let rejections: [Rejection]
  /// Readings of another device with the same kind, time and value.
  package let likelyDuplicates: [LikelyDuplicate]
  /// The meter that was read; nil for an export.
  package let meter: MeterReport?
}

/// The end of an import by a signal.
package struct ImportInterruption: Error {
  /// The path, or `-`.
  package let source: String
  /// What became of the items that are stored; nothing of a strict import is.
  package let stored: IngestCounts
}
