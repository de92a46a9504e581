// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// The records of one page, in every storage. Their number and size are bounded, so that clients accept the body.
package struct PageRecords: Sendable {
  /// The size of the states, in bytes of JSON, at which a page ends before its body exceeds what clients accept. One
  /// larger record is a whole page.
  package static let maxBytes = WireProtocol.maxBodyBytes / 2

  /// The records so far.
  package private(set) var records: [RemoteRecord] = []
  private var bytes = 0

  /// No records.
  package init() {}

  /// The number of records so far.
  package var count: Int { records.count }

  /// Whether a record with this size fits the page. If not, the page is complete.
  ///
  /// - Parameter stateBytes: the size of the state as JSON.
  package mutating func fits(stateBytes: Int) -> Bool {
    bytes += stateBytes
    return (bytes <= Self.maxBytes || records.isEmpty) && records.count < WireProtocol.maxRecords
  }

  /// Adds a record that fits.
  package mutating func append(_ record: RemoteRecord) { records.append(record) }
}

/// The largest pages of changes, in every storage.
package enum PageLimits {
  /// The maximum number of changes that one page skips, so that many changes of the node itself do not delay an answer.
  package static let maxScanned = 50_000

  /// The number of items on a page for a requested limit: at least one.
  package static func items(_ limit: Int) -> Int { min(max(limit, 1), WireProtocol.maxReadings) }
}

/// The texts by which clients identify positions in the sequence of a logbook's changes, for every storage.
///
/// A text is the number, a dot and the tag of the epoch in which the number was assigned. A number with another tag
/// belongs to a history that a restore has removed.
package enum PositionText {
  /// Above all numbers: a million changes a second would reach it in 146,000 years.
  package static let end: Int64 = 1 << 62

  /// The text of an assigned number.
  ///
  /// - Parameter tag: the tag of the number's epoch.
  package static func text(_ seq: Int64, tag: String) -> String { "\(seq).\(tag)" }

  /// The number in a text; nil for a text that no storage returns. The caller compares the whole text.
  package static func number(in text: String) -> Int64? {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2, let seq = Int64(parts[0]), seq >= 0 else { return nil }
    return seq
  }
}
