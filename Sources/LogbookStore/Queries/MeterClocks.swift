// SPDX-License-Identifier: Apache-2.0

import GRDB
package import Logbook
import SQLiteRows

/// The comparison of a meter's clock with the host's clock when the meter was last read.
package struct MeterClock: Hashable, Sendable {
  /// The meter.
  package let meter: Device
  /// What the meter's clock and the host's showed when the meter was read.
  package let comparison: ClockComparison
  /// How far the meter's clock was ahead of the logbook's local time, in seconds; negative if it was slow.
  package let difference: Int64
}

extension Store {
  /// 2026-11-21, before which glucoport did not exist. A host clock that shows an earlier time is wrong.
  private static let firstRelease: Int64 = 1_795_219_200
  /// The tolerance for the order in which imports end, in seconds, since several can run at the same time.
  private static let toleranceSeconds: Int64 = 3600

  /// The clock of every meter when it was last read.
  ///
  /// Comparisons are left out if the host's clock was visibly wrong: before the first release, before the end
  /// of an earlier import, or in the future.
  ///
  /// - Parameter now: the host's clock in UTC seconds.
  package func meterClocks(now: Int64) throws -> [MeterClock] {
    try read { database in
      try Row.fetchAll(
        database,
        sql: """
          WITH run AS (
            SELECT id, meter, clock_meter, clock_host, clock_difference, started_at,
              max(finished_at) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS last_end
            FROM ingest WHERE started_at <= :latest AND coalesce(finished_at, 0) <= :latest
          ), latest AS (
            SELECT *, row_number() OVER (PARTITION BY meter ORDER BY clock_host DESC, id DESC) AS place FROM run
            WHERE clock_host IS NOT NULL AND clock_host <= :latest AND started_at >= :first
              AND started_at >= coalesce(last_end, 0) - :tolerance
          )
          SELECT latest.id, \(Device.storedColumns), clock_meter, clock_host, clock_difference
          FROM latest JOIN device AS d ON d.id = latest.meter WHERE place = 1 ORDER BY d.id
          """,
        arguments: ["latest": now + 60, "first": Self.firstRelease, "tolerance": Self.toleranceSeconds]
      ).map { row in
        let row = StoredRow(row, of: "ingest")
        let meter = try row.deviceTime(5)
        return MeterClock(
          meter: try Device(row, from: 1),
          comparison: ClockComparison(meter: meter, host: try row.seconds(6)),
          difference: try row.seconds(7))
      }
    }
  }
}
