// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

/// Adds records of another store of the same person to a store, inside a transaction. The result is the same in either
/// direction.
struct RecordMerge {
  private let transaction: SyncTransaction
  /// The import of the merge; nil for records that state something about others.
  private let ingest: Int64?
  private var database: Database { transaction.database }

  init(_ database: Database, _ batch: BatchTable, ingest: Int64?) {
    transaction = SyncTransaction(database, batch)
    self.ingest = ingest
  }

  /// Which content stays of two different ones. A deletion stays, whatever the other side is. What a person wrote goes
  /// before what imports wrote, and then the later one. If both are of one moment, the digest decides, as in the other
  /// store.
  static func takes(_ theirs: SyncRecord, over mine: SyncRecord) -> Bool {
    if mine.state.isDeleted || theirs.state.isDeleted { return !mine.state.isDeleted }
    if mine.isImportedOnly != theirs.isImportedOnly { return mine.isImportedOnly }
    let times = (mine.state.editedAt ?? 0, theirs.state.editedAt ?? 0)
    return times.0 != times.1 ? times.0 < times.1 : mine.state.digest < theirs.state.digest
  }

  /// Takes a record, and returns what became of it.
  func take(_ theirs: SyncRecord) throws -> RecordWriter.Outcome {
    var outcome = RecordWriter.Outcome()
    guard let mine = try transaction.record(theirs.guid) else {
      if theirs.guid == LogbookZones.baseGuid, try !adoptsBase(theirs.state) {
        outcome.kept = 1
        return outcome
      }
      try insert(theirs)
      outcome.new = 1
      return outcome
    }
    if mine.state.agrees(with: theirs.state) {
      if theirs.state.teachesProvenance(to: mine.state), !mine.state.isDeleted { try learn(theirs) }
      outcome.known = 1
    } else if Self.takes(theirs, over: mine) {
      try write(theirs)
      outcome.updated = 1
    } else {
      outcome.kept = 1
    }
    return outcome
  }

  /// Whether a base zone replaces one that no record states yet.
  private func adoptsBase(_ state: RecordState) throws -> Bool {
    try !state.isDeleted && LogbookZones(database).origin != .given
  }

  /// The content as it is stored. What imports wrote bears no time of an edit.
  private func stored(_ theirs: SyncRecord) -> RecordState {
    var state = theirs.state
    if theirs.isImportedOnly { state.editedAt = nil }
    return state
  }

  private func imported(_ theirs: SyncRecord) -> String? {
    theirs.isImportedOnly ? RecordContent(theirs.state).text : nil
  }

  private func ingest(of theirs: SyncRecord) -> Int64? {
    theirs.state.kind.details?.isListed == true ? ingest : nil
  }

  private func insert(_ theirs: SyncRecord) throws {
    let state = stored(theirs)
    try database.executeCached(
      sql: RecordColumns.insertion(with: ["imported", "ingest"]),
      arguments: try RecordColumns.insertionArguments(state, transaction.placer) + [
        "guid": theirs.guid, "kind": state.kind.rawValue, "imported": imported(theirs),
        "ingest": ingest(of: theirs),
      ])
  }

  private func write(_ theirs: SyncRecord) throws {
    try RecordEditor.write(stored(theirs), to: theirs.guid, database)
    try database.executeCached(
      sql: "UPDATE record SET imported = coalesce(?, imported), ingest = coalesce(?, ingest) WHERE guid = ?",
      arguments: [imported(theirs), theirs.isImportedOnly ? ingest(of: theirs) : nil, theirs.guid])
  }

  private func learn(_ theirs: SyncRecord) throws {
    try database.executeCached(
      sql: "UPDATE record SET \(RecordColumns.provenanceLearned), version = version + 1 WHERE guid = :guid",
      arguments: RecordColumns.arguments(theirs.state.provenance) + ["guid": theirs.guid])
  }
}
