// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import LogbookAPI
import SQLiteRows

/// Applies changes of records. Each states the revision on which it is based.
struct RecordStorage {
  private let database: Database
  private let positions: Positions
  private let node: Int64
  private let tag: String
  private var last: Int64
  private var answerBytes = 0

  /// - Parameter tag: the tag of this process's epoch.
  init(_ database: Database, node: Int64, after last: Int64, tag: String) {
    self.database = database
    self.positions = Positions(database: database)
    self.node = node
    self.last = last
    self.tag = tag
  }

  /// Applies a batch in the caller's transaction.
  mutating func apply(_ changes: [RecordChange]) throws -> [RecordVerdict] {
    var verdicts: [RecordVerdict] = []
    for change in changes { verdicts.append(try apply(change)) }
    return verdicts
  }
}

extension RecordStorage {
  private struct Current {
    let revision: String
    let state: RecordState
  }

  private mutating func apply(_ change: RecordChange) throws -> RecordVerdict {
    let current = try current(change.guid)
    // The node repeats the request because the answer was lost. Changes by others since then are not a conflict.
    if let revision = try earlierAnswer(to: change), Self.isCurrent(revision, of: change, current) {
      return .accepted(revision: revision)
    }
    guard let current else { return try store(change, change.state, isKnown: false) }
    guard change.state.kind == current.state.kind else {
      return .refused(reason: "the record is of kind \(current.state.kind), and a kind never changes")
    }
    // A deletion based on the tombstone itself is a decision to keep it. A concurrent restore that arrives later must
    // conflict with it.
    let isDecided = change.state.isDeleted && change.base == current.revision
    if change.state.agrees(with: current.state), !isDecided {
      // A conflict teaches the client the record's provenance. A client that already has this revision knows it.
      if current.state.teachesProvenance(to: change.state), change.base != current.revision {
        return try conflict(change, current)
      }
      if change.state.teachesProvenance(to: current.state), !change.state.isDeleted {
        return try store(change, current.state.learning(change.state.provenance), isKnown: true)
      }
      try keepAnswer(to: change, current.revision)
      return .accepted(revision: current.revision)
    }
    if change.base == current.revision {
      // The first provenance stays, whatever another program sends.
      var state = change.state
      state.provenance = current.state.provenance ?? state.provenance
      return try store(change, state, isKnown: true)
    }
    return try conflict(change, current)
  }

  private func earlierAnswer(to change: RecordChange) throws -> String? {
    let statement = try database.cachedStatement(
      sql: "SELECT revision FROM accepted WHERE guid = ? AND node = ? AND version = ? AND digest = ?")
    return try String.fetchOne(
      statement, arguments: [change.guid, change.node, change.version, change.digest])
  }

  /// Whether an earlier answer is still valid. In a damaged or hand-edited file the record may be missing, or have
  /// other content at this revision: then the change is applied again.
  private static func isCurrent(_ revision: String, of change: RecordChange, _ current: Current?) -> Bool {
    guard let current else { return false }
    return current.revision != revision || change.state.agrees(with: current.state)
  }

  private func current(_ guid: String) throws -> Current? {
    let statement = try database.cachedStatement(
      sql: "SELECT guid, revision, state FROM record WHERE guid = ?")
    guard let row = try Row.fetchOne(statement, arguments: [guid]) else { return nil }
    let stored = StoredRow(row, of: "record")
    return Current(revision: try stored[1], state: try stored.state(2))
  }

  private mutating func store(
    _ change: RecordChange, _ state: RecordState, isKnown: Bool
  ) throws -> RecordVerdict {
    last += 1
    try positions.beginEpoch(at: last, tag: tag)
    let revision = "\(last).\(tag)"
    let sql =
      isKnown
      ? "UPDATE record SET seq = ?2, revision = ?3, state = ?5, node = ?6 WHERE guid = ?1"
      : "INSERT INTO record (guid, seq, revision, kind, state, node) VALUES (?1, ?2, ?3, ?4, ?5, ?6)"
    try database.cachedStatement(sql: sql).execute(
      arguments: [change.guid, last, revision, state.kind.rawValue, state.json, node])
    try keepAnswer(to: change, revision)
    return .accepted(revision: revision)
  }

  /// Overwrites an answer for an equal version, too: a merge sends other content with the version that was sent before.
  private func keepAnswer(to change: RecordChange, _ revision: String) throws {
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

  private mutating func conflict(_ change: RecordChange, _ current: Current) throws -> RecordVerdict {
    answerBytes += current.state.json.utf8.count
    guard answerBytes <= WireProtocol.maxBodyBytes / 2 else { throw ServiceError.tooLarge }
    return .conflict(
      revision: current.revision, state: current.state,
      isBaseKnown: try change.base.map(positions.knows) ?? false)
  }
}

extension StoredRow {
  func guid(_ column: Int) throws -> String {
    let guid: String = try self[column]
    guard Guid.isValid(guid) else { throw damage(column) }
    return guid
  }

  /// Parses the state of a record from its JSON.
  func state(_ column: Int) throws -> RecordState {
    let text: String = try self[column]
    do {
      return try RecordState(json: text)
    } catch {
      // The parser's reason would quote a part of the text.
      throw damage(column)
    }
  }
}
