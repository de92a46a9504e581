// SPDX-License-Identifier: Apache-2.0

import GRDB
package import Logbook
import SQLiteRows

/// A change of records by a person in this store, which `undo` can revert.
package struct PersonAction: Hashable, Sendable {
  /// What the person did.
  package enum Kind: String, Sendable {
    case add, edit, delete, hide, restore
  }

  /// A record that the action concerns.
  package struct Subject: Hashable, Sendable {
    package let guid: String
    /// The content of the record after the action. If the action deleted the record, it is the content before
    /// the action.
    package let state: RecordState
    /// The typed reading, if the subject is a reading and not a record. `state` is then the withdrawal with
    /// which `undo` hides the reading.
    package let reading: TypedReading?
    /// The reading that this subject, a withdrawal, hides or shows. Nil for other subjects, and for a reading
    /// that the store does not have.
    package let target: TypedReading?
    /// Whether the action changed the subject. The subjects of an edited entry include its records and
    /// readings that the edit left unchanged.
    package let isChanged: Bool
  }

  /// A reading that a person typed, hid or restored.
  package struct TypedReading: Hashable, Sendable {
    /// The short id that commands print and accept.
    package let id: String
    package let identity: ReadingIdentity
    /// The time that the device showed.
    package let deviceTime: DeviceTime
    /// The measured value.
    package let measurement: Measurement
  }

  /// The number of the action. Later actions have larger numbers.
  package let id: Int64
  package let kind: Kind
  /// When the person did the action, in UTC seconds.
  package let madeAt: Int64
  /// The number of the newest import at the time of the action; 0 if there was none.
  package let latestIngest: Int64
  package let isUndone: Bool
  package let subjects: [Subject]
}

/// What `undo` reverts next, or `redo` repeats next.
package enum PersonStep: Hashable, Sendable {
  case ingest(Int64)
  case action(PersonAction)
  /// The merge of another store, with the path of that store. A merge is never undone.
  case merge(String)
}

/// The log of the actions in this store. 30 days after a record was deleted, its content is removed from the
/// log.
struct ActionLog {
  /// How long the log keeps the content of a deleted record.
  static let keptSeconds: Int64 = 30 * 86_400
  /// The maximum number of actions that the log keeps.
  static let maxActions: Int64 = 1000

  private let database: Database
  private let now: Int64

  init(_ database: Database, at now: Int64) { (self.database, self.now) = (database, now) }

  /// Runs `work`, and logs the states of the records before and after it.
  ///
  /// - Parameters:
  ///   - guids: the records that the work changes or adds.
  ///   - added: readings that a person typed in this action. An undo hides them.
  ///   - kept: the typed readings of an entry. `work` changes other items of the entry, and not these
  ///     readings.
  func logging<Value>(
    _ kind: PersonAction.Kind, _ guids: [String], added: [StoredReading] = [], kept: [StoredReading] = [],
    _ work: () throws -> Value
  ) throws -> Value {
    try database.executeCached(
      sql: """
        INSERT INTO action (kind, made_at, latest_ingest)
        VALUES (?, ?, coalesce((SELECT max(id) FROM ingest), 0))
        """, arguments: [kind.rawValue, now])
    let action = database.lastInsertedRowID
    for guid in guids { try logState(of: guid, action, isAfter: false) }
    let value = try work()
    for guid in guids { try logState(of: guid, action, isAfter: true) }
    for reading in added { try logTypedReading(reading, action, isAdded: true) }
    for reading in kept { try logTypedReading(reading, action, isAdded: false) }
    // An undo cannot remove the record of a withdrawal that the action created, it can only overwrite it. So
    // a state before the action is logged, too: the same withdrawal without the field `hidden`, which hides
    // nothing.
    try database.executeCached(
      sql: """
        INSERT INTO action_state
        SELECT action, guid, 0, kind, entry_guid, device_time, utc_offset, offset_source,
          json_remove(fields, '$.hidden'), deleted
        FROM action_state WHERE action = ? AND is_after = 1 AND kind = 'withdrawal'
        ON CONFLICT DO NOTHING
        """, arguments: [action])
    try database.executeCached(sql: "DELETE FROM redo")
    try Self.forget(at: now, database)
    return value
  }

  private func logState(of guid: String, _ action: Int64, isAfter: Bool) throws {
    try database.executeCached(
      sql: """
        INSERT INTO action_state
        SELECT ?, guid, ?, kind, entry_guid, device_time, utc_offset, offset_source, fields, deleted
        FROM record WHERE guid = ?
        """, arguments: [action, isAfter, guid])
  }

  /// Logs the withdrawal with which an undo of the action hides a typed reading. No record of this withdrawal
  /// exists yet.
  private func logTypedReading(_ reading: StoredReading, _ action: Int64, isAdded: Bool) throws {
    let withdrawal = Withdrawal(.reading(reading.identity), isHidden: true)
    guard let guid = withdrawal.guid else { return }
    for isAfter in [false, true] {
      var fields = withdrawal.fields
      if isAfter || !isAdded { fields[Withdrawal.hiddenName] = nil }
      try database.executeCached(
        sql: """
          INSERT INTO action_state
          VALUES (?, ?, ?, 'withdrawal', NULL, ?, 0, \(OffsetSource.stated.rawValue), ?, 0)
          """, arguments: [action, guid, isAfter, reading.deviceTime.seconds, fields.json])
    }
  }

  /// Deletes the actions that can no longer be undone.
  static func forget(at now: Int64, _ database: Database) throws {
    guard try database.hasRow(in: "action") else { return }
    try database.executeCached(
      sql: """
        DELETE FROM action WHERE id <= (SELECT max(id) FROM action) - ?1 OR id IN (
          SELECT s.action FROM action_state AS s CROSS JOIN record AS r ON r.guid = s.guid
          WHERE r.deleted = 1 AND coalesce(r.edited_at, 0) <= ?2)
        """, arguments: [maxActions, now - keptSeconds])
  }

  /// Actions that meet an SQL condition, newest first.
  static func actions(
    _ condition: String, _ arguments: StatementArguments, limit: Int, _ database: Database
  ) throws -> [PersonAction] {
    let rows = try Row.fetchAll(
      database,
      sql: """
        SELECT id, kind, made_at, latest_ingest, is_undone FROM action WHERE \(condition)
        ORDER BY id DESC LIMIT \(limit)
        """, arguments: arguments)
    return try rows.map { row in
      let row = StoredRow(row, of: "action")
      let (id, kind): (Int64, PersonAction.Kind) = (try row[0], try row.code(1))
      let states = try ActionStates(id, database)
      let subjects = try states.pairs.sorted { $0.key < $1.key }.compactMap { guid, pair in
        try (kind == .delete ? pair.before : pair.after).map { state in
          PersonAction.Subject(
            guid: guid, state: state, reading: try state.addedReading.flatMap { try reading($0, database) },
            target: try state.withdrawnReading.flatMap { try reading($0, database) },
            isChanged: !pair.isUnchanged)
        }
      }
      return PersonAction(
        id: id, kind: kind, madeAt: try row.seconds(2), latestIngest: try row[3], isUndone: try row[4],
        subjects: subjects)
    }
  }
}

extension ActionLog {
  private static func reading(
    _ identity: ReadingIdentity, _ database: Database
  ) throws -> PersonAction.TypedReading? {
    try StoredReading.fetch(identity, database).map {
      PersonAction.TypedReading(
        id: $0.shortID, identity: identity, deviceTime: $0.deviceTime, measurement: $0.measurement)
    }
  }
}

extension RecordState {
  /// The typed reading that this logged state represents; nil for other states. The log represents a typed
  /// reading by a withdrawal without the field `hidden`, which hides nothing.
  var addedReading: ReadingIdentity? {
    guard kind == .withdrawal, fields[Withdrawal.hiddenName] == nil else { return nil }
    var fields = fields
    fields[Withdrawal.hiddenName] = .flag(true)
    guard case .reading(let identity)? = Withdrawal(fields: fields)?.subject else { return nil }
    return identity
  }
}

extension RecordState {
  /// The reading that this withdrawal hides or shows; nil for any other state.
  fileprivate var withdrawnReading: ReadingIdentity? {
    guard kind == .withdrawal, case .reading(let identity)? = Withdrawal(fields: fields)?.subject else {
      return nil
    }
    return identity
  }
}

/// The states of the records of an action, before and after it.
struct ActionStates {
  struct StatePair {
    var before: RecordState?
    var after: RecordState?

    /// Whether both states exist and agree. For an edited entry, the log also lists the entry's records that
    /// the edit left unchanged.
    var isUnchanged: Bool { before.flatMap { before in after.map { before.agrees(with: $0) } } ?? false }
  }

  private(set) var pairs: [String: StatePair] = [:]

  init(_ action: Int64, _ database: Database) throws {
    let rows = try Row.fetchAll(
      database.cachedStatement(
        sql: """
          SELECT guid, kind, entry_guid, device_time, utc_offset, offset_source, fields, deleted, is_after
          FROM action_state WHERE action = ?
          """), arguments: [action])
    for row in rows {
      let row = StoredRow(row, of: "action_state")
      let guid: String = try row[0]
      let state = RecordState(
        kind: try row.code(1), entryGuid: try row[2], deviceTime: try row.deviceTime(3),
        placement: try row.placement(4),
        fields: try RecordFields(stored: try row[6], of: guid), isDeleted: try row[7])
      if try row[8] {
        pairs[guid, default: StatePair()].after = state
      } else {
        pairs[guid, default: StatePair()].before = state
      }
    }
  }
}
