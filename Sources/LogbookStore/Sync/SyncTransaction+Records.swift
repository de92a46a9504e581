// SPDX-License-Identifier: Apache-2.0

import GRDB
package import Logbook
import SQLiteRows

/// The two phases in which records are sent: all entries come before the records that belong to them.
package enum PushPhase: Hashable, Sendable {
  case entries
  /// Records that belong to an entry.
  case children
}

extension SyncTransaction {
  /// The SQL condition that the remote refused the entry of a record. The record is then not sent, either.
  private static let waitsForEntry = """
    EXISTS (SELECT 1 FROM record AS entry WHERE entry.guid = record.entry_guid AND entry.version_synced = 0
      AND entry.quarantined_version = entry.version)
    """

  /// The record with this id; nil if there is none.
  package func record(_ guid: String) throws -> SyncRecord? {
    try Row.fetchOne(
      database.cachedStatement(sql: "SELECT \(SyncRecord.columns) FROM record WHERE guid = ?"),
      arguments: [guid]
    ).map(SyncRecord.init)
  }

  /// Every record, including tombstones.
  package func allRecords() throws -> [SyncRecord] {
    try Row.fetchAll(database.cachedStatement(sql: "SELECT \(SyncRecord.columns) FROM record ORDER BY guid"))
      .map(
        SyncRecord.init)
  }

  /// Creates the record of the base zone if it does not exist. It is not pending, since only a store that
  /// joins a remote sends it. So a failed upload leaves no pending record.
  package func stateBaseZone() throws {
    guard try record(LogbookZones.baseGuid) == nil else { return }
    try RecordEditor.insert(LogbookZones.unjoinedBase(database), LogbookZones.baseGuid, database)
    try holdBackBaseZone()
    // The record states the zone that already applies, so no offset must be derived again.
    try database.executeCached(
      sql: "DELETE FROM changed_statement WHERE guid = ?", arguments: [LogbookZones.baseGuid])
  }

  /// Whether the remote already has a record of the base zone of this store.
  package func hasJoinedBaseZone() throws -> Bool {
    try Bool.fetchOne(
      database.cachedStatement(sql: "SELECT revision IS NOT NULL FROM record WHERE guid = ?"),
      arguments: [LogbookZones.baseGuid]) ?? false
  }

  /// Marks the record of the base zone as not pending, since the login may only read. The remote's base zone
  /// replaces it later.
  package func holdBackBaseZone() throws {
    try database.executeCached(
      sql: """
        UPDATE record SET version_synced = version, sent_version = NULL, sent = NULL
        WHERE guid = ? AND revision IS NULL
        """, arguments: [LogbookZones.baseGuid])
  }

  /// At most `limit` pending records, ordered by when they were first edited.
  ///
  /// - Parameters:
  ///   - heldBack: the guids of records that this upload cannot send.
  ///   - leavesOutWithdrawn: whether to leave out hidden records.
  package func pendingRecords(
    _ phase: PushPhase, limit: Int, heldBack: Set<String>, leavesOutWithdrawn: Bool = false
  ) throws -> [SyncRecord] {
    guard try database.hasRow(in: "queued WHERE aspect = 'record'") else { return [] }
    let relation = phase == .entries ? "record.entry_guid IS NULL" : "record.entry_guid IS NOT NULL"
    let rows = try Row.fetchCursor(
      database.cachedStatement(
        sql: """
          SELECT \(SyncRecord.columns) FROM queued INDEXED BY queued_record
            CROSS JOIN record ON record.guid = queued.record
          WHERE queued.aspect = 'record' AND \(RecordCondition.isPending) AND \(relation)
            AND NOT \(Self.waitsForEntry) AND \(leavesOutWithdrawn ? "NOT \(Withdrawn.recordIsUnsent)" : "TRUE")
          ORDER BY queued.number, queued.record
          """))
    var records: [SyncRecord] = []
    while records.count < limit, let row = try rows.next() {
      if !heldBack.contains(try StoredRow(row, of: "record")[0]) { records.append(try SyncRecord(row)) }
    }
    return records
  }

  /// Whether there is a pending record that this upload can send.
  package func hasPendingRecords(
    heldBack: Set<String>, leavesOutWithdrawn: Bool = false
  ) throws -> Bool {
    try [PushPhase.entries, .children].contains { phase in
      try !pendingRecords(phase, limit: 1, heldBack: heldBack, leavesOutWithdrawn: leavesOutWithdrawn).isEmpty
    }
  }

  /// Whether the record is not sent because the remote refused its entry.
  package func waitsForEntry(_ guid: String) throws -> Bool {
    try Bool.fetchOne(
      database.cachedStatement(sql: "SELECT \(Self.waitsForEntry) FROM record WHERE guid = ?"),
      arguments: [guid]) ?? false
  }

  /// The change to send for a record. If a change was sent without a response, the same change is sent again.
  /// Otherwise, it has the current content, and is stored before it is sent.
  package func prepare(_ record: SyncRecord, node: String) throws -> RecordChange {
    if let sent = record.sent { return sent }
    let change = RecordChange(
      guid: record.guid, node: node, version: record.version, base: record.revision, state: record.state)
    try database.executeCached(
      sql: "UPDATE record SET sent_version = version, sent = ? WHERE guid = ?",
      arguments: [change.json, record.guid])
    return change
  }

  /// Stores that the remote has accepted the sent version. This version becomes the synced one, not the
  /// current one, so an edit during the request stays pending.
  package func acknowledge(_ record: SyncRecord, revision: String) throws {
    guard let sent = record.sent else { return }
    try database.executeCached(
      sql: """
        UPDATE record SET version_synced = sent_version, base = ?, revision = ?, sent_version = NULL, sent = NULL
        WHERE guid = ?
        """,
      arguments: [sent.state.json, revision, record.guid])
  }

  /// Removes the sent change, since the remote has answered it. The record stays pending.
  package func forgetSent(_ guid: String) throws {
    try database.executeCached(
      sql: "UPDATE record SET sent_version = NULL, sent = NULL WHERE guid = ?", arguments: [guid])
  }

  /// Replaces the state of a record by the remote's. The record is then neither pending nor in conflict.
  package func adopt(_ remote: RemoteRecord, over record: SyncRecord?) throws {
    guard let record else {
      try insert(remote)
      return try SourceDeletions.storeValid(besides: remote.state, of: remote.guid, database)
    }
    try StatedContents(database).storeContent(of: record, replacedBy: remote.state)
    if let age = remote.state.export, record.isImportedOnly, record.state.agrees(with: remote.state),
      record.base?.export != age
    {
      try StatedContents(database).storeOtherAge(age, of: record.guid)
    }
    if record.isPending { try endUnsentVersion(record.guid) }
    try database.executeCached(
      sql: """
        UPDATE record SET version_synced = version, base = :base, revision = :revision, sent_version = NULL,
          sent = NULL, conflict = NULL, conflict_revision = NULL, quarantine = NULL, quarantined_version = NULL,
          \(Self.assignments(of: remote.state, over: record))
        WHERE guid = :guid
        """, arguments: try arguments(remote.state, of: remote, over: record))
  }

  /// Stores a merged state. It is based on the remote's state, and stays pending.
  package func merge(_ state: RecordState, onto remote: RemoteRecord, over record: SyncRecord) throws {
    try database.executeCached(
      sql: """
        UPDATE record SET base = :base, revision = :revision, sent_version = NULL, sent = NULL,
          \(Self.assignments(of: state, over: record))
        WHERE guid = :guid
        """, arguments: try arguments(state, of: remote, over: record))
  }

  /// Stores the remote's state of a record in conflict; the local state stays in use. If `isAnswered` is
  /// false, a sent change is kept, since its response may still arrive.
  package func markConflicted(_ remote: RemoteRecord, isAnswered: Bool) throws {
    try database.executeCached(
      sql: """
        UPDATE record SET conflict = :conflict, conflict_revision = :revision, \(RecordColumns.provenanceLearned)
          \(isAnswered ? ", sent_version = NULL, sent = NULL" : "")
        WHERE guid = :guid
        """,
      arguments: RecordColumns.arguments(remote.state.provenance) + [
        "conflict": remote.state.json, "revision": remote.revision, "guid": remote.guid,
      ])
  }

  /// Stores why the remote refused a record. This version is not sent again until a person edits the record
  /// or retries it.
  package func quarantine(_ guid: String, reason: String) throws {
    try database.executeCached(
      sql: """
        UPDATE record SET quarantine = ?, quarantined_version = version, sent_version = NULL, sent = NULL
        WHERE guid = ?
        """, arguments: [String(reason.prefix(1000)), guid])
  }

  /// The SQL assignments for a state. If both states have the same content, only the time of the edit and the
  /// provenance are written.
  private static func assignments(of state: RecordState, over record: SyncRecord) -> String {
    RecordColumns.provenanceLearned + ", "
      + (record.state.agrees(with: state)
        ? "edited_at = :edited_at" : RecordColumns.assignments + ", imported = coalesce(:imported, imported)")
  }

  /// The arguments for a new content of a record. If an import of another store wrote the content,
  /// `edited_at` becomes NULL, so that a later export can correct the content in this store.
  ///
  /// - Parameter record: the record that is changed; nil for a new one. If its shown time stays the same, it
  ///   keeps its derived offset. If the zones changed in this transaction, the end of the transaction
  ///   compares this offset with them, and queues the move of the document.
  private func contentArguments(
    _ state: RecordState, over record: SyncRecord? = nil
  ) throws -> StatementArguments {
    var stored = state
    if state.export != nil { stored.editedAt = nil }
    let content =
      if let known = record?.state, known.deviceTime == state.deviceTime,
        known.placement.source.placesShownTime, state.placement.source.placesShownTime
      {
        RecordColumns.arguments(stored, at: state.deviceTime, known.placement)
      } else {
        try RecordColumns.arguments(stored, placer)
      }
    return content + ["imported": state.export == nil ? nil : RecordContent(state).text]
  }

  private func arguments(
    _ state: RecordState, of remote: RemoteRecord, over record: SyncRecord
  ) throws -> StatementArguments {
    let isImported = record.isImportedOnly && state.export != nil
    let content: StatementArguments =
      try record.state.agrees(with: state)
      ? ["edited_at": isImported ? nil : state.editedAt] : contentArguments(state, over: record)
    return content + RecordColumns.arguments(remote.state.provenance) + [
      "base": remote.state.json, "revision": remote.revision, "guid": remote.guid,
    ]
  }

  private func insert(_ remote: RemoteRecord) throws {
    try database.executeCached(
      sql: RecordColumns.insertion(with: ["imported", "version", "version_synced", "revision", "base"]),
      arguments: try contentArguments(remote.state) + RecordColumns.arguments(remote.state.provenance) + [
        "guid": remote.guid, "kind": remote.state.kind.rawValue, "version": 1, "version_synced": 1,
        "revision": remote.revision, "base": remote.state.json,
      ])
  }
}

// MARK: - Conflicts of entries

extension SyncTransaction {
  /// Deleted entries to which other nodes have added records, so that a person must decide.
  package func orphanedEntries() throws -> Set<String> {
    try Set(
      String.fetchAll(
        database.cachedStatement(
          sql: """
            SELECT DISTINCT entry.guid FROM record AS entry JOIN record AS child ON child.entry_guid = entry.guid
            WHERE entry.deleted = 1 AND entry.conflict IS NULL AND child.deleted = 0
            """)))
  }
}
