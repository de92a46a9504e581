// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

/// The result of undoing or redoing an action.
package struct ActionOutcome: Hashable, Sendable {
  /// The records that changed.
  package var changed: [String] = []
  /// The records that stay as they are, because something else changed them after the action.
  package var left: [String] = []
}

extension Store {
  /// The next step that `undo` reverts or `redo` repeats; nil if there is none.
  package func nextStep(_ direction: UndoDirection) throws -> PersonStep? {
    try read { database in
      switch direction {
      case .undo: try Self.lastStep(database)
      case .redo: try Self.lastUndone(database)
      }
    }
  }

  /// The newest actions of this store, newest first.
  package func actions(limit: Int) throws -> [PersonAction] {
    try read { try ActionLog.actions("TRUE", [], limit: limit, $0) }
  }

  /// The records that undoing or redoing an action would change, and those that it would leave as they are.
  package func outcome(of action: PersonAction, _ direction: UndoDirection) throws -> ActionOutcome {
    try read { try ActionUndo(action.id, direction, $0).outcome }
  }

  /// Undoes or redoes an action. Each record gets one edit. A record that something else changed after the
  /// action stays as it is.
  ///
  /// - Parameter now: the host's clock in UTC seconds.
  package func apply(
    _ direction: UndoDirection, to action: PersonAction, at now: Int64
  ) throws -> ActionOutcome {
    try write { database in
      let undo = try ActionUndo(action.id, direction, database)
      try undo.apply(at: now)
      return undo.outcome
    }
  }

  private static func lastStep(_ database: Database) throws -> PersonStep? {
    let action = try ActionLog.actions("is_undone = 0", [], limit: 1, database).first
    let ingest = try lastImport(database, that: isChange)
    if let merge = try lastMerge(database), merge.id > max(ingest ?? 0, action?.latestIngest ?? 0) {
      return .merge(merge.path)
    }
    if let action, action.latestIngest >= ingest ?? 0 { return .action(action) }
    // An import that contained only known items can also be undone: its items stay visible because of this
    // import.
    return try (ingest ?? lastImport(database, that: hasKnownItems)).map(PersonStep.ingest)
  }

  /// The SQL condition for an ingest that changed what is visible.
  private static let isChange =
    sum(
      "new", "restored", "corrected", "moved_items", "records.new", "records.updated") + " > 0"
  /// The SQL condition for an ingest that stored nothing new, but contained items that the store had. An
  /// ingest whose items were all rejected does not meet it.
  private static let hasKnownItems = sum("known", "records.known") + " > 0"

  private static func sum(_ counts: String...) -> String {
    counts.map { "coalesce(json_extract(counts, '$.\($0)'), 0)" }.joined(separator: " + ")
  }

  /// The last import in this store that meets the condition, and that was not undone. Downloads, typed
  /// readings and imports by `fetch` are not considered.
  private static func lastImport(_ database: Database, that condition: String) throws -> Int64? {
    try Int64.fetchOne(
      database,
      sql: """
        SELECT id FROM ingest
        WHERE NOT (\(UndoPlan.isPulled)) AND NOT \(UndoPlan.isTyped) AND NOT \(ImportContribution.isUndone)
          AND NOT \(UndoPlan.isFetched) AND \(condition)
        ORDER BY id DESC LIMIT 1
        """)
  }

  /// The last merge of another store that added or changed items. A download has the same format, and is
  /// excluded because its counts lack the member `known`.
  private static func lastMerge(_ database: Database) throws -> (id: Int64, path: String)? {
    let row = try Row.fetchOne(
      database,
      sql: """
        SELECT id, source FROM ingest
        WHERE \(UndoPlan.isPulled) AND format = '\(StoreMerge.format)'
          AND json_extract(counts, '$.known') IS NOT NULL AND \(isChange)
        ORDER BY id DESC LIMIT 1
        """)
    guard let row = row.map({ StoredRow($0, of: "ingest") }) else { return nil }
    let (id, path): (Int64, String) = (try row[0], try row[1])
    return (id, path)
  }

  private static func lastUndone(_ database: Database) throws -> PersonStep? {
    let rows = try Row.fetchAll(
      database,
      sql: """
        SELECT redo.ingest, redo.action FROM redo LEFT JOIN ingest ON ingest.id = redo.ingest
        WHERE redo.ingest IS NULL OR \(ImportContribution.isUndone) ORDER BY redo.id DESC LIMIT 1
        """)
    guard let row = rows.first.map({ StoredRow($0, of: "redo", key: 0..<2) }) else { return nil }
    if let ingest: Int64 = try row[0] { return .ingest(ingest) }
    let id: Int64 = try row[1]
    return try ActionLog.actions("id = ?", [id], limit: 1, database).first.map(PersonStep.action)
  }
}

/// The edits that undo or redo an action, computed inside the transaction that applies them.
struct ActionUndo {
  private enum Edit {
    case write(RecordState)
    case delete
  }

  private(set) var outcome = ActionOutcome()
  private let action: Int64
  private let direction: UndoDirection
  private let database: Database
  private let pairs: [String: ActionStates.StatePair]
  private var edits: [(guid: String, edit: Edit)] = []

  init(_ action: Int64, _ direction: UndoDirection, _ database: Database) throws {
    (self.action, self.direction, self.database) = (action, direction, database)
    pairs = try ActionStates(action, database).pairs
    for (guid, pair) in pairs.sorted(by: { $0.key < $1.key }) where !pair.isUnchanged {
      if let edit = try edit(guid, pair) {
        edits.append((guid, edit))
        outcome.changed.append(guid)
      } else {
        outcome.left.append(guid)
      }
    }
  }

  func apply(at now: Int64) throws {
    for (guid, edit) in edits {
      switch edit {
      case .delete:
        // Deleting an entry also deletes the records that belong to it.
        guard try RecordEditor.fetch(guid, database)?.isDeleted == false else { continue }
        _ = try RecordEditor.delete([guid], at: now, database)
      case .write(var state):
        state.editedAt = now
        if try RecordEditor.exists(guid, database) {
          try RecordEditor.write(state, to: guid, database)
        } else {
          try RecordEditor.insert(state, guid, database)
        }
      }
    }
    for guid in outcome.left { try markUnchanged(guid) }
    let isUndo = direction == .undo
    try database.executeCached(
      sql: "UPDATE action SET is_undone = ? WHERE id = ?", arguments: [isUndo, action])
    try database.executeCached(sql: "DELETE FROM redo WHERE action = ?", arguments: [action])
    if isUndo { try database.executeCached(sql: "INSERT INTO redo (action) VALUES (?)", arguments: [action]) }
  }

  /// Logs equal states before and after the action for this record, as if the action had not changed it. So a
  /// redo does not overwrite a later change of the record.
  private func markUnchanged(_ guid: String) throws {
    try database.executeCached(
      sql: """
        INSERT OR REPLACE INTO action_state
        SELECT action, guid, 1 - is_after, kind, entry_guid, device_time, utc_offset, offset_source, fields, deleted
        FROM action_state WHERE action = ?1 AND guid = ?2
          AND is_after = (SELECT kind <> 'delete' FROM action WHERE id = ?1)
        """, arguments: [action, guid])
  }

  /// Whether an undo may delete an added entry. Every record that belongs to the entry must have been added
  /// by the same action and be unchanged since.
  private func mayDeleteEntry(_ entry: String) throws -> Bool {
    try RecordEditor.children(of: entry, database).allSatisfy { child in
      guard let pair = pairs[child], pair.before == nil, let after = pair.after,
        let record = try RecordEditor.fetch(child, database)
      else { return false }
      return try RecordDraft(record).state(editedAt: 0).agrees(with: after)
    }
  }

  /// The edit that reverts or repeats the action for a record; nil if something else changed the record after
  /// the action.
  private func edit(_ guid: String, _ pair: ActionStates.StatePair) throws -> Edit? {
    guard let record = try RecordEditor.fetch(guid, database) else {
      // For a typed reading, the record is its withdrawal, which does not exist until an undo writes it.
      return direction == .undo && pair.after?.addedReading != nil ? pair.before.map(Edit.write) : nil
    }
    let current = try RecordDraft(record).state(editedAt: 0, isDeleted: record.isDeleted)
    if let reading = pair.after?.addedReading, direction == .undo {
      return current.addedReading == reading ? pair.before.map(Edit.write) : nil
    }
    switch (direction, pair.before, pair.after) {
    case (.undo, nil, let after?):
      return try current.agrees(with: after) && mayDeleteEntry(guid) ? .delete : nil
    case (.undo, let before?, let after?): return current.agrees(with: after) ? .write(before) : nil
    case (.redo, nil, let after?): return current.isDeleted ? .write(after) : nil
    case (.redo, let before?, let after?):
      guard current.agrees(with: before) else { return nil }
      return after.isDeleted ? .delete : .write(after)
    case (_, _, nil): return nil
    }
  }
}
