// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

/// Finds doses and meals that a person corrected at the source, and hides their earlier versions.
///
/// The use of a dose without an id is part of its identity, since two doses of different uses can have one
/// time. So a dose that was typed as basal and corrected to bolus is stored a second time. An export shows
/// the correction if it has a dose of the same time, amount and source with another use, and lacks the
/// earlier dose. It must be later than the last export with the earlier dose. That earlier export must lack
/// the other dose. All imported exports are compared, so that the order of their imports does not matter.
///
/// A table of boluses and another one of basal doses also have doses that the other one lacks. So both
/// exports must have at least `minShared` equal doses with the use of the earlier dose. With fewer ones, a
/// warning names the command that hides it.
///
/// If one of both doses has no use, and no export has both, they are one dose, whatever the ages of the
/// exports. Then the table got a column or a word for the use later, or an export of another language is read
/// without its words. The dose with the use is shown. This store must have imported both.
///
/// The amount of a dose or meal may also be part of its identity. `CorrectedAmounts` finds records that
/// differ only in it. Such a record is corrected if its app has one record of the kind at this second in each
/// of both exports. What a person edited does not matter for it.
///
/// The device that a row of a table names is part of the identity of its doses and meals. Otherwise equal
/// doses of two pens at one time would be one dose. A table that gets a column of devices has all of them a
/// second time. If two exports have at least `minShared` such pairs, and few other doses and meals at these
/// times, the earlier ones are hidden.
///
/// The earlier dose gets a withdrawal like that of a record that its source deleted; see `SourceDeletions`.
/// The withdrawal belongs to the import of the export with the correction, whose undo shows the earlier dose
/// again.
struct RetypedDoses {
  static let corrected = Withdrawal.correctedAtSource
  static let restored = Withdrawal.restoredAtSource

  /// The minimum number of equal doses in both exports with the use of the earlier dose. Also the minimum
  /// number of doses and meals that differ only in their devices.
  private static let minShared = 10
  /// The minimum number of doses and meals that differ only in their devices for each other one of both
  /// exports.
  private static let minPaired = 4
  /// The maximum number of doses that a warning names.
  private static let maxNamed = 12

  /// A dose of this input, and one of an earlier import that differs only in its use or device. Both are
  /// guids.
  struct DosePair: Hashable {
    let given: String
    let other: String
  }

  /// The doses and meals that two exports state for different devices.
  private struct OtherDevices {
    var contents: Set<String> = []
    var (first, last) = (Int64.max, Int64.min)
    /// Whether they show that one table names its device otherwise; nil until this is decided.
    var areOneTable: Bool?

    mutating func add(_ content: RecordContent) {
      contents.insert(content.text)
      (first, last) = (min(first, content.deviceTime), max(last, content.deviceTime))
    }
  }

  private enum DoseVerdict {
    /// The exports of these imports show that the dose was corrected.
    case corrected(Set<Int64>)
    /// The dose may have been corrected, but too few other doses show it.
    case doubtful
    /// The last export with the dose is not older than those with the other one, or has both.
    case current
    /// Nothing shows which dose is the later one.
    case unknown
  }

  private let database: Database
  private let ingest: Int64
  /// The numbers of equal doses in two exports, by their uses.
  private var shared: [[Int64]: [String: Int]] = [:]
  /// The doses and meals that two exports state for different devices.
  private var otherDevices: [[Int64]: OtherDevices] = [:]
  /// The compared doses, by their guids.
  private var doses: [String: Dose] = [:]
  /// The guids of all records of the same app, kind and second, for each record whose amount may be
  /// corrected.
  private var sameSecond: [String: Set<String>] = [:]
  /// The earlier doses that a warning names, each with the later one.
  private var doubts: [(old: Dose, other: Dose)] = []

  /// The guids of the earlier doses that stay visible, since a person edited them.
  private var edited: Set<String> = []

  init(_ database: Database, ingest: Int64) { (self.database, self.ingest) = (database, ingest) }

  /// The guids of the withdrawals that were written, or stated once more.
  private(set) var withdrawals: Set<String> = []

  /// The guids of the earlier doses in the warning, and of those that a person edited and that were
  /// corrected.
  var named: Set<String> { edited.union(doubts.map(\.old.guid)) }

  private static let usePairQuery = pairQuery(differOnlyInUse)
  private static let devicePairQuery = pairQuery(differOnlyInDevice)

  /// The SQL query for the doses and meals of rows without ids, each with another one that differs as
  /// `condition` states. The other one is not in this input, or it is hidden.
  private static func pairQuery(_ condition: String) -> String {
    """
    SELECT x.guid, y.guid FROM temp.record_ordinal AS o CROSS JOIN record AS x ON x.guid = o.guid
      CROSS JOIN record AS y ON y.device_time = x.device_time
    WHERE o.given IS NOT NULL AND \(condition) AND \(haveOneSource)
      AND ((y.ingest IS NOT ?1 AND NOT EXISTS (SELECT 1 FROM ingest_record AS i WHERE (i.guid, i.ingest) = (y.guid, ?1))
          AND y.guid NOT IN (SELECT guid FROM temp.record_ordinal WHERE given IS NOT NULL))
        OR EXISTS (SELECT 1 FROM listed_record AS l WHERE l.guid = y.guid AND l.is_withdrawn = 1))
    """
  }

  /// The SQL query for the doses of an import, each with a dose that differs only in its use or device.
  private static let storedPairQuery = """
    SELECT x.guid, y.guid FROM record AS x CROSS JOIN record AS y ON y.device_time = x.device_time
    WHERE x.guid IN (SELECT guid FROM record WHERE ingest = ?1 UNION SELECT guid FROM ingest_record WHERE ingest = ?1)
      AND (\(differOnlyInUse) OR \(differOnlyInDevice)) AND \(haveOneSource)
    """

  /// The SQL condition that the records `x` and `y` are two records of one kind and source.
  private static let haveOneSource = """
    x.deleted = 0 AND y.deleted = 0 AND y.kind = x.kind AND y.guid <> x.guid
      AND (y.provenance_format, y.provenance_source) IS (x.provenance_format, x.provenance_source)
    """

  /// The SQL condition that two doses have the same amount and different uses.
  private static let differOnlyInUse = """
    (x.kind = 'insulin' AND y.kind = 'insulin' AND y.guid <> x.guid
      AND json_extract(y.fields, '$.units') = json_extract(x.fields, '$.units')
      AND coalesce(json_extract(x.fields, '$.rate'), json_extract(y.fields, '$.rate')) IS NULL
      AND json_extract(y.fields, '$.subtype') IS NOT json_extract(x.fields, '$.subtype'))
    """

  /// The SQL condition that two doses or meals of a table are equal. Such rows of one device are stored once,
  /// so their devices differ. The device itself is not stored with them.
  private static let differOnlyInDevice = """
    (x.provenance_format = 'generic' AND x.kind IN ('insulin', 'food') AND y.fields = x.fields
      AND (y.utc_offset, y.offset_source) = (x.utc_offset, x.offset_source))
    """

  /// Hides doses that an undo or redo of an import shows again, if a later export has them with another use
  /// or amount. Shows doses again that no remaining export corrects.
  ///
  /// - Parameter now: the host's clock in UTC seconds.
  static func writeAfterUndo(of ingest: Int64, at now: Int64, _ database: Database) throws {
    let rows = try Row.fetchAll(database.cachedStatement(sql: storedPairQuery), arguments: [ingest])
    let amounts = try CorrectedAmounts.storedPairs(database, ingest: ingest)
    guard !rows.isEmpty || !amounts.isEmpty else { return }
    try IngestWriter.requireTables(database)
    var doses = RetypedDoses(database, ingest: ingest)
    _ = try doses.write(
      rows.map { row in
        let row = StoredRow(row, of: "record")
        return DosePair(given: try row[0], other: try row[1])
      }, amounts: amounts)
    try BroughtItems.state(records: doses.withdrawals, database, at: now)
  }

  /// The doses of this input that may be corrected doses of other exports, or the reverse. Call it before the
  /// TEMP tables of the rows are cleared.
  static func pairs(_ database: Database, ingest: Int64) throws -> [DosePair] {
    func pairs(_ query: String) throws -> [DosePair] {
      try Row.fetchAll(database.cachedStatement(sql: query), arguments: [ingest]).map { row in
        let row = StoredRow(row, of: "record")
        return DosePair(given: try row[0], other: try row[1])
      }
    }
    // Reading all doses and meals again takes time, and only two tables can state one dose for two devices.
    let hasOtherTable = try Bool.fetchOne(
      database.cachedStatement(
        sql: "SELECT EXISTS (SELECT 1 FROM ingest WHERE id <> ? AND format = 'generic')"),
      arguments: [ingest])
    return try pairs(usePairQuery) + (hasOtherTable == true ? pairs(devicePairQuery) : [])
  }

  /// Hides the doses that an export shows as corrected, and shows those again that a later export restores.
  ///
  /// - Parameters:
  ///   - pairs: doses that differ only in their uses or devices.
  ///   - amounts: records that may differ only in their amounts; see `CorrectedAmounts`.
  /// - Returns: the numbers of new doses of this input that are corrections of stored ones, and of new doses
  ///   that a later export corrects.
  mutating func write(_ pairs: [DosePair], amounts: [DosePair] = []) throws -> (updated: Int, kept: Int) {
    guard !pairs.isEmpty || !amounts.isEmpty else { return (0, 0) }
    var others: [String: Set<String>] = [:]
    for (given, pairs) in Dictionary(grouping: amounts, by: \.given) {
      let all = Set(pairs.map(\.other) + [given])
      for guid in all { sameSecond[guid] = all }
    }
    for pair in Set(pairs + amounts) {
      for guid in [pair.given, pair.other] where doses[guid] == nil { doses[guid] = try dose(guid) }
      others[pair.given, default: []].insert(pair.other)
      others[pair.other, default: []].insert(pair.given)
    }
    for pair in Set(pairs) { addOtherDevices(pair) }
    var statements: [Int64: [ImportedRecord]] = [:]
    var (updated, kept): (Set<String>, Set<String>) = ([], [])
    for (guid, guids) in others.sorted(by: { $0.key < $1.key }) {
      guard let old = doses[guid] else { continue }
      let candidates = guids.sorted().compactMap { doses[$0] }
      let (imports, isHidden) = try decision(on: old, candidates)
      let withdrawal = (doses[guid] ?? old).withdrawal(isHidden: isHidden)
      for ingest in imports { statements[ingest, default: []].append(withdrawal) }
      guard isHidden, !imports.isEmpty, !old.isWithdrawn else { continue }
      if old.isEdited {
        edited.insert(guid)
        continue
      }
      if old.isNew { kept.insert(guid) }
      updated.formUnion(
        candidates.filter { $0.isNew && $0.imports.keys.contains(where: imports.contains) }.map(\.guid))
    }
    try write(statements, ages: doses.values)
    return (updated.count, kept.count)
  }

  /// The warning about doses that may have been corrected; nil without such doses.
  var warning: String? {
    guard !doubts.isEmpty else { return nil }
    let named = doubts.prefix(Self.maxNamed)
    let list = named.map { old, other in
      "\(old.time.text.prefix(16).replacing("T", with: " ")) (\(old.use), later \(other.use))"
    }
    let more = doubts.count - named.count
    let commands = named.map { "'glucoport record hide \($0.old.guid.prefix(8))'" }
    return
      "\(counted(doubts.count, "dose")) of two exports \(doubts.count == 1 ? "differs" : "differ") only in use and "
      + "\(doubts.count == 1 ? "counts" : "count") twice: \(list.joined(separator: ", "))\(more > 0 ? " and \(more) more" : "")"
      + "; if the use was corrected at the source, hide the earlier one with \(commands.joined(separator: ", "))"
  }
}

// MARK: - Decisions

extension RetypedDoses {
  /// The imports that state whether a dose is hidden; empty if nothing changes.
  private mutating func decision(
    on old: Dose, _ others: [Dose]
  ) throws -> (imports: Set<Int64>, isHidden: Bool) {
    var imports: Set<Int64> = []
    var (isCurrent, doubt): (Bool, Dose?) = (true, nil)
    for other in others {
      switch try verdict(on: old, other) {
      case .corrected(let later): imports.formUnion(later)
      case .current: continue
      case .doubtful: doubt = doubt ?? other
      case .unknown: break
      }
      isCurrent = false
    }
    if !imports.isEmpty { return old.isDecidedByPerson ? ([], true) : (imports, true) }
    if isCurrent, old.isRetyped {
      // `EditedItems` must know which records are one dose, also if no remaining export shows it.
      doses[old.guid]?.isOneOfSecond =
        sameSecond[old.guid] != nil
        && others.allSatisfy { Set($0.imports.keys).isDisjoint(with: old.imports.keys) }
      return (old.lastImports, false)
    }
    if let doubt, !old.isWithdrawn, !doubt.isWithdrawn { doubts.append((old, doubt)) }
    return ([], false)
  }

  private mutating func verdict(on old: Dose, _ other: Dose) throws -> DoseVerdict {
    let records = sameSecond[old.guid]?.compactMap { doses[$0] }
    if let records, old.details != other.details || !records.allSatisfy(\.isOfExport) { return .unknown }
    // An edit of the use or of another part may have made two doses equal.
    guard records != nil || old.isImported && other.isImported, !other.isWithdrawn || other.isRetyped else {
      return .unknown
    }
    if records == nil, old.content.fields == other.content.fields { return try deviceVerdict(on: old, other) }
    if records == nil, old.use.isEmpty != other.use.isEmpty {
      let imports = Set(other.imports.keys)
      guard old.use.isEmpty, imports.isDisjoint(with: old.imports.keys) else { return .current }
      // If only another store imported the dose with the use, an undo there would leave both doses hidden.
      return imports.isEmpty ? .unknown : .corrected(imports)
    }
    guard old.lastImports.isDisjoint(with: other.imports.keys), other.lastAge > old.lastAge else {
      return .current
    }
    let later = other.imports.filter { old.imports[$0.key] == nil && $0.value.age > old.lastAge }
    if let records { return amountVerdict(on: old, other, later, records) }
    var (sure, shared): (Set<Int64>, Int) = ([], 0)
    for (ingest, export) in later where export.isComplete {
      let doses = try sharedDoses(of: ingest, old)
      shared = max(shared, doses.values.reduce(0, +))
      if doses[old.use] ?? 0 >= Self.minShared { sure.insert(ingest) }
    }
    // A dose that came from the remote may also be in the export of the other one, which another store
    // imported.
    if other.ingest != nil, !sure.isEmpty { return .corrected(sure) }
    return shared > 0 ? .doubtful : .unknown
  }

  /// Notes a pair of doses or meals that differ only in their devices, for each two exports that have them.
  private mutating func addOtherDevices(_ pair: DosePair) {
    guard let given = doses[pair.given], let other = doses[pair.other],
      given.content.fields == other.content.fields
    else { return }
    for one in given.imports.keys {
      for another in other.imports.keys {
        otherDevices[[one, another].sorted(), default: OtherDevices()].add(given.content)
      }
    }
  }

  /// The verdict on a dose or meal that differs from another one only in its device.
  private mutating func deviceVerdict(on old: Dose, _ other: Dose) throws -> DoseVerdict {
    guard Set(old.imports.keys).isDisjoint(with: other.imports.keys), other.lastAge > old.lastAge else {
      return .current
    }
    var sure: Set<Int64> = []
    for (ingest, export) in other.imports where export.age > old.lastAge {
      for earlier in old.imports.keys.sorted() where try areOneTable(ingest, earlier) { sure.insert(ingest) }
    }
    return sure.isEmpty ? .unknown : .corrected(sure)
  }

  /// Whether two exports are one table that names its device otherwise. Then nearly all of its doses and
  /// meals have another device. The tables of two pens also have equal doses at equal times, but many others,
  /// too.
  private mutating func areOneTable(_ one: Int64, _ other: Int64) throws -> Bool {
    let key = [one, other].sorted()
    guard let found = otherDevices[key], found.contents.count >= Self.minShared else { return false }
    if let known = found.areOneTable { return known }
    var areOneTable = true
    for (ingest, without) in [(one, other), (other, one)] {
      let others = try number(of: ingest, without: without, found) - found.contents.count
      if others * Self.minPaired > found.contents.count { areOneTable = false }
    }
    otherDevices[key]?.areOneTable = areOneTable
    return areOneTable
  }

  /// The number of doses and meals that one export has and the other one lacks, at the times of these.
  private func number(of ingest: Int64, without other: Int64, _ found: OtherDevices) throws -> Int {
    let statement = try database.cachedStatement(
      sql: """
        SELECT count(*) FROM record AS r
        WHERE r.device_time BETWEEN ?3 AND ?4 AND r.kind IN ('insulin', 'food') AND r.deleted = 0
          AND r.provenance_format = 'generic'
          AND (r.ingest = ?1 OR EXISTS (SELECT 1 FROM ingest_record AS i WHERE (i.guid, i.ingest) = (r.guid, ?1)))
          AND r.ingest IS NOT ?2
          AND NOT EXISTS (SELECT 1 FROM ingest_record AS i WHERE (i.guid, i.ingest) = (r.guid, ?2))
        """)
    return try Int.fetchOne(statement, arguments: [ingest, other, found.first, found.last]) ?? 0
  }

  /// The verdict on a record that differs from another one only in its amount.
  ///
  /// - Parameters:
  ///   - later: the exports with the other record that are later than the last one with the examined record.
  ///   - records: all records of the same app, kind and second.
  private func amountVerdict(
    on old: Dose, _ other: Dose, _ later: [Int64: Dose.Export], _ records: [Dose]
  ) -> DoseVerdict {
    func isSingle(_ dose: Dose, in ingest: Int64) -> Bool {
      records.allSatisfy { $0.guid == dose.guid || $0.imports[ingest] == nil && !$0.undone.contains(ingest) }
    }
    let exports = old.lastImports.isEmpty ? old.undone : old.lastImports
    // Other stores imported the records without imports here, perhaps from one export.
    let wasSingle =
      exports.isEmpty
      ? records.count { $0.imports.isEmpty && $0.undone.isEmpty } == 1
      : exports.allSatisfy { isSingle(old, in: $0) }
    // Rejected rows do not matter: an earlier export's row with the same amount was accepted.
    let sure = later.filter { $0.value.isWhole && isSingle(other, in: $0.key) }
    return wasSingle && other.ingest != nil && !sure.isEmpty ? .corrected(Set(sure.keys)) : .unknown
  }

  /// The numbers of equal doses in an export and the last export with a dose, by their uses.
  private mutating func sharedDoses(of ingest: Int64, _ old: Dose) throws -> [String: Int] {
    let firsts: [Int64?] = old.lastImports.isEmpty ? [nil] : old.lastImports.sorted()
    var most: [String: Int] = [:]
    for first in firsts {
      let key = [ingest, first ?? 0]
      let found = try shared[key] ?? sharedDoses(of: ingest, and: first)
      shared[key] = found
      most.merge(found) { max($0, $1) }
    }
    return most
  }

  /// - Parameter other: nil for the exports that other stores imported.
  private func sharedDoses(of ingest: Int64, and other: Int64?) throws -> [String: Int] {
    let rows = try Row.fetchAll(
      database.cachedStatement(
        sql: """
          SELECT coalesce(json_extract(r.fields, '$.subtype'), ''), count(*)
          FROM ingest_record AS o CROSS JOIN record AS r ON r.guid = o.guid
          WHERE o.ingest = ?1 AND r.kind = 'insulin' AND (r.ingest IS ?2
            OR EXISTS (SELECT 1 FROM ingest_record AS p WHERE p.guid = r.guid AND p.ingest = ?2))
          GROUP BY 1
          """), arguments: [max(ingest, other ?? 0), other.map { min(ingest, $0) }])
    return try rows.reduce(into: [:]) { shared, row in
      let row = StoredRow(row, of: "record")
      shared[try row[0]] = try row[1]
    }
  }

  /// Writes withdrawals as rows of these imports. That of the latest export writes first, and the other ones
  /// state the same.
  private mutating func write(_ statements: [Int64: [ImportedRecord]], ages doses: some Sequence<Dose>) throws
  {
    let ages = doses.reduce(into: [Int64: Dose.Age]()) { ages, dose in
      for (ingest, export) in dose.imports { ages[ingest] = export.age }
    }
    withdrawals.formUnion(statements.values.joined().compactMap(\.guid))
    let imports = statements.keys.sorted { (ages[$1] ?? .unknown, $0) < (ages[$0] ?? .unknown, $1) }
    for ingest in imports {
      let writer = try RecordWriter(database, ingest: ingest, format: "")
      _ = try writer.write(statements[ingest] ?? [])
      _ = try writer.finish()
    }
  }

  // MARK: Doses

  /// The SQL query for a dose, with the age of the export that wrote it in another store.
  private static let doseQuery = """
    SELECT record.guid, record.fields, record.device_time, record.utc_offset, record.offset_source, record.ingest,
      \(ContentExport.isImported), \(ContentExport.isFromRemote), coalesce(\(ContentExport.generated), 0),
      coalesce(\(ContentExport.modified), 0), \(Withdrawn.record), record.version = 1 AND record.ingest IS ?2,
      record.imported
    FROM record WHERE record.guid = ?1
    """

  /// The SQL query for the imports whose exports have a record. The last columns state whether the import
  /// read the whole export without leaving out rows, whether it rejected no row, and whether it is undone.
  private static let importQuery = """
    SELECT w.id, \(ExportAge.generated("w")), \(ExportAge.modified("w")), \(RecordWriter.importOrder("w")),
      CASE WHEN w.outcome = 'whole' AND json_valid(w.counts)
        THEN NOT EXISTS (SELECT 1 FROM json_each(w.counts, '$.skipped') AS s WHERE s.key LIKE 'row with another %')
        ELSE 0 END,
      CASE WHEN json_valid(w.counts) THEN coalesce(json_extract(w.counts, '$.rejected'), 0) = 0 ELSE 0 END,
      \(ImportContribution.isUndone(of: "w"))
    FROM ingest AS w
    WHERE w.id IN (SELECT o.ingest FROM ingest_record AS o WHERE o.guid = ?1 UNION ALL SELECT ?2)
      AND w.finished_at IS NOT NULL AND w.digest IS NOT NULL
    """

  private func dose(_ guid: String) throws -> Dose? {
    guard
      let found = try Row.fetchOne(
        database.cachedStatement(sql: Self.doseQuery), arguments: [guid, ingest]
      ).map({ StoredRow($0, of: "record") })
    else { return nil }
    let own: Int64? = try found[5]
    let imports = try Row.fetchAll(
      database.cachedStatement(sql: Self.importQuery), arguments: [guid, own])
    let present = RecordContent(
      fields: try found[1], deviceTime: try found[2], utcOffset: try found[3], offsetSource: try found[4],
      isDeleted: false)
    let text: String? = try found[12]
    let imported = text.flatMap(RecordContent.init(text:))
    let content = imported ?? present
    let fields = try RecordFields(stored: content.fields, of: guid)
    let details = RecordFields(fields.values.filter { !["units", "carbs"].contains($0.key) })
    var dose = Dose(
      guid: guid, use: fields.subtype, details: details, content: content, ingest: own,
      isOfExport: imported != nil, isImported: try found[6], isWithdrawn: try found[10], isNew: try found[11])
    if try found[7] { dose.remoteAge = Dose.Age(generated: try found[8], modified: try found[9], order: 0) }
    for row in imports.map({ StoredRow($0, of: "ingest") }) {
      if try row[6] {
        dose.undone.insert(try row[0])
        continue
      }
      let age = Dose.Age(generated: try row[1], modified: try row[2], order: try row[3])
      dose.imports[try row[0]] = Dose.Export(age: age, isWhole: try row[4], hasNoRejection: try row[5])
    }
    try readWithdrawal(of: &dose)
    return dose
  }

  /// Reads whether an earlier import hid the dose as corrected, or a person decided about it.
  private func readWithdrawal(of dose: inout Dose) throws {
    let row = try Row.fetchOne(
      database.cachedStatement(
        sql: """
          SELECT record.guid, record.fields, record.deleted = 0 AND \(ContentExport.isImported)
          FROM record WHERE guid = ?
          """),
      arguments: [Withdrawal(.record(dose.guid), isHidden: true).guid])
    guard let row = row.map({ StoredRow($0, of: "record") }) else { return }
    let (fields, isOfImport): (String, Bool) = (try row[1], try row[2])
    dose.isDecidedByPerson = !isOfImport
    dose.isRetyped = isOfImport && fields == dose.withdrawal(isHidden: true).fields.json
  }
}

/// A stored dose, with the exports that have it.
private struct Dose {
  /// The age of an export, and its position among exports of equal age, by which the later one is found as
  /// `RecordWriter.ageOrder` does.
  struct Age: Comparable {
    let generated: Int64
    let modified: Int64
    let order: Int64

    static let unknown = Age(generated: 0, modified: 0, order: 0)

    static func < (one: Self, other: Self) -> Bool {
      (one.generated, one.modified, one.order) < (other.generated, other.modified, other.order)
    }
  }

  struct Export {
    let age: Age
    /// Whether the import read the whole export, and left out no rows on request.
    let isWhole: Bool
    let hasNoRejection: Bool

    /// Whether the import read all of the export, so that what it lacks is not in the export.
    var isComplete: Bool { isWhole && hasNoRejection }
  }

  let guid: String
  /// The use, or an empty text.
  let use: String
  /// The fields without the amount.
  let details: RecordFields
  /// The content that an export stated. If the store does not know it, the present content.
  let content: RecordContent
  /// The import that wrote the dose; nil if the dose came from the remote.
  let ingest: Int64?
  /// Whether the store knows what an export stated.
  let isOfExport: Bool
  /// Whether the present content is what an import wrote.
  let isImported: Bool
  let isWithdrawn: Bool
  /// Whether this import added the dose.
  let isNew: Bool
  var isRetyped = false
  var isDecidedByPerson = false
  /// Whether the exports that are left show that the dose is one with those of the same second.
  var isOneOfSecond = false
  /// The exports with the dose, by the numbers of their imports.
  var imports: [Int64: Export] = [:]
  /// The numbers of the undone imports whose exports have the dose.
  var undone: Set<Int64> = []
  /// The age of the export from which another store imported the dose.
  var remoteAge: Age?

  /// Whether a person changed what an import wrote.
  var isEdited: Bool { isOfExport && !isImported }
  var time: DeviceTime { DeviceTime(seconds: content.deviceTime) }
  /// The age of the last export with the dose.
  var lastAge: Age { max(imports.values.map(\.age).max() ?? .unknown, remoteAge ?? .unknown) }
  /// The imports of the last export with the dose.
  var lastImports: Set<Int64> { Set(imports.filter { $0.value.age == lastAge }.keys) }

  func withdrawal(isHidden: Bool) -> ImportedRecord {
    let withdrawal = Withdrawal(
      .record(guid), isHidden: isHidden,
      reason: isHidden || isOneOfSecond ? RetypedDoses.corrected : RetypedDoses.restored,
      content: content.withdrawalDigest)
    var record = ImportedRecord(
      kind: .withdrawal, at: time, placement: Placement(utcOffset: 0, source: .stated),
      fields: withdrawal.fields, line: 0)
    record.guid = withdrawal.guid
    return record
  }
}
