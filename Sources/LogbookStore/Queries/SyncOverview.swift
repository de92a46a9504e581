// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

/// How far a store and its remote are in step.
package struct SyncOverview: Sendable {
  /// The remote; nil without one.
  package let remote: RemoteSetting?
  /// What an upload has under way.
  package let activity: SyncActivity
  /// Since when the oldest item that goes up with the next upload waits, in UTC seconds; nil when nothing does.
  package let oldestPending: Int64?
  /// How many downloads are queued.
  package let downloads: Int
  /// How many downloads are not tried any more: the remote refused them, or what it gave could not be taken.
  package let refusedDownloads: Int
  /// The shown time before which readings were left out, in civil seconds; nil when none were.
  package let missingHistoryEnd: Int64?
  /// Whether the records were left out, since a person cancelled their download.
  package let leavesOutRecords: Bool
}

extension Store {
  /// How far the store and its remote are in step, at this moment.
  ///
  /// - Parameters:
  ///   - overview: what is pending, which is not counted again.
  ///   - pendingContents: how many contents of attachments are queued: none for a remote that takes none.
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

  /// No reading keeps when it came, but its import does. An upload that ended well left none behind, so that those
  /// imports count that ended after it.
  private func oldestPendingReading() throws -> Int64? {
    try read { database in
      try StoredRow.seconds(
        database.cachedStatement(
          sql: """
            SELECT min(at) FROM (
              SELECT started_at AS at FROM ingest
              WHERE coalesce(finished_at, started_at) >= coalesce((SELECT last_push FROM remote), 0)
                AND source IS NOT (SELECT url FROM remote)
              UNION ALL
              SELECT at FROM requeue WHERE at >= coalesce((SELECT last_push FROM remote), 0))
            """), of: "ingest")
    }
  }
}
