// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// The limits of one logbook. Items above a limit are not stored; stored items stay.
package struct LogbookQuota: Hashable, Sendable {
  /// The maximum number of readings. A sensor produces 100,000 in a year.
  package var readings: Int64 = 20_000_000
  /// The maximum number of records, including tombstones.
  package var records: Int64 = 1_000_000
  /// The maximum number of nodes: each copy of a store is one.
  package var nodes: Int64 = 1000
  /// The maximum total size of attachments.
  package var contentBytes: Int64 = 4 << 30

  /// Limits far above the data of any person.
  package init() {}

  /// The error for a logbook with more items of a kind than this.
  ///
  /// - Parameter item: the kind, in the singular.
  package static func exceeded(_ max: Int64, _ item: String) -> ServiceError {
    .busy(
      "the logbook holds as many \(item)s as the server allows, which are \(max)", retryAfterSeconds: 3600)
  }

  /// The error for a further node.
  package static func tooManyNodes(_ max: Int64) -> ServiceError {
    .busy(
      "the logbook has as many nodes as the server allows, which are \(max)", retryAfterSeconds: 3600)
  }
}

/// Decides which parts of an attachment's content are stored. All storages use it.
package enum ContentRules {
  /// Whether a part begins a content anew. Then the storage discards what it holds of the digest.
  package static func beginsAnew(_ held: HeldContent, _ content: AttachmentContent, at offset: Int64) -> Bool
  {
    held.size == nil || offset == 0 && held.size != content.size
  }

  /// The answer to a part that is not stored; nil for one that is.
  ///
  /// - Parameters:
  ///   - held: what is held, after `beginsAnew`.
  ///   - count: the number of bytes of the part.
  ///   - total: the bytes of all contents in the logbook.
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
