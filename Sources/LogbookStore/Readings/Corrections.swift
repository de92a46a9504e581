// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

/// Finds hand-typed readings whose values an export corrected, and withdraws the old values.
///
/// The value of a hand-typed reading is part of its identity. So a corrected value is stored as a separate
/// reading. An export shows a correction if it has another value at a shown time and lacks the old one. It
/// must be later than the last export with the old value, and that earlier export must lack the other value.
/// All imported exports are compared, so that the order of their imports does not matter. This only works for
/// shown times that occur once. A reading with a tick or instant as its position keeps its first value, and
/// the other value is listed as a revision.
///
/// A finger stick counts as typed by hand if its source states it. It also does if its device has no serial
/// number, as in a diary or a table. In the second case, two tables could be of two meters. So both exports
/// must have at least `minShared` equal finger sticks.
///
/// The withdrawal belongs to the import of the export that shows the correction. An undo of this import shows
/// the old value again.
///
/// Other stores know neither the exports of this store nor their ages. If one of several values at a place
/// came from another store, this store writes a withdrawal without effect for each value that it imported.
/// The age of the export is synced with it, and shows the other stores how long the source had the value.
/// Until then, what came from another store counts as of the newest item that came from there.
///
/// A withdrawn value does not hide another one, and `SeriesVisibility` shows a corrected value if no other
/// value of its place is left.
///
/// The readings of the input are in a TEMP table, so that the use of memory does not grow with the input.
final class Corrections {
  /// The minimum number of equal finger sticks of two exports whose source does not state that they were
  /// typed.
  private static let minShared = 10

  private let database: Database
  private let ingest: Int64
  /// The results of `newestFromRemote` so far, by the id of the series (one device's readings of one kind). A
  /// result is the least age of the export at the remote.
  private var remoteAges: [Int64: ExportAge?] = [:]
  /// Whether two imports have at least `minShared` equal finger sticks of a device, by the series and the
  /// numbers of the imports.
  private var areShared: [[Int64]: Bool] = [:]
  /// The exports that were imported, by the numbers of their imports.
  private var exports: [Int64: Export?] = [:]
  /// The exports of a store that is merged; nil without a merge.
  private var merged: ReadingAges?
  /// The readings about which the times of two files contradict their newest items.
  private(set) var contradiction = FileContradiction()

  init(_ database: Database, ingest: Int64) throws {
    self.database = database
    self.ingest = ingest
    try database.executeCached(sql: "DELETE FROM temp.hand_typed")
  }

  /// The SQL for the TEMP tables that each connection creates before its first ingest.
  static let tables = """
    CREATE TEMP TABLE IF NOT EXISTS hand_typed
      (device INTEGER, kind INTEGER, position INTEGER, value_bucket INTEGER,
       PRIMARY KEY (device, kind, position, value_bucket)) WITHOUT ROWID;
    """

  /// Notes a reading of the input in the table `hand_typed`, if a person typed it by hand. Readings with
  /// stated identities are not noted, since they come from a store and not from a source.
  ///
  /// - Parameter hasSerial: whether the device has a serial number.
  @inline(__always)
  func storeIfHandTyped(_ reading: Reading, device: Int64, hasSerial: Bool) throws {
    if reading.marks.contains(.manual) || (!hasSerial && reading.kind == .smbg) {
      try storeHandTyped(reading, device: device)
    }
  }

  /// Withdraws values that an export corrected, and shows values again that a later export restored. Must be
  /// called after the input has ended and the times of the ingest are stored.
  ///
  /// - Returns: the number of withdrawals that are new or changed, and the guids of all of them.
  func write() throws -> (count: Int, guids: Set<String>) {
    guard
      try Bool.fetchOne(database.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM temp.hand_typed)"))
        == true
    else { return (0, []) }
    let verdicts = try verdicts()
    _ = try write(verdicts.filter(\.isOnlyStatement))
    let count = try write(verdicts.filter { !$0.isOnlyStatement })
    return (count, Set(verdicts.compactMap(\.record.guid)))
  }

  /// Writes withdrawals as rows of the imports whose exports show them.
  ///
  /// - Returns: the number of withdrawals that are new or changed.
  private func write(_ verdicts: [CorrectionWithdrawal]) throws -> Int {
    var records: [Int64: [ImportedRecord]] = [:]
    var ages: [Int64: ExportAge] = [:]
    for verdict in verdicts {
      for (ingest, age) in try statements(of: verdict) {
        records[ingest, default: []].append(verdict.record)
        ages[ingest] = age
      }
    }
    // The import of the latest export writes a withdrawal. The imports of the other exports are stored as
    // further imports that contain the correction.
    let imports = records.keys.sorted { (ages[$1] ?? .unknown, $0) < (ages[$0] ?? .unknown, $1) }
    return try imports.reduce(0) { count, ingest in
      let writer = try RecordWriter(database, ingest: ingest, format: "")
      let new = try writer.write(records[ingest] ?? []).new
      // What an undone import of a later export stated about a reading does not count.
      return try count + new + writer.finish(restoresWithdrawn: true).updated
    }
  }

  /// The imports that state a withdrawal, with the ages of their exports. For an export of another store, it
  /// is a row that only has its age.
  private func statements(of verdict: CorrectionWithdrawal) throws -> [Int64: ExportAge] {
    var statements = try ages(of: verdict.imports)
    if let age = verdict.otherAge {
      statements[try ExportOrigin.ingest(of: WritingAge(age), database)] = age
    }
    return statements
  }

  /// Withdraws values that an undo or redo of an import shows again, if another export corrects them.
  ///
  /// - Parameter now: the host's clock in UTC seconds.
  static func writeAfterUndo(at now: Int64, _ database: Database) throws {
    try IngestWriter.requireTables(database)
    let corrections = try Corrections(database, ingest: 0)
    try database.executeCached(sql: copySeveralValues)
    let written = try corrections.write()
    try database.executeCached(sql: "DELETE FROM temp.hand_typed")
    try BroughtItems.state(records: written.guids, database, at: now)
  }

  /// Withdraws values that an upload downloaded or shows again, if a later export of this or another store
  /// corrects them, and the reverse.
  fileprivate func writeAfterDownload(_ placer: RecordPlacer) throws {
    try database.executeCached(sql: Self.copySeveralValues)
    try writeLatest(placer, isSync: true)
  }

  /// Withdraws values that an export of this store or of a merged store corrects.
  static func write(mergedWith other: Database, _ database: Database) throws {
    try database.execute(sql: tables)
    let corrections = try Corrections(database, ingest: 0)
    corrections.merged = try ReadingAges(other)
    try database.executeCached(sql: copySeveralValues)
    try corrections.writeLatest(RecordPlacer(database), isSync: false)
  }

  /// Writes the withdrawals that do not exist yet, and those that are of a later export than the stored ones.
  /// Unlike `write`, it uses no TEMP table of an import that has not ended.
  ///
  /// - Parameter isSync: whether a sync writes, which must not change the version of a record. It changes
  ///   only synced records, and makes them pending.
  private func writeLatest(_ placer: RecordPlacer, isSync: Bool) throws {
    for verdict in try verdicts() {
      guard let guid = verdict.record.guid,
        let latest = try statements(of: verdict).max(by: { ($0.value, $1.key) < ($1.value, $0.key) })
      else { continue }
      let state = RecordState(
        kind: .withdrawal, entryGuid: nil, deviceTime: verdict.record.deviceTime,
        placement: verdict.record.placement, fields: verdict.record.fields, isDeleted: false)
      if try RecordEditor.exists(guid, database) {
        guard try isEarlier(guid, than: state, latest.value) else { continue }
        let contents = StatedContents(database)
        try contents.storeCurrent("(?)", [guid])
        try contents.insert(state, of: guid, ingest: latest.key)
        try database.executeCached(
          sql: """
            UPDATE record SET fields = ?2, imported = ?3, ingest = ?4, edited_at = NULL, version = version + ?5
            WHERE guid = ?1 AND conflict IS NULL AND (?5 = 1 OR version = version_synced)
            """,
          arguments: [guid, state.fields.json, RecordContent(state).text, latest.key, isSync ? 0 : 1])
        if isSync, database.changesCount > 0 {
          try database.executeCached(
            sql: "UPDATE record SET version_synced = version - 1 WHERE guid = ?", arguments: [guid])
        }
        continue
      }
      try database.executeCached(
        sql: RecordColumns.insertion(with: ["imported", "ingest"]),
        arguments: try RecordColumns.insertionArguments(state, placer) + [
          "guid": guid, "kind": state.kind.rawValue, "imported": RecordContent(state).text,
          "ingest": latest.key,
        ])
    }
    // The end of an import must not compare these readings once more.
    try database.executeCached(sql: "DELETE FROM temp.hand_typed")
  }

  /// Whether a stored withdrawal was only written by imports, states the opposite, and is of an earlier
  /// export.
  private func isEarlier(_ guid: String, than state: RecordState, _ age: ExportAge) throws -> Bool {
    let isHidden = state.fields[Withdrawal.hiddenName] == .flag(true)
    guard let stored = try statement(guid) else { return false }
    return stored.isHidden != isHidden && stored.age < age
  }

  /// An export that was imported.
  private struct Export {
    let age: ExportAge
    /// Whether the import read the complete export, so that a value which the import lacks is not in the
    /// export.
    let isWhole: Bool
    /// When the import began, in UTC seconds.
    let startedAt: Int64
  }

  /// A hand-typed reading, which is compared with others at the same position.
  private struct HandTypedReading {
    let reading: StoredReading
    /// The ages of the exports that contain the reading, by the numbers of their imports.
    let exports: [Int64: ExportAge]
    /// The age of the last export with this reading that another store imported, if it is known and later
    /// than those of this store.
    let otherAge: ExportAge?
    /// The withdrawal of the reading by an import; nil without one.
    let statement: Statement?
    /// The age of the last export that contains the reading; nil if unknown.
    var age: ExportAge? { (exports.values + [otherAge].compactMap(\.self)).max() }
    /// The imports of the last export that contains the reading.
    var lastImports: Set<Int64> { Set(exports.filter { $0.value == age }.keys) }

    /// The id of the series of the reading.
    let series: Int64
    /// Whether the source states that a person typed the reading.
    var isMarked: Bool { reading.marks.contains(.manual) }
    /// Whether a later export than those with the reading corrected it.
    var isWithdrawn: Bool {
      guard let statement, statement.isHidden, statement.hasEffect else { return false }
      return statement.age >= age ?? .unknown
    }

    func isAtPlace(of other: HandTypedReading) -> Bool {
      (reading.deviceID, reading.kind, reading.position)
        == (other.reading.deviceID, other.reading.kind, other.reading.position)
    }
  }

  /// The stored withdrawal of a reading, as an import wrote it.
  private struct Statement {
    let isHidden: Bool
    /// The age of the export that shows the correction, or that has the reading.
    let age: ExportAge
    /// Whether the import is not undone.
    let hasEffect: Bool
  }

  /// A withdrawal to write, with the imports whose exports show the correction.
  private struct CorrectionWithdrawal {
    let record: ImportedRecord
    let imports: Set<Int64>
    /// The age of another store's export that shows the correction, or that has the reading; nil without one.
    var otherAge: ExportAge?
    /// Whether the withdrawal only states the age of the last export with the reading.
    var isOnlyStatement = false
  }
}

extension ExportAge {
  fileprivate static let unknown = ExportAge(generated: 0, modified: 0)
}

extension Corrections {
  /// The SQL query for hand-typed readings at positions of the input that have more than one value.
  private static let candidates = """
    SELECT \(StoredReading.columns), given.value_bucket IS NOT NULL AS is_given, s.id AS series
    FROM (SELECT DISTINCT device, kind, position FROM temp.hand_typed) AS p
    JOIN series AS s ON s.device = p.device AND s.kind = p.kind AND s.position_kind = 0
    JOIN reading AS r ON r.partition = s.partition AND r.position = p.position AND r.series = s.id
    JOIN device AS d ON d.id = s.device
    LEFT JOIN temp.hand_typed AS given ON given.device = s.device AND given.kind = s.kind
      AND given.position = r.position AND given.value_bucket = r.value_bucket
    WHERE \(isHandTyped("r")) AND EXISTS (
      SELECT 1 FROM reading AS o WHERE o.partition = r.partition AND o.position = r.position AND o.series = r.series
        AND o.value_bucket <> r.value_bucket AND \(isHandTyped("o")))
    ORDER BY s.device, s.kind, r.position, r.value_bucket, r.occurrence
    """

  /// The SQL condition that a person typed a reading of the series `s` by hand, and that its shown time
  /// occurs once.
  private static func isHandTyped(_ table: String) -> String {
    """
    (\(table).marks & \(ReadingMarks.manual.rawValue) <> 0
        OR (s.kind = 1 AND EXISTS (SELECT 1 FROM device AS e WHERE e.id = s.device AND e.serial = '')))
      AND \(table).marks & \(ReadingMarks.clockSetBack.rawValue) = 0
      AND \(table).offset_source <> \(OffsetSource.zoneOverlap.rawValue)
    """
  }

  /// Copies the places with several hand-typed values to `hand_typed`, with a value that no reading has.
  private static let copySeveralValues = """
    INSERT INTO temp.hand_typed SELECT s.device, s.kind, r.position, -1
    FROM series AS s CROSS JOIN reading AS r ON r.partition = s.partition AND r.series = s.id
    WHERE s.position_kind = 0 AND s.kind IN (1, 4) AND \(isHandTyped("r"))
    GROUP BY s.device, s.kind, r.position HAVING count(DISTINCT r.value_bucket) > 1
    ON CONFLICT DO NOTHING
    """

  private func storeHandTyped(_ reading: Reading, device: Int64) throws {
    guard reading.positionKind == .time, reading.kind.valueIsPartOfIdentity, !reading.timeCanRepeat,
      !reading.occurrenceIsStated
    else { return }
    let statement = try database.cachedStatement(
      sql: "INSERT INTO temp.hand_typed VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING")
    try statement.execute(arguments: [
      device, Int(reading.kind.rawValue), reading.position, reading.valueBucket,
    ])
  }

  private func verdicts() throws -> [CorrectionWithdrawal] {
    var verdicts: [CorrectionWithdrawal] = []
    var place: [HandTypedReading] = []
    let visibility = try Visibility(WithdrawalChanges.items(database))
    let undone = try ImportContribution.undone(database)
    let rows = try Row.fetchCursor(database.cachedStatement(sql: Self.candidates))
    var ordered: (series: SeriesName, said: SeriesVisibility.VisibilityCursor, runs: KnownRunCursor)?
    while let row = try rows.next() {
      let reading = try StoredReading(row)
      let row = StoredRow(row, of: "reading", key: 3..<7)
      let series = SeriesName(reading.identity)
      // The rows are sorted by series, and within a series by position, value and occurrence. So the
      // withdrawals and the known readings of a series are only read once.
      if ordered?.series != series {
        let runs = try KnownRun.fetch(of: try row["series"], besides: undone, database)
        ordered = (series, visibility.series(series).ordered, KnownRunCursor(runs))
      }
      // A value that the undo of an import hides is not compared.
      if ordered?.said.lists(SeriesPoint(reading.identity)) == true { continue }
      let contributed = ContributedReading(
        point: SeriesPoint(reading.identity), ingest: reading.ingest, isUploaded: reading.isUploaded)
      var imports = Set(ordered?.runs.imports(of: contributed) ?? [])
      if !undone.contains(reading.ingest) { imports.insert(reading.ingest) }
      if try row["is_given"] { imports.insert(ingest) }
      let statement = try withdrawal(reading, isHidden: true).guid.flatMap {
        try self.statement($0, visibility)
      }
      let exports = try ages(of: imports)
      let otherAge = [
        try merged?.age(of: reading.identity),
        statement.flatMap { !$0.isHidden && $0.hasEffect ? $0.age : nil },
      ].compactMap(\.self).max()
      let candidate = HandTypedReading(
        reading: reading, exports: exports,
        otherAge: otherAge.flatMap { $0 > exports.values.max() ?? .unknown ? $0 : nil }, statement: statement,
        series: try row["series"])
      if let first = place.first, !first.isAtPlace(of: candidate) {
        verdicts += try judge(place)
        place.removeAll()
      }
      place.append(candidate)
    }
    return try verdicts + judge(place)
  }

  private func judge(_ place: [HandTypedReading]) throws -> [CorrectionWithdrawal] {
    // Other stores need the ages of this store's exports only to compare them with their own ones.
    let isOfOtherStore = place.contains { $0.exports.isEmpty } && Set(place.map(\.age)).count > 1
    return try place.compactMap { old in
      let (imports, otherAge) = try replacements(of: old, in: place)
      if !imports.isEmpty || otherAge != nil {
        try countContradiction(old, imports)
        return CorrectionWithdrawal(
          record: withdrawal(old.reading, isHidden: true), imports: imports, otherAge: otherAge)
      }
      if old.statement?.isHidden == true {
        return CorrectionWithdrawal(
          record: withdrawal(old.reading, isHidden: false), imports: old.lastImports)
      }
      guard isOfOtherStore, old.statement == nil, let age = old.age else { return nil }
      return CorrectionWithdrawal(
        record: withdrawal(old.reading, isHidden: false), imports: old.lastImports,
        otherAge: old.lastImports.isEmpty ? age : nil, isOnlyStatement: true)
    }
  }

  /// The imports of exports that have another value in place of the value of `old`. The second result is the
  /// age of the latest such export that another store imported. These exports are later than the last export
  /// with the old value, and that last export lacks the other value.
  private func replacements(
    of old: HandTypedReading, in place: [HandTypedReading]
  ) throws -> (imports: Set<Int64>, otherAge: ExportAge?) {
    guard let oldAge = try old.age ?? leastAge(of: old) else { return ([], nil) }
    var (imports, otherAge): (Set<Int64>, ExportAge?) = ([], nil)
    for other in place where !other.isWithdrawn && old.lastImports.isDisjoint(with: other.exports.keys) {
      // This store imported all known exports with the old value, and another store a later one with the
      // other value.
      let areMarked = old.isMarked && other.isMarked
      if areMarked, !old.exports.isEmpty, let age = try other.otherAge ?? leastAge(of: other), age > oldAge {
        otherAge = max(age, otherAge ?? age)
      }
      for (ingest, age) in other.exports where old.exports[ingest] == nil && age > oldAge {
        if try export(ingest)?.isWhole == true, try isOneSource(old, other, ingest) { imports.insert(ingest) }
      }
    }
    return (imports, otherAge)
  }

  /// Whether an export with another value is of the same diary as the last export with the old value.
  private func isOneSource(_ old: HandTypedReading, _ other: HandTypedReading, _ ingest: Int64) throws -> Bool
  {
    if old.isMarked && other.isMarked { return true }
    return try old.lastImports.contains { try areShared(by: $0, ingest, of: old.series) }
  }

  private func areShared(by first: Int64, _ second: Int64, of series: Int64) throws -> Bool {
    let key = [series, first, second]
    if let known = areShared[key] { return known }
    var cursor = KnownRunCursor(
      try KnownRun.fetch(of: series, besides: [], database).filter { [first, second].contains($0.ingest) })
    let rows = try RawStatement(keptBy: database, ContributedReading.ofSeries)
    rows.bind(series, at: 1)
    var count = 0
    while count < Self.minShared, try rows.step() {
      let reading = ContributedReading(rows)
      let imports = Set(cursor.imports(of: reading) + [reading.ingest])
      if imports.isSuperset(of: [first, second]) { count += 1 }
    }
    areShared[key] = count >= Self.minShared
    return count >= Self.minShared
  }

  /// Counts a value of this input that only exports of older files replace, and a value of a younger file
  /// that this input replaces.
  private func countContradiction(_ old: HandTypedReading, _ replacing: Set<Int64>) throws {
    guard let own = try export(ingest) else { return }
    if old.exports[ingest] != nil {
      let others = try replacing.compactMap { try export($0) }
      let isOwnYounger = others.allSatisfy {
        FileContradiction.isYounger(own.age, than: $0.age, imported: $0.startedAt)
      }
      if isOwnYounger { contradiction.countKeptReading() }
    } else if replacing.contains(ingest),
      let younger = old.exports.filter({ FileContradiction.isYounger($0.value, than: own.age) }).keys.max()
    {
      contradiction.countReplacedReading(of: younger)
    }
  }

  /// The minimum age of the last export with a reading that only another store imported; nil if nothing shows
  /// it.
  private func leastAge(of candidate: HandTypedReading) throws -> ExportAge? {
    guard candidate.exports.isEmpty, candidate.statement == nil else { return nil }
    return try newestFromRemote(of: candidate.series)
  }

  /// The time of the newest item that came from the remote with a series; nil if no reading of the series
  /// did. Exports grow, so the last export with any of these readings is not older. Records state the ages of
  /// their exports.
  private func newestFromRemote(of series: Int64) throws -> ExportAge? {
    if let known = remoteAges[series] { return known }
    let newest = try Int64.fetchOne(
      database.cachedStatement(
        sql: """
          SELECT max(r.device_time - \(StoredOffset.sql("r"))) FROM series AS s
            CROSS JOIN reading AS r ON r.partition = s.partition AND r.series = s.id
            CROSS JOIN ingest ON ingest.id = r.ingest
          WHERE s.id = ? AND \(UndoPlan.isPulled)
          """), arguments: [series])
    let record = try Int64.fetchOne(
      database.cachedStatement(
        sql: """
          SELECT max(\(ContentExport.generated)) FROM series AS s CROSS JOIN device AS d ON d.id = s.device
            CROSS JOIN record ON record.ingest IS NULL AND record.provenance_format = d.format
          WHERE s.id = ?
          """), arguments: [series])
    let age = newest.map { ExportAge(generated: max($0, record ?? $0), modified: 0) }
    remoteAges[series] = .some(age)
    return age
  }

  private func ages(of imports: Set<Int64>) throws -> [Int64: ExportAge] {
    try imports.reduce(into: [:]) { ages, ingest in ages[ingest] = try export(ingest)?.age }
  }

  /// The export that an import read; nil if the import did not end or its readings came from a remote.
  private func export(_ ingest: Int64) throws -> Export? {
    if let known = exports[ingest] { return known }
    let row = try Row.fetchOne(
      database.cachedStatement(
        sql: """
          SELECT \(ExportAge.generated("i")), \(ExportAge.modified("i")), outcome = 'whole', started_at FROM ingest AS i
          WHERE id = ? AND finished_at IS NOT NULL AND (digest IS NOT NULL OR meter IS NOT NULL)
          """), arguments: [ingest]
    ).map { StoredRow($0, of: "ingest") }
    let export = try row.map {
      Export(
        age: ExportAge(generated: try $0.seconds(0), modified: try $0.seconds(1)), isWhole: try $0[2],
        startedAt: try $0.seconds(3))
    }
    exports[ingest] = .some(export)
    return export
  }

  /// The stored withdrawal of a reading; nil if there is none, or if a person wrote it.
  ///
  /// - Parameter visibility: shows whether its import is undone; nil if that does not matter.
  private func statement(_ guid: String, _ visibility: Visibility? = nil) throws -> Statement? {
    let row = try Row.fetchOne(
      database.cachedStatement(
        sql: """
          SELECT record.guid, record.fields, record.device_time, record.utc_offset, record.offset_source,
            coalesce(\(ContentExport.generated), 0), coalesce(\(ContentExport.modified), 0)
          FROM record WHERE record.guid = ? AND record.deleted = 0 AND \(ContentExport.isImported)
          """), arguments: [guid]
    ).map { StoredRow($0, of: "record") }
    guard let row else { return nil }
    let content = RecordContent(
      fields: try row[1], deviceTime: try row[2], utcOffset: try row[3], offsetSource: try row[4],
      isDeleted: false)
    guard let withdrawal = Withdrawal(json: content.fields) else { return nil }
    let listed = visibility?.listedRecords[guid] ?? []
    return Statement(
      isHidden: withdrawal.isHidden,
      age: ExportAge(generated: try row.seconds(5), modified: try row.seconds(6)),
      hasEffect: !listed.contains(content.withdrawalDigest))
  }

  /// The withdrawal of a reading. It has the same guid in every store and for every order of imports.
  private func withdrawal(_ reading: StoredReading, isHidden: Bool) -> ImportedRecord {
    let withdrawal = Withdrawal(
      .reading(reading.identity), isHidden: isHidden,
      reason: isHidden ? Withdrawal.correctedAtSource : Withdrawal.restoredAtSource)
    var record = ImportedRecord(
      kind: .withdrawal, at: reading.deviceTime, placement: Placement(utcOffset: 0, source: .stated),
      fields: withdrawal.fields, line: 0)
    record.guid = withdrawal.guid
    return record
  }
}

extension SyncTransaction {
  /// Withdraws hand-typed readings that a later export of any store corrects. Must be called after all pages
  /// are downloaded.
  package func withdrawCorrected() throws {
    try database.execute(sql: Corrections.tables)
    try Corrections(database, ingest: 0).writeAfterDownload(placer)
  }
}

/// The ages of the exports that contain readings of a store.
private final class ReadingAges {
  private let database: Database
  private let undone: Set<Int64>
  /// The known readings of each series that was asked for.
  private var runs: [Int64: [KnownRun]] = [:]

  init(_ database: Database) throws {
    self.database = database
    undone = try ImportContribution.undone(database)
  }

  /// The age of the last export with a reading; nil if no import that is not undone contained it.
  func age(of identity: ReadingIdentity) throws -> ExportAge? {
    guard let series = try SeriesName(identity).stored(database) else { return nil }
    let point = SeriesPoint(identity)
    let row = try Row.fetchOne(
      database.cachedStatement(
        sql: """
          SELECT r.ingest, r.uploaded FROM series AS s CROSS JOIN reading AS r
            ON r.partition = s.partition AND r.series = s.id
          WHERE s.id = ? AND r.position = ? AND r.value_bucket = ? AND r.occurrence = ?
          """), arguments: [series, point.position, point.valueBucket, point.occurrence])
    guard let row = row.map({ StoredRow($0, of: "reading") }) else { return nil }
    let reading = ContributedReading(point: point, ingest: try row[0], isUploaded: try row[1])
    let known = try runs[series] ?? KnownRun.fetch(of: series, besides: undone, database)
    runs[series] = known
    var cursor = KnownRunCursor(known)
    var imports = Set(cursor.imports(of: reading))
    if !undone.contains(reading.ingest) { imports.insert(reading.ingest) }
    return try imports.compactMap { ingest in
      try Row.fetchOne(
        database.cachedStatement(
          sql: """
            SELECT \(ExportAge.generated("i")), \(ExportAge.modified("i")) FROM ingest AS i
            WHERE id = ? AND finished_at IS NOT NULL AND digest IS NOT NULL
            """), arguments: [ingest]
      ).map {
        let row = StoredRow($0, of: "ingest")
        return ExportAge(generated: try row.seconds(0), modified: try row.seconds(1))
      }
    }.max()
  }
}
