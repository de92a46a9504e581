// SPDX-License-Identifier: Apache-2.0

import GRDB
package import Logbook

/// Which record may belong to which: an entry belongs to none, and a record that belongs to an entry has no
/// records.
struct RecordNesting {
  private let database: Database

  init(_ database: Database) { self.database = database }

  /// Whether a local record as part of an entry would close a circle, or be nested deeper than one level.
  func forbids(_ guid: String, in entry: String) throws -> Bool {
    if guid == entry { return true }
    // An entry that is not in the store yet is not nested.
    let isNested = try Bool.fetchOne(
      database.cachedStatement(
        sql: "SELECT entry_guid IS NOT NULL FROM record WHERE guid = ? AND deleted = 0"), arguments: [entry])
    return try isNested == true || !RecordEditor.children(of: guid, database).isEmpty
  }
}

extension SyncTransaction {
  /// Whether a remote state moves a record to a place that is not allowed. A record that stays in its place
  /// is allowed, since an import may have nested it.
  ///
  /// - Parameter record: the local record; nil if the store does not have it yet.
  package func forbidsPlace(of remote: RemoteRecord, over record: SyncRecord?) throws -> Bool {
    try forbidsPlace(of: remote.state, remote.guid, over: record)
  }

  /// Whether a state moves the record with this id to a place that is not allowed.
  package func forbidsPlace(of state: RecordState, _ guid: String, over record: SyncRecord?) throws -> Bool {
    guard !state.isDeleted, let entry = state.entryGuid else { return false }
    if let record, entry == record.state.entryGuid, !record.state.isDeleted { return false }
    return try RecordNesting(database).forbids(guid, in: entry)
  }

  /// Stores a record that is new here and cannot be where the remote has it: as a separate entry, in
  /// conflict. It has no local edit, so nothing of it is pending.
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

  /// Moves records to the places where the remote has them, as soon as these are allowed. The obstacle
  /// arrived earlier by chance, or was resolved on another node. Only records without local edits are moved.
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

  /// Records in conflict that are not pending: only the place of the remote state prevented its adoption.
  /// Statements of zones are in conflict for other reasons.
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
        // The upload handles a state that cannot be read; see `SyncTexts`.
        let state = SyncTexts(sent: nil, base: nil, conflict: text).conflict
      else { return nil }
      return (record, RemoteRecord(guid: guid, revision: revision, state: state))
    }
  }
}
