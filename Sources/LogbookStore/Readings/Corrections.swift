// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

/// Finds hand-typed readings that an export shows corrected, and withdraws their earlier values.
///
/// A hand-typed value is part of its reading's identity. So a corrected value arrives as a separate reading,
/// and both are stored. An export shows a correction if three things are true: it has another value at a
/// shown time, it lacks the old value, and it is later than the export of the old value. This is valid only
/// for shown times that occur once. A reading with its own tick or instant keeps its first value, and the
/// other value is listed as a revision.
///
/// The readings of the input are in a TEMP table, so that memory does not grow with it.
final class Corrections {
  private static let corrected = "corrected at the source"
  private static let restored = "corrected at the source, then restored"

  private let database: Database
  private let ingest: Int64

  init(_ database: Database, ingest: Int64) throws {
    self.database = database
    self.ingest = ingest
    try database.executeCached(sql: "DELETE FROM temp.hand_typed")
  }

  /// The tables that a connection needs before its first ingest.
  static let tables = """
    CREATE TEMP TABLE hand_typed
      (device INTEGER, kind INTEGER, position INTEGER, value_bucket INTEGER,
       PRIMARY KEY (device, kind, position, value_bucket)) WITHOUT ROWID;
    """

  /// Notes a reading of the input, if it was typed by hand. A reading whose identity the input states comes
  /// from a store and not from a source.
  @inline(__always)
  func note(_ reading: Reading, device: Int64) throws {
    if reading.marks.contains(.manual) { try noteHandTyped(reading, device: device) }
  }

  /// The withdrawals that follow from this input, after it has ended and the ingest's times are set.
  func withdrawals() throws -> [ImportedRecord] {
    guard
      try Bool.fetchOne(database.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM temp.hand_typed)"))
        == true
    else {
      return []
    }
    var withdrawals: [ImportedRecord] = []
    var place: [Candidate] = []
    let visibility = try Visibility(WithdrawalChanges.items(database))
    let rows = try Row.fetchCursor(
      database.cachedStatement(sql: Self.candidates), arguments: ["ingest": ingest])
    var ordered: (series: SeriesName, said: SeriesVisibility.Ordered)?
    while let row = try rows.next() {
      let candidate = try Candidate(row)
      // The values of a withdrawn import are neither older nor newer values.
      let identity = candidate.reading.identity
      let series = SeriesName(identity)
      // The rows come series by series, in the order of their points.
      if ordered?.series != series { ordered = (series, visibility.series(series).ordered) }
      if ordered?.said.lists(SeriesPoint(identity)) == true { continue }
      if let first = place.first, !first.isAtPlace(of: candidate) {
        withdrawals += try judge(place)
        place.removeAll()
      }
      place.append(candidate)
    }
    return try withdrawals + judge(place)
  }

  /// A hand-typed reading at one place.
  private struct Candidate {
    let reading: StoredReading
    /// Whether this input has it.
    let isGiven: Bool
    /// Whether this input stored it, or has it again after an import that did not end.
    let isOwn: Bool
    let age: ExportAge

    init(_ row: Row) throws {
      reading = try StoredReading(row)
      let row = StoredRow(row, of: "reading", key: 3..<7)
      isGiven = try row["is_given"]
      isOwn = try row["is_own"]
      age = try ExportAge(row)
    }

    func isAtPlace(of other: Candidate) -> Bool {
      (reading.deviceID, reading.kind, reading.position)
        == (other.reading.deviceID, other.reading.kind, other.reading.position)
    }
  }
}

/// The age of an export, according to its content and its file. Input without a file is as old as its import.
struct ExportAge: Comparable {
  let generated: Int64
  let modified: Int64

  /// What an import is compared by first: the time of its newest item, as SQL.
  ///
  /// - Parameter table: the name of the import's row in the statement.
  static func generated(_ table: String) -> String { "coalesce(\(table).generated_at, 0)" }

  /// What an import is compared by next, as SQL.
  ///
  /// - Parameter table: the name of the import's row in the statement.
  static func modified(_ table: String) -> String { "coalesce(\(table).modified_at, \(table).started_at)" }

  fileprivate init(_ row: StoredRow) throws {
    (generated, modified) = (try row["generated"], try row["modified"])
  }

  static func < (left: Self, right: Self) -> Bool {
    (left.generated, left.modified) < (right.generated, right.modified)
  }
}

extension Corrections {
  private static let columns =
    "\(ExportAge.generated("i")) AS generated, \(ExportAge.modified("i")) AS modified"

  /// Every hand-typed reading at a place in the input that has more than one value. If a killed import stored
  /// a reading, its age is that of the export that has it again.
  private static let candidates = """
    SELECT \(StoredReading.columns), given.value_bucket IS NOT NULL AS is_given,
      given.value_bucket IS NOT NULL AND (r.ingest = :ingest OR came.finished_at IS NULL) AS is_own, \(columns)
    FROM (SELECT DISTINCT device, kind, position FROM temp.hand_typed) AS p
    JOIN series AS s ON s.device = p.device AND s.kind = p.kind AND s.position_kind = 0
    JOIN reading AS r ON r.partition = s.partition AND r.position = p.position AND r.series = s.id
    JOIN device AS d ON d.id = s.device
    LEFT JOIN temp.hand_typed AS given ON given.device = s.device AND given.kind = s.kind
      AND given.position = r.position AND given.value_bucket = r.value_bucket
    JOIN ingest AS came ON came.id = r.ingest
    JOIN ingest AS i ON i.id = CASE WHEN given.value_bucket IS NOT NULL AND came.finished_at IS NULL THEN :ingest
      ELSE r.ingest END
    WHERE \(isHandTyped("r")) AND EXISTS (
      SELECT 1 FROM reading AS o WHERE o.partition = r.partition AND o.position = r.position AND o.series = r.series
        AND o.value_bucket <> r.value_bucket AND \(isHandTyped("o")))
    ORDER BY s.device, s.kind, r.position, r.value_bucket, r.occurrence
    """

  /// Typed by hand, at a shown time that occurs once.
  private static func isHandTyped(_ table: String) -> String {
    """
    \(table).marks & \(ReadingMarks.manual.rawValue) <> 0 AND \(table).marks & \(ReadingMarks.clockSetBack.rawValue) = 0
      AND \(table).offset_source <> \(OffsetSource.zoneOverlap.rawValue)
    """
  }

  private func noteHandTyped(_ reading: Reading, device: Int64) throws {
    guard reading.positionKind == .time, reading.kind.valueIsPartOfIdentity, !reading.timeCanRepeat,
      !reading.occurrenceIsStated
    else { return }
    let statement = try database.cachedStatement(
      sql: "INSERT INTO temp.hand_typed VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING")
    try statement.execute(arguments: [
      device, Int(reading.kind.rawValue), reading.position, reading.valueBucket,
    ])
  }

  private func judge(_ place: [Candidate]) throws -> [ImportedRecord] {
    guard !place.isEmpty else { return [] }
    let this = try thisAge()
    let (given, missing) = (place.filter(\.isGiven), place.filter { !$0.isGiven })
    let returned = try given.filter { try wasExcluded($0.reading, before: this) }
    // Values of an older export that this one replaces.
    let outdated = missing.filter { old in
      old.age < this && (!returned.isEmpty || given.contains { old.age < $0.age })
    }
    // Values of this export that a later one already replaced.
    let late = given.filter { old in old.isOwn && missing.contains { this < $0.age } }
    return (outdated + late).map { withdrawal($0.reading, isHidden: true) }
      + returned.map { withdrawal($0.reading, isHidden: false) }
  }

  private func thisAge() throws -> ExportAge {
    let row = try Row.fetchOne(
      database.cachedStatement(sql: "SELECT \(Self.columns) FROM ingest AS i WHERE i.id = ?"),
      arguments: [ingest])
    guard let row else { throw DamagedRow("ingest", ["id": ingest], "missing") }
    return try ExportAge(StoredRow(row, of: "ingest"))
  }

  /// Whether an import of an older export withdrew the reading, and the withdrawal was not edited since.
  private func wasExcluded(_ reading: StoredReading, before age: ExportAge) throws -> Bool {
    let withdrawal = withdrawal(reading, isHidden: true)
    let row = try Row.fetchOne(
      database.cachedStatement(
        sql: """
          SELECT \(Self.columns) FROM record JOIN ingest AS i ON i.id = record.ingest
          WHERE record.guid = ? AND deleted = 0 AND fields = ? AND imported = \(RecordContent.sql)
          """), arguments: [withdrawal.guid, withdrawal.fields.json])
    return try row.map { try ExportAge(StoredRow($0, of: "ingest")) < age } ?? false
  }

  /// One withdrawal for each reading with the same guid in every store, in whatever order files are imported.
  private func withdrawal(_ reading: StoredReading, isHidden: Bool) -> ImportedRecord {
    let withdrawal = Withdrawal(
      .reading(reading.identity), isHidden: isHidden, reason: isHidden ? Self.corrected : Self.restored)
    var record = ImportedRecord(
      kind: .withdrawal, at: reading.deviceTime, placement: Placement(utcOffset: 0, source: .stated),
      fields: withdrawal.fields, line: 0)
    record.guid = withdrawal.guid
    return record
  }
}
