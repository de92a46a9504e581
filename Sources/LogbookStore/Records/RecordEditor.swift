// SPDX-License-Identifier: Apache-2.0

import GRDB
package import Logbook

/// The content of a record as a person enters it.
package struct RecordDraft: Hashable, Sendable {
  /// The kind of record, which never changes after the record was stored.
  package let kind: RecordKind
  /// The guid of the entry to which the record belongs; nil for an entry.
  package var entryGuid: String?
  /// The shown time.
  package var deviceTime: DeviceTime
  /// The offset of the shown time from UTC, and its source.
  package var placement: Placement
  /// The content.
  package var fields: RecordFields

  /// The draft of an entry. Set `entryGuid` to make the record belong to another entry.
  package init(kind: RecordKind, at deviceTime: DeviceTime, placement: Placement, fields: RecordFields) {
    self.kind = kind
    self.deviceTime = deviceTime
    self.placement = placement
    self.fields = fields
  }

  /// A draft with the content of a stored record, to be edited.
  package init(_ record: StoredRecord) throws {
    self.init(
      kind: record.kind, at: record.deviceTime, placement: record.placement,
      fields: try RecordFields(stored: record.fields, of: record.guid))
    entryGuid = record.entryGuid
  }

  /// Whether both drafts have the same content. Offsets that are derived from zones are not compared.
  func agrees(with other: RecordDraft) -> Bool {
    state(editedAt: 0).agrees(with: other.state(editedAt: 0))
  }

  /// The state that the record has after the draft is stored.
  func state(editedAt now: Int64, isDeleted: Bool = false) -> RecordState {
    RecordState(
      kind: kind, entryGuid: entryGuid, deviceTime: deviceTime, placement: placement, fields: fields,
      isDeleted: isDeleted, editedAt: now)
  }
}

/// The result of an edit of a record.
package struct RecordEdit: Sendable {
  /// The record after the edit.
  package let record: StoredRecord
  /// The number of records that were edited: 0 if nothing changed, more than 1 if records of an entry were
  /// deleted with it.
  package let edits: Int

  /// The result for a record after this number of edits.
  package init(record: StoredRecord, edits: Int) {
    self.record = record
    self.edits = edits
  }
}

/// Changes records for a person. All edits are made here, since every edit must increase `version` by one in
/// its transaction. Records of unknown kinds are not changed, since only a newer program knows the meaning of
/// their fields.
///
/// Needs a store opened as `editor` or `resolver`.
package struct RecordEditor {
  private let store: Store
  private let now: Int64

  /// An editor of the records of this store.
  ///
  /// - Parameter now: the host's clock in UTC seconds, used as the time of the edits.
  package init(_ store: Store, at now: Int64) {
    self.store = store
    self.now = now
  }

  /// Stores a record under a new id.
  ///
  /// - Throws: `Failure`: `badInput` if the id exists or the content exceeds the limits of a record. A record
  ///   that cannot belong to its entry is an error, too.
  package func add(_ draft: RecordDraft, guid: String) throws -> RecordEdit {
    try store.write { database in
      try ActionLog(database, at: now).logging(.add, [guid]) {
        RecordEdit(record: try insert(draft, guid, database), edits: 1)
      }
    }
  }

  /// Stores records of attachments together with their contents. If one is refused, none is stored.
  ///
  /// - Parameter contents: the contents that were collected for this store.
  /// - Throws: `Failure` as for `add`.
  package func attach(
    _ drafts: [(draft: RecordDraft, guid: String)], _ contents: ContentIntake
  ) throws -> [RecordEdit] {
    try store.write { database in
      try contents.storeCollected(database)
      return try ActionLog(database, at: now).logging(.add, drafts.map(\.guid)) {
        try drafts.map { RecordEdit(record: try insert($0.draft, $0.guid, database), edits: 1) }
      }
    }
  }

  /// Changes a record with `change`. It receives the current content inside the same transaction, so two
  /// simultaneous edits never overwrite each other.
  ///
  /// - Throws: `Failure`: `missingInput` if the record is missing or deleted, `configuration` for an unknown
  ///   kind. A record that cannot belong to its entry is an error, too.
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
      try ActionLog(database, at: now).logging(.edit, [guid]) {
        try Self.write(draft.state(editedAt: now), to: guid, database)
      }
      return RecordEdit(record: try Self.require(guid, database), edits: 1)
    }
  }

  /// Replaces a record and all records that belong to it by tombstones. A deleted record stays as it is.
  ///
  /// - Throws: `Failure`: `missingInput` if the record is missing, `configuration` for an unknown kind.
  package func delete(_ guid: String) throws -> RecordEdit {
    try store.write { database in
      let record = try Self.require(guid, database)
      if record.isDeleted { return RecordEdit(record: record, edits: 0) }
      try Self.requireKnown(record)
      let edits = try ActionLog(database, at: now).logging(.delete, Self.withChildren(guid, database)) {
        try Self.delete([guid], at: now, database)
      }
      return RecordEdit(record: try Self.require(guid, database), edits: edits)
    }
  }
}

// MARK: - Writes inside a transaction

extension RecordEditor {
  /// Replaces the state of a record, as one edit.
  static func write(_ state: RecordState, to guid: String, _ database: Database) throws {
    try database.executeCached(
      sql: "UPDATE record SET \(RecordColumns.assignments), version = version + 1 WHERE guid = :guid",
      arguments: try RecordColumns.arguments(state, RecordPlacer(database)) + ["guid": guid])
  }

  /// Whether a record with this id exists, deleted or not.
  static func exists(_ guid: String, _ database: Database) throws -> Bool {
    try Bool.fetchOne(
      database.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM record WHERE guid = ?)"), arguments: [guid])
      ?? false
  }

  /// Adds a record with this state and guid, as its first version.
  static func insert(_ state: RecordState, _ guid: String, _ database: Database) throws {
    try database.executeCached(
      sql: RecordColumns.insertion(),
      arguments: try RecordColumns.insertionArguments(state, RecordPlacer(database)) + [
        "guid": guid, "kind": state.kind.rawValue,
      ])
  }

  /// Replaces records and all records that belong to them by tombstones, with one edit each. Returns the
  /// number of edits.
  static func delete(_ guids: [String], at now: Int64, _ database: Database) throws -> Int {
    var (waiting, edits) = (guids, 0)
    while let next = waiting.popLast() {
      try database.executeCached(
        sql: """
          UPDATE record SET deleted = 1, fields = '{}', edited_at = ?, version = version + 1 WHERE guid = ?
          """,
        arguments: [now, next])
      edits += 1
      // An export may nest records more than one level deep, or in a circle. The loop still ends, since
      // deleted records are not returned again.
      waiting += try children(of: next, database).filter { !waiting.contains($0) }
    }
    return edits
  }

  /// The guids of a record and of all records that are deleted with it.
  private static func withChildren(_ guid: String, _ database: Database) throws -> [String] {
    var (all, next) = ([guid], 0)
    while next < all.count {
      all += try children(of: all[next], database).filter { !all.contains($0) }
      next += 1
    }
    return all
  }

  /// The guids of the records that belong to an entry, without tombstones.
  static func children(of guid: String, _ database: Database) throws -> [String] {
    try String.fetchAll(
      database.cachedStatement(sql: "SELECT guid FROM record WHERE entry_guid = ? AND deleted = 0"),
      arguments: [guid])
  }
}

extension RecordEditor {
  /// Replaces the content of a record, as one edit. Does nothing if the record already has this content.
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
    try Self.insert(draft.state(editedAt: now).addingProvenance(.typed), guid, database)
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

  /// Throws for a record of an unknown kind, whose fields this program does not understand. Also throws for a
  /// kind that can only be changed with separate commands, such as `zone`.
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

  /// Throws for content that exceeds the limits which every remote accepts; see `RecordFields.fault`.
  private static func requireLimits(_ draft: RecordDraft, _ guid: String) throws {
    guard let fault = draft.fields.fault else { return }
    throw Failure(.badInput, "\(guid): cannot store this record: \(fault)")
  }

  /// Throws if the entry is missing or deleted, or belongs to another entry itself.
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
  /// The failure for a record of kind `zone`, which the commands for records cannot edit.
  package static func zoneRecord(_ guid: String) -> Failure {
    Failure(
      .usage,
      "\(guid): this record states a time zone; 'glucoport config timezone' lists the zones and changes them")
  }
}
