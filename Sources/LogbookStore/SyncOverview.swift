// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook

/// How far a store and its remote are in step.
public struct SyncOverview: Sendable {
  /// The remote; nil without one.
  public let remote: RemoteSetting?
  /// What an upload has under way.
  public let activity: SyncActivity
  /// Since when the oldest item that goes up with the next upload waits, in UTC seconds; nil when nothing does.
  public let oldestPending: Int64?
  /// How many downloads wait in the queue.
  public let downloads: Int
  /// The shown time before which readings were left out, in civil seconds; nil when none were.
  public let missingHistoryEnd: Int64?
}

extension Store {
  /// How far the store and its remote are in step, at this moment.
  ///
  /// - Parameter overview: what is pending, which is not counted again.
  public func syncOverview(_ overview: Overview) throws -> SyncOverview {
    let times = [
      overview.pendingReadings > 0 ? try oldestPendingReading() : nil,
      overview.pendingRecords > 0 ? try oldestPendingRecord() : nil,
    ].compactMap(\.self)
    return SyncOverview(
      remote: try remote(), activity: try activity(), oldestPending: times.min(),
      downloads: try downloads().count { $0.refusal == nil }, missingHistoryEnd: try missingHistoryEnd())
  }

  private func oldestPendingRecord() throws -> Int64? {
    try read { database in
      try Int64.fetchOne(
        database,
        sql: """
          SELECT min(queued_at) FROM queued JOIN record ON record.guid = queued.record
          WHERE aspect = 'record' AND \(RecordCondition.isPending)
          """)
    }
  }

  /// No reading keeps when it came, but its import does. An upload that ended well left none behind, so that those
  /// imports count that ended after it.
  private func oldestPendingReading() throws -> Int64? {
    try read { database in
      try Int64.fetchOne(
        database,
        sql: """
          SELECT min(at) FROM (
            SELECT started_at AS at FROM ingest
            WHERE coalesce(finished_at, started_at) >= coalesce((SELECT last_push FROM remote), 0)
              AND source IS NOT (SELECT url FROM remote)
            UNION ALL
            SELECT at FROM requeue WHERE at >= coalesce((SELECT last_push FROM remote), 0))
          """)
    }
  }
}
