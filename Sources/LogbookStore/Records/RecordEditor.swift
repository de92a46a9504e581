// SPDX-License-Identifier: Apache-2.0

import GRDB
package import Logbook

/// What a person says of a record.
package struct RecordDraft: Hashable, Sendable {
  /// What it is about. Never changes once the record is there.
  package let kind: RecordKind
  /// The entry to which it belongs; nil for an entry.
  package var entryGuid: String?
  /// The shown time.
  package var deviceTime: DeviceTime
  /// What places the shown time on the UTC line.
  package var placement: Placement
  /// The content.
  package var fields: RecordFields

  /// An entry unless `entryGuid` is set.
  package init(kind: RecordKind, at deviceTime: DeviceTime, placement: Placement, fields: RecordFields) {
    self.kind = kind
    self.deviceTime = deviceTime
    self.placement = placement
    self.fields = fields
  }

  /// What a record holds.
  package init(_ record: StoredRecord) throws {
    self.init(
      kind: record.kind, at: record.deviceTime, placement: record.placement,
      fields: try RecordFields(stored: record.fields, of: record.guid))
    entryGuid = record.entryGuid
  }

  /// Whether both say the same. An offset that the zones derive says nothing.
  func agrees(with other: RecordDraft) -> Bool {
    state(editedAt: 0).agrees(with: other.state(editedAt: 0))
  }

  /// What the record says once this is stored.
  func state(editedAt now: Int64, isDeleted: Bool = false) -> RecordState {
    RecordState(
      kind: kind, entryGuid: entryGuid, deviceTime: deviceTime, placement: placement, fields: fields,
      isDeleted: isDeleted, editedAt: now)
  }
}

/// What became of a record.
package struct RecordEdit: Sendable {
  /// The record behind the edit.
  package let record: StoredRecord
  /// How many records were edited: 0 when nothing had to change, more than 1 when children were deleted with it.
  package let edits: Int

  /// A record behind so many edits.
  package init(record: StoredRecord, edits: Int) {
    self.record = record
    self.edits = edits
  }
}

/// The only way in which people change records: every edit raises `version` by one in the transaction that makes it.
/// Records of a kind that this program does not know are left as they are: only the program that wrote them knows what
/// their fields mean.
///
/// Needs a store opened as `editor` or `resolver`.
package struct RecordEditor {
  private let store: Store
  private let now: Int64

  /// An editor of the records of this store.
  ///
  /// - Parameter now: the host's clock in UTC seconds, which the edits bear.
  package init(_ store: Store, at now: Int64) {
    self.store = store
    self.now = now
  }

  /// Stores a record under an id that was made for it.
  ///
  /// - Throws: `Failure`: `badInput` for an id that is taken and for content beyond the limits of a record, and as for an entry that cannot take it.
  package func add(_ draft: RecordDraft, guid: String) throws -> RecordEdit {
    try store.write { database in
      try ActionLog(database, at: now).noting(.add, [guid]) {
        RecordEdit(record: try insert(draft, guid, database), edits: 1)
      }
    }
  }

  /// Stores records of attachments with their contents, all of them or none.
  ///
  /// - Parameter contents: what was taken in of the same store.
  /// - Throws: `Failure` as for `add`.
  package func attach(
    _ drafts: [(draft: RecordDraft, guid: String)], _ contents: ContentIntake
  ) throws -> [RecordEdit] {
    try store.write { database in
      try contents.keep(database)
      return try ActionLog(database, at: now).noting(.add, drafts.map(\.guid)) {
        try drafts.map { RecordEdit(record: try insert($0.draft, $0.guid, database), edits: 1) }
      }
    }
  }

  /// Changes a record as `change` says, which sees what the record holds at this very moment. So two edits at once
  /// never undo each other.
  ///
  /// - Throws: `Failure`: `missingInput` when there is none or it is deleted, `configuration` for a kind that this program
  ///   does not know, and as for an entry that cannot take it.
  package func edit(_ guid: String, _ change: (inout RecordDraft) throws -> Void) throws -> RecordEdit {
    try store.write { database in
      let record = try Self.require(guid, database)
      guard !record.isDeleted else {
        throw Failure(
          .missingInput,
          "\(guid): this record is deleted and cannot be edited; 'glucoport undo' brings back what was deleted here within 30 days"
        )
      }
      try Self.requireKnown(record)
      let stored = try RecordDraft(record)
      var draft = stored
      try change(&draft)
      guard !draft.agrees(with: stored) else { return RecordEdit(record: record, edits: 0) }
      if let entry = draft.entryGuid, entry != stored.entryGuid {
        try Self.requireEntry(entry, for: guid, database)
      }
      try Self.requireLimits(draft, guid)
      try ActionLog(database, at: now).noting(.edit, [guid]) {
        try Self.write(draft.state(editedAt: now), to: guid, database)
      }
      return RecordEdit(record: try Self.require(guid, database), edits: 1)
    }
  }

  /// Leaves a tombstone of a record and of everything that belongs to it. A record that is deleted already stays as
  /// it is.
  ///
  /// - Throws: `Failure`: `missingInput` when there is none, `configuration` for a kind that this program does not know.
  package func delete(_ guid: String) throws -> RecordEdit {
    try store.write { database in
      let record = try Self.require(guid, database)
      if record.isDeleted { return RecordEdit(record: record, edits: 0) }
      try Self.requireKnown(record)
      let edits = try ActionLog(database, at: now).noting(.delete, Self.withChildren(guid, database)) {
        try Self.delete([guid], at: now, database)
      }
      return RecordEdit(record: try Self.require(guid, database), edits: edits)
    }
  }
}

// MARK: - Writes inside a transaction

extension RecordEditor {
  /// Makes this state of a record, as one edit.
  static func write(_ state: RecordState, to guid: String, _ database: Database) throws {
    try database.executeCached(
      sql: "UPDATE record SET \(RecordColumns.assignments), version = version + 1 WHERE guid = :guid",
      arguments: try RecordColumns.arguments(state, RecordPlacer(database)) + ["guid": guid])
  }

  /// Whether there is a record of this id, deleted or not.
  static func exists(_ guid: String, _ database: Database) throws -> Bool {
    try Bool.fetchOne(
      database.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM record WHERE guid = ?)"), arguments: [guid])
      ?? false
  }

  /// Adds a record.
  static func insert(_ state: RecordState, _ guid: String, _ database: Database) throws {
    try database.executeCached(
      sql: RecordColumns.insertion(),
      arguments: try RecordColumns.insertionArguments(state, RecordPlacer(database)) + [
        "guid": guid, "kind": state.kind.rawValue,
      ])
  }

  /// Leaves tombstones of records and of everything that belongs to them, one edit each; returns how many.
  static func delete(_ guids: [String], at now: Int64, _ database: Database) throws -> Int {
    var (waiting, edits) = (guids, 0)
    while let next = waiting.popLast() {
      try database.executeCached(
        sql: """
          UPDATE record SET deleted = 1, fields = '{}', edited_at = ?, version = version + 1 WHERE guid = ?
          """,
        arguments: [now, next])
      edits += 1
      // An export may nest deeper than one level, or in a circle; what is deleted by now is not met again.
      waiting += try children(of: next, database).filter { !waiting.contains($0) }
    }
    return edits
  }

  /// A record and everything that is deleted with it.
  private static func withChildren(_ guid: String, _ database: Database) throws -> [String] {
    var (all, next) = ([guid], 0)
    while next < all.count {
      all += try children(of: all[next], database).filter { !all.contains($0) }
      next += 1
    }
    return all
  }

  /// The records that belong to an entry, tombstones apart.
  static func children(of guid: String, _ database: Database) throws -> [String] {
    try String.fetchAll(
      database.cachedStatement(sql: "SELECT guid FROM record WHERE entry_guid = ? AND deleted = 0"),
      arguments: [guid])
  }
}

extension RecordEditor {
  /// Makes this the content of a record, as one edit; nothing where it says that already.
  func replace(_ guid: String, by draft: RecordDraft, _ database: Database) throws {
    let record = try Self.require(guid, database)
    guard !record.isDeleted else {
      throw Failure(.missingInput, "\(guid): this record was deleted meanwhile; nothing was changed")
    }
    guard try !draft.agrees(with: RecordDraft(record)) else { return }
    try Self.requireLimits(draft, guid)
    try Self.write(draft.state(editedAt: now), to: guid, database)
  }

  func insert(_ draft: RecordDraft, _ guid: String, _ database: Database) throws -> StoredRecord {
    guard try Self.fetch(guid, database) == nil else {
      throw Failure(.badInput, "\(guid): a record with this id exists already; nothing was added")
    }
    if let entry = draft.entryGuid { try Self.requireEntry(entry, for: guid, database) }
    try Self.requireLimits(draft, guid)
    try Self.insert(draft.state(editedAt: now).learning(.typed), guid, database)
    return try Self.require(guid, database)
  }

  static func fetch(_ guid: String, _ database: Database) throws -> StoredRecord? {
    try Row.fetchOne(
      database.cachedStatement(sql: "SELECT \(StoredRecord.columns) FROM record WHERE guid = ?"),
      arguments: [guid]
    ).map(StoredRecord.init)
  }

  static func require(_ guid: String, _ database: Database) throws -> StoredRecord {
    guard let record = try fetch(guid, database) else {
      throw Failure(
        .missingInput, "\(guid): no such record; 'glucoport record list --long' shows the ids")
    }
    return record
  }

  /// Refuses a kind whose fields mean something that this program does not know, and one that only separate commands
  /// write.
  private static func requireKnown(_ record: StoredRecord) throws {
    guard let details = record.kind.details else {
      throw Failure(
        .configuration,
        "\(record.guid): this version of glucoport does not know records of kind '\(record.kind.rawValue)'; "
          + "change it with the version that wrote it")
    }
    guard record.kind != .zone else { throw Failure.zoneRecord(record.guid) }
    guard details.isListed else {
      throw Failure(
        .usage,
        "\(record.guid): this record of kind '\(record.kind.rawValue)' states something about others; change it with the "
          + "commands that write it")
    }
  }

  /// Refuses content that no remote would take.
  private static func requireLimits(_ draft: RecordDraft, _ guid: String) throws {
    guard let fault = draft.fields.fault else { return }
    throw Failure(.badInput, "\(guid): cannot store this record: \(fault)")
  }

  /// Refuses an entry that is not there, is deleted, or belongs to an entry itself.
  private static func requireEntry(_ entry: String, for guid: String, _ database: Database) throws {
    let record = try require(entry, database)
    guard !record.isDeleted else {
      throw Failure(
        .missingInput,
        "\(entry): this entry is deleted and cannot get records; 'glucoport undo' brings back what was deleted here within 30 days"
      )
    }
    guard record.entryGuid == nil, entry != guid else {
      throw Failure(
        .usage,
        "\(entry): this record belongs to an entry, so it cannot have records; use the id of that entry")
    }
    guard try children(of: guid, database).isEmpty else {
      throw Failure(.usage, "\(guid): this entry has records, so it cannot belong to another entry")
    }
  }
}

extension Failure {
  /// Why people name no record of a zone where they edit records.
  package static func zoneRecord(_ guid: String) -> Failure {
    Failure(
      .usage,
      "\(guid): this record states a time zone; 'glucoport config timezone' lists the zones and changes them")
  }
}
