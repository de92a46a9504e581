// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

/// The warning about a diary that an app wrote in another time zone than before.
///
/// Some apps store instants and write all times of an export in the zone that the phone has then. After a
/// journey, an export shows all earlier doses and meals at other times, so they are stored a second time. Their
/// instants are equal, which two doses of one person never have by chance so often.
struct OtherZoneDiary {
  /// The minimum number of doses and meals at the instants of those of one earlier import.
  private static let minShared = 10
  /// The maximum difference of two shown times in seconds. No two zones differ by more.
  private static let maxDifference = 26 * 3600

  private let count: Int
  private let earlier: Int64
  /// The difference between the shown times in seconds. It is positive if the earlier import shows later times.
  private let difference: Int64

  /// Nil if the input has too few such doses and meals, or if no zone was given for it.
  init?(_ database: Database, ingest: Int64) throws {
    let row = try Row.fetchOne(
      database.cachedStatement(sql: Self.repeated),
      arguments: ["ingest": ingest, "most": Self.maxDifference, "least": Self.minShared])
    guard let row = row.map({ StoredRow($0, of: "record") }) else { return nil }
    (count, earlier, difference) = (try row[0], try row[1], try row[2])
  }

  /// The SQL query for the earlier import with the most doses and meals that an import repeats at other shown
  /// times.
  private static let repeated = """
    SELECT count(*) AS count, y.ingest, y.device_time - x.device_time AS difference
    FROM record AS x CROSS JOIN record AS y
      ON y.device_time BETWEEN x.device_time - :most AND x.device_time + :most
    WHERE x.ingest = :ingest AND x.deleted = 0 AND x.kind IN ('insulin', 'food') AND x.offset_source <> 5
      AND y.ingest <> x.ingest AND y.deleted = 0 AND y.kind = x.kind AND y.fields = x.fields
      AND y.device_time <> x.device_time AND y.device_time - y.utc_offset = x.device_time - x.utc_offset
      AND (y.provenance_format, y.provenance_source) IS (x.provenance_format, x.provenance_source)
      AND NOT EXISTS (SELECT 1 FROM listed_record AS l WHERE l.guid = y.guid AND l.is_withdrawn = 1)
    GROUP BY y.ingest, difference HAVING count(*) >= :least ORDER BY count(*) DESC LIMIT 1
    """

  /// The warning, with the commands that count each dose once.
  func text(importing file: String, in zone: String) -> String {
    let hours = Double(abs(difference)) / 3600
    let command = "glucoport import --again --timezone \(zone.shellWord) \(file.shellWord)"
    return
      "\(counted(count, "dose or meal", "doses and meals")) of this input are at the instants of those of import \(earlier), which "
      + "shows them \(plainNumber(hours)) hours \(difference > 0 ? "later" : "earlier"), and count twice; if the app wrote all its "
      + "times in the zone of the phone: 'glucoport undo \(earlier)', and then '\(command)'"
  }
}

extension IngestWriter {
  /// The warning that the input has the same doses and meals as an earlier import, in another time zone. Nil
  /// without such items, and if no zone was given for the input.
  package func diaryInOtherZone() throws -> String? {
    guard !source.isMerge, !source.isFetched, let zone = source.zone?.given, counts.newRecords > 0 else {
      return nil
    }
    return try OtherZoneDiary(database, ingest: id)?.text(importing: source.name, in: zone.name)
  }
}
