// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// Collects the records of one page, for every storage. Number and size are limited, so that clients accept
/// the body.
package struct PageRecords: Sendable {
  /// The maximum size of all states on a page, in bytes of JSON. A single larger record fills a page, which
  /// clients also accept.
  package static let maxBytes = WireProtocol.maxBodyBytes / 2

  /// The records that were added so far.
  package private(set) var records: [RemoteRecord] = []
  private var bytes = 0

  /// A page without records.
  package init() {}

  /// The number of records that were added so far.
  package var count: Int { records.count }

  /// Whether a record with this size fits on the page. If not, the page is complete. The size is added to the
  /// total even if the record does not fit.
  ///
  /// - Parameter stateBytes: the size of the state as JSON.
  package mutating func fits(stateBytes: Int) -> Bool {
    bytes += stateBytes
    return (bytes <= Self.maxBytes || records.isEmpty) && records.count < WireProtocol.maxRecords
  }

  /// Adds a record for which `fits(stateBytes:)` returned true.
  package mutating func append(_ record: RemoteRecord) { records.append(record) }
}

/// The limits for pages of changes, which are the same in every storage.
package enum PageLimits {
  /// The maximum number of a node's own changes that one page skips. Without a limit, many own changes would
  /// delay the answer.
  package static let maxScanned = 50_000

  /// The number of items on a page: the requested limit, but at least one and at most the maximum of the
  /// protocol.
  package static func items(_ limit: Int) -> Int { min(max(limit, 1), WireProtocol.maxReadings) }
}

/// The texts for sequence numbers of a logbook's changes. Clients store these texts as positions. They are
/// the same in every storage.
///
/// A text consists of a sequence number, a dot, and the tag of the epoch in which this number was assigned. A
/// restore from a backup begins a new epoch, so that numbers assigned after the backup are recognised as
/// unknown.
package enum PositionText {
  /// A number above all sequence numbers. With a million changes per second, it would be reached in 146,000
  /// years.
  package static let end: Int64 = 1 << 62

  /// The text of a sequence number that was assigned.
  ///
  /// - Parameter tag: the tag of the number's epoch.
  package static func text(_ seq: Int64, tag: String) -> String { "\(seq).\(tag)" }

  /// Parses the sequence number in a position's text; nil for any other text. The caller must still compare
  /// the tag of the epoch.
  package static func number(in text: String) -> Int64? {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2, let seq = Int64(parts[0]), seq >= 0 else { return nil }
    return seq
  }
}
