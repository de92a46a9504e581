// SPDX-License-Identifier: Apache-2.0

/// What a run did.
public struct UploadSummary: Hashable, Sendable {
  /// Readings that the remote did not have.
  public var pushedReadings = 0
  /// Readings that it had.
  public var knownReadings = 0
  /// Of those, the ones that it has with another value.
  public var differingReadings = 0
  /// Readings for whose moment another program's document on the remote has another value; both are kept.
  public var disputedReadings = 0
  /// Changes of records that it accepted.
  public var pushedRecords = 0
  /// Readings that came from others.
  public var pulledReadings = 0
  /// Records that others changed.
  public var pulledRecords = 0
  /// Items of the remote that were not taken, by the reason.
  public var notTaken: [String: Int] = [:]
  /// Contents of attachments that the remote has whole since this run.
  public var pushedAttachments = 0
  /// The bytes of contents that it took in this run, those of contents that are not whole with them.
  public var pushedAttachmentBytes: Int64 = 0
  /// Contents of attachments that are here whole since this run.
  public var pulledAttachments = 0
  /// The bytes of contents that came in this run.
  public var pulledAttachmentBytes: Int64 = 0
  /// Contents of attachments that stay here, since the remote takes none at all.
  public var keptAttachments = 0
  /// Contents of attachments that the remote gave damaged, and that were dropped.
  public var damagedAttachments = 0
  /// Records in which edits from here and there were merged.
  public var merged = 0
  /// Conflicts that this run found.
  public var conflicts = 0
  /// Readings, records, contents of attachments and downloads that the remote refused permanently, or gave damaged.
  public var refused = 0
  /// Downloads that are not tried any more, contents of attachments with them: a part of `refused`.
  public var refusedDownloads = 0
  /// Readings, records and contents of attachments that were left for another run.
  public var setAside = 0
  /// Readings that were queued again, since the remote lacks them.
  public var requeued = 0
  /// Pages that were not applied, since a record on them was edited meanwhile.
  public var rollbacks = 0

  /// Nothing yet.
  public init() {}
}
