// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
package import Logbook
import SQLiteRows

/// Up to which reading the memory of a meter was stored, as the JSON of a setting. The name of the setting
/// contains the number of the device.
struct StoredPosition: Codable {
  private let number: Int64
  private let mark: String
  private let kind: String
  private let time: Int64

  init(_ position: MeterPosition) {
    (number, mark) = (position.number, position.mark)
    (kind, time) = (position.kind.name, position.deviceTime.seconds)
  }

  /// The position; nil if only a newer program knows the kind.
  fileprivate var position: MeterPosition? {
    ReadingKind(name: kind).map {
      MeterPosition(number: number, mark: mark, kind: $0, deviceTime: DeviceTime(seconds: time))
    }
  }

  fileprivate static func name(_ device: Int64) -> String { "meter \(device)" }

  func save(_ device: Int64, _ database: Database) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    let text = String(decoding: try encoder.encode(self), as: UTF8.self)
    try database.executeCached(
      sql: "INSERT INTO setting VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
      arguments: [Self.name(device), text])
  }
}

extension Store {
  /// The position up to which the memory of a meter is stored; nil to read all of it. If the reading at the
  /// position is no longer visible, the result is nil: readings that were undone or hidden must be read
  /// again.
  package func meterPosition(of meter: Device) throws -> MeterPosition? {
    try read { database in
      guard let device = try meter.storedID(database),
        let text = try String.fetchOne(
          database, sql: "SELECT value FROM setting WHERE name = ?", arguments: [StoredPosition.name(device)]),
        let position = try Self.position(in: text)
      else { return nil }
      let isShown = try Bool.fetchOne(
        database,
        sql: """
          SELECT EXISTS (SELECT 1 FROM series AS s CROSS JOIN reading AS r
            ON r.partition = s.partition AND r.position = ?3 AND r.series = s.id
            WHERE s.device = ?1 AND s.kind = ?2 AND s.position_kind = 0 AND \(Withdrawn.readingIsShown))
          """, arguments: [device, position.kind.rawValue, position.deviceTime.seconds])
      return isShown == true ? position : nil
    }
  }

  private static func position(in text: String) throws -> MeterPosition? {
    do {
      return try JSONDecoder().decode(StoredPosition.self, from: Data(text.utf8)).position
    } catch is DecodingError {
      // The setting is from another version of the program, so the whole memory of the meter is read. Known
      // readings are not stored again.
      return nil
    }
  }
}

/// The comparison of a meter's clock with the host's clock when the meter was last read.
package struct MeterClock: Hashable, Sendable {
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
  /// Comparisons are left out if the host's clock was visibly wrong. Then it was before the first release,
  /// before the end of an earlier import, or in the future.
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
