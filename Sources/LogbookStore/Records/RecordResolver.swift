// SPDX-License-Identifier: Apache-2.0

import GRDB
package import Logbook
import SQLiteRows

/// A record in conflict, about which a person must decide.
package struct RecordConflict: Hashable, Sendable {
  /// The reason for the conflict.
  package enum Cause: String, Hashable, Sendable {
    /// The record was edited in this store and on the remote after both had agreed.
    case edited
    /// An entry was deleted, and other nodes added records to it in the meantime.
    case orphaned
  }

  /// The id of the record.
  package let guid: String
  /// The reason for the conflict.
  package let cause: Cause
  /// The state in this store, which stays in use until a person decides.
  package let mine: RecordState
  /// The state on the remote. For an orphaned entry, only its kind and time are known.
  package let theirs: RecordState
  /// The last state on which the store and the remote agreed; nil if there is none.
  package let base: RecordState?

  /// The resolution that keeps the state which was edited last, according to the clocks of both hosts. These
  /// clocks may be wrong, so sync itself never compares them.
  ///
  /// - Throws: `Failure` of category `usage` if the clocks do not decide it.
  package func newer() throws -> Resolution {
    guard cause == .edited else {
      throw Failure(
        .usage, "\(guid): for an entry and its records no side is newer; use --keep mine or --keep theirs")
    }
    guard let mine = mine.editedAt, let theirs = theirs.editedAt else {
      let side = self.mine.editedAt == nil ? "mine" : "theirs"
      throw Failure(
        .usage,
        "\(guid): it is unknown when the side '\(side)' was edited; use --keep mine or --keep theirs")
    }
    guard mine != theirs else {
      throw Failure(
        .usage, "\(guid): both sides were edited in the same second; use --keep mine or --keep theirs")
    }
    return mine > theirs ? .mine : .theirs
  }

  /// Throws if the resolution is not possible for this conflict.
  ///
  /// - Throws: `Failure`: `usage`, or `configuration` for fields of an unknown kind.
  package func check(_ resolution: Resolution) throws {
    switch resolution {
    case .mine, .theirs: return
    case .both where guid == LogbookZones.baseGuid:
      throw Failure(
        .usage, "\(guid): a logbook has one base zone; use --keep mine or --keep theirs")
    case .both where mine.isDeleted || theirs.isDeleted:
      throw Failure(
        .usage,
        "\(guid): one side deleted this record, so both cannot be kept; use --keep mine or --keep theirs")
    case .fields where cause == .orphaned || mine.isDeleted && theirs.isDeleted:
      throw Failure(
        .usage,
        "\(guid): there is nothing to edit in a deleted record; use --keep mine or --keep theirs")
    case .fields where mine.kind.details == nil:
      throw Failure(
        .configuration,
        "\(guid): this version of glucoport does not know the fields of kind '\(mine.kind.rawValue)'; "
          + "use --keep mine or --keep theirs")
    case .both, .fields: return
    }
  }
}

/// A person's decision about a conflict.
package enum Resolution: Hashable, Sendable {
  /// Keep the state of this store.
  case mine
  /// Keep the state of the remote.
  case theirs
  /// Keep the state of this store, and store the remote's state as a separate record with this guid.
  case both(guid: String)
  /// Keep these fields, which a person combined from both states.
  case fields(RecordFields)
}

/// Resolves conflicts. A resolution makes the remote's state the base. It then writes the chosen content as
/// an edit, which is uploaded like any other edit.
///
/// Needs a store opened as `resolver`.
package struct RecordResolver {
  private let store: Store

  /// A resolver of the conflicts of this store.
  package init(_ store: Store) { self.store = store }

  /// All records in conflict, ordered by guid.
  package func conflicts() throws -> [RecordConflict] {
    try store.read { database in try Self.conflicts(database) }
  }

  /// The conflict of a record.
  ///
  /// - Throws: `Failure` of category `missingInput` if the record has no conflict.
  package func conflict(of guid: String) throws -> RecordConflict {
    try store.read { database in try Self.require(guid, database) }
  }

  /// Resolves a conflict in one transaction. Throws if the conflict changed after the person saw it.
  ///
  /// - Parameter now: the host's clock in UTC seconds, the time of the edit.
  /// - Throws: `Failure`: `missingInput` if it is already resolved, `temporary` if one of its states changed
  ///   after it was shown, `usage` for an impossible resolution.
  @discardableResult
  package func resolve(
    _ conflict: RecordConflict, _ resolution: Resolution, at now: Int64
  ) throws -> RecordEdit {
    try store.write { database in
      guard try Self.require(conflict.guid, database) == conflict else {
        throw Failure(
          .temporary,
          "\(conflict.guid): the record changed meanwhile, so the conflict is not resolved; see 'glucoport conflict show' and try again"
        )
      }
      try conflict.check(resolution)
      let edits = try Self.apply(resolution, to: conflict, at: now, database)
      return RecordEdit(record: try RecordEditor.require(conflict.guid, database), edits: edits)
    }
  }
}

extension RecordResolver {
  /// Writes the decision. Returns the number of records that were edited.
  private static func apply(
    _ resolution: Resolution, to conflict: RecordConflict, at now: Int64, _ database: Database
  ) throws -> Int {
    let guid = conflict.guid
    switch conflict.cause {
    case .edited: try setRemoteSideAsBase(guid, database)
    case .orphaned: try forgetBase(guid, database)
    }
    func edit(to state: RecordState) throws -> Int {
      try requirePlace(state, in: conflict, database)
      var state = state
      state.editedAt = now
      try RecordEditor.write(state, to: guid, database)
      guard state.isDeleted else { return 1 }
      // The records that belong to the deleted entry are deleted, too. Otherwise they would cause another
      // conflict.
      let deleted = try RecordEditor.delete(RecordEditor.children(of: guid, database), at: now, database)
      try setTombstonesAsBase(database)
      return 1 + deleted
    }
    switch resolution {
    case .mine: return try edit(to: conflict.mine)
    case .theirs: return try edit(to: conflict.theirs)
    case .fields(let fields):
      var state = conflict.mine.isDeleted ? conflict.theirs : conflict.mine
      state.fields = fields
      return try edit(to: state)
    case .both(let copy):
      try RecordEditor.insert(conflict.theirs.addingProvenance(conflict.mine.provenance), copy, database)
      return try edit(to: conflict.mine)
    }
  }

  private static func require(_ guid: String, _ database: Database) throws -> RecordConflict {
    guard let conflict = try conflicts(database, guid: guid).first else {
      throw Failure(
        .missingInput,
        "\(guid): this record is not in conflict; 'glucoport conflict list' shows the conflicts")
    }
    return conflict
  }

  private static func conflicts(_ database: Database, guid: String? = nil) throws -> [RecordConflict] {
    let edited = try Row.fetchAll(
      database.cachedStatement(
        sql: """
          SELECT \(SyncRecord.columns), conflict FROM record
          WHERE conflict IS NOT NULL AND (:guid IS NULL OR guid = :guid) ORDER BY guid
          """), arguments: ["guid": guid]
    ).map { row in
      let record = try SyncRecord(row)
      return RecordConflict(
        guid: record.guid, cause: .edited, mine: record.state,
        theirs: try remoteState(try StoredRow(row, of: "record")["conflict"], of: record.guid),
        base: record.base)
    }
    let orphaned = try Row.fetchAll(
      database.cachedStatement(
        sql: """
          SELECT \(SyncRecord.columns) FROM record
          WHERE \(RecordCondition.isOrphaned) AND (:guid IS NULL OR guid = :guid)
          ORDER BY guid
          """), arguments: ["guid": guid]
    ).map { row in
      let record = try SyncRecord(row)
      var restored = record.state
      restored.isDeleted = false
      return RecordConflict(
        guid: record.guid, cause: .orphaned, mine: record.state, theirs: restored, base: record.base)
    }
    return edited + orphaned
  }

  private static func remoteState(_ text: String, of guid: String) throws -> RecordState {
    do throws(JSONError) {
      return try RecordState(json: text)
    } catch {
      throw Failure(
        .badInput,
        "\(guid): the store cannot read the remote's side of this conflict (\(error.reason)); "
          + "'glucoport upload' takes it out of the conflicts")
    }
  }

  /// Throws if the chosen state would make the record belong to an entry that cannot have it.
  private static func requirePlace(
    _ state: RecordState, in conflict: RecordConflict, _ database: Database
  ) throws {
    guard !state.isDeleted, let entry = state.entryGuid, entry != conflict.mine.entryGuid,
      try RecordNesting(database).forbids(conflict.guid, in: entry)
    else { return }
    throw Failure(
      .usage,
      "\(conflict.guid): this side puts the record into \(entry), which belongs to an entry itself, or the record has records; keep "
        + "the other side, or move those first")
  }

  /// Removes the base of a record, after a decision about a deleted entry and its records. Without a base,
  /// the upload finds a conflict if another node decides differently at the same time.
  private static func forgetBase(_ guid: String, _ database: Database) throws {
    try database.executeCached(sql: "UPDATE record SET base = NULL WHERE guid = ?", arguments: [guid])
  }

  /// Ends the conflicts of records that are deleted in this store and on the remote. In this store, they were
  /// deleted with their entry.
  private static func setTombstonesAsBase(_ database: Database) throws {
    let guids = try String.fetchAll(
      database.cachedStatement(
        sql: """
          SELECT guid FROM record INDEXED BY record_conflicted
          WHERE conflict IS NOT NULL AND deleted = 1 AND iif(json_valid(conflict), json_extract(conflict, '$.deleted'), 0)
          """))
    for guid in guids { try setRemoteSideAsBase(guid, database) }
  }

  /// Makes the remote's state the base of a record. Also removes the note of a version that was sent before
  /// the conflict without a response. The remote's state is newer, so the server can no longer apply that
  /// version.
  private static func setRemoteSideAsBase(_ guid: String, _ database: Database) throws {
    try database.executeCached(
      sql: """
        UPDATE record SET base = conflict, revision = conflict_revision, conflict = NULL, conflict_revision = NULL,
          sent_version = NULL, sent = NULL
        WHERE guid = ?
        """, arguments: [guid])
  }
}

/// The rule for nesting: an entry does not belong to another record, and a record that belongs to an entry
/// has no records itself.
struct RecordNesting {
  private let database: Database

  init(_ database: Database) { self.database = database }

  /// Whether the rule forbids that a local record belongs to this entry. The records would then form a
  /// circle, or be nested more than one level deep.
  func forbids(_ guid: String, in entry: String) throws -> Bool {
    if guid == entry { return true }
    // If the store does not have the entry yet, the entry is treated as not nested.
    let isNested = try Bool.fetchOne(
      database.cachedStatement(
        sql: "SELECT entry_guid IS NOT NULL FROM record WHERE guid = ? AND deleted = 0"), arguments: [entry])
    return try isNested == true || !RecordEditor.children(of: guid, database).isEmpty
  }
}

extension SyncTransaction {
  /// Whether a state of the remote makes a record belong to an entry that cannot have it. If the record
  /// already belongs to this entry, it is allowed, since an import may have nested it.
  ///
  /// - Parameter record: the local record; nil if the store does not have it.
  package func forbidsNesting(of remote: RemoteRecord, over record: SyncRecord?) throws -> Bool {
    try forbidsNesting(of: remote.state, remote.guid, over: record)
  }

  /// Whether a state makes the record with this guid belong to an entry that cannot have it.
  package func forbidsNesting(of state: RecordState, _ guid: String, over record: SyncRecord?) throws -> Bool
  {
    guard !state.isDeleted, let entry = state.entryGuid else { return false }
    if let record, entry == record.state.entryGuid, !record.state.isDeleted { return false }
    return try RecordNesting(database).forbids(guid, in: entry)
  }

  /// Stores a record of the remote that the store does not have, and that must not belong to the entry which
  /// the remote states. It is stored as a separate entry in conflict. It has no local edit, so it is not
  /// pending.
  package func storeAsSeparateEntry(_ remote: RemoteRecord) throws {
    var state = remote.state
    state.entryGuid = nil
    try database.executeCached(
      sql: RecordColumns.insertion(with: ["version", "version_synced", "conflict", "conflict_revision"]),
      arguments: try RecordColumns.insertionArguments(state, placer) + [
        "guid": remote.guid, "kind": state.kind.rawValue, "version": 1, "version_synced": 1,
        "conflict": remote.state.json, "conflict_revision": remote.revision,
      ])
  }

  /// Moves records to the entries that the remote states, as soon as the rule for nesting allows it. The rule
  /// may forbid it until other records arrive, or until another node changes the records. Only records
  /// without local edits are moved.
  ///
  /// - Returns: the guids of the moved records.
  package func resolveNesting() throws -> [String] {
    var resolved: [String] = []
    while let (record, remote) = try unplacedRecords().first(where: { try !forbidsNesting(of: $1, over: $0) })
    {
      try adopt(remote, over: record)
      resolved.append(remote.guid)
    }
    return resolved
  }

  /// The records in conflict that are not pending. The remote's state was not adopted for one reason: the
  /// record must not belong to the entry that this state names. Records of kind `zone` and `withdrawal` are
  /// excluded, since their conflicts have other reasons.
  private func unplacedRecords() throws -> [(SyncRecord, RemoteRecord)] {
    let guids = try String.fetchAll(
      database.cachedStatement(
        sql: """
          SELECT guid FROM record INDEXED BY record_conflicted
          WHERE conflict IS NOT NULL AND version = version_synced AND kind NOT IN ('zone', 'withdrawal') ORDER BY guid
          """))
    return try guids.compactMap { guid in
      guard let record = try record(guid), let remote = try remoteSide(of: record) else { return nil }
      return (record, remote)
    }
  }

  /// The remote's state of a record in conflict; nil for any other record, and if the stored text of this
  /// state is damaged.
  func remoteSide(of record: SyncRecord) throws -> RemoteRecord? {
    guard let revision = record.conflictRevision,
      let text = try String.fetchOne(
        database.cachedStatement(sql: "SELECT conflict FROM record WHERE guid = ?"), arguments: [record.guid]),
      let state = SyncTexts(sent: nil, base: nil, conflict: text).conflict
    else { return nil }
    return RemoteRecord(guid: record.guid, revision: revision, state: state)
  }
}
