// SPDX-License-Identifier: Apache-2.0

import GRDB
package import Logbook
import SQLiteRows

/// Which records go up first: an entry before what belongs to it.
package enum PushPhase: Hashable, Sendable {
  /// Entries.
  case entries
  /// Records that belong to an entry.
  case children
}

extension SyncTransaction {
  /// What belongs to an entry that the remote refused waits with it.
  private static let waitsForEntry = """
    EXISTS (SELECT 1 FROM record AS entry WHERE entry.guid = record.entry_guid AND entry.version_synced = 0
      AND entry.quarantined_version = entry.version)
    """

  /// The record of this id; nil when there is none.
  package func record(_ guid: String) throws -> SyncRecord? {
    try Row.fetchOne(
      database.cachedStatement(sql: "SELECT \(SyncRecord.columns) FROM record WHERE guid = ?"),
      arguments: [guid]
    ).map(SyncRecord.init)
  }

  /// Every record, tombstones, too.
  package func allRecords() throws -> [SyncRecord] {
    try Row.fetchAll(database.cachedStatement(sql: "SELECT \(SyncRecord.columns) FROM record ORDER BY guid"))
      .map(
        SyncRecord.init)
  }

  /// Makes the base zone of the store a record, where no record states it yet. It is not pending: whoever joins a remote
  /// sends it, and a run that fails leaves nothing behind that people would see.
  package func stateBaseZone() throws {
    guard try record(LogbookZones.baseGuid) == nil else { return }
    try RecordEditor.insert(LogbookZones.unjoinedBase(database), LogbookZones.baseGuid, database)
    try holdBackBaseZone()
    // It says what held already.
    try database.executeCached(
      sql: "DELETE FROM changed_statement WHERE guid = ?", arguments: [LogbookZones.baseGuid])
  }

  /// Leaves the base zone of this store unsent, since the login may not write: it is not pending, and the remote's
  /// replaces it when that comes.
  package func holdBackBaseZone() throws {
    try database.executeCached(
      sql: """
        UPDATE record SET version_synced = version, sent_version = NULL, sent = NULL
        WHERE guid = ? AND revision IS NULL
        """, arguments: [LogbookZones.baseGuid])
  }

  /// Records that are to be sent, as many as `limit`, in the order in which they were first edited.
  ///
  /// - Parameters:
  ///   - heldBack: records that cannot be sent in this run.
  ///   - leavesOutWithdrawn: whether the remote is not to get what is hidden.
  package func pendingRecords(
    _ phase: PushPhase, limit: Int, heldBack: Set<String>, leavesOutWithdrawn: Bool = false
  ) throws -> [SyncRecord] {
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

  /// Whether a record is pending that this run can send.
  package func hasPendingRecords(
    heldBack: Set<String>, leavesOutWithdrawn: Bool = false
  ) throws -> Bool {
    try [PushPhase.entries, .children].contains { phase in
      try !pendingRecords(phase, limit: 1, heldBack: heldBack, leavesOutWithdrawn: leavesOutWithdrawn).isEmpty
    }
  }

  /// Whether a record belongs to an entry that the remote refused.
  package func waitsForEntry(_ guid: String) throws -> Bool {
    try Bool.fetchOne(
      database.cachedStatement(sql: "SELECT \(Self.waitsForEntry) FROM record WHERE guid = ?"),
      arguments: [guid]) ?? false
  }

  /// What goes out of a record: what was sent and not answered, as it was sent; else its content as it is, which is
  /// written beside it first.
  package func prepare(_ record: SyncRecord, node: String) throws -> RecordChange {
    if let sent = record.sent { return sent }
    let change = RecordChange(
      guid: record.guid, node: node, version: record.version, base: record.revision, state: record.state)
    try database.executeCached(
      sql: "UPDATE record SET sent_version = version, sent = ? WHERE guid = ?",
      arguments: [change.json, record.guid])
    return change
  }

  /// The remote holds the version that was sent. That one becomes synced, not the version by then: an edit made
  /// while the request was on its way stays pending.
  package func acknowledge(_ record: SyncRecord, revision: String) throws {
    guard let sent = record.sent else { return }
    try database.executeCached(
      sql: """
        UPDATE record SET version_synced = sent_version, base = ?, revision = ?, sent_version = NULL, sent = NULL
        WHERE guid = ?
        """,
      arguments: [sent.state.json, revision, record.guid])
  }

  /// What was sent is answered and stays pending.
  package func forgetSent(_ guid: String) throws {
    try database.executeCached(
      sql: "UPDATE record SET sent_version = NULL, sent = NULL WHERE guid = ?", arguments: [guid])
  }

  /// The remote's state becomes the record's, here and now; nothing of it is pending or in conflict any more.
  package func adopt(_ remote: RemoteRecord, over record: SyncRecord?) throws {
    guard let record else { return try insert(remote) }
    try database.executeCached(
      sql: """
        UPDATE record SET version_synced = version, base = :base, revision = :revision, sent_version = NULL,
          sent = NULL, conflict = NULL, conflict_revision = NULL, quarantine = NULL, quarantined_version = NULL,
          \(Self.assignments(of: remote.state, over: record))
        WHERE guid = :guid
        """, arguments: try arguments(remote.state, of: remote, over: record))
  }

  /// The merged state stays pending, made on the remote's.
  package func merge(_ state: RecordState, onto remote: RemoteRecord, over record: SyncRecord) throws {
    try database.executeCached(
      sql: """
        UPDATE record SET base = :base, revision = :revision, sent_version = NULL, sent = NULL,
          \(Self.assignments(of: state, over: record))
        WHERE guid = :guid
        """, arguments: try arguments(state, of: remote, over: record))
  }

  /// Keeps the remote's side beside the local one, which stays in use. What was sent and not answered stays, too:
  /// its answer is still owed.
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

  /// Keeps the remote's words: this version is not sent again before it is edited, or retried on command.
  package func quarantine(_ guid: String, reason: String) throws {
    try database.executeCached(
      sql: """
        UPDATE record SET quarantine = ?, quarantined_version = version, sent_version = NULL, sent = NULL
        WHERE guid = ?
        """, arguments: [String(reason.prefix(1000)), guid])
  }

  /// Where both sides say the same, only the time of the edit is taken over, and where the record came from.
  private static func assignments(of state: RecordState, over record: SyncRecord) -> String {
    RecordColumns.provenanceLearned + ", "
      + (record.state.agrees(with: state) ? "edited_at = :edited_at" : RecordColumns.assignments)
  }

  private func arguments(
    _ state: RecordState, of remote: RemoteRecord, over record: SyncRecord
  ) throws -> StatementArguments {
    let content: StatementArguments =
      try record.state.agrees(with: state)
      ? ["edited_at": state.editedAt] : RecordColumns.arguments(state, placer)
    return content + RecordColumns.arguments(remote.state.provenance) + [
      "base": remote.state.json, "revision": remote.revision, "guid": remote.guid,
    ]
  }

  private func insert(_ remote: RemoteRecord) throws {
    try database.executeCached(
      sql: RecordColumns.insertion(with: ["version", "version_synced", "revision", "base"]),
      arguments: try RecordColumns.insertionArguments(remote.state, placer) + [
        "guid": remote.guid, "kind": remote.state.kind.rawValue, "version": 1, "version_synced": 1,
        "revision": remote.revision, "base": remote.state.json,
      ])
  }
}

// MARK: - Conflicts of entries

extension SyncTransaction {
  /// Deleted entries to which records belong that are not: others added them meanwhile, and a person decides.
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
