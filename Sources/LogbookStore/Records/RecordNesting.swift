// SPDX-License-Identifier: Apache-2.0

import GRDB
package import Logbook

/// Which record may belong to which: an entry belongs to none, and what belongs to an entry has no records.
struct RecordNesting {
  private let database: Database

  init(_ database: Database) { self.database = database }

  /// Whether a record that is here would close a circle as a part of an entry, or be nested deeper than one level.
  func forbids(_ guid: String, in entry: String) throws -> Bool {
    if guid == entry { return true }
    // An entry that is not here yet has no place of its own.
    let isNested = try Bool.fetchOne(
      database.cachedStatement(
        sql: "SELECT entry_guid IS NOT NULL FROM record WHERE guid = ? AND deleted = 0"), arguments: [entry])
    return try isNested == true || !RecordEditor.children(of: guid, database).isEmpty
  }
}

extension SyncTransaction {
  /// Whether a state from elsewhere puts a record to where it cannot be. What stays where it is stays: an import may
  /// have nested it.
  ///
  /// - Parameter record: the record as it is here; nil for one that the store meets for the first time.
  package func forbidsPlace(of remote: RemoteRecord, over record: SyncRecord?) throws -> Bool {
    try forbidsPlace(of: remote.state, remote.guid, over: record)
  }

  /// Whether a state puts the record with this id to where it cannot be.
  package func forbidsPlace(of state: RecordState, _ guid: String, over record: SyncRecord?) throws -> Bool {
    guard !state.isDeleted, let entry = state.entryGuid else { return false }
    if let record, entry == record.state.entryGuid, !record.state.isDeleted { return false }
    return try RecordNesting(database).forbids(guid, in: entry)
  }

  /// Keeps a record that cannot be where the remote has it, and that was not here: it stands for itself, and is in conflict.
  /// Nobody edited it here, so that nothing of it is pending.
  package func keepApart(_ remote: RemoteRecord) throws {
    var state = remote.state
    state.entryGuid = nil
    try database.executeCached(
      sql: RecordColumns.insertion(with: ["version", "version_synced", "conflict", "conflict_revision"]),
      arguments: try RecordColumns.insertionArguments(state, placer) + [
        "guid": remote.guid, "kind": state.kind.rawValue, "version": 1, "version_synced": 1,
        "conflict": remote.state.json, "conflict_revision": remote.revision,
      ])
  }

  /// Puts records to where others moved them and where they could not be, as soon as they can: what stood in the way came
  /// before them by chance, or was decided elsewhere. Only those that nobody edited here.
  ///
  /// - Returns: their ids.
  package func settlePlaces() throws -> [String] {
    var settled: [String] = []
    while let (record, remote) = try unplacedRecords().first(where: { try !forbidsPlace(of: $1, over: $0) }) {
      try adopt(remote, over: record)
      settled.append(remote.guid)
    }
    return settled
  }

  /// What is in conflict and not pending: a state from elsewhere that only its place kept from being adopted. Statements of
  /// zones are in conflict for other reasons.
  private func unplacedRecords() throws -> [(SyncRecord, RemoteRecord)] {
    let guids = try String.fetchAll(
      database.cachedStatement(
        sql: """
          SELECT guid FROM record INDEXED BY record_conflicted
          WHERE conflict IS NOT NULL AND version = version_synced AND kind NOT IN ('zone', 'withdrawal') ORDER BY guid
          """))
    return try guids.compactMap { guid in
      guard let record = try record(guid), let revision = record.conflictRevision,
        let text = try String.fetchOne(
          database.cachedStatement(sql: "SELECT conflict FROM record WHERE guid = ?"), arguments: [guid]),
        // One that cannot be read is taken out by the upload; see `SyncTexts`.
        let state = SyncTexts(sent: nil, base: nil, conflict: text).conflict
      else { return nil }
      return (record, RemoteRecord(guid: guid, revision: revision, state: state))
    }
  }
}
