// SPDX-License-Identifier: Apache-2.0

import Logbook

/// A logbook as commands list it.
package struct ListedLogbook: Hashable, Sendable {
  package let name: String
  /// The name of the cluster that has the logbook.
  package let cluster: String
  package let readings: Int64
  package let records: Int64
  /// The total size of attachments in bytes.
  package let contentBytes: Int64
}

/// The logbook in `serve logbook list --json`. The members are in the order of the coding keys.
extension ListedLogbook: Encodable {
  private enum CodingKeys: String, CodingKey {
    case name = "logbook"
    case cluster, readings, records
    case contentBytes = "attachmentBytes"
  }
}

/// The directory of logbooks and of the clusters that have them, for an administrator's commands.
package struct PostgresDirectory {
  /// What the directory states about a logbook.
  struct LogbookEntry: Hashable {
    let guid: String
    let name: String
    let cluster: String
    let address: String
    let moves: Int64
  }

  /// A logbook, with a connection to the database that has it.
  struct Located {
    let entry: LogbookEntry
    let database: PostgresTransfer
    /// The number of the logbook in this database.
    let number: Int64
  }

  let home: PostgresTransfer
  private let address: DatabaseAddress
  private let role: String

  /// Connects to the database with the logins.
  ///
  /// - Throws: `Failure`, as `PostgresTransfer.init` does.
  package init(_ address: DatabaseAddress) throws {
    self.address = address
    home = try PostgresTransfer(address)
    role = try home.transaction { try $0.rows("SELECT session_user::text").text(0, 0) }
  }

  /// All logbooks, ordered by name.
  ///
  /// - Throws: `Failure`: `unavailable` if a cluster cannot be reached.
  package func list() throws -> [ListedLogbook] {
    var databases: [String: PostgresTransfer] = [:]
    return try entries().map { entry in
      let logbook = try locate(entry) { address in
        let database = try databases[address] ?? connect(to: address)
        databases[address] = database
        return database
      }
      return try logbook.database.transaction(PostgresTransfer.snapshot) { transaction in
        try transaction.run("SET LOCAL glucoport.logbook = '\(logbook.number)'")
        let rows = try transaction.rows(
          """
          SELECT (SELECT count(*) FROM glucoport.reading WHERE logbook = $1),
            (SELECT count(*) FROM glucoport.record WHERE logbook = $1),
            (SELECT bytes FROM glucoport.contents WHERE logbook = $1)
          """, .integer(logbook.number))
        return ListedLogbook(
          name: entry.name, cluster: logbook.entry.cluster, readings: try rows.integer(0, 0),
          records: try rows.integer(0, 1), contentBytes: try rows.integer(0, 2))
      }
    }
  }

  /// Adds a database to which logbooks can be moved, or changes its address.
  ///
  /// - Throws: `Failure`: `usage` for an unusable name or address, `permission`, `unavailable`,
  ///   `configuration` for a database without the tables of this program.
  package func addCluster(_ name: String, at text: String) throws {
    guard (1...64).contains(name.unicodeScalars.count), name != PostgresSchema.home else {
      throw Failure(
        .usage, "the name of a cluster has 1 to 64 characters; '\(PostgresSchema.home)' is this database")
    }
    guard try !DatabaseAddress(text).hasRole else {
      throw Failure(
        .usage, "the address of a cluster must not state a role: servers use theirs, and this command its own"
      )
    }
    let cluster = try connect(to: text)
    guard try cluster.identity() != home.identity() else {
      throw Failure(.usage, "this address is the database of --database itself")
    }
    for database in [home, cluster] { try database.requireOwner() }
    try home.transaction { transaction in
      _ = try transaction.rows(
        """
        INSERT INTO glucoport.cluster (name, address) VALUES ($1, $2)
        ON CONFLICT (name) DO UPDATE SET address = excluded.address
        """, .text(name), .text(text))
    }
  }

  /// Removes the outdated copies of a logbook that its moves left in other databases.
  ///
  /// - Returns: the names of the clusters that had a copy.
  /// - Throws: `Failure`: `missingInput` without such a logbook, `temporary` while it is moved.
  package func clean(_ name: String) throws -> [String] {
    let logbook = try locked(name)
    return try clusters().filter { $0.name != logbook.entry.cluster }.compactMap { cluster in
      let database = try connect(to: cluster.address)
      try database.requireOwner()
      return try database.transaction { transaction in
        guard let number = try Self.number(of: logbook.entry, transaction) else { return nil }
        try transaction.run("SET LOCAL glucoport.logbook = '\(number)'")
        return try Self.clear(number, of: logbook.entry, transaction) > 0 ? cluster.name : nil
      }
    }
  }
}

extension PostgresDirectory {
  /// Connects to a database of the directory, with the directory's role. An empty address means the directory
  /// itself.
  func connect(to address: String) throws(Failure) -> PostgresTransfer {
    if address.isEmpty { return try PostgresTransfer(self.address) }
    return try PostgresTransfer(DatabaseAddress(address).with(role: role))
  }

  /// All clusters, ordered by name.
  func clusters() throws -> [(name: String, address: String)] {
    try home.transaction { transaction in
      let rows = try transaction.rows("SELECT name, address FROM glucoport.cluster ORDER BY name")
      return try (0..<rows.count).map { (try rows.text($0, 0), try rows.text($0, 1)) }
    }
  }

  /// The entries of all logbooks, or of the logbook with this name.
  func entries(_ name: String? = nil) throws -> [LogbookEntry] {
    try home.transaction { transaction in
      let rows = try transaction.rows(
        """
        SELECT b.guid, b.name, b.cluster, c.address, b.moves
        FROM glucoport.logbook b JOIN glucoport.cluster c ON c.name = b.cluster
        WHERE NOT b.is_guest AND b.name = coalesce($1, b.name) ORDER BY b.name
        """, .text(name))
      return try (0..<rows.count).map { row in
        LogbookEntry(
          guid: try rows.text(row, 0), name: try rows.text(row, 1), cluster: try rows.text(row, 2),
          address: try rows.text(row, 3), moves: try rows.integer(row, 4))
      }
    }
  }

  func entry(_ name: String) throws -> LogbookEntry {
    guard let entry = try entries(name).first else {
      throw Failure(
        .missingInput, "no logbook is named '\(name)'; 'glucoport serve logbook list' shows the names")
    }
    return entry
  }

  /// Finds the database that has a logbook. If a move was interrupted, the directory is corrected first.
  func locate(_ entry: LogbookEntry, _ connect: (String) throws -> PostgresTransfer) throws -> Located {
    let database = try connect(entry.address)
    let found: (number: Int64, left: String?) = try database.transaction { transaction in
      guard let number = try Self.number(of: entry, transaction) else { throw Self.missingCopyFailure(entry) }
      try transaction.run("SET LOCAL glucoport.logbook = '\(number)'")
      let rows = try transaction.rows(
        "SELECT coalesce(max(moves), 0), max(cluster) FROM glucoport.residence WHERE logbook = $1",
        .integer(number))
      guard try rows.integer(0, 0) == entry.moves else { throw Self.missingCopyFailure(entry) }
      return (number, try rows.optionalText(0, 1))
    }
    guard let left = found.left else {
      return Located(entry: entry, database: database, number: found.number)
    }
    try recordMove(of: entry, to: left)
    return try locate(self.entry(entry.name), connect)
  }

  /// Finds a logbook and locks it, so that no other command can move it until the connection ends.
  func locked(_ name: String) throws -> Located {
    let logbook = try locate(entry(name), connect(to:))
    for database in [home, logbook.database] { try database.requireOwner() }
    try Self.lock(logbook.number, of: logbook.entry, in: logbook.database)
    guard try entry(name) == logbook.entry else {
      throw Failure(.temporary, "the logbook '\(name)' was moved meanwhile; run the command again")
    }
    return logbook
  }

  /// Locks a copy, so that no other command can move it. The lock ends with the connection or with `unlock`.
  static func lock(_ number: Int64, of entry: LogbookEntry, in database: PostgresTransfer) throws {
    try database.transaction { transaction in
      do {
        try transaction.run(
          """
          SET LOCAL lock_timeout = 2000;
          SELECT pg_advisory_lock(\(CopyState.lockClass), \(CopyState.lockKey("\(number)")))
          """)
      } catch DatabaseError.refused(state: "55P03", _) {
        throw Failure(
          .temporary, "another command is moving the logbook '\(entry.name)'; try again when it has ended")
      }
    }
  }

  static func unlock(_ number: Int64, in database: PostgresTransfer) throws {
    try database.transaction { transaction in
      try transaction.run(
        "SELECT pg_advisory_unlock(\(CopyState.lockClass), \(CopyState.lockKey("\(number)")))")
    }
  }

  /// Stores in the directory to which cluster a logbook was moved. Returns false if the directory has
  /// recorded another move or the removal of the logbook.
  @discardableResult
  func recordMove(of entry: LogbookEntry, to cluster: String) throws -> Bool {
    try home.transaction { transaction in
      try transaction.rows(
        "SELECT glucoport.follow($1, $2, $3)", .text(entry.guid), .integer(entry.moves), .text(cluster)
      ).integer(0, 0) == 1
    }
  }

  static func number(of entry: LogbookEntry, _ transaction: DatabaseTransaction) throws -> Int64? {
    let rows = try transaction.rows("SELECT id FROM glucoport.logbook WHERE guid = $1", .text(entry.guid))
    return rows.count == 1 ? try rows.integer(0, 0) : nil
  }

  /// Deletes the rows of a copy that no request uses. Rows with which outdated requests are recognised stay.
  ///
  /// - Returns: the number of deleted rows.
  static func clear(
    _ number: Int64, of entry: LogbookEntry, _ transaction: DatabaseTransaction
  ) throws -> Int64 {
    let known = try transaction.rows(
      """
      SELECT coalesce(r.moves, 0), b.is_guest AND b.moves = r.moves AND b.moves > $2
      FROM glucoport.logbook b LEFT JOIN glucoport.residence r ON r.logbook = b.id WHERE b.id = $1
      """, .integer(number), .integer(entry.moves))
    // If requests used this copy after a move that the directory does not know, the directory was restored
    // from a backup. This copy may then be the valid one.
    guard try known.integer(0, 0) <= entry.moves + 1, try known.isNull(0, 1) || known.integer(0, 1) == 0
    else {
      throw missingCopyFailure(entry)
    }
    // Row security only allows deleting complete contents in a copy whose state is `left`, so this state is
    // set first.
    try transaction.rows(
      """
      INSERT INTO glucoport.residence (logbook, moves, state, cluster) VALUES ($1, 0, 'left', $2)
      ON CONFLICT (logbook) DO UPDATE SET state = 'left', cluster = excluded.cluster
      """, .integer(number), .text(entry.cluster))
    return try PostgresSchema.rowsOfCopy.reduce(0) { count, table in
      let rows = try transaction.rows(
        """
        WITH deleted AS (DELETE FROM glucoport.\(table) WHERE logbook = $1 RETURNING 1)
        SELECT count(*) FROM deleted
        """, .integer(number))
      return try count + rows.integer(0, 0)
    }
  }

  static func missingCopyFailure(_ entry: LogbookEntry) -> Failure {
    Failure(
      .inputOutput,
      "the cluster '\(entry.cluster)' does not have the copy of the logbook '\(entry.name)' that the directory states, or another one has a later copy; if a database was restored from an older backup, run 'glucoport serve logbook recover'"
    )
  }
}

extension PostgresTransfer {
  /// Checks that the role owns the tables.
  func requireOwner() throws {
    try transaction { try ServingRole.requireOwner($0.rows(PostgresSchema.isOwned)) }
  }

  /// A text that is different for each database, whatever its address is.
  func identity() throws -> String {
    try transaction { transaction in
      try transaction.rows(
        """
        SELECT concat_ws('/', (SELECT system_identifier FROM pg_control_system()),
          (SELECT oid FROM pg_database WHERE datname = current_database()))
        """
      ).text(0, 0)
    }
  }
}
