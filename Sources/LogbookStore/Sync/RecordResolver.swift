// SPDX-License-Identifier: Apache-2.0

import GRDB
public import Logbook
import LogbookAPI

/// A record that waits for a person.
public struct RecordConflict: Hashable, Sendable {
  /// Why it waits.
  public enum Cause: String, Hashable, Sendable {
    /// It was edited here and there since both sides agreed on it.
    case edited
    /// It is deleted, and records belong to it that others added meanwhile.
    case bereft
  }

  /// The identity.
  public let guid: String
  /// Why it waits.
  public let cause: Cause
  /// The local side, which stays in use.
  public let mine: RecordState
  /// The remote's side; of a bereft entry what is left of it: kind and time.
  public let theirs: RecordState
  /// The state that both sides agreed on last; nil for none.
  public let base: RecordState?
}

/// What a person decides about a conflict.
public enum Resolution: Hashable, Sendable {
  /// The local side, as it is.
  case mine
  /// The remote's side.
  case theirs
  /// The local side here, and the remote's as a record of its own under this id.
  case both(guid: String)
  /// What a person made of the two.
  case fields(RecordFields)
}

/// Settles conflicts. A resolution agrees with the remote on what it holds, and is an edit on top of that, which goes
/// up like any other.
///
/// Needs a store opened as `resolver`.
public struct RecordResolver {
  private let store: Store

  /// A resolver of the conflicts of this store.
  public init(_ store: Store) { self.store = store }

  /// Every record that waits for a person, by id.
  public func conflicts() throws -> [RecordConflict] {
    try store.read { database in try Self.conflicts(database) }
  }

  /// Settles the conflict of a record in one transaction.
  ///
  /// - Throws: `Failure`: `missingInput` without such a conflict, `usage` for a resolution that it cannot take.
  public func resolve(_ guid: String, _ resolution: Resolution) throws {
    try store.write { database in
      guard let conflict = try Self.conflicts(database, guid: guid).first else {
        throw Failure(
          .missingInput, "\(guid): this record has no conflict; 'glucoport conflict list' shows them")
      }
      try Self.check(resolution, for: conflict)
      if conflict.cause == .edited { try Self.takeRemoteSideAsBase(guid, database) }
      switch resolution {
      case .mine:
        if conflict.cause == .bereft {
          try Self.deleteChildren(of: guid, database)
        } else {
          try Self.edit(guid, to: conflict.mine, database)
        }
      case .theirs: try Self.edit(guid, to: conflict.theirs, database)
      case .fields(let fields):
        var state = conflict.mine.isDeleted ? conflict.theirs : conflict.mine
        state.fields = fields
        try Self.edit(guid, to: state, database)
      case .both(let copy):
        try Self.edit(guid, to: conflict.mine, database)
        try Self.insert(conflict.theirs, guid: copy, database)
      }
    }
  }
}

extension RecordResolver {
  private static func check(_ resolution: Resolution, for conflict: RecordConflict) throws {
    switch resolution {
    case .mine, .theirs: return
    case .both where conflict.mine.isDeleted || conflict.theirs.isDeleted:
      throw Failure(
        .usage, "\(conflict.guid): one side deleted this record, so both cannot be kept; say mine or theirs")
    case .fields where conflict.cause == .bereft || conflict.mine.isDeleted && conflict.theirs.isDeleted:
      throw Failure(
        .usage, "\(conflict.guid): there is nothing to edit in a deleted record; say mine or theirs")
    case .both, .fields: return
    }
  }

  private static func conflicts(_ database: Database, guid: String? = nil) throws -> [RecordConflict] {
    let edited = try Row.fetchAll(
      database,
      sql: """
        SELECT \(SyncRecord.columns), conflict FROM record
        WHERE conflict IS NOT NULL AND (:guid IS NULL OR guid = :guid) ORDER BY guid
        """, arguments: ["guid": guid]
    ).map { row in
      let record = try SyncRecord(row)
      return RecordConflict(
        guid: record.guid, cause: .edited, mine: record.state, theirs: try RecordWire.state(row["conflict"]),
        base: record.base)
    }
    let bereft = try Row.fetchAll(
      database,
      sql: """
        SELECT \(SyncRecord.columns) FROM record
        WHERE deleted = 1 AND conflict IS NULL AND (:guid IS NULL OR guid = :guid)
          AND EXISTS (SELECT 1 FROM record AS child WHERE child.entry_guid = record.guid AND child.deleted = 0)
        ORDER BY guid
        """, arguments: ["guid": guid]
    ).map { row in
      let record = try SyncRecord(row)
      var restored = record.state
      restored.isDeleted = false
      return RecordConflict(
        guid: record.guid, cause: .bereft, mine: record.state, theirs: restored, base: record.base)
    }
    return edited + bereft
  }

  /// What was sent before the conflict and never answered is forgotten with it: the remote's side is newer, so that
  /// it can never be applied there any more.
  private static func takeRemoteSideAsBase(_ guid: String, _ database: Database) throws {
    try database.execute(
      sql: """
        UPDATE record SET base = conflict, revision = conflict_revision, conflict = NULL, conflict_revision = NULL,
          sent_version = NULL, sent = NULL
        WHERE guid = ?
        """, arguments: [guid])
  }

  private static func edit(_ guid: String, to state: RecordState, _ database: Database) throws {
    try database.execute(
      sql: """
        UPDATE record SET entry_guid = ?, occurred_at = ?, utc_offset = ?, offset_source = ?, fields = ?, deleted = ?,
          version = version + 1
        WHERE guid = ?
        """, arguments: arguments(state) + [guid])
  }

  private static func insert(_ state: RecordState, guid: String, _ database: Database) throws {
    try database.execute(
      sql: """
        INSERT INTO record (entry_guid, occurred_at, utc_offset, offset_source, fields, deleted, guid, kind)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?)
        """, arguments: arguments(state) + [guid, state.kind.rawValue])
  }

  private static func deleteChildren(of guid: String, _ database: Database) throws {
    try database.execute(
      sql: """
        UPDATE record SET deleted = 1, fields = '{}', version = version + 1
        WHERE entry_guid = ? AND deleted = 0
        """, arguments: [guid])
  }

  private static func arguments(_ state: RecordState) -> StatementArguments {
    [
      state.entryGuid, state.deviceTime.seconds, Int(state.placement.utcOffset),
      Int(state.placement.source.rawValue), state.fields.json, state.isDeleted,
    ]
  }
}
