// SPDX-License-Identifier: Apache-2.0

import GRDB
package import Logbook
import SQLiteRows

/// The readings of one day as the devices showed it, and their sync state.
package struct ReadingDay: Hashable, Sendable {
  /// The first second of the day, in civil seconds.
  package let start: DeviceTime
  /// How many readings there are.
  package let readings: Int
  /// How many of them the remote does not have.
  package let queued: Int
  /// The state of the day: that of the reading that is furthest from being synced.
  package let state: SyncState
}

extension Store {
  /// The days with readings that pass the filter, oldest first, of all devices. This reads all readings.
  package func readingDays(_ filter: ItemFilter, _ activity: SyncActivity) throws -> [ReadingDay] {
    let bounds = activity.readingBounds
    return try read { database in
      try Row.fetchAll(
        database,
        sql: """
          SELECT (r.device_time - (r.device_time % 86400 + 86400) % 86400) AS day, count(*), sum(r.uploaded = 0),
            sum(CASE WHEN r.uploaded = 0 THEN (r.partition, r.position) BETWEEN (?, ?) AND (?, ?) ELSE 0 END),
            sum(CASE WHEN r.uploaded = 0 THEN EXISTS (SELECT 1 FROM refusal AS f WHERE f.series = r.series
              AND f.position = r.position AND f.value_bucket = r.value_bucket AND f.occurrence = r.occurrence) ELSE 0 END)
          FROM reading AS r CROSS JOIN series AS s ON s.id = r.series
          WHERE \(filter.readingKindCondition) AND \(filter.readingCondition)
            AND r.device_time - \(StoredOffset.sql("r")) >= ? AND r.device_time - \(StoredOffset.sql("r")) < ?
          GROUP BY day ORDER BY day DESC \(filter.newest.map { "LIMIT \($0)" } ?? "")
          """, arguments: bounds + [filter.since ?? .min / 2, filter.until ?? .max / 2]
      ).map(ReadingDay.init).reversed()
    }
  }
}

extension ReadingDay {
  fileprivate init(_ row: Row) throws {
    let row = StoredRow(row, of: "reading")
    start = DeviceTime(seconds: try row[0])
    (readings, queued) = (try row[1], try row[2])
    let moving: Int? = try row[3]
    let refused: Int = try row[4]
    state =
      queued == 0
      ? .synced : moving ?? 0 > 0 ? .syncing : .queued(refused > 0 ? .refused : .waiting)
  }
}
