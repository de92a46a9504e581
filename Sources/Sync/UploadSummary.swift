// SPDX-License-Identifier: Apache-2.0

/// The results of a run.
package struct UploadSummary: Hashable, Sendable {
  /// Readings that were new on the remote.
  package var pushedReadings = 0
  /// Readings that the remote already had.
  package var knownReadings = 0
  /// Of these, the readings with another value on the remote.
  package var differingReadings = 0
  /// Readings for which another program's document has another value at the same time; both are kept.
  package var disputedReadings = 0
  /// Changes of records that the remote accepted.
  package var pushedRecords = 0
  /// Readings received from others.
  package var pulledReadings = 0
  /// Records changed by others.
  package var pulledRecords = 0
  /// Rejected items of the remote by reason.
  package var notTaken: [String: Int] = [:]
  /// Attachments that became complete on the remote in this run.
  package var pushedAttachments = 0
  /// The bytes of contents sent in this run, including incomplete contents.
  package var pushedAttachmentBytes: Int64 = 0
  /// Attachments that became complete here in this run.
  package var pulledAttachments = 0
  /// The bytes of contents received in this run.
  package var pulledAttachmentBytes: Int64 = 0
  /// Attachments that stay here, since the remote stores none.
  package var keptAttachments = 0
  /// Attachments of records that the remote lacked, in this run or at the last request.
  package var absentAttachments = 0
  /// Attachments that the remote returned damaged, and that were discarded.
  package var damagedAttachments = 0
  /// Records with merged edits of both sides.
  package var merged = 0
  /// Conflicts that this run found.
  package var conflicts = 0
  /// Items and downloads that the remote refused permanently or returned damaged.
  package var refused = 0
  /// Downloads that are no longer tried, including attachments: a part of `refused`.
  package var refusedDownloads = 0
  /// Items left for another run.
  package var setAside = 0
  /// Readings queued again, since the remote lacks them.
  package var requeued = 0
  /// Documents of readings that were moved after a change of zone.
  package var movedReadings = 0
  /// Documents of records that were moved.
  package var movedRecords = 0
  /// Readings whose documents remain to be moved.
  package var readingsToMove = 0
  /// Records whose documents remain to be moved.
  package var recordsToMove = 0
  /// Readings whose documents were removed, since they are hidden here.
  package var removedReadings = 0
  /// Records whose documents were removed.
  package var removedRecords = 0
  /// Readings whose documents remain to be removed.
  package var readingsToRemove = 0
  /// Records whose documents remain to be removed.
  package var recordsToRemove = 0
  /// Pages that were not applied, since one of their records was edited meanwhile.
  package var rollbacks = 0

  package init() {}
}

/// The form of `upload --json`, whose order is that of the keys.
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
