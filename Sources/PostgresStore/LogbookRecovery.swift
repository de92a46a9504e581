// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Finds the valid copies of logbooks when the directory does not match them. This happens after a database
/// was restored from a backup or lost its last commits.
///
/// Among the copies that the directory has ever stated, the copy of the latest move is the valid one. Its
/// state may be `left`; the copy to which the logbook was moved next is then lost. If only an invalid copy
/// has a change, the client sends the change again, since the valid copy does not know the client's position.
package struct LogbookRecovery {
  /// A logbook for which the directory was corrected.
  package struct CorrectedLogbook: Hashable, Sendable {
    package let name: String
    package let cluster: String
    /// Whether the state of the copy was `left`, so that it is used again.
    package let isReactivated: Bool
  }

  /// The copy of a logbook in one database.
  private struct Copy {
    let cluster: String
    let database: PostgresTransfer
    let number: Int64
    let moves: Int64
    /// The cluster to which the logbook was moved from this database; nil if it was not moved.
    let left: String?
    /// Whether `serve logbook clean` has removed the rows of the copy.
    let isEmpty: Bool
    /// Whether the directory ever stated this copy.
    let isConfirmed: Bool
    /// The sequence number of the copy's last change.
    let last: Int64
  }

  private let directory: PostgresDirectory
  private let databases: [(cluster: String, database: PostgresTransfer)]

  /// Corrects the directory for one or all logbooks.
  ///
  /// - Parameter name: the name of the logbook; nil for all logbooks.
  /// - Throws: `Failure`: `unavailable` if a cluster cannot be reached, `missingInput` if the logbook does
  ///   not exist, `permission`. It is `inputOutput` if no database has a copy, and `temporary` while the
  ///   logbook is being moved.
  package static func run(_ name: String?, in directory: PostgresDirectory) throws -> [CorrectedLogbook] {
    let databases = try directory.clusters().map { ($0.name, try directory.connect(to: $0.address)) }
    for (_, database) in databases { try database.requireOwner() }
    let recovery = LogbookRecovery(directory: directory, databases: databases)
    let entries = try name.map { [try directory.entry($0)] } ?? directory.entries()
    return try entries.compactMap(recovery.find)
  }

  private func find(_ entry: PostgresDirectory.LogbookEntry) throws -> CorrectedLogbook? {
    let copies = try databases.compactMap { try copy(of: entry, in: $0.database, $0.cluster) }
    for copy in copies { try PostgresDirectory.lock(copy.number, of: entry, in: copy.database) }
    // The entry is read again, since a command that moved the logbook may have ended only now.
    let current = try directory.entry(entry.name)
    let found = try correct(
      current, databases.compactMap { try copy(of: current, in: $0.database, $0.cluster) })
    for copy in copies { try PostgresDirectory.unlock(copy.number, in: copy.database) }
    return found
  }

  private func correct(_ entry: PostgresDirectory.LogbookEntry, _ copies: [Copy]) throws -> CorrectedLogbook?
  {
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
      return CorrectedLogbook(name: entry.name, cluster: next.cluster, isReactivated: false)
    }
    if latest.left == nil {
      if latest.cluster == entry.cluster, latest.moves == entry.moves { return nil }
      if latest.moves > entry.moves {
        try adopt(entry, latest.moves, latest.cluster)
        return CorrectedLogbook(name: entry.name, cluster: latest.cluster, isReactivated: false)
      }
    }
    // The number of moves must be larger than that of every other copy, in case a lost database comes back.
    let moves = max(entry.moves, copies.reduce(0) { max($0, $1.moves) } + 1) + 1
    try activate(latest, entry, moves, last: copies.reduce(0) { max($0, $1.last) })
    return CorrectedLogbook(name: entry.name, cluster: latest.cluster, isReactivated: true)
  }
}

extension LogbookRecovery {
  private func copy(
    of entry: PostgresDirectory.LogbookEntry, in database: PostgresTransfer, _ cluster: String
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
      // In the directory's database, the row states where the logbook is, which may be another database.
      let isStated = cluster == PostgresSchema.home ? moves <= known : moves == known
      return Copy(
        cluster: cluster, database: database, number: number, moves: moves, left: try rows.optionalText(0, 1),
        isEmpty: try rows.integer(0, 4) == 1,
        isConfirmed: isStated || cluster == entry.cluster && moves == entry.moves,
        last: try rows.integer(0, 3))
    }
  }

  private func adopt(_ entry: PostgresDirectory.LogbookEntry, _ moves: Int64, _ cluster: String) throws {
    try directory.home.transaction { transaction in
      _ = try transaction.rows(
        "SELECT glucoport.adopt($1, $2, $3)", .text(entry.guid), .integer(moves), .text(cluster))
    }
  }

  /// Makes a copy accept changes, with larger sequence numbers than any other copy has, and records it in the
  /// directory.
  private func activate(_ copy: Copy, _ entry: PostgresDirectory.LogbookEntry, _ moves: Int64, last: Int64)
    throws
  {
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
