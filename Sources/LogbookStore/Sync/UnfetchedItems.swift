// SPDX-License-Identifier: Apache-2.0

/// What a store knows that it does not have yet.
package struct UnfetchedItems: Hashable, Sendable {
  /// Ranges of readings, by their shown times in civil seconds.
  package internal(set) var ranges: [Range<Int64>]
  /// Whether the records are still fetched for the first time.
  package internal(set) var includesRecords = false

  /// Whether a reading of this shown time may be missing for that reason.
  package func includesReading(at seconds: Int64) -> Bool { ranges.contains { $0.contains(seconds) } }
}
