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
  /// Whether a state from elsewhere moves a record of the store to where it cannot be. What stays where it is stays: an
  /// import may have nested it.
  package func forbidsPlace(of state: RecordState, over record: SyncRecord) throws -> Bool {
    guard !state.isDeleted, let entry = state.entryGuid,
      entry != record.state.entryGuid || record.state.isDeleted
    else { return false }
    return try RecordNesting(database).forbids(record.guid, in: entry)
  }
}
