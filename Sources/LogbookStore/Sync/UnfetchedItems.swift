// SPDX-License-Identifier: Apache-2.0

/// The known items of the remote that a store does not have yet.
package struct UnfetchedItems: Hashable, Sendable {
  /// Ranges of readings, by their shown times in civil seconds.
  package internal(set) var ranges: [Range<Int64>]
  /// Whether the first download of the records is incomplete.
  package internal(set) var includesRecords = false

  /// Whether a reading with this shown time may be missing for that reason.
  package func includesReading(at seconds: Int64) -> Bool { ranges.contains { $0.contains(seconds) } }
}
