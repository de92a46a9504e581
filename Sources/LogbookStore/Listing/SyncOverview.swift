// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

/// The sync state of a store and its remote.
package struct SyncOverview: Sendable {
  /// The remote; nil without one.
  package let remote: RemoteSetting?
  /// Which items the current upload is sending.
  package let activity: SyncActivity
  /// When the oldest item of the next upload became pending, in UTC seconds; nil if nothing is pending.
  package let oldestPending: Int64?
  /// The number of queued downloads.
  package let downloads: Int
  /// The number of downloads that are no longer tried, since the remote refused them or their content could
  /// not be stored.
  package let refusedDownloads: Int
  /// The shown time in civil seconds up to which the history of the remote was not downloaded; nil if all of
  /// it was downloaded.
  package let missingHistoryEnd: Int64?
  /// Whether records are missing because a person cancelled their download.
  package let leavesOutRecords: Bool
}

extension Store {
  /// The current sync state of the store and its remote.
  ///
  /// - Parameters:
  ///   - overview: the counts of pending items, so that they need not be counted again.
  ///   - pendingContents: the number of queued contents of attachments; 0 for a remote that stores none.
  package func syncOverview(_ overview: Overview, pendingContents: Int) throws -> SyncOverview {
    let times = [
      overview.pendingReadings > 0 ? try oldestPendingReading() : nil,
      overview.pendingRecords > 0 ? try oldestPendingRecord() : nil,
      pendingContents > 0 ? try oldestPendingContent() : nil,
    ].compactMap(\.self)
    let downloads = try downloads()
    let refused = downloads.count { $0.refusal != nil }
    return SyncOverview(
      remote: try remote(), activity: try activity(), oldestPending: times.min(),
      downloads: downloads.count - refused, refusedDownloads: refused,
      missingHistoryEnd: try missingHistoryEnd(), leavesOutRecords: try read(DownloadQueue.leavesOutRecords))
  }

  private func oldestPendingContent() throws -> Int64? {
    try read { database in
      try StoredRow.seconds(
        database.cachedStatement(
          sql: """
            SELECT min(queued_at) FROM queued INDEXED BY queued_file JOIN record ON record.guid = queued.record
            JOIN blob ON blob.digest = \(StoredField.digest)
            WHERE aspect = 'file' AND blob.refusal IS NULL
            """), of: "queued")
    }
  }

  private func oldestPendingRecord() throws -> Int64? {
    try read { database in
      try StoredRow.seconds(
        database.cachedStatement(
          sql: """
            SELECT min(queued_at) FROM queued JOIN record ON record.guid = queued.record
            WHERE aspect = 'record' AND \(RecordCondition.isPending)
            """), of: "queued")
    }
  }

  /// When the oldest pending reading was imported. A reading stores no such time, but its import does. A
  /// successful upload leaves no reading pending, so only imports that ended after the last successful upload
  /// are considered.
  private func oldestPendingReading() throws -> Int64? {
    try read { database in
      try StoredRow.seconds(
        database.cachedStatement(
          sql: """
            SELECT min(at) FROM (
              SELECT started_at AS at FROM ingest
              WHERE coalesce(finished_at, started_at) >= coalesce((SELECT last_push FROM remote), 0)
                AND source IS NOT (SELECT url FROM remote) AND NOT (\(ExportOrigin.isOrigin("ingest")))
              UNION ALL
              SELECT at FROM requeue WHERE at >= coalesce((SELECT last_push FROM remote), 0))
            """), of: "ingest")
    }
  }
}
