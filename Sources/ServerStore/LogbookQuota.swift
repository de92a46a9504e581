// SPDX-License-Identifier: Apache-2.0

/// How much one logbook may hold. What is beyond is not stored, and what is stored stays.
package struct LogbookQuota: Hashable, Sendable {
  /// Readings: a sensor makes 100,000 in a year.
  package var readings: Int64 = 20_000_000
  /// Records, tombstones with them.
  package var records: Int64 = 1_000_000
  /// Nodes: each copy of a store has one.
  package var nodes: Int64 = 1000
  /// Bytes of the content of attachments.
  package var contentBytes: Int64 = 4 << 30

  /// What no person comes near.
  package init() {}
}
