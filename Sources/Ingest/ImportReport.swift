// SPDX-License-Identifier: Apache-2.0

public import Logbook
public import LogbookStore

/// What an import did.
public struct ImportReport: Sendable {
  /// How many rejections a report names.
  static let maxRejections = 20

  /// The path, `-`, or `meter`.
  public let source: String
  /// The id of the format or driver.
  public let format: String
  /// What was decided about the input.
  public let decisions: [Decision]
  /// Things a person should know that reject nothing.
  public let warnings: [String]
  /// What became of the items.
  public let counts: IngestCounts
  /// How the input ended.
  public let end: InputEnd
  /// The first rejections, for people; all are counted.
  public let rejections: [Rejection]
  /// Readings of another device with the same kind, time and value.
  public let likelyDuplicates: [LikelyDuplicate]
  /// The meter that was read; nil for an export.
  public let meter: MeterReport?
}

/// The end of an import by a signal.
public struct ImportInterruption: Error {
  /// The path, or `-`.
  public let source: String
  /// What became of the items that are stored; nothing of a strict import is.
  public let stored: IngestCounts
}
