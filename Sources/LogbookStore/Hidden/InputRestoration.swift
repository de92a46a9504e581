// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

/// Ends withdrawals of imports, and restores the changes of records that the withdrawals reverted.
struct InputRestoration {
  private let database: Database
  private let now: Int64

  init(_ database: Database, at now: Int64) { (self.database, self.now) = (database, now) }

  /// Ends these withdrawals.
  ///
  /// - Returns: the guids of the records that have the content from the import again.
  @discardableResult
  func end(_ ended: [(guid: String, input: WithdrawnInput)]) throws -> [String] {
    var written: [String] = []
    var changes: [String: [(change: RecordRevision, importID: String)]] = [:]
    for (_, input) in ended {
      for change in input.changes { changes[change.guid, default: []].append((change, input.importID)) }
    }
    for change in try WithdrawalGroup.end(ended, database, at: now)
    where try holds(change.before, change.guid) {
      let importID = changes[change.guid]?.first { $0.change == change }?.importID
      let own = try Int64.fetchOne(
        database.cachedStatement(sql: "SELECT id FROM ingest WHERE guid = ?"), arguments: [importID])
      // If this store has the import, `StatedContents` decides which of its contents are written again.
      if let own, try StatedContents(database).content(of: change.guid, by: own) != nil { continue }
      try write(change.after, to: change.guid, ingest: own)
      written.append(change.guid)
    }
    return written
  }

  /// Writes this state of a record as one edit, and stores it as content that an import wrote. Nothing is
  /// done for a deleted record.
  ///
  /// - Parameter ingest: the import that wrote the content; nil for an import of another store.
  func write(_ state: RecordState, to guid: String, ingest: Int64?) throws {
    var state = state
    state.editedAt = now
    try database.executeCached(
      sql: """
        UPDATE record SET \(RecordColumns.assignments), imported = :imported, ingest = coalesce(:ingest, ingest),
          version = version + 1
        WHERE guid = :guid AND deleted = 0
        """,
      arguments: try RecordColumns.arguments(state, RecordPlacer(database)) + [
        "imported": RecordContent(state).text, "ingest": ingest, "guid": guid,
      ])
  }

  /// Whether a record is not deleted and has the content of this state.
  func holds(_ state: RecordState, _ guid: String) throws -> Bool {
    let content = try String.fetchOne(
      database.cachedStatement(sql: "SELECT \(RecordContent.sql) FROM record WHERE guid = ? AND deleted = 0"),
      arguments: [guid])
    return content == RecordContent(state).text
  }
}

/// Computes an identity from an input and from how it was read. It shows whether the input was imported
/// before.
enum InputIdentity {
  /// The identity of an import's input; empty if the input has no digest.
  static func of(_ ingest: Int64, _ database: Database) throws -> String {
    try Input(ingest, database)?.identity() ?? ""
  }

  /// The identities under which the input may have been imported before. If no zone was given for this
  /// import, earlier imports of it with any zone of the logbook match. Otherwise, only earlier imports with
  /// the same zone match.
  static func known(of ingest: Int64, _ database: Database) throws -> Set<String> {
    guard let input = try Input(ingest, database) else { return [] }
    let own: Set = [input.identity()]
    guard !input.hasZone else { return own }
    let zones = try LogbookZones(database)
    let stated = try String.fetchSet(database, sql: "SELECT name FROM item_zone_name")
    let names = stated.union(([zones.base] + zones.periods.map(\.zone)).map(\.name))
    return own.union(names.map(input.identity(withZone:)))
  }

  private struct Input {
    private let format: String
    private let digest: String
    /// The decisions without the zone of the store. Two stores may have different zones before they are
    /// joined, and the identity must be equal in both.
    private let decisions: [Decision]

    init?(_ ingest: Int64, _ database: Database) throws {
      let row = try Row.fetchOne(
        database.cachedStatement(
          sql: """
            SELECT i.id, i.format, i.digest, i.decisions, d.identity
            FROM ingest AS i LEFT JOIN device AS d ON d.id = i.meter WHERE i.id = ?
            """), arguments: [ingest]
      ).map { StoredRow($0, of: "ingest") }
      guard let row, let digest: String = try row[2] ?? (try row[4]), !digest.isEmpty else { return nil }
      self.digest = digest
      format = try row[1]
      decisions = try StoredDecision.decisions(try row[3], ingest: ingest)
        .filter { $0.subject != "zone" || $0.basis == .given }
    }

    var hasZone: Bool { decisions.contains { $0.subject == "zone" } }

    func identity() -> String { WithdrawnInput.identity(format: format, digest: digest, decisions) }

    func identity(withZone zone: String) -> String {
      WithdrawnInput.identity(
        format: format, digest: digest, decisions + [Decision("zone", zone, .given)])
    }
  }
}
