// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

/// Items of undone imports that other imports of this store also contain. Records of the subtype `brought`
/// name these other imports, so that every store shows the items. The order of the imports does not matter.
/// Such a record never changes, and has no effect while the import that it names is undone.
struct BroughtItems {
  private let database: Database
  private let visibility: Visibility
  private let held: [WithdrawnInput]
  private let undone: Set<Int64>
  /// The imports of this store that are not undone, by their numbers.
  private let imports: [Int64: OwnImport]
  /// For each withdrawal group, the newest import at the time when the withdrawal arrived in this store.
  private let arrivals: [String: Int64]

  private struct OwnImport {
    let id: String
    /// Whether the import has precedence over withdrawals that arrived before it.
    let showsWithdrawn: Bool
  }

  /// - Parameters:
  ///   - items: the withdrawals in their current or planned state.
  ///   - ended: an import that counts as not undone, since `UndoPlan` restores it.
  ///   - begun: an import that counts as undone, since `UndoPlan` undoes it.
  init(_ items: [Visibility.WithdrawalItem], ended: Int64? = nil, begun: Int64? = nil, _ database: Database)
    throws
  {
    self.database = database
    visibility = Visibility(items)
    held = items.compactMap { item in
      guard case .input(let input) = item.withdrawal.subject, item.withdrawal.isHidden else { return nil }
      return input
    }
    var undone = try ImportContribution.undone(database)
    if let ended { undone.remove(ended) }
    if let begun { undone.insert(begun) }
    self.undone = undone
    let rows = try Row.fetchAll(
      database.cachedStatement(
        sql: "SELECT id, guid, shows_withdrawn FROM ingest WHERE NOT (\(UndoPlan.isPulled))"))
    imports = try rows.reduce(into: [:]) { imports, row in
      let row = StoredRow(row, of: "ingest")
      let ingest: Int64 = try row[0]
      if undone.contains(ingest) { return }
      imports[ingest] = OwnImport(id: try row[1], showsWithdrawn: try row[2])
    }
    let known = try Row.fetchAll(
      database.cachedStatement(sql: "SELECT withdrawal, latest FROM withdrawal_arrival"))
    arrivals = try known.reduce(into: [:]) { arrivals, row in
      let row = StoredRow(row, of: "withdrawal_arrival")
      arrivals[try row[0]] = try row[1] as Int64
    }
  }

  /// The items that records of the subtype `brought` state for an import.
  static func stated(by importID: String, _ database: Database) throws -> [WithdrawnInput] {
    guard !importID.isEmpty else { return [] }
    return try String.fetchAll(
      database.cachedStatement(
        sql: """
          SELECT fields FROM record INDEXED BY record_withdrawal_import
          WHERE kind = 'withdrawal' AND json_extract(fields, '$.import') = ? AND deleted = 0
            AND json_extract(fields, '$.subtype') = 'brought'
          """), arguments: [importID]
    ).compactMap { fields in
      guard case .brought(let input)? = Withdrawal(json: fields)?.subject else { return nil }
      return input
    }
  }

  /// Adds records of the subtype `brought` for these items.
  static func insert(_ all: [WithdrawnInput], _ database: Database, at now: Int64) throws {
    for input in all {
      try WithdrawalGroup(input.group, database, at: now).insert(input, asBrought: true)
    }
  }

  /// States that imports of this store contain these records with their present contents. The contents may
  /// also be of an import that was undone, and then the records were hidden, or had no effect as withdrawals.
  static func state(records guids: Set<String>, _ database: Database, at now: Int64) throws {
    guard !guids.isEmpty else { return }
    let brought = try BroughtItems(WithdrawalChanges.items(database), database)
    try insert(brought.missing(in: [], records: guids), database, at: now)
  }

  /// The items of these series and records that imports contain although withdrawals list them. Records of
  /// the subtype `brought` must be written for these items.
  func missing(in series: Set<SeriesName>, records guids: Set<String>) throws -> [WithdrawnInput] {
    var found: [Int64: WithdrawnInput] = [:]
    for name in series {
      guard let id = try name.stored(database) else { continue }
      for (ingest, points) in try readings(of: id, name) {
        found[ingest, default: WithdrawnInput(group: "")].points[name] = points
      }
    }
    for guid in guids {
      guard let digest = try listedDigest(of: guid), let ingest = try firstImport(ofRecord: guid) else {
        continue
      }
      found[ingest, default: WithdrawnInput(group: "")].records[guid] = digest
    }
    return found.sorted { $0.key < $1.key }.map { named($0.value, ingest: $0.key) }
  }

  /// The items of one import that withdrawals list, whether the import or the withdrawal came first.
  ///
  /// - Parameter known: readings that the import also contains but that its notes lack, by the ids of their
  ///   series.
  func listed(of claims: ImportContribution, with known: [Int64: [PointRuns]] = [:]) throws
    -> [WithdrawnInput]
  {
    var brought = try claims.readings().mapValues { [$0.points] }
    brought.merge(known) { $0 + $1 }
    var found = WithdrawnInput(group: "")
    for (series, lists) in brought {
      let name = try SeriesName.stored(series, database)
      let said = visibility.series(name)
      let points = lists.map(said.listed(in:)).reduce(PointRuns([SeriesPoint]())) { $0.union($1) }
      if !points.isEmpty { found.points[name] = points }
    }
    for guid in try claims.recordGuids() {
      if let digest = try listedDigest(of: guid) { found.records[guid] = digest }
    }
    guard !found.points.isEmpty || !found.records.isEmpty else { return [] }
    return [named(found, ingest: claims.ingest)]
  }

  /// All series and records that withdrawals list.
  var everything: (series: Set<SeriesName>, records: Set<String>) {
    (Set(visibility.listedSeries), Set(visibility.listedRecords.keys))
  }
}

extension BroughtItems {
  /// Returns the input with its import's id, and with a group that is derived from its content. So every copy
  /// of the store writes the same records.
  private func named(_ input: WithdrawnInput, ingest: Int64) -> WithdrawnInput {
    var input = input
    input.importID = imports[ingest]?.id ?? ""
    input.group = input.broughtGroup
    return input
  }

  private func readings(of series: Int64, _ name: SeriesName) throws -> [Int64: PointRuns] {
    let lists = held.compactMap { input in input.points[name].map { (arrival(of: input), $0) } }
    let ends = lists.compactMap(\.1.positions)
    guard let first = ends.map(\.lowerBound).min(), let last = ends.map(\.upperBound).max() else {
      return [:]
    }
    var (ordered, covers) = (
      visibility.series(name).ordered,
      KnownRunCursor(try KnownRun.fetch(of: series, besides: undone, database))
    )
    let start = SeriesPoint(position: first, valueBucket: .min, occurrence: .min)
    var cursors = lists.map { (latest: $0.0, cursor: PointRuns.Cursor($0.1, from: start)) }
    var found: [Int64: PointRuns.Builder] = [:]
    let rows = try RawStatement(
      keptBy: database,
      """
      SELECT r.position, r.value_bucket, r.occurrence, r.uploaded, r.ingest
      FROM series AS s CROSS JOIN reading AS r ON r.partition = s.partition AND r.series = s.id
      WHERE s.id = ?1 AND r.position >= ?2 AND r.position <= ?3
      """)
    rows.bind(series, at: 1)
    rows.bind(first, at: 2)
    rows.bind(last, at: 3)
    while try rows.step() {
      let reading = ContributedReading(
        point: rows.point(from: 0), ingest: rows.integer(4), isUploaded: rows.integer(3) == 1)
      guard ordered.lists(reading.point) else { continue }
      var latest = Int64.max
      for index in cursors.indices where cursors[index].cursor.contains(reading.point) {
        latest = min(latest, cursors[index].latest)
      }
      let own = counts(reading.ingest, latest) ? reading.ingest : nil
      let first = { covers.firstImport(of: reading) { counts($0, latest) } }
      guard let ingest = own ?? first() else { continue }
      found[ingest, default: PointRuns.Builder()].append(reading.point)
    }
    return found.mapValues { builder in
      var builder = builder
      return builder.finish()
    }
  }

  /// Whether the items of an import stay visible although a withdrawal lists them. They do if the withdrawal
  /// arrived after the import, or if the import shows withdrawn items again.
  ///
  /// - Parameter latest: the number of the newest import when the withdrawal arrived.
  private func counts(_ ingest: Int64, _ latest: Int64) -> Bool {
    imports[ingest].map { $0.showsWithdrawn || ingest <= latest } ?? false
  }

  private func arrival(of input: WithdrawnInput) -> Int64 { arrivals[input.group] ?? 0 }

  /// The digest by which a withdrawal lists a record; nil if none lists the current content.
  private func listedDigest(of guid: String) throws -> String? {
    guard let digests = visibility.listedRecords[guid],
      let row = try Row.fetchOne(
        database.cachedStatement(
          sql: """
            SELECT guid, fields, device_time, utc_offset, offset_source, deleted FROM record WHERE guid = ?
            """), arguments: [guid]
      ).map({ StoredRow($0, of: "record") })
    else { return nil }
    let content = RecordContent(
      fields: try row[1], deviceTime: try row[2], utcOffset: try row[3], offsetSource: try row[4],
      isDeleted: try row[5])
    return content.isDeleted || !digests.contains(content.withdrawalDigest) ? nil : content.withdrawalDigest
  }

  /// The first import that stated the present content of a record.
  private func firstImport(ofRecord guid: String) throws -> Int64? {
    let latest = held.filter { $0.records[guid] != nil }.map(arrival).min() ?? 0
    return try Int64.fetchAll(
      database.cachedStatement(
        sql: """
          SELECT ingest FROM (
            SELECT ingest FROM record WHERE guid = ?1 AND ingest IS NOT NULL
            UNION SELECT ingest FROM ingest_record WHERE guid = ?1
            UNION SELECT ingest FROM stated_content WHERE guid = ?1) AS brought
          WHERE NOT EXISTS (SELECT 1 FROM stated_content AS s CROSS JOIN record ON record.guid = s.guid
            WHERE s.guid = ?1 AND s.ingest = brought.ingest AND NOT \(StatedContents.isCurrent))
          ORDER BY 1
          """), arguments: [guid]
    ).first { counts($0, latest) }
  }
}
