// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

/// Items of withdrawn imports that other imports of this store brought as well. Separate records state this,
/// so that the items are visible on every store, in whichever order the imports ran. Such a record never
/// changes: it is valid until its import is undone.
struct BroughtItems {
  private let database: Database
  private let visibility: Visibility
  private let held: [WithdrawnInput]
  private let undone: Set<Int64>
  /// The imports of this store that are not undone, by number.
  private let imports: [Int64: OwnImport]
  /// The newest import at the time when a withdrawal arrived, by its group.
  private let arrivals: [String: Int64]

  private struct OwnImport {
    let id: String
    /// Whether it has priority over withdrawals that arrived before it.
    let showsWithdrawn: Bool
  }

  /// - Parameters:
  ///   - items: the withdrawals, in their current or planned state.
  ///   - ended: an import that is no longer undone in them.
  ///   - begun: an import that is undone only in them.
  init(_ items: [Visibility.Item], ended: Int64? = nil, begun: Int64? = nil, _ database: Database) throws {
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

  /// The statements in the records of an import.
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

  /// Adds the records.
  static func insert(_ all: [WithdrawnInput], _ database: Database, at now: Int64) throws {
    for input in all {
      try WithdrawalGroup(input.group, database, at: now).insert(input, asBrought: true)
    }
  }

  /// The listed items of these series and records that an import brought and that must stay visible.
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

  /// The items of one import that withdrawals list, in any order of the import and the withdrawal.
  ///
  /// - Parameter met: readings by series that the import also brought, even if it did not note them.
  func listed(of claims: ImportContribution, with met: [Int64: [PointRuns]] = [:]) throws -> [WithdrawnInput]
  {
    var brought = try claims.readings().mapValues { [$0.points] }
    brought.merge(met) { $0 + $1 }
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

  /// All series and records with listed items.
  var everything: (series: Set<SeriesName>, records: Set<String>) {
    (Set(visibility.listedSeries), Set(visibility.listedRecords.keys))
  }
}

extension BroughtItems {
  /// The same content has the same ids in every copy of the store.
  private func named(_ input: WithdrawnInput, ingest: Int64) -> WithdrawnInput {
    var input = input
    input.importID = imports[ingest]?.id ?? ""
    let content = Withdrawal(.brought(input), isHidden: false).fields.json
    input.group = Digest.uuid(of: ["brought", input.importID, content])
    return input
  }

  private func readings(of series: Int64, _ name: SeriesName) throws -> [Int64: PointRuns] {
    let lists = held.compactMap { input in input.points[name].map { (arrival(of: input), $0) } }
    let ends = lists.compactMap(\.1.positions)
    guard let first = ends.map(\.lowerBound).min(), let last = ends.map(\.upperBound).max() else {
      return [:]
    }
    var (ordered, covers) = (
      visibility.series(name).ordered, RunCover(try KnownRun.fetch(of: series, besides: undone, database))
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
      let met = { covers.firstImport(of: reading) { counts($0, latest) } }
      guard let ingest = own ?? met() else { continue }
      found[ingest, default: PointRuns.Builder()].append(reading.point)
    }
    return found.mapValues { builder in
      var builder = builder
      return builder.finish()
    }
  }

  /// Whether the items of an import stay visible, although a withdrawal lists them that arrived after the
  /// import.
  ///
  /// - Parameter latest: the newest import when the withdrawal arrived.
  private func counts(_ ingest: Int64, _ latest: Int64) -> Bool {
    imports[ingest].map { $0.showsWithdrawn || ingest <= latest } ?? false
  }

  private func arrival(of input: WithdrawnInput) -> Int64 { arrivals[input.group] ?? 0 }

  /// The digest with which a withdrawal lists a record; nil if none lists its current content.
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

  private func firstImport(ofRecord guid: String) throws -> Int64? {
    let latest = held.filter { $0.records[guid] != nil }.map(arrival).min() ?? 0
    return try Int64.fetchAll(
      database.cachedStatement(
        sql: """
          SELECT ingest FROM record WHERE guid = ?1 AND ingest IS NOT NULL
          UNION SELECT ingest FROM ingest_record WHERE guid = ?1 ORDER BY 1
          """), arguments: [guid]
    ).first { counts($0, latest) }
  }
}
