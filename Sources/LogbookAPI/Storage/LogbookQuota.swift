// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// The limits of one logbook. A request that would exceed a limit stores nothing; items stored by earlier
/// requests are kept.
package struct LogbookQuota: Hashable, Sendable {
  /// The maximum number of readings. A sensor produces 100,000 in a year.
  package var readings: Int64 = 20_000_000
  /// The maximum number of records, including tombstones.
  package var records: Int64 = 1_000_000
  /// The maximum number of nodes. Each copy of a store counts as a node.
  package var nodes: Int64 = 1000
  /// The maximum total size of attachments in bytes.
  package var contentBytes: Int64 = 4 << 30

  /// Limits far above the data of any person.
  package init() {}

  /// The error for a request that would store more items of a kind than `max`.
  ///
  /// - Parameter item: the name of the kind, in the singular.
  package static func exceeded(_ max: Int64, _ item: String) -> ServiceError {
    .busy(
      "the logbook holds as many \(item)s as the server allows, which are \(max)", retryAfterSeconds: 3600)
  }

  /// The error for a new node if the logbook already has the maximum number of nodes.
  package static func tooManyNodes(_ max: Int64) -> ServiceError {
    .busy(
      "the logbook has as many nodes as the server allows, which are \(max)", retryAfterSeconds: 3600)
  }
}

/// Decides which parts of an attachment's content are stored, in the same way for every storage.
package enum ContentRules {
  /// Whether a part begins an attachment's content. That is so if the storage holds nothing of it. It is also
  /// so if the part has offset 0 and the held bytes are of a content of another size. The storage then
  /// discards the held bytes.
  package static func restarts(_ held: HeldContent, _ content: AttachmentContent, at offset: Int64) -> Bool {
    held.size == nil || offset == 0 && held.size != content.size
  }

  /// The answer to a part that must not be stored; nil if it must be stored.
  ///
  /// - Parameters:
  ///   - held: the held bytes of the attachment's content, without the bytes that were discarded because
  ///     `restarts` is true.
  ///   - count: the number of bytes of the part.
  ///   - total: returns the number of bytes of all contents in the logbook.
  ///   - limit: the maximum number of bytes of all contents.
  package static func refusal(
    _ held: HeldContent, _ content: AttachmentContent, at offset: Int64, count: Int,
    total: () throws -> Int64,
    limit: Int64
  ) rethrows -> ContentAnswer? {
    let (end, overflows) = offset.addingReportingOverflow(Int64(count))
    guard held.size == content.size, held.bytes == offset, !overflows, end <= content.size else {
      return .misplaced(held)
    }
    guard try max(0, total()) <= limit - Int64(count) else {
      return .full("the attachments of this logbook may have \(limit) bytes together")
    }
    return nil
  }
}
