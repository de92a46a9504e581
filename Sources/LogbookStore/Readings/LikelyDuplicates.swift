// SPDX-License-Identifier: Apache-2.0

import GRDB
package import Logbook
import SQLiteRows

/// Two devices with the same readings: one sensor under two serial numbers, or the same readings from two
/// sources.
package struct LikelyDuplicate: Hashable, Sendable {
  /// The kind of the readings.
  package let kind: ReadingKind
  /// The name of the device of this ingest.
  package let device: String
  /// The name of the other device.
  package let other: String
  /// The number of readings with equal kind, shown time and value.
  package let readings: Int
}

extension IngestWriter {
  /// The number of readings that are compared before a pair of devices is compared completely.
  private static let sampleSize = 200
  /// A table of whole minutes has a value up to this many seconds before or after its time.
  private static let minuteReach: Int64 = 59

  /// Devices whose readings agree with those that this ingest stored. They are reported, never merged.
  ///
  /// A sample is compared first: two sensors of one person share some values by chance, but not one in four. Sensor values
  /// that a service numbers have seconds, and are compared with those of a table by the minute, whichever came first.
  package func likelyDuplicates() throws -> [LikelyDuplicate] {
    guard counts.newReadings > 0 else { return [] }
    let sensor = ReadingKind.cbg.rawValue
    let pairs = try Row.fetchAll(
      connection,
      sql: """
        SELECT mine.id, mine.kind, other.id,
          md.vendor || ' ' || md.model || ' ' || md.serial, od.vendor || ' ' || od.model || ' ' || od.serial,
          other.position_kind, mine.kind = \(sensor) AND mine.position_kind <> other.position_kind
        FROM series AS mine JOIN series AS other
          ON other.kind = mine.kind AND other.device <> mine.device
            AND (other.position_kind = 0 OR (mine.position_kind = 0 AND mine.kind = \(sensor)))
            AND other.first_time <= mine.last_time + \(Self.minuteReach)
            AND other.last_time >= mine.first_time - \(Self.minuteReach)
        JOIN device AS md ON md.id = mine.device JOIN device AS od ON od.id = other.device
        WHERE mine.device IN (\(deviceList)) LIMIT 100
        """)
    return try pairs.compactMap { pair in
      let pair = StoredRow(pair, of: "series")
      let (mine, other, otherPositions): (Int64, Int64, Int64) = (try pair[0], try pair[2], try pair[5])
      let reach = try pair[6] as Bool ? Self.minuteReach : 0
      func agreeing(_ limit: Int) throws -> (looked: Int, agreed: Int) {
        try compare(
          otherPositions == 0 ? Self.ownReadings : Self.otherReadings,
          arguments: [mine, other, ingestID, limit, reach])
      }
      let sample = try agreeing(Self.sampleSize)
      guard sample.looked > 0, sample.agreed * 4 >= sample.looked else { return nil }
      return LikelyDuplicate(
        kind: try pair.code(1), device: try pair[3], other: try pair[4], readings: try agreeing(-1).agreed)
    }
  }

  /// Looks for each reading of this ingest at its shown time, by which the other device's readings are in order.
  private static let ownReadings = """
    SELECT count(*), coalesce(sum(EXISTS (
      SELECT 1 FROM reading AS o
      WHERE o.partition = mine.other_section AND o.series = ?2
        AND o.position BETWEEN mine.device_time - ?5 AND mine.device_time + ?5
        AND o.value = mine.value AND o.unit = mine.unit)), 0)
    FROM (SELECT r.device_time, r.value, r.unit, o.partition AS other_section
      FROM series AS s JOIN series AS o ON o.id = ?2
        CROSS JOIN reading AS r ON r.partition = s.partition AND r.series = s.id
          AND r.position BETWEEN CASE s.position_kind WHEN 0 THEN o.first_time ELSE s.first_position END
            AND CASE s.position_kind WHEN 0 THEN o.last_time ELSE s.last_position END
      WHERE s.id = ?1 AND r.ingest = ?3 AND r.device_time BETWEEN o.first_time - ?5 AND o.last_time + ?5
      LIMIT ?4) AS mine
    """

  /// Looks for each numbered reading of the other device, in the time of this ingest, at its shown time among the own ones.
  private static let otherReadings = """
    SELECT count(*), coalesce(sum(EXISTS (
      SELECT 1 FROM reading AS o
      WHERE o.partition = other.own_section AND o.series = ?1
        AND o.position BETWEEN other.device_time - ?5 AND other.device_time + ?5
        AND o.ingest = ?3 AND o.value = other.value AND o.unit = other.unit)), 0)
    FROM (SELECT r.device_time, r.value, r.unit, s.partition AS own_section
      FROM series AS s JOIN series AS o ON o.id = ?2
        CROSS JOIN (SELECT min(own.position) AS first_time, max(own.position) AS last_time
          FROM series AS mine CROSS JOIN reading AS own ON own.partition = mine.partition AND own.series = mine.id
            AND own.position BETWEEN mine.first_position AND mine.last_position
          WHERE mine.id = ?1 AND own.ingest = ?3) AS span
        CROSS JOIN reading AS r ON r.partition = o.partition AND r.series = o.id
          AND r.position BETWEEN
            CASE WHEN o.is_instant THEN (span.first_time - \(2 * PositionSpan.maxOffset)) * 1000 ELSE o.first_position END
            AND CASE WHEN o.is_instant THEN (span.last_time + \(2 * PositionSpan.maxOffset)) * 1000 ELSE o.last_position END
      WHERE s.id = ?1 AND r.device_time BETWEEN span.first_time - ?5 AND span.last_time + ?5
      LIMIT ?4) AS other
    """

  private func compare(
    _ statement: String, arguments: StatementArguments
  ) throws -> (looked: Int, agreed: Int) {
    let row = try Row.fetchOne(connection, sql: statement, arguments: arguments)
    return try row.map { row in
      let row = StoredRow(row, of: "reading")
      return (try row[0], try row[1])
    } ?? (0, 0)
  }
}
