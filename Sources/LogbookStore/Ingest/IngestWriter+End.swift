// SPDX-License-Identifier: Apache-2.0

import GRDB
package import Logbook
import SQLiteRows

/// The end of an ingest: stores what is known only at the end, and changes withdrawals and zones.
extension IngestWriter {
  /// Stores in the row of the ingest which meter was read and what the meter's clock showed. The firmware is
  /// stored with the device.
  ///
  /// - Parameters:
  ///   - clock: what the meter's and the host's clock showed, and how far the meter's was ahead of the
  ///     logbook's local time in seconds.
  ///   - position: up to which reading the meter's memory was read; nil to keep the stored position.
  package func storeMeter(
    _ meter: Device, firmware: String, clock: (comparison: ClockComparison, difference: Int64)?,
    position: MeterPosition? = nil
  ) throws {
    try inTransaction {
      let device = try meter.addedID(database)
      if !firmware.isEmpty {
        try database.execute(
          sql: "UPDATE device SET firmware = ? WHERE id = ?", arguments: [firmware, device])
      }
      try database.execute(
        sql: """
          UPDATE ingest SET meter = ?, firmware = ?, clock_meter = ?, clock_host = ?, clock_difference = ?
          WHERE id = ?
          """,
        arguments: [
          device, firmware.isEmpty ? nil : firmware, clock?.comparison.meter.seconds, clock?.comparison.host,
          clock?.difference, id,
        ])
      if let position { try StoredPosition(position).save(device, database) }
    }
  }

  /// Ends the ingest: updates withdrawals and zones, and stores how the input ended.
  ///
  /// - Parameter digest: the SHA-256 of the input; nil for a session with a meter, which has no bytes.
  package func finish(
    end: InputEnd, digest: String?, generatedAt: Int64?, finishedAt: Int64, decisions: [Decision]
  ) throws {
    precondition(unsortedSpool == nil, "readings are buffered for storeSpooled")
    try inTransaction {
      try database.executeCached(
        sql: """
          UPDATE ingest SET digest = ?, generated_at = ?, finished_at = ?, outcome = ?, decisions = ?
          WHERE id = ?
          """,
        arguments: [
          digest, generatedAt, finishedAt, end == .whole ? "whole" : "truncated",
          try decisionsJSON(decisions),
          id,
        ])
      // All inputs with equal bytes get the earliest of their times, since a copy of a file may have a later
      // time. The time of an input without a file is when its import began.
      try database.executeCached(
        sql: """
          UPDATE ingest SET modified_at = (SELECT min(coalesce(modified_at, started_at)) FROM ingest WHERE digest = ?1)
          WHERE id = ?2 AND ?1 <> ''
          """, arguments: [digest, id])
      try state.notes.save(database)
      try restoreOrHide(at: finishedAt)
      try countNewEqualRows()
      if end == .whole, !state.isUndone { try withdrawCorrected(at: finishedAt) }
      try stateZone(at: finishedAt)
      try ActionLog.forget(at: finishedAt, database)
      if counts.newReadings + counts.newRecords + counts.updatedRecords + counts.deletedRecords > 0 {
        try database.executeCached(sql: "DELETE FROM redo")
      }
      try saveCounts()
    }
    if isAtomic { try database.commit() }
  }

  /// Ends a failed ingest. Committed batches stay, and buffered readings are stored if possible. An atomic
  /// ingest stores nothing.
  func abandon() {
    defer {
      readings = nil
      records = nil
      corrections = nil
      deletions = nil
      otherKind = nil
    }
    do {
      if database.isInsideTransaction { try database.rollback() }
      // If the ingest has no row yet, the store was locked. Nothing is written, since the wait for the lock
      // would probably fail again.
      guard !isAtomic, id != 0, try isOwnStore() else { return }
      try database.executeCached(sql: "UPDATE ingest SET outcome = 'failed' WHERE id = ?", arguments: [id])
      try state.notes.save(database)
      if unsortedSpool != nil {
        try storeSpooled { _ in }
        try state.notes.save(database)
      }
      // The stored items must keep the zone that a person gave for the input, so it is stated even after a
      // failure.
      let items = state.counts.newReadings + state.counts.knownReadings + state.counts.newRecords
      guard items + state.counts.knownRecords + state.counts.keptRecords > 0 else { return }
      try inTransaction { try stateZone(at: source.startedAt) }
    } catch {
      // This error is ignored, since the caller reports the error that ended the ingest. If a full disk
      // refuses these writes, too, SQLite rolls back when the connection closes. The ingest then stays
      // `running`, as after a kill.
    }
  }
}

extension IngestWriter {
  /// Withdraws hand-typed readings that this input corrects. The withdrawals are not items of the input, and
  /// are counted separately.
  private func withdrawCorrected(at now: Int64) throws {
    if let corrections {
      let written = try corrections.write()
      state.counts.correctedReadings += written.count
      try BroughtItems.state(records: written.guids, database, at: now)
    }
    guard let records, !source.isMerge, !state.statesIdentities else { return }
    // The doses that this import hid or showed so far must be known.
    try WithdrawalChanges.apply(database, withdrawals)
    var doses = RetypedDoses(database, ingest: id)
    let amounts = try CorrectedAmounts.pairs(database, ingest: id, source.format)
    let (updated, kept) = try doses.write(records.retypedPairs, amounts: amounts)
    try BroughtItems.state(records: doses.withdrawals, database, at: now)
    state.counts.newRecords -= updated + kept
    state.counts.updatedRecords += updated
    state.counts.keptRecords += kept
    retyped = doses
  }

  /// Counts the equal rows of doses and meals that no earlier import had. So an injection in two equal parts
  /// is reported when an export first has the second part, also if the first part is known.
  private func countNewEqualRows() throws {
    guard !state.counts.equalRows.isEmpty else { return }
    let earlier = try Row.fetchAll(
      database.cachedStatement(
        sql: """
          SELECT e.key, max(e.value) FROM ingest AS i
            CROSS JOIN json_each(CASE WHEN json_valid(i.counts) THEN i.counts END, '$.equal_rows') AS e
          WHERE i.id <> ? AND i.outcome IN ('whole', 'truncated') AND NOT \(ImportContribution.isUndone(of: "i"))
          GROUP BY e.key
          """), arguments: [id]
    ).reduce(into: [String: Int]()) { rows, row in
      let row = StoredRow(row, of: "ingest")
      rows[try row[0]] = try row[1]
    }
    state.counts.repeatedAmounts = state.counts.equalRows.reduce(0) {
      $0 + max(0, $1.value - (earlier[$1.key] ?? 0))
    }
  }

  /// Whether the statement about the zone that a person gave for the input will list the items of this
  /// import.
  func listsItems() throws -> Bool {
    guard let zone = source.zone?.given else { return false }
    return try StatedZone(zone, ingest: id, database).listsItems(LogbookZones(database))
  }

  /// The records of this import if `listsItems` was false at its beginning. If another process set a base
  /// zone meanwhile, the statement lists them.
  private func storedRecords() throws -> Set<String> {
    guard try listsItems() else { return [] }
    return Set(
      try String.fetchAll(
        database,
        sql: """
          SELECT guid FROM record WHERE ingest = ?1 UNION SELECT guid FROM ingest_record WHERE ingest = ?1
          """, arguments: [id]))
  }

  /// Stores the zone that a person gave for the input, as a zone record about the items of this import.
  private func stateZone(at now: Int64) throws {
    guard let zone = source.zone?.given, let records else { return }
    var given = state.given
    given.records = try records.brought ?? storedRecords()
    given.new = state.stretches.mapValues(\.positions)
    let result = try StatedZone(zone, ingest: id, database).state(given, at: now)
    if !result.statements.isEmpty { _ = try records.write(result.statements) }
    (state.counts.periodItems, state.counts.movedItems) = (result.otherwise, result.moved)
  }
}
