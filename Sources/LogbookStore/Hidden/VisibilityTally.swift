// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

/// Counts the visible items that planned withdrawals would hide, and the hidden items that they would show.
struct VisibilityTally {
  private(set) var hiddenReadings = 0
  /// The number of readings in `hiddenReadings` that the remote has.
  private(set) var hiddenUploaded = 0
  private(set) var shownReadings = 0
  private(set) var shownUploaded = 0
  private(set) var hiddenRecords = 0
  private(set) var shownRecords = 0

  /// - Parameters:
  ///   - items: the withdrawals in their planned state.
  ///   - changed: the withdrawals that begin or end.
  init(_ items: [Visibility.WithdrawalItem], changed: [WithdrawnInput], _ database: Database) throws {
    let visibility = Visibility(items)
    var ranges: [SeriesName: ClosedRange<Int64>] = [:]
    func add(_ name: SeriesName, _ positions: ClosedRange<Int64>) {
      let known = ranges[name] ?? positions
      let (first, last) = (known.lowerBound, known.upperBound)
      ranges[name] = min(first, positions.lowerBound)...max(last, positions.upperBound)
    }
    var guids: Set<String> = []
    for input in changed {
      for (name, runs) in input.points { if let positions = runs.positions { add(name, positions) } }
      for guid in input.records.keys {
        guids.insert(guid)
        // If the record is a withdrawal that an import wrote, it hides another item, which must be counted,
        // too.
        switch try Self.hiddenItem(guid, database) {
        case .reading(let identity): add(SeriesName(identity), identity.position...identity.position)
        case .record(let hidden): guids.insert(hidden)
        case .input, .brought, .device, nil: break
        }
      }
    }
    for (name, positions) in ranges {
      guard let series = try name.stored(database) else { continue }
      try WithdrawnReadings(series, visibility.series(name), database).count(in: positions, &self)
    }
    try count(guids, visibility, database)
  }

  mutating func add(wasShown: Bool, isShown: Bool, isUploaded: Bool) {
    guard wasShown != isShown else { return }
    if wasShown {
      hiddenReadings += 1
      if isUploaded { hiddenUploaded += 1 }
    } else {
      shownReadings += 1
      if isUploaded { shownUploaded += 1 }
    }
  }

  private static func hiddenItem(_ guid: String, _ database: Database) throws -> Withdrawal.Subject? {
    let fields = try String.fetchOne(
      database.cachedStatement(sql: "SELECT fields FROM record WHERE guid = ? AND kind = 'withdrawal'"),
      arguments: [guid])
    return fields.flatMap { Withdrawal(json: $0)?.subject }
  }

  /// Counts the records that lists show, with the records that belong to them.
  private mutating func count(_ guids: Set<String>, _ visibility: Visibility, _ database: Database) throws {
    var counted: Set<String> = []
    for guid in guids {
      let rows = try Row.fetchAll(
        database.cachedStatement(
          sql: """
            SELECT guid, fields, device_time, utc_offset, offset_source, entry_guid, \(Withdrawn.record)
            FROM record WHERE (guid = ?1 OR entry_guid = ?1) AND deleted = 0 AND NOT \(Withdrawn.isStatement)
            """), arguments: [guid])
      for row in rows {
        let row = StoredRow(row, of: "record")
        let id: String = try row[0]
        guard counted.insert(id).inserted else { continue }
        let content = RecordContent(
          fields: try row[1], deviceTime: try row[2], utcOffset: try row[3], offsetSource: try row[4],
          isDeleted: false)
        let entry: String? = try row[5]
        let isHidden =
          try visibility.hides(record: id, digest: content.withdrawalDigest)
          || entry.map { try hides($0, visibility, database) } ?? false
        let wasHidden: Bool = try row[6]
        if isHidden, !wasHidden { hiddenRecords += 1 }
        if wasHidden, !isHidden { shownRecords += 1 }
      }
    }
  }

  private func hides(_ guid: String, _ visibility: Visibility, _ database: Database) throws -> Bool {
    let row = try Row.fetchOne(
      database.cachedStatement(
        sql: "SELECT guid, fields, device_time, utc_offset, offset_source, deleted FROM record WHERE guid = ?"
      ),
      arguments: [guid]
    ).map { StoredRow($0, of: "record") }
    guard let row else { return false }
    let content = RecordContent(
      fields: try row[1], deviceTime: try row[2], utcOffset: try row[3], offsetSource: try row[4],
      isDeleted: try row[5])
    return !content.isDeleted && visibility.hides(record: guid, digest: content.withdrawalDigest)
  }
}
