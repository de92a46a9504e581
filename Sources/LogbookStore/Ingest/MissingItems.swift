// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

/// Doses, meals, finger sticks and ketones of earlier imports that a later export of the same format no
/// longer has. Earlier imports into other stores count as well. If the later export has the items before and
/// after a missing item, a person deleted it in the app, or corrected its time.
///
/// Some exports lack an item for another reason. They have only the latest days, or no items of this kind, or
/// are a part of a file. An older export that is imported later proves nothing, either. So each missing item
/// needs at least ten known items of its kind, and only times between known items are examined.
struct MissingItems {
  /// The minimum number of known items for each missing item.
  private static let minShare = 10
  /// The maximum number of items that a message names.
  private static let maxNamed = 12

  /// The SQL condition that the export of the import `i` was not made later than the export of this import.
  /// `i` is the import that stored the examined item.
  ///
  /// - Parameter ingest: the parameter with the number of this import.
  private static func isNotLater(than ingest: String) -> String {
    "coalesce(i.generated_at, 0) <= (SELECT coalesce(generated_at, 0) FROM ingest WHERE id = \(ingest))"
  }

  /// The SQL condition that the import `i` read the same sheet of a workbook as this import, or that this
  /// import read no sheet. Another sheet can have the same kind: Tidepool's workbook has one for boluses and
  /// one for basal rates.
  ///
  /// - Parameters:
  ///   - length: the parameter with the length of the sheet's name at the end of the input's name, or with 0.
  ///   - ingest: the parameter with the number of this import.
  private static func isOfSameSheet(_ length: String, as ingest: String) -> String {
    let name = "(SELECT substr(source, -\(length)) FROM ingest WHERE id = \(ingest))"
    return "(\(length) = 0 OR substr(i.source, -\(length)) = \(name))"
  }

  /// The SQL condition that the ingest `i` read no export: its readings were downloaded from a remote, merged
  /// from another store, or typed.
  private static let isPulled = "i.outcome = 'whole' AND i.digest IS NULL AND i.meter IS NULL"
  private struct MissingItem {
    let time: DeviceTime
    let kind: String
    let id: String
    let isRecord: Bool
  }

  private let database: Database
  private let ingest: Int64
  private let source: IngestSource

  init(_ database: Database, ingest: Int64, _ source: IngestSource) {
    (self.database, self.ingest, self.source) = (database, ingest, source)
  }

  /// A sentence with the commands that hide the items; nil if none is missing.
  ///
  /// - Parameter kept: the records that this input contains, but that the import did not update, and those
  ///   that another warning names.
  func sentence(kept: Set<String>) throws -> String? {
    let items = try (readings() + records(kept)).sorted { ($0.time, $0.id) < ($1.time, $1.id) }
    guard !items.isEmpty else { return nil }
    let named = items.prefix(Self.maxNamed)
    let list = named.map { "\($0.kind) of \($0.time.text.prefix(16).replacing("T", with: " "))" }
    let more = items.count - named.count
    let commands = named.map { "'glucoport \($0.isRecord ? "record" : "reading") hide \($0.id)'" }
    return
      "\(counted(items.count, "item")) of an earlier import \(items.count == 1 ? "is" : "are") not in this one: "
      + list.joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
      + "; if deleted or moved at the source, hide with \(commands.joined(separator: ", "))"
  }

  // MARK: Readings

  private func readings() throws -> [MissingItem] {
    let runs = try KnownRun.fetch(database, "ingest = ?", ingest)
    return try Dictionary(grouping: runs, by: \.series).sorted { $0.key < $1.key }.flatMap {
      try readings(of: $0.key, $0.value)
    }
  }

  private func readings(of series: Int64, _ runs: [KnownRun]) throws -> [MissingItem] {
    guard let first = runs.first?.first.position, let last = runs.map(\.last.position).max() else {
      return []
    }
    let rows = try RawStatement(
      keptBy: database,
      """
      SELECT r.position, r.value_bucket, r.occurrence,
        (SELECT format FROM ingest WHERE id = ?4) = CASE WHEN \(Self.isPulled)
          THEN (SELECT d.format FROM device AS d WHERE d.id = s.device AND ?5) ELSE i.format END
      FROM series AS s CROSS JOIN reading AS r ON r.partition = s.partition AND r.series = s.id
        CROSS JOIN ingest AS i ON i.id = r.ingest
      WHERE s.id = ?1 AND s.kind IN (1, 4) AND r.position >= ?2 AND r.position <= ?3 AND r.ingest <> ?4
        AND \(Self.isNotLater(than: "?4")) AND \(Self.isOfSameSheet("?6", as: "?4")) AND \(Withdrawn.readingIsShown)
      ORDER BY r.position, r.value_bucket, r.occurrence
      """)
    let isLatest: Int64 = try hasLaterReadings(than: last, of: series) ? 0 : 1
    for (index, value) in [series, first, last, ingest, isLatest, source.sheetNameLength].enumerated() {
      rows.bind(value, at: Int32(index + 1))
    }
    var (known, next) = (0, 0)
    var missing: [SeriesPoint] = []
    while try rows.step() {
      let point = rows.point(from: 0)
      while next < runs.count, runs[next].last < point { next += 1 }
      if next < runs.count, runs[next].first <= point {
        known += 1
      } else if rows.integer(3) == 1 {
        missing.append(point)
      }
    }
    guard !missing.isEmpty, known >= missing.count * Self.minShare else { return [] }
    return try missing.compactMap { try item(at: $0, of: series) }
  }

  /// Whether other imports stored later readings in the series. If so, readings from a remote may come from a
  /// newer export than this one, since the age of their export is not known.
  private func hasLaterReadings(than position: Int64, of series: Int64) throws -> Bool {
    try Bool.fetchOne(
      database.cachedStatement(
        sql: """
          SELECT EXISTS (SELECT 1 FROM series AS s CROSS JOIN reading AS r ON r.partition = s.partition
            WHERE s.id = ? AND r.position > ? AND r.series = s.id AND r.ingest <> ?)
          """), arguments: [series, position, ingest]) ?? false
  }

  private func item(at point: SeriesPoint, of series: Int64) throws -> MissingItem? {
    let row = try Row.fetchOne(
      database.cachedStatement(
        sql: """
          SELECT \(StoredReading.columns)
          FROM series AS s JOIN device AS d ON d.id = s.device
            CROSS JOIN reading AS r ON r.partition = s.partition AND r.series = s.id
          WHERE s.id = ? AND r.position = ? AND r.value_bucket = ? AND r.occurrence = ?
          """), arguments: [series, point.position, point.valueBucket, point.occurrence])
    return try row.map(StoredReading.init).map {
      MissingItem(time: $0.deviceTime, kind: $0.kind.name, id: $0.shortID, isRecord: false)
    }
  }

  // MARK: Records

  private func records(_ kept: Set<String>) throws -> [MissingItem] {
    let known = try Row.fetchAll(
      database.cachedStatement(
        sql: """
          SELECT r.kind, count(*), min(r.device_time), max(r.device_time)
          FROM ingest_record AS o CROSS JOIN record AS r ON r.guid = o.guid
          WHERE o.ingest = ? AND r.kind IN ('insulin', 'food') GROUP BY r.kind ORDER BY r.kind
          """), arguments: [ingest])
    return try known.flatMap { row in
      let row = StoredRow(row, of: "record")
      let missing = try records(of: try row[0], from: try row[2], to: try row[3], kept)
      return try row[1] >= missing.count * Self.minShare ? missing : []
    }
  }

  private func records(
    of kind: String, from first: Int64, to last: Int64, _ kept: Set<String>
  ) throws -> [MissingItem] {
    let rows = try Row.fetchAll(
      database.cachedStatement(
        sql: """
          SELECT record.guid, record.device_time FROM record LEFT JOIN ingest AS i ON i.id = record.ingest
          WHERE record.device_time BETWEEN ?1 AND ?2 AND record.kind = ?3 AND record.deleted = 0
            AND ?4 IN (i.format, record.provenance_format) AND i.id IS NOT ?5 AND \(Withdrawn.record) = 0
            AND \(ContentExport.generated) <= (SELECT coalesce(generated_at, 0) FROM ingest WHERE id = ?5)
            AND \(Self.isOfSameSheet("?6", as: "?5"))
            AND NOT EXISTS (SELECT 1 FROM ingest_record AS o WHERE o.guid = record.guid AND o.ingest = ?5)
          """), arguments: [first, last, kind, source.format, ingest, source.sheetNameLength])
    return try rows.compactMap { row in
      let row = StoredRow(row, of: "record")
      let guid: String = try row[0]
      guard !kept.contains(guid) else { return nil }
      return MissingItem(time: try row.deviceTime(1), kind: kind, id: String(guid.prefix(8)), isRecord: true)
    }
  }
}

extension IngestWriter {
  /// The items of earlier imports of the same format that a later export lacks, in one sentence; nil if none
  /// is missing. Only for the finished import of a complete file: a meter forgets old items, and a source of
  /// `fetch` returns only its latest items.
  package func missingItems() throws -> String? {
    guard !source.isMerge, !state.statesIdentities, !source.isFetched,
      counts.knownReadings + counts.knownRecords > 0, counts.rejected == 0, let records, records.namesAllKept,
      // Rows that `--where` leaves out would look like missing items, so no items are reported.
      !counts.skipped.keys.contains(where: { $0.hasPrefix("row with another ") })
    else { return nil }
    return try MissingItems(database, ingest: id, source).sentence(
      kept: records.kept.union(retyped?.named ?? []))
  }
}
