// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

/// Updates the tables of hidden items. It runs at the end of each transaction that changed a withdrawal, or
/// that stored readings while withdrawals exist.
struct WithdrawalChanges {
  private let database: Database
  private let visibility: Visibility
  /// For each series, the range of positions in which the visibility may have changed.
  private var ranges: [Int64: ClosedRange<Int64>] = [:]
  private var guids: Set<String> = []
  /// The records in `guids` that were looked up, and the imports whose stated items were added. An undo of
  /// many items has a withdrawal for each part of them.
  private var (lookedUp, imports): (Set<String>, Set<String>) = ([], [])

  /// Applies all changes that were noted in this transaction.
  ///
  /// - Parameter known: a cache of decoded withdrawals.
  static func apply(_ database: Database, _ known: WithdrawalCache = WithdrawalCache()) throws {
    let hasChanged = """
      SELECT EXISTS (SELECT 1 FROM changed_withdrawal) OR EXISTS (SELECT 1 FROM changed_series)
        OR EXISTS (SELECT 1 FROM changed_record)
      """
    guard try Bool.fetchOne(database.cachedStatement(sql: hasChanged)) == true else { return }
    var changes = WithdrawalChanges(database, try known.visibility(database))
    try changes.collect()
    for (series, positions) in changes.ranges.sorted(by: { $0.key < $1.key }) {
      try changes.judge(series, positions)
    }
    for guid in changes.guids { try changes.judge(record: guid) }
    for table in ["withdrawal", "series", "record"] {
      try database.executeCached(sql: "DELETE FROM changed_\(table)")
    }
  }

  private init(_ database: Database, _ visibility: Visibility) {
    (self.database, self.visibility) = (database, visibility)
  }

  /// Every withdrawal that this program understands.
  static func items(_ database: Database) throws -> [Visibility.WithdrawalItem] {
    let rows = try Row.fetchCursor(
      database.cachedStatement(
        sql: """
          SELECT guid, device_time, utc_offset, offset_source, fields FROM record INDEXED BY record_withdrawing
          WHERE kind = 'withdrawal' AND deleted = 0 ORDER BY guid
          """))
    var items: [Visibility.WithdrawalItem] = []
    while let row = try rows.next() {
      let row = StoredRow(row, of: "record")
      let (guid, fields): (String, String) = (try row[0], try row[4])
      guard let withdrawal = Withdrawal(json: fields) else { continue }
      let content = RecordContent(
        fields: fields, deviceTime: try row[1], utcOffset: try row[2], offsetSource: try row[3],
        isDeleted: false)
      items.append(.init(guid: guid, withdrawal, digest: content.withdrawalDigest))
    }
    return items
  }
}

// MARK: - Changes

extension WithdrawalChanges {
  private mutating func collect() throws {
    for fields in try String.fetchAll(
      database.cachedStatement(sql: "SELECT DISTINCT fields FROM changed_withdrawal"))
    {
      if let withdrawal = Withdrawal(json: fields) { try add(withdrawal) }
    }
    let rows = try Row.fetchAll(
      database.cachedStatement(
        sql: "SELECT series, min(first_position), max(last_position) FROM changed_series GROUP BY series"))
    for row in rows {
      let row = StoredRow(row, of: "changed_series")
      let positions = try row.range(1)
      add(try row[0], positions.lowerBound, positions.upperBound)
    }
    for guid in try String.fetchAll(database.cachedStatement(sql: "SELECT guid FROM changed_record")) {
      try add(record: guid)
    }
  }

  private mutating func add(_ withdrawal: Withdrawal) throws {
    switch withdrawal.subject {
    case .input(let input):
      try add(input)
      // While the import was not undone, it made items of other imports visible. These items are also
      // checked.
      guard imports.insert(input.importID).inserted else { return }
      for brought in try BroughtItems.stated(by: input.importID, database) { try add(brought) }
    case .brought(let input): try add(input)
    case .device(let rule):
      for series in try Int64.fetchAll(
        database.cachedStatement(
          sql: "SELECT s.id FROM series AS s JOIN device AS d ON d.id = s.device WHERE d.identity = ?"),
        arguments: [rule.device])
      { add(series, .min, .max) }
    case .reading(let identity):
      if let series = try SeriesName(identity).stored(database) {
        add(series, identity.position, identity.position)
      }
    case .record(let guid): try add(record: guid)
    }
  }

  private mutating func add(_ input: WithdrawnInput) throws {
    for (name, runs) in input.points {
      guard let series = try name.stored(database), let positions = runs.positions else { continue }
      add(series, positions.lowerBound, positions.upperBound)
    }
    for guid in input.records.keys { try add(record: guid) }
  }

  private mutating func add(_ series: Int64, _ first: Int64, _ last: Int64) {
    let known = ranges[series] ?? first...last
    ranges[series] = min(known.lowerBound, first)...max(known.upperBound, last)
  }

  /// Adds a changed record. It may itself be a withdrawal, so the reading or record that it hides or shows is
  /// added, too.
  private mutating func add(record guid: String) throws {
    guard lookedUp.insert(guid).inserted else { return }
    guids.insert(guid)
    let fields = try String.fetchOne(
      database.cachedStatement(sql: "SELECT fields FROM record WHERE guid = ? AND kind = 'withdrawal'"),
      arguments: [guid])
    guard let fields, let subject = Withdrawal(json: fields)?.subject else { return }
    if case .record(let hidden) = subject { guids.insert(hidden) }
    guard case .reading(let identity) = subject, let series = try SeriesName(identity).stored(database)
    else { return }
    add(series, identity.position, identity.position)
  }
}

// MARK: - Consequences

extension WithdrawalChanges {
  private func judge(_ series: Int64, _ positions: ClosedRange<Int64>) throws {
    let said = visibility.series(try SeriesName.stored(series, database))
    try WithdrawnReadings(series, said, database).update(positions)
  }

  private func judge(record guid: String) throws {
    let row = try Row.fetchOne(
      database.cachedStatement(
        sql: "SELECT guid, device_time, utc_offset, offset_source, fields, deleted FROM record WHERE guid = ?"
      ),
      arguments: [guid]
    ).map { StoredRow($0, of: "record") }
    var isHidden = false
    if let row {
      let content = RecordContent(
        fields: try row[4], deviceTime: try row[1], utcOffset: try row[2], offsetSource: try row[3],
        isDeleted: try row[5])
      isHidden = !content.isDeleted && visibility.hides(record: guid, digest: content.withdrawalDigest)
    }
    if isHidden || visibility.names(record: guid) {
      try database.executeCached(
        sql: "INSERT OR REPLACE INTO listed_record VALUES (?, ?)", arguments: [guid, isHidden])
    } else {
      try database.executeCached(sql: "DELETE FROM listed_record WHERE guid = ?", arguments: [guid])
    }
  }
}

extension RawStatement {
  /// The `SeriesPoint` in three columns, from `column` on.
  @inline(__always) func point(from column: Int32) -> SeriesPoint {
    SeriesPoint(
      position: integer(column), valueBucket: integer(column + 1), occurrence: integer(column + 2))
  }
}

extension SeriesName {
  /// The id of the series in the store; nil if the store does not have the series.
  func stored(_ database: Database) throws -> Int64? {
    try Int64.fetchOne(
      database.cachedStatement(
        sql: """
          SELECT s.id FROM series AS s JOIN device AS d ON d.id = s.device
          WHERE d.identity = ? AND s.kind = ? AND s.position_kind = ?
          """), arguments: [device, Int(kind.rawValue), Int(positionKind.rawValue)])
  }

  /// The `SeriesName` of a stored series.
  static func stored(_ series: Int64, _ database: Database) throws -> SeriesName {
    let row = try Row.fetchOne(
      database.cachedStatement(
        sql: """
          SELECT s.id, d.identity, s.kind, s.position_kind
          FROM series AS s JOIN device AS d ON d.id = s.device WHERE s.id = ?
          """), arguments: [series])
    guard let row = row.map({ StoredRow($0, of: "series") }) else {
      throw DamagedRow("series", ["id": series], "missing")
    }
    return SeriesName(device: try row[1], kind: try row.code(2), positionKind: try row.code(3))
  }
}
