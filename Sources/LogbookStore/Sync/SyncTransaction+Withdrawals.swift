// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

extension SyncTransaction {
  /// Writes contents of this store's imports again that contents of other stores replaced, if those are
  /// withdrawn or of earlier exports. The records are pending afterwards. Must be called with the last page
  /// of a pull, when all withdrawals are known.
  ///
  /// A pending record is left for the next pull, since a sync changes the content of synced records only.
  package func restoreReplaced(at now: Int64) throws {
    let replaced = try StatedContents(database).replaced()
    for (guid, statement) in replaced {
      var state = statement.state
      state.editedAt = now
      try database.executeCached(
        sql: """
          UPDATE record SET \(RecordColumns.assignments), imported = :imported, ingest = :ingest
          WHERE guid = :guid AND version = version_synced
          """,
        arguments: try RecordColumns.arguments(state, placer) + [
          "imported": RecordContent(state).text, "ingest": statement.ingest, "guid": guid,
        ])
      _ = try requeue(record: guid)
    }
    try BroughtItems.state(records: Set(replaced.map(\.guid)), database, at: now)
  }

  /// Writes records which state that items of a withdrawal from the remote were also imported into this
  /// store. Must be called after a page was applied, in the same transaction.
  package func stateBrought(at now: Int64) throws {
    let changed = try String.fetchAll(
      database.cachedStatement(sql: "SELECT DISTINCT fields FROM changed_withdrawal")
    ).compactMap { Withdrawal(json: $0) }
    guard !changed.isEmpty else { return }
    let brought = try BroughtItems(WithdrawalChanges.items(database), database)
    var (series, records) = (Set<SeriesName>(), Set<String>())
    var imports: Set<String> = []
    for case .input(let input) in changed.map(\.subject) {
      // The withdrawal undoes an import of this store, but was made in a copy of the store. Any withdrawal
      // may list items of this import, so all of them are checked.
      if try isOwnImport(input.importID) {
        (series, records) = brought.everything
        break
      }
      let isFirst = imports.insert(input.importID).inserted
      for listed in try [input] + (isFirst ? BroughtItems.stated(by: input.importID, database) : []) {
        series.formUnion(listed.points.keys)
        records.formUnion(listed.records.keys)
      }
    }
    let missing = try brought.missing(in: series, records: records)
    try BroughtItems.insert(missing, database, at: now)
    try requeueOnSite(missing, at: now)
    // Readings that other programs wrote on the site stay visible, even if another store's withdrawal lists
    // them.
    let pulled = try Int64.fetchOne(
      database.cachedStatement(sql: "SELECT max(id) FROM ingest WHERE \(UndoPlan.isPulled)"))
    if let pulled { _ = try restate(readingsInForeignDocuments(in: series), by: pulled, at: now) }
  }

  /// States that readings of undone imports are also on the remote in documents of other programs. Such
  /// readings count as an import of the site, which no undo hides.
  ///
  /// - Parameters:
  ///   - points: the readings in documents of other programs, by the ids of their series.
  ///   - ingest: the ingest of the readings from the remote.
  /// - Returns: the number of these readings that withdrawals of imports listed.
  func restate(_ points: [Int64: [SeriesPoint]], by ingest: Int64, at now: Int64) throws -> Int {
    guard !points.isEmpty else { return 0 }
    let visibility = try Visibility(WithdrawalChanges.items(database))
    var input = WithdrawnInput(group: "")
    for (series, points) in points {
      let name = try SeriesName.stored(series, database)
      let listed = visibility.series(name).listed(in: PointRuns(Set(points).sorted()))
      if !listed.isEmpty { input.points[name] = listed }
    }
    guard !input.points.isEmpty else { return 0 }
    let id = try String.fetchOne(
      database.cachedStatement(sql: "SELECT guid FROM ingest WHERE id = ?"), arguments: [ingest])
    input.importID = id ?? ""
    input.group = input.broughtGroup
    try BroughtItems.insert([input], database, at: now)
    return Int(input.points.values.reduce(0) { $0 + $1.count })
  }

  /// The readings of these series that earlier pulls found in documents of other programs.
  func readingsInForeignDocuments(in series: some Collection<SeriesName>) throws -> [Int64: [SeriesPoint]] {
    var found: [Int64: [SeriesPoint]] = [:]
    for name in series {
      guard let id = try name.stored(database) else { continue }
      let rows = try RawStatement(
        keptBy: database,
        "SELECT DISTINCT position, value_bucket, occurrence FROM same_as WHERE series = ?1")
      rows.bind(id, at: 1)
      while try rows.step() { found[id, default: []].append(rows.point(from: 0)) }
    }
    return found
  }

  private func isOwnImport(_ importID: String) throws -> Bool {
    try Bool.fetchOne(
      database.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM ingest WHERE guid = ?)"),
      arguments: [importID]) ?? false
  }
}
