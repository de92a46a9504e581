// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Finds logbooks again after a database was restored from a backup or lost its last commits, and the copies do not fit
/// together.
///
/// The copy of the latest move that the directory ever stated is the logbook, also if it was left: then the copy to which it
/// went is lost. Changes that only other copies have are sent again by their clients, which do not know its positions.
package struct LogbookRecovery {
  /// A logbook whose place was corrected.
  package struct Found: Hashable, Sendable {
    package let name: String
    package let cluster: String
    /// Whether a copy is used that was left for another one.
    package let isTakenBack: Bool
  }

  /// The copy of a logbook in one database.
  private struct Copy {
    let cluster: String
    let database: PostgresTransfer
    let number: Int64
    let moves: Int64
    /// The cluster for which it was left.
    let left: String?
    /// Whether `serve logbook clean` removed its rows.
    let isEmpty: Bool
    /// Whether the directory ever stated it.
    let isConfirmed: Bool
    /// The number of its last change.
    let last: Int64
  }

  private let directory: PostgresDirectory
  private let databases: [(cluster: String, database: PostgresTransfer)]

  /// Corrects the places of logbooks.
  ///
  /// - Parameter name: one logbook; nil for all.
  /// - Throws: `Failure`: `unavailable` if a cluster cannot be reached, `missingInput` without such a logbook, `permission`.
  ///   It is `inputOutput` if no database has a copy, and `temporary` while the logbook is moved.
  package static func run(_ name: String?, in directory: PostgresDirectory) throws -> [Found] {
    let databases = try directory.clusters().map { ($0.name, try directory.connect(to: $0.address)) }
    for (_, database) in databases { try database.requireOwner() }
    let recovery = LogbookRecovery(directory: directory, databases: databases)
    let entries = try name.map { [try directory.entry($0)] } ?? directory.entries()
    return try entries.compactMap(recovery.find)
  }

  private func find(_ entry: PostgresDirectory.Entry) throws -> Found? {
    let copies = try databases.compactMap { try copy(of: entry, in: $0.database, $0.cluster) }
    for copy in copies { try PostgresDirectory.lock(copy.number, of: entry, in: copy.database) }
    // A command that moved it may have ended only now.
    let current = try directory.entry(entry.name)
    let found = try correct(
      current, databases.compactMap { try copy(of: current, in: $0.database, $0.cluster) })
    for copy in copies { try PostgresDirectory.unlock(copy.number, in: copy.database) }
    return found
  }

  private func correct(_ entry: PostgresDirectory.Entry, _ copies: [Copy]) throws -> Found? {
    let whole = copies.filter { !$0.isEmpty }
    let confirmed = whole.filter(\.isConfirmed)
    guard
      let latest = (confirmed.isEmpty ? whole : confirmed).max(by: {
        ($0.moves, $0.cluster == entry.cluster ? 1 : 0) < ($1.moves, $1.cluster == entry.cluster ? 1 : 0)
      })
    else {
      throw Failure(
        .inputOutput,
        "no database has the logbook '\(entry.name)'; restore the database of the cluster '\(entry.cluster)'")
    }
    if let next = whole.first(where: { $0.cluster == latest.left && $0.moves > latest.moves }) {
      try adopt(entry, next.moves, next.cluster)
      return Found(name: entry.name, cluster: next.cluster, isTakenBack: false)
    }
    if latest.left == nil {
      if latest.cluster == entry.cluster, latest.moves == entry.moves { return nil }
      if latest.moves > entry.moves {
        try adopt(entry, latest.moves, latest.cluster)
        return Found(name: entry.name, cluster: latest.cluster, isTakenBack: false)
      }
    }
    // No other copy may ever have this number of moves, should one of them come back.
    let moves = max(entry.moves, copies.reduce(0) { max($0, $1.moves) } + 1) + 1
    try open(latest, entry, moves, last: copies.reduce(0) { max($0, $1.last) })
    return Found(name: entry.name, cluster: latest.cluster, isTakenBack: true)
  }
}

extension LogbookRecovery {
  private func copy(
    of entry: PostgresDirectory.Entry, in database: PostgresTransfer, _ cluster: String
  ) throws -> Copy? {
    try database.transaction { transaction in
      guard let number = try PostgresDirectory.number(of: entry, transaction) else { return nil }
      try transaction.run("SET LOCAL glucoport.logbook = '\(number)'")
      let rows = try transaction.rows(
        """
        SELECT coalesce(r.moves, 0), r.cluster, b.moves, c.last_seq,
          NOT EXISTS (SELECT 1 FROM glucoport.epoch e WHERE e.logbook = b.id) FROM glucoport.logbook b
        JOIN glucoport.counter c ON c.logbook = b.id LEFT JOIN glucoport.residence r ON r.logbook = b.id WHERE b.id = $1
        """, .integer(number))
      guard rows.count == 1 else { return nil }
      let (moves, known) = (try rows.integer(0, 0), try rows.integer(0, 2))
      // The directory's own row states the place of the logbook, which can be another one.
      let isStated = cluster == PostgresSchema.home ? moves <= known : moves == known
      return Copy(
        cluster: cluster, database: database, number: number, moves: moves, left: try rows.optionalText(0, 1),
        isEmpty: try rows.integer(0, 4) == 1,
        isConfirmed: isStated || cluster == entry.cluster && moves == entry.moves,
        last: try rows.integer(0, 3))
    }
  }

  private func adopt(_ entry: PostgresDirectory.Entry, _ moves: Int64, _ cluster: String) throws {
    try directory.home.transaction { transaction in
      _ = try transaction.rows(
        "SELECT glucoport.adopt($1, $2, $3)", .text(entry.guid), .integer(moves), .text(cluster))
    }
  }

  /// Lets a copy accept changes, with numbers that no other copy assigned, and records it in the directory.
  private func open(_ copy: Copy, _ entry: PostgresDirectory.Entry, _ moves: Int64, last: Int64) throws {
    try copy.database.transaction { transaction in
      let number = SQLValue.integer(copy.number)
      try transaction.run("SET LOCAL glucoport.logbook = '\(copy.number)'")
      try transaction.rows(
        "UPDATE glucoport.counter SET last_seq = greatest(last_seq, $2) WHERE logbook = $1", number,
        .integer(last))
      try transaction.rows(
        """
        INSERT INTO glucoport.residence (logbook, moves, state) VALUES ($1, $2, 'here')
        ON CONFLICT (logbook) DO UPDATE SET moves = excluded.moves, state = 'here', cluster = NULL
        """, number, .integer(moves))
      try transaction.rows(
        """
        UPDATE glucoport.logbook SET moves = $2, cluster = CASE WHEN is_guest THEN cluster ELSE '\(PostgresSchema.home)' END
        WHERE id = $1
        """, number, .integer(moves))
    }
    if copy.cluster != PostgresSchema.home { try adopt(entry, moves, copy.cluster) }
  }
}
