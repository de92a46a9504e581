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

  /// Devices whose readings agree with those that this ingest stored. They are reported, never merged.
  ///
  /// A sample is compared first: two sensors of one person share some values by chance, but not one in four.
  package func likelyDuplicates() throws -> [LikelyDuplicate] {
    guard counts.newReadings > 0 else { return [] }
    let pairs = try Row.fetchAll(
      connection,
      sql: """
        SELECT mine.id, mine.kind, other.id,
          md.vendor || ' ' || md.model || ' ' || md.serial, od.vendor || ' ' || od.model || ' ' || od.serial
        FROM series AS mine JOIN series AS other
          ON other.kind = mine.kind AND other.device <> mine.device AND other.position_kind = 0
            AND other.first_time <= mine.last_time AND other.last_time >= mine.first_time
        JOIN device AS md ON md.id = mine.device JOIN device AS od ON od.id = other.device
        WHERE mine.device IN (\(deviceList)) LIMIT 100
        """)
    return try pairs.compactMap { pair in
      let pair = StoredRow(pair, of: "series")
      let sample = try agreeing(try pair[0], try pair[2], limit: Self.sampleSize)
      guard sample.looked > 0, sample.agreed * 4 >= sample.looked else { return nil }
      let all = try agreeing(try pair[0], try pair[2], limit: -1)
      return LikelyDuplicate(
        kind: try pair.code(1), device: try pair[3], other: try pair[4], readings: all.agreed)
    }
  }

  private func agreeing(_ mine: Int64, _ other: Int64, limit: Int) throws -> (looked: Int, agreed: Int) {
    let row = try Row.fetchOne(
      connection,
      sql: """
        SELECT count(*), coalesce(sum(EXISTS (
          SELECT 1 FROM reading AS o
          WHERE o.partition = mine.other_section AND o.position = mine.device_time AND o.series = ?2
            AND o.value = mine.value AND o.unit = mine.unit)), 0)
        FROM (SELECT r.device_time, r.value, r.unit, o.partition AS other_section
          FROM series AS s JOIN series AS o ON o.id = ?2
            CROSS JOIN reading AS r ON r.partition = s.partition AND r.series = s.id
              AND r.position BETWEEN CASE s.position_kind WHEN 0 THEN o.first_time ELSE s.first_position END
                AND CASE s.position_kind WHEN 0 THEN o.last_time ELSE s.last_position END
          WHERE s.id = ?1 AND r.ingest = ?3 AND r.device_time BETWEEN o.first_time AND o.last_time
          LIMIT ?4) AS mine
        """, arguments: [mine, other, ingestID, limit])
    return try row.map { row in
      let row = StoredRow(row, of: "reading")
      return (try row[0], try row[1])
    } ?? (0, 0)
  }
}
