// SPDX-License-Identifier: Apache-2.0

package import Logbook

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
