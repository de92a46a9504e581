// SPDX-License-Identifier: Apache-2.0

/// The results of one `upload`.
package struct UploadSummary: Hashable, Sendable {
  /// Readings that were new on the remote.
  package var pushedReadings = 0
  /// Readings that the remote already had.
  package var knownReadings = 0
  /// The readings of `knownReadings` that have a different value on the remote.
  package var differingReadings = 0
  /// Readings for which a document of another program has a different value at the same time. The remote
  /// keeps both values.
  package var disputedReadings = 0
  /// Changes of records that the remote accepted.
  package var pushedRecords = 0
  /// Readings of other nodes that were downloaded.
  package var pulledReadings = 0
  /// Records that other nodes had changed.
  package var pulledRecords = 0
  /// Items of the remote that this store rejected, counted by reason.
  package var notTaken: [String: Int] = [:]
  /// Attachments whose content became complete on the remote in this upload.
  package var pushedAttachments = 0
  /// The number of bytes of contents that were sent, including incomplete contents.
  package var pushedAttachmentBytes: Int64 = 0
  /// Attachments whose content became complete in this store in this upload.
  package var pulledAttachments = 0
  /// The number of bytes of contents that were downloaded.
  package var pulledAttachmentBytes: Int64 = 0
  /// Attachments whose content is not sent, since the remote stores no contents.
  package var keptAttachments = 0
  /// Attachments whose content the remote did not have when it was last requested.
  package var absentAttachments = 0
  /// Attachments for which the remote returned damaged content, which was discarded.
  package var damagedAttachments = 0
  /// Records in which an edit of this store was merged with one of another node.
  package var merged = 0
  /// Conflicts that this upload found.
  package var conflicts = 0
  /// Items and downloads that the remote refused permanently, or returned damaged.
  package var refused = 0
  /// Downloads that are no longer tried, including attachments. They are also counted in `refused`.
  package var refusedDownloads = 0
  /// Items that were left for the next upload.
  package var setAside = 0
  /// Readings that were queued again, since the remote lacks them.
  package var requeued = 0
  /// Documents of readings that were moved after a change of zone.
  package var movedReadings = 0
  /// Documents of records that were moved after a change of zone.
  package var movedRecords = 0
  /// Readings whose documents remain to be moved.
  package var readingsToMove = 0
  /// Records whose documents remain to be moved.
  package var recordsToMove = 0
  /// Readings whose documents were removed, since the readings are hidden in this store.
  package var removedReadings = 0
  /// Records whose documents were removed, since the records are hidden in this store.
  package var removedRecords = 0
  /// Readings whose documents remain to be removed.
  package var readingsToRemove = 0
  /// Records whose documents remain to be removed.
  package var recordsToRemove = 0
  /// Pages that were not applied, since one of their records was edited in the meantime.
  package var rollbacks = 0

  package init() {}
}

/// The JSON of `upload --json`. Its members are in the order of the coding keys.
extension UploadSummary: Encodable {
  private enum CodingKeys: String, CodingKey {
    case pushedReadings, knownReadings, differingReadings, disputedReadings, pushedRecords
    case pulledReadings, pulledRecords, notTaken, merged, conflicts, refused, setAside, requeued, rollbacks
    case movedReadings, movedRecords, readingsToMove, recordsToMove
    case removedReadings, removedRecords, readingsToRemove, recordsToRemove
    case pushedAttachments, pushedAttachmentBytes, pulledAttachments, pulledAttachmentBytes
    case keptAttachments, absentAttachments, damagedAttachments
  }
}
