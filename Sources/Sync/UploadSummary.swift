// SPDX-License-Identifier: Apache-2.0

/// The results of one `upload`.
package struct UploadSummary: Hashable, Sendable {
  /// The number of readings that were new on the remote.
  package var pushedReadings = 0
  /// The number of readings that the remote already had.
  package var knownReadings = 0
  /// The number of readings in `knownReadings` that have a different value on the remote.
  package var differingReadings = 0
  /// The number of readings for which a document of another program has a different value at the same time.
  /// The remote keeps both values.
  package var disputedReadings = 0
  /// The number of changes of records that the remote accepted.
  package var pushedRecords = 0
  /// The number of readings of other nodes that were downloaded.
  package var pulledReadings = 0
  /// The number of records that other nodes had changed.
  package var pulledRecords = 0
  /// The numbers of items of the remote that this store rejected, by reason.
  package var notTaken: [String: Int] = [:]
  /// The number of attachments whose content became complete on the remote in this upload.
  package var pushedAttachments = 0
  /// The number of bytes of contents that were sent, including incomplete contents.
  package var pushedAttachmentBytes: Int64 = 0
  /// The number of attachments whose content became complete in this store in this upload.
  package var pulledAttachments = 0
  /// The number of bytes of contents that were downloaded.
  package var pulledAttachmentBytes: Int64 = 0
  /// The number of attachments whose content is not sent, since the remote stores no contents.
  package var keptAttachments = 0
  /// The number of attachments whose content the remote did not have when it was last requested.
  package var absentAttachments = 0
  /// The number of attachments for which the remote returned damaged content, which was discarded.
  package var damagedAttachments = 0
  /// The number of records in which an edit of this store was merged with one of another node.
  package var merged = 0
  /// The number of conflicts that this upload found.
  package var conflicts = 0
  /// The number of items and downloads that the remote refused permanently, or returned damaged.
  package var refused = 0
  /// The number of downloads that are no longer tried, including attachments. They are also counted in
  /// `refused`.
  package var refusedDownloads = 0
  /// The number of items that were left for the next upload.
  package var setAside = 0
  /// The number of readings that were queued again, since the remote lacks them.
  package var requeued = 0
  /// The number of documents of readings that were moved after a change of zone.
  package var movedReadings = 0
  /// The number of documents of records that were moved after a change of zone.
  package var movedRecords = 0
  /// The number of readings whose documents remain to be moved.
  package var readingsToMove = 0
  /// The number of records whose documents remain to be moved.
  package var recordsToMove = 0
  /// The number of readings whose documents were removed, since the readings are hidden in this store.
  package var removedReadings = 0
  /// The number of records whose documents were removed, since the records are hidden in this store.
  package var removedRecords = 0
  /// The number of readings whose documents remain to be removed.
  package var readingsToRemove = 0
  /// The number of records whose documents remain to be removed.
  package var recordsToRemove = 0
  /// The number of pages that were not applied, since one of their records was edited in the meantime.
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
