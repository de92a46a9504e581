// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import LogbookAPI
import SQLiteRows

/// The records in a logbook's file, inside the caller's transaction. `RecordJudge` decides about their
/// changes.
struct RecordStorage: RecordTable {
  private let database: Database
  private let positions: Positions
  private let node: Int64
  private let tag: String
  private var last: Int64

  /// - Parameter tag: the tag of this process's epoch.
  init(_ database: Database, node: Int64, after last: Int64, tag: String) {
    self.database = database
    self.positions = Positions(database: database)
    self.node = node
    self.last = last
    self.tag = tag
  }

  func current(_ guid: String) throws -> CurrentRecord? {
    let statement = try database.cachedStatement(
      sql: "SELECT guid, revision, state FROM record WHERE guid = ?")
    guard let row = try Row.fetchOne(statement, arguments: [guid]) else { return nil }
    let stored = StoredRow(row, of: "record")
    return CurrentRecord(revision: try stored[1], state: try stored.state(2))
  }

  func earlierAnswer(to change: RecordChange) throws -> String? {
    let statement = try database.cachedStatement(
      sql: "SELECT revision FROM accepted WHERE guid = ? AND node = ? AND version = ? AND digest = ?")
    return try String.fetchOne(
      statement, arguments: [change.guid, change.node, change.version, change.digest])
  }

  func knows(_ position: String) throws -> Bool { try positions.knows(position) }

  mutating func store(_ change: RecordChange, _ state: RecordState, isKnown: Bool) throws -> String {
    last += 1
    try positions.beginEpoch(at: last, tag: tag)
    let revision = PositionText.text(last, tag: tag)
    let sql =
      isKnown
      ? "UPDATE record SET seq = ?2, revision = ?3, state = ?5, node = ?6 WHERE guid = ?1"
      : "INSERT INTO record (guid, seq, revision, kind, state, node) VALUES (?1, ?2, ?3, ?4, ?5, ?6)"
    try database.cachedStatement(sql: sql).execute(
      arguments: [change.guid, last, revision, state.kind.rawValue, state.json, node])
    return revision
  }

  func keepAnswer(to change: RecordChange, _ revision: String) throws {
    let arguments: StatementArguments = [change.guid, change.node, change.version, change.digest, revision]
    try database.cachedStatement(
      sql:
        "UPDATE accepted SET version = ?3, digest = ?4, revision = ?5 WHERE guid = ?1 AND node = ?2 AND version <= ?3"
    ).execute(arguments: arguments)
    guard database.changesCount == 0 else { return }
    try database.cachedStatement(
      sql: """
        INSERT INTO accepted (guid, node, version, digest, revision) SELECT ?1, ?2, ?3, ?4, ?5
        WHERE NOT EXISTS (SELECT 1 FROM accepted WHERE guid = ?1 AND node = ?2)
        """
    ).execute(arguments: arguments)
  }
}

extension StoredRow {
  func guid(_ column: Int) throws -> String {
    let guid: String = try self[column]
    guard Guid.isValid(guid) else { throw damage(column) }
    return guid
  }

  /// The state of a record, from the JSON in a column.
  func state(_ column: Int) throws -> RecordState {
    let text: String = try self[column]
    do {
      return try RecordState(json: text)
    } catch {
      // The reason of the parser could quote a part of the text, so the error does not contain it.
      throw damage(column)
    }
  }
}
