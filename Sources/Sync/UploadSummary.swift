// SPDX-License-Identifier: Apache-2.0

/// What a run did.
package struct UploadSummary: Hashable, Sendable {
  /// Readings that the remote did not have.
  package var pushedReadings = 0
  /// Readings that it had.
  package var knownReadings = 0
  /// Of those, the ones that it has with another value.
  package var differingReadings = 0
  /// Readings for whose moment another program's document on the remote has another value; both are kept.
  package var disputedReadings = 0
  /// Changes of records that it accepted.
  package var pushedRecords = 0
  /// Readings that came from others.
  package var pulledReadings = 0
  /// Records that others changed.
  package var pulledRecords = 0
  /// Items of the remote that were not taken, by the reason.
  package var notTaken: [String: Int] = [:]
  /// Contents of attachments that the remote has whole since this run.
  package var pushedAttachments = 0
  /// The bytes of contents that it took in this run, those of contents that are not whole with them.
  package var pushedAttachmentBytes: Int64 = 0
  /// Contents of attachments that are here whole since this run.
  package var pulledAttachments = 0
  /// The bytes of contents that came in this run.
  package var pulledAttachmentBytes: Int64 = 0
  /// Contents of attachments that stay here, since the remote takes none at all.
  package var keptAttachments = 0
  /// Contents of attachments that a record names and that the remote did not have, in this run or when it was asked last.
  package var absentAttachments = 0
  /// Contents of attachments that the remote gave damaged, and that were dropped.
  package var damagedAttachments = 0
  /// Records in which edits from here and there were merged.
  package var merged = 0
  /// Conflicts that this run found.
  package var conflicts = 0
  /// Readings, records, contents of attachments and downloads that the remote refused permanently, or gave damaged.
  package var refused = 0
  /// Downloads that are not tried any more, contents of attachments with them: a part of `refused`.
  package var refusedDownloads = 0
  /// Readings, records and contents of attachments that were left for another run.
  package var setAside = 0
  /// Readings that were queued again, since the remote lacks them.
  package var requeued = 0
  /// Documents of readings that were moved, since a change of zone gave them another instant.
  package var movedReadings = 0
  /// Documents of records that were moved.
  package var movedRecords = 0
  /// Readings whose documents are to be moved still.
  package var readingsToMove = 0
  /// Records whose documents are to be moved still.
  package var recordsToMove = 0
  /// Readings whose documents were removed, since they are hidden here.
  package var removedReadings = 0
  /// Records whose documents were removed.
  package var removedRecords = 0
  /// Readings whose documents are to be removed still.
  package var readingsToRemove = 0
  /// Records whose documents are to be removed still.
  package var recordsToRemove = 0
  /// Pages that were not applied, since a record on them was edited meanwhile.
  package var rollbacks = 0

  /// Nothing yet.
  package init() {}
}
