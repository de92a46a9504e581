// SPDX-License-Identifier: Apache-2.0

import Logbook
import SQLiteRows

/// The differences between a store and another copy of it, such as a backup, in data that never changes once
/// it is stored. The pages of SQLite have no checksums, so only a second copy shows a value that the disk
/// altered.
package struct StoreComparison: Hashable, Sendable {
  /// Readings of the copy that the store has, too.
  package private(set) var readings = 0
  /// Records of the copy that did not change in the store since.
  package private(set) var records = 0
  /// Readings and records of the copy that the store lacks, although nothing is ever deleted.
  package private(set) var missing = 0
  /// Readings and records that have another content in the copy.
  package private(set) var differing = 0
  /// The first missing or different one, by table and key.
  package private(set) var first: String?

  /// The columns of a reading that never change, apart from its key.
  private static let readingColumns = [
    "device_time", "stated_offset", "value", "unit", "range_flag", "threshold", "marks",
  ]
  /// The compared columns of a record. An offset that is derived from the zones is not compared.
  private static let recordColumns = ["kind", "entry_guid", "device_time", "fields", "deleted"]

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
        NOT (\(Self.isSame(Self.readingColumns))) AS is_other
      FROM copy.series AS cs JOIN copy.device AS cd ON cd.id = cs.device
      CROSS JOIN copy.reading AS c ON c.partition = cs.partition AND c.series = cs.id
      LEFT JOIN main.device AS d ON d.identity = cd.identity
      LEFT JOIN main.series AS s ON s.device = d.id AND s.kind = cs.kind AND s.position_kind = cs.position_kind
      LEFT JOIN main.reading AS r ON r.partition = s.partition AND r.position = c.position AND r.series = s.id
        AND r.value_bucket = c.value_bucket AND r.occurrence = c.occurrence
      """)
    // A version and a revision of the remote identify one content: an edit increases the version, a download
    // changes the revision.
    records = try count(
      file, "record",
      """
      SELECT 'guid ' || c.guid AS key, r.guid IS NULL AS is_missing,
        NOT (\(Self.isSame(Self.recordColumns)) AND (c.offset_source <> 0 OR r.utc_offset IS c.utc_offset)) AS is_other
      FROM copy.record AS c LEFT JOIN main.record AS r ON r.guid = c.guid
      WHERE r.guid IS NULL OR (r.version = c.version AND r.revision IS c.revision)
      """)
  }

  private static func isSame(_ columns: [String]) -> String {
    columns.map { "r.\($0) IS c.\($0)" }.joined(separator: " AND ")
  }

  /// Counts the missing and different rows. Returns how many rows both have.
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
