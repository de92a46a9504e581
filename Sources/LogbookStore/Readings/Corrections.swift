// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

/// Finds hand-typed readings whose values an export corrected, and withdraws the old values.
///
/// The value of a hand-typed reading is part of its identity. So a corrected value is stored as a separate
/// reading. An export shows a correction if three conditions are met: it has another value at a shown time,
/// it lacks the old value, and it is later than the export with the old value. This only works for shown
/// times that occur once. A reading with a tick or instant as its position keeps its first value, and the
/// other value is listed as a revision.
///
/// The readings of the input are in a TEMP table, so that the use of memory does not grow with the input.
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

  /// Notes a reading of the input, if a person typed it by hand. Not called for an input that states
  /// identities, since it comes from a store and not from a source.
  @inline(__always)
  func note(_ reading: Reading, device: Int64) throws {
    if reading.marks.contains(.manual) { try noteHandTyped(reading, device: device) }
  }

  /// The withdrawals that follow from this input. Call it when the input has ended and the times of the
  /// ingest are stored.
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
      // The values of a withdrawn import are not compared.
      let identity = candidate.reading.identity
      let series = SeriesName(identity)
      // The rows are sorted by series, and within a series by their points.
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

  /// A hand-typed reading, which is compared with others at the same position.
  private struct Candidate {
    let reading: StoredReading
    /// Whether this input contains the reading.
    let isGiven: Bool
    /// Whether this input stored the reading, or contains it after an interrupted import stored it.
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

extension ExportAge {
  fileprivate init(_ row: StoredRow) throws {
    self.init(generated: try row["generated"], modified: try row["modified"])
  }
}

extension Corrections {
  private static let columns =
    "\(ExportAge.generated("i")) AS generated, \(ExportAge.modified("i")) AS modified"

  /// The SQL query for hand-typed readings at positions of the input that have more than one value. A reading
  /// that an interrupted import stored has the age of the export that contains it again.
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

  /// The SQL condition that a reading was typed by hand and that its shown time occurs once.
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
    // Values of an older export that this export replaces.
    let outdated = missing.filter { old in
      old.age < this && (!returned.isEmpty || given.contains { old.age < $0.age })
    }
    // Values of this export that a later export has already replaced.
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

  /// Whether the import of an older export withdrew the reading, and the withdrawal was not edited since
  /// then.
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

  /// The withdrawal of a reading. It has the same guid in every store and for every order of imports.
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
