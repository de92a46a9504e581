// SPDX-License-Identifier: Apache-2.0

import Logbook
import SQLiteRows

/// The differences between a store and a copy of it, such as a backup. Only data that never changes once it
/// is stored is compared. SQLite's pages have no checksums, so only a comparison with a copy reveals a value
/// that the disk altered.
package struct StoreComparison: Hashable, Sendable {
  /// The number of readings that both the copy and the store have.
  package private(set) var readings = 0
  /// The number of records that were compared: the copy and the store have them with the same version and
  /// revision.
  package private(set) var records = 0
  /// The number of readings and records in the copy that the store lacks. They must have been lost, since
  /// nothing is ever deleted.
  package private(set) var missing = 0
  /// The number of readings and records whose content differs in the copy.
  package private(set) var differing = 0
  /// The table and the identifying columns of the first missing or different row.
  package private(set) var first: String?

  /// The columns of a reading that never change, in addition to those of the primary key.
  private static let readingColumns = [
    "stated_offset", "value", "unit", "range_flag", "threshold", "marks",
  ]
  /// The columns of a record that are compared, in addition to its time. An offset derived from the zones is
  /// not compared, since it can change.
  private static let recordColumns = ["kind", "entry_guid", "fields", "deleted"]

  /// Compares a store with a copy.
  ///
  /// - Throws: `Failure`: `missingInput` without the copy, `badInput` for a file that is not a store,
  ///   `configuration` for a copy with another schema.
  init(_ file: ExaminedFile, with path: String) throws {
    guard try StoreFile.exists(path), !StoreFile.isEmpty(path) else {
      throw Failure(.missingInput, "\(path): No such file; --against needs another copy of the store")
    }
    try file.attach(path, as: "copy", isImmutable: !StoreExaminer(path: path).hasLog)
    guard try file.number("PRAGMA copy.application_id") == Int64(Schema.schema.applicationID) else {
      throw Failure(.badInput, "\(path): not a glucoport store")
    }
    try Schema.schema.require(
      Int(clamping: try file.number("PRAGMA copy.user_version") ?? 0), path: path)
    readings = try count(
      file, "reading",
      """
      SELECT 'series ' || c.series || ', position ' || c.position || ', value_bucket ' || c.value_bucket
        || ', occurrence ' || c.occurrence AS key, r.series IS NULL AS is_missing,
        NOT (\(Self.isSame(Self.readingColumns)) AND \(Self.statedTime("r")) IS \(Self.statedTime("c"))) AS is_other
      FROM copy.series AS cs JOIN copy.device AS cd ON cd.id = cs.device
      CROSS JOIN copy.reading AS c ON c.partition = cs.partition AND c.series = cs.id
      LEFT JOIN main.device AS d ON d.identity = cd.identity
      LEFT JOIN main.series AS s ON s.device = d.id AND s.kind = cs.kind AND s.position_kind = cs.position_kind
      LEFT JOIN main.reading AS r ON r.partition = s.partition AND r.position = c.position AND r.series = s.id
        AND r.value_bucket = c.value_bucket AND r.occurrence = c.occurrence
      """)
    // A record is compared only if version and revision are equal in both files. An edit increases the
    // version, and a download changes the revision, so equal versions and revisions mean equal content.
    records = try count(
      file, "record",
      """
      SELECT 'guid ' || c.guid AS key, r.guid IS NULL AS is_missing,
        NOT (\(Self.isSame(Self.recordColumns)) AND \(RecordSchema.statedTime("r")) IS \(RecordSchema.statedTime("c"))
          AND (c.offset_source <> 0 OR r.utc_offset IS c.utc_offset)) AS is_other
      FROM copy.record AS c LEFT JOIN main.record AS r ON r.guid = c.guid
      WHERE r.guid IS NULL OR (r.version = c.version AND r.revision IS c.revision)
      """)
  }

  /// The SQL expression for the shown time of a reading, or for its instant if the source states only the
  /// instant.
  private static func statedTime(_ row: String) -> String {
    "iif(\(row).offset_source = 5, \(row).device_time - \(row).derived_offset, \(row).device_time)"
  }

  private static func isSame(_ columns: [String]) -> String {
    columns.map { "r.\($0) IS c.\($0)" }.joined(separator: " AND ")
  }

  /// Counts the missing and different rows. Returns the number of rows that both files have.
  private mutating func count(_ file: ExaminedFile, _ table: String, _ rows: String) throws -> Int {
    let found =
      try file.rows(
        """
        SELECT count(*), coalesce(sum(is_missing), 0), coalesce(sum(is_other AND NOT is_missing), 0),
          min(CASE WHEN is_missing OR is_other THEN key END) FROM (\(rows))
        """
      ).first ?? []
    let counts = found.prefix(3).map { $0.flatMap { Int($0) } ?? 0 }
    guard counts.count == 3 else { return 0 }
    let (all, lacking, other) = (counts[0], counts[1], counts[2])
    missing += lacking
    differing += other
    if first == nil, let key = found.last ?? nil { first = "\(table) (\(key))" }
    return all - lacking
  }
}
