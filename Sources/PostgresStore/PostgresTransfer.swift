// SPDX-License-Identifier: Apache-2.0

package import Logbook
package import LogbookAPI

/// A database as the target or the source of a transfer. As a target, its role must own the tables. As a
/// source, the role of the server is enough.
package final class PostgresTransfer {
  private static let seconds = 24 * 3600

  private let connection: DatabaseConnection

  /// Connects, and checks the version of the schema.
  ///
  /// - Throws: `Failure`: `configuration` for another version, `unavailable`.
  package init(_ address: DatabaseAddress) throws(Failure) {
    try PostgresDatabase(address).checkVersion()
    do throws(DatabaseError) {
      connection = try DatabaseConnection(address)
    } catch {
      throw error.failure
    }
  }

  /// Runs a transaction for a command. Errors of the database become failures.
  func transaction<Value>(
    _ begin: String = "BEGIN", _ work: (DatabaseTransaction) throws -> Value
  ) throws -> Value {
    let deadline = ContinuousClock.now + .seconds(Self.seconds)
    do {
      try connection.run(begin, by: deadline)
      let value = try work(DatabaseTransaction(connection, by: deadline, Stopwatch()))
      try connection.run("COMMIT", by: deadline)
      return value
    } catch let error as DatabaseError {
      if !error.endsConnection { rollBack() }
      throw error.failure
    } catch {
      rollBack()
      throw error
    }
  }

  private func rollBack() {
    do { try connection.run("ROLLBACK", by: .now + .seconds(5)) } catch {
      // This error is ignored: the command ends with the first error, and the transaction ends with the
      // connection.
    }
  }

  /// The SQL statements that begin a transaction in which all queries see the same state of the database.
  static let snapshot = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; \(TransactionMode.plans)"
}

extension PostgresTransfer: TransferTarget {
  /// Identifies the database by the system identifier of its server, and by its id on this server. A change
  /// of address or name does not change these, but restoring a dump does.
  package func database() throws -> MovedDatabase {
    try transaction(Self.snapshot) { transaction in
      let row = try transaction.rows(
        """
        SELECT d.datname, c.system_identifier::text, d.oid::text FROM pg_database d, pg_control_system() c
        WHERE d.datname = current_database()
        """)
      let (name, cluster) = (try row.text(0, 0), try row.text(0, 1))
      return MovedDatabase(
        id: "\(cluster)/\(try row.text(0, 2))", name: "'\(name)' of the PostgreSQL system \(cluster)")
    }
  }

  /// Checks that the role owns the tables, and that the data do not conflict with data in the database.
  ///
  /// - Parameter isRepeated: whether an earlier transfer of the same data may have stored some of the
  ///   logbooks.
  /// - Throws: `Failure`: `permission`; `cannotCreate` if a logbook is already stored or purged, or if a name
  ///   or token is in use.
  package func requireCapacity(for directory: TransferredDirectory, isRepeated: Bool) throws {
    try transaction(Self.snapshot) { transaction in
      // The role of the server may write most rows. With it, a transfer would fail only after some rows were
      // moved.
      try ServingRole.requireOwner(transaction.rows(PostgresSchema.isOwned))
      var moved: Set<String> = []
      for (id, name) in directory.logbooks.sorted(by: { $0.value < $1.value }) {
        if try Self.isStored(id, transaction) {
          guard isRepeated else {
            throw Failure(
              .cannotCreate,
              "the database has the logbook '\(name)' already, perhaps with other readings; use an empty database"
            )
          }
          moved.insert(id)
        }
        guard try transaction.rows("SELECT 1 FROM glucoport.purged WHERE guid = $1", .text(id)).count == 0
        else {
          throw Failure(
            .cannotCreate,
            "the logbook '\(name)' was removed permanently from the database; use an empty database")
        }
        try Self.requireName(name, of: id, transaction)
      }
      for id in directory.purged where try Self.isStored(id, transaction) {
        throw Failure(
          .cannotCreate,
          "the database has a logbook that was removed permanently from the folder; use an empty database")
      }
      // The logins of a stored logbook are not checked: they are already stored, and may have been changed
      // after that.
      for login in directory.logins where !moved.contains(login.logbook) {
        let other = try transaction.rows(
          "SELECT 1 FROM glucoport.login WHERE name = $1 OR token_hash = $2", .text(login.name),
          .data(login.tokenHash))
        guard other.count == 0 else { throw Self.otherToken(login.name) }
      }
    }
  }

  private static func isStored(_ logbook: String, _ transaction: DatabaseTransaction) throws -> Bool {
    try transaction.rows("SELECT 1 FROM glucoport.logbook WHERE guid = $1", .text(logbook)).count > 0
  }

  static func requireName(_ name: String, of logbook: String, _ transaction: DatabaseTransaction) throws {
    let named = try transaction.rows(
      "SELECT 1 FROM glucoport.logbook WHERE name = $1 AND guid <> $2", .text(name), .text(logbook))
    guard named.count == 0 else {
      throw Failure(
        .cannotCreate, "the database has another logbook with the name '\(name)'")
    }
  }

  private static func otherToken(_ name: String) -> Failure {
    Failure(.cannotCreate, "the database has another token with the name '\(name)'")
  }

  package func store(
    _ logbook: String, of directory: TransferredDirectory,
    _ read: (_ use: (TransferredRows) throws -> Void) throws -> Void
  ) throws -> Bool {
    let name = directory.logbooks[logbook] ?? ""
    return try transaction("BEGIN") { transaction in
      if try Self.isStored(logbook, transaction) { return false }
      try Self.requireName(name, of: logbook, transaction)
      let number = try transaction.rows(
        "INSERT INTO glucoport.logbook (guid, name) VALUES ($1, $2) RETURNING id", .text(logbook), .text(name)
      ).integer(0, 0)
      try transaction.run("SET LOCAL glucoport.logbook = '\(number)'")
      let writer = TransferWriter(transaction, number)
      try read { try writer.write($0) }
      try writer.finish(last: writer.last, contentBytes: writer.contentBytes)
      try Self.store(directory.logins.filter { $0.logbook == logbook }, number, directory, transaction)
      return true
    }
  }

  /// Stores the logins of a logbook together with it. Otherwise a repeated transfer could restore a revoked
  /// token.
  private static func store(
    _ logins: [TransferredDirectory.Login], _ logbook: Int64, _ directory: TransferredDirectory,
    _ transaction: DatabaseTransaction
  ) throws {
    for login in logins {
      let stored = try transaction.rows(
        """
        INSERT INTO glucoport.login (name, token_hash, role, logbook, created_at) VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT DO NOTHING RETURNING name
        """, .text(login.name), .data(login.tokenHash), .text(login.role), .integer(logbook),
        .integer(login.createdAt))
      guard stored.count == 1 else { throw otherToken(login.name) }
      for token in directory.replacedTokens where token.login == login.name {
        try transaction.rows(
          """
          INSERT INTO glucoport.replaced_token (token_hash, login, until) VALUES ($1, $2, $3)
          ON CONFLICT DO NOTHING
          """, .data(token.hash), .text(token.login), .integer(token.until))
      }
    }
  }

  package func store(_ directory: TransferredDirectory) throws {
    try transaction("BEGIN") { transaction in
      for id in directory.purged {
        // A purged logbook has no rows in this database. Its entry needs a number that no logbook has.
        try transaction.rows(
          """
          INSERT INTO glucoport.purged (guid, logbook, is_erased)
          SELECT $1, least(0, (SELECT min(logbook) FROM glucoport.purged)) - 1, true ON CONFLICT DO NOTHING
          """, .text(id))
      }
      for (hash, id) in directory.purgedTokens {
        try transaction.rows(
          "INSERT INTO glucoport.purged_token (token_hash, guid) VALUES ($1, $2) ON CONFLICT DO NOTHING",
          .data(hash), .text(id))
      }
    }
  }
}

/// Writes the rows of one logbook, inside the caller's transaction.
final class TransferWriter {
  private let transaction: DatabaseTransaction
  private let number: SQLValue
  /// The largest sequence number of the rows that were written.
  private(set) var last: Int64 = 0
  /// The total size of the contents that were written, in bytes.
  private(set) var contentBytes: Int64 = 0

  init(_ transaction: DatabaseTransaction, _ number: Int64) {
    self.transaction = transaction
    self.number = .integer(number)
  }

  func write(_ rows: TransferredRows) throws {
    switch rows {
    case .epochs(let rows):
      try run(
        "INSERT INTO glucoport.epoch SELECT $1, * FROM unnest($2::int8[], $3::text[])",
        .integers(rows.map(\.firstSeq)), .texts(rows.map(\.tag)))
    case .nodes(let rows):
      try run(
        """
        INSERT INTO glucoport.node (logbook, id, name, run_number, run_id, last_seq)
        SELECT $1, * FROM unnest($2::int8[], $3::text[], $4::int8[], $5::text[], $6::int8[])
        """, .integers(rows.map(\.id)), .texts(rows.map(\.name)), .integers(rows.map(\.runNumber)),
        .texts(rows.map(\.runID)), .integers(rows.map(\.lastSeq)))
    case .devices(let rows):
      try run(
        """
        INSERT INTO glucoport.device (logbook, id, vendor, model, serial, format)
        SELECT $1, * FROM unnest($2::int8[], $3::bytea[], $4::bytea[], $5::bytea[], $6::bytea[])
        """, .integers(rows.map(\.id)), .data(rows.map { Array($0.device.vendor.utf8) }),
        .data(rows.map { Array($0.device.model.utf8) }), .data(rows.map { Array($0.device.serial.utf8) }),
        .data(rows.map { Array($0.device.format.utf8) }))
    case .series(let rows):
      try run(
        """
        INSERT INTO glucoport.series (logbook, id, device, kind, position_kind)
        SELECT $1, * FROM unnest($2::int8[], $3::int8[], $4::int8[], $5::int8[])
        """, .integers(rows.map(\.id)), .integers(rows.map(\.device)), .integers(rows.map(\.kind)),
        .integers(rows.map(\.positionKind)))
    case .records(let rows):
      last = max(last, rows.map(\.seq).max() ?? 0)
      try run(
        """
        INSERT INTO glucoport.record (logbook, guid, seq, revision, kind, state, node)
        SELECT $1, * FROM unnest($2::text[], $3::int8[], $4::text[], $5::text[], $6::text[], $7::int8[])
        """, .texts(rows.map(\.guid)), .integers(rows.map(\.seq)), .texts(rows.map(\.revision)),
        .texts(rows.map(\.kind)), .texts(rows.map(\.state)), .integers(rows.map(\.node)))
    case .readings(let rows): try write(rows)
    case .accepted(let rows):
      try run(
        """
        INSERT INTO glucoport.accepted (logbook, guid, node, version, digest, revision)
        SELECT $1, * FROM unnest($2::text[], $3::text[], $4::int8[], $5::text[], $6::text[])
        """, .texts(rows.map(\.guid)), .texts(rows.map(\.node)), .integers(rows.map(\.version)),
        .texts(rows.map(\.digest)), .texts(rows.map(\.revision)))
    case .contents(let rows):
      try run(
        """
        INSERT INTO glucoport.blob (logbook, digest, size, held)
        SELECT $1, * FROM unnest($2::text[], $3::int8[], $4::int8[])
        """, .texts(rows.map(\.digest)), .integers(rows.map(\.size)), .integers(rows.map(\.held)))
      contentBytes += rows.reduce(0) { $0 + $1.held }
    case .part(let digest, let start, let bytes):
      try run(
        "INSERT INTO glucoport.blob_part (logbook, digest, start, bytes) VALUES ($1, $2, $3, $4)",
        .text(digest), .integer(start), .data(bytes))
    }
  }

  /// Writes the totals of the logbook. They replace the totals of an earlier copy.
  func finish(last: Int64, contentBytes: Int64) throws {
    try run(
      """
      INSERT INTO glucoport.counter (logbook, last_seq) VALUES ($1, $2)
      ON CONFLICT (logbook) DO UPDATE SET last_seq = excluded.last_seq
      """, .integer(last))
    try run(
      """
      INSERT INTO glucoport.contents (logbook, bytes) VALUES ($1, $2)
      ON CONFLICT (logbook) DO UPDATE SET bytes = excluded.bytes
      """, .integer(contentBytes))
  }

  private func write(_ rows: [TransferredReading]) throws {
    last = max(last, rows.last?.seq ?? 0)
    try run(
      """
      INSERT INTO glucoport.reading (logbook, seq, series, position, value_bucket, occurrence, device_time,
        utc_offset, offset_source, value, unit, range_flag, threshold, marks, node)
      SELECT $1, * FROM unnest($2::int8[], $3::int8[], $4::int8[], $5::int8[], $6::int8[], $7::int8[], $8::int8[],
        $9::int8[], $10::float8[], $11::int8[], $12::int8[], $13::float8[], $14::int8[], $15::int8[])
      """, .integers(rows.map(\.seq)), .integers(rows.map(\.series)), .integers(rows.map(\.position)),
      .integers(rows.map(\.valueBucket)), .integers(rows.map(\.occurrence)),
      .integers(rows.map(\.deviceTime)),
      .integers(rows.map(\.utcOffset)), .integers(rows.map(\.offsetSource)), .numbers(rows.map(\.value)),
      .integers(rows.map(\.unit)), .integers(rows.map(\.rangeFlag)), .numbers(rows.map(\.threshold)),
      .integers(rows.map(\.marks)), .integers(rows.map(\.node)))
  }

  private func run(_ sql: String, _ values: SQLValue...) throws(DatabaseError) {
    try transaction.rows(sql, [number] + values)
  }
}

extension PostgresTransfer: TransferSource {
  package func directory() throws -> TransferredDirectory {
    try transaction(Self.snapshot) { transaction in
      var directory = TransferredDirectory()
      let logbooks = try transaction.rows(
        "SELECT guid, name, cluster FROM glucoport.logbook WHERE NOT is_guest ORDER BY name")
      for row in 0..<logbooks.count where try logbooks.text(row, 2) != PostgresSchema.home {
        throw Self.otherClusterFailure(try logbooks.text(row, 1), try logbooks.text(row, 2))
      }
      for row in 0..<logbooks.count {
        directory.logbooks[try logbooks.text(row, 0)] = try logbooks.text(row, 1)
      }
      let logins = try transaction.rows(
        """
        SELECT l.name, l.token_hash, l.role, b.guid, l.created_at
        FROM glucoport.login l JOIN glucoport.logbook b ON b.id = l.logbook ORDER BY l.name
        """)
      directory.logins = try (0..<logins.count).map { row in
        TransferredDirectory.Login(
          name: try logins.text(row, 0), tokenHash: try logins.data(row, 1), role: try logins.text(row, 2),
          logbook: try logins.text(row, 3), createdAt: try logins.integer(row, 4))
      }
      let tokens = try transaction.rows(
        "SELECT token_hash, login, until FROM glucoport.replaced_token ORDER BY login, until")
      directory.replacedTokens = try (0..<tokens.count).map { row in
        TransferredDirectory.ReplacedToken(
          hash: try tokens.data(row, 0), login: try tokens.text(row, 1), until: try tokens.integer(row, 2))
      }
      let purged = try transaction.rows("SELECT guid FROM glucoport.purged ORDER BY guid")
      directory.purged = try (0..<purged.count).map { try purged.text($0, 0) }
      let ended = try transaction.rows("SELECT token_hash, guid FROM glucoport.purged_token")
      for row in 0..<ended.count { directory.purgedTokens[try ended.data(row, 0)] = try ended.text(row, 1) }
      return directory
    }
  }

  private static func otherClusterFailure(_ logbook: String, _ cluster: String) -> Failure {
    Failure(
      .usage,
      "the logbook '\(logbook)' is in the cluster '\(cluster)'; first run 'glucoport serve logbook move' with it and '\(PostgresSchema.home)'"
    )
  }

  package func read(_ logbook: String, _ use: (TransferredRows) throws -> Void) throws {
    try transaction(Self.snapshot) { transaction in
      let found = try transaction.rows(
        "SELECT id, name FROM glucoport.logbook WHERE guid = $1", .text(logbook))
      guard found.count == 1 else {
        throw Failure(.missingInput, "the logbook \(logbook) was purged meanwhile")
      }
      let number = try found.integer(0, 0)
      try transaction.run("SET LOCAL glucoport.logbook = '\(number)'")
      let left = try transaction.rows(
        "SELECT cluster FROM glucoport.residence WHERE logbook = $1 AND state = 'left'", .integer(number))
      guard left.count == 0 else { throw Self.otherClusterFailure(try found.text(0, 1), try left.text(0, 0)) }
      let reader = TransferReader(transaction, .integer(number))
      try reader.readSmall(use)
      try reader.readRecords(use)
      _ = try reader.readReadings(use)
      try reader.readAnswers(use)
      try reader.readContents(use)
    }
  }
}

/// Reads the rows of one logbook, inside the caller's transaction.
struct TransferReader {
  private static let chunk: Int64 = 10_000
  private static let recordChunk: Int64 = 200

  private let transaction: DatabaseTransaction
  private let logbook: SQLValue

  init(_ transaction: DatabaseTransaction, _ logbook: SQLValue) {
    self.transaction = transaction
    self.logbook = logbook
  }

  func readSmall(_ use: (TransferredRows) throws -> Void) throws {
    func all<Item>(_ sql: String, _ item: (DatabaseRows, Int) throws -> Item) throws -> [Item] {
      let rows = try transaction.rows(sql, logbook)
      return try (0..<rows.count).map { try item(rows, $0) }
    }
    try use(
      .epochs(
        all("SELECT first_seq, tag FROM glucoport.epoch WHERE logbook = $1 ORDER BY first_seq") {
          (try $0.integer($1, 0), try $0.text($1, 1))
        }))
    try use(
      .nodes(
        all(
          "SELECT id, name, run_number, run_id, last_seq FROM glucoport.node WHERE logbook = $1 ORDER BY id"
        ) {
          (
            try $0.integer($1, 0), try $0.text($1, 1), try $0.integer($1, 2), try $0.text($1, 3),
            try $0.integer($1, 4)
          )
        }))
    try use(
      .devices(
        all("SELECT id, vendor, model, serial, format FROM glucoport.device WHERE logbook = $1 ORDER BY id") {
          (
            try $0.integer($1, 0),
            Device(
              vendor: try $0.text($1, 1), model: try $0.text($1, 2), serial: try $0.text($1, 3),
              format: try $0.text($1, 4))
          )
        }))
    try use(
      .series(
        all("SELECT id, device, kind, position_kind FROM glucoport.series WHERE logbook = $1 ORDER BY id") {
          (try $0.integer($1, 0), try $0.integer($1, 1), try $0.integer($1, 2), try $0.integer($1, 3))
        }))
  }

  func readRecords(_ use: (TransferredRows) throws -> Void) throws {
    var after: Int64 = 0
    while true {
      let rows = try transaction.rows(
        """
        SELECT guid, seq, revision, kind, state, node FROM glucoport.record
        WHERE logbook = $1 AND seq > $2 ORDER BY seq LIMIT $3
        """, logbook, .integer(after), .integer(Self.recordChunk))
      guard rows.count > 0 else { return }
      try use(
        .records(
          (0..<rows.count).map { row in
            (
              try rows.text(row, 0), try rows.integer(row, 1), try rows.text(row, 2), try rows.text(row, 3),
              try rows.text(row, 4), try rows.integer(row, 5)
            )
          }))
      after = try rows.integer(rows.count - 1, 1)
    }
  }

  /// Reads the readings after a sequence number.
  ///
  /// - Returns: the sequence number of the last reading.
  func readReadings(after number: Int64 = 0, _ use: (TransferredRows) throws -> Void) throws -> Int64 {
    var after = number
    while true {
      let rows = try transaction.rows(
        """
        SELECT seq, series, position, value_bucket, occurrence, device_time, utc_offset, offset_source, unit,
          range_flag, marks, node, value, threshold
        FROM glucoport.reading WHERE logbook = $1 AND seq > $2 ORDER BY seq LIMIT $3
        """, logbook, .integer(after), .integer(Self.chunk))
      guard rows.count > 0 else { return after }
      try use(
        .readings(
          (0..<rows.count).map { row in
            TransferredReading(
              whole: try (0..<12).map { try rows.integer(row, $0) }, value: try rows.number(row, 12),
              threshold: try rows.number(row, 13))
          }))
      after = try rows.integer(rows.count - 1, 0)
    }
  }

  func readAnswers(_ use: (TransferredRows) throws -> Void) throws {
    var (guid, node) = ("", "")
    while true {
      let rows = try transaction.rows(
        """
        SELECT guid, node, version, digest, revision FROM glucoport.accepted
        WHERE logbook = $1 AND (guid, node) > ($2, $3) ORDER BY guid, node LIMIT $4
        """, logbook, .text(guid), .text(node), .integer(Self.chunk))
      guard rows.count > 0 else { return }
      try use(
        .accepted(
          (0..<rows.count).map { row in
            (
              try rows.text(row, 0), try rows.text(row, 1), try rows.integer(row, 2), try rows.text(row, 3),
              try rows.text(row, 4)
            )
          }))
      (guid, node) = (try rows.text(rows.count - 1, 0), try rows.text(rows.count - 1, 1))
    }
  }

  /// Reads all contents, and the parts of the contents that are not in `known`.
  func readContents(except known: Set<String> = [], _ use: (TransferredRows) throws -> Void) throws {
    let contents = try transaction.rows(
      "SELECT digest, size, held FROM glucoport.blob WHERE logbook = $1 ORDER BY digest", logbook)
    let rows = try (0..<contents.count).map { row in
      (
        digest: try contents.text(row, 0), size: try contents.integer(row, 1),
        held: try contents.integer(row, 2)
      )
    }
    try use(.contents(rows))
    for row in rows where !known.contains(row.digest) { try readParts(of: row.digest, use) }
  }

  /// Reads the parts of complete contents. These parts never change.
  ///
  /// - Returns: the digests of these contents.
  func readCompleteParts(_ use: (TransferredRows) throws -> Void) throws -> Set<String> {
    let rows = try transaction.rows(
      "SELECT digest FROM glucoport.blob WHERE logbook = $1 AND held = size ORDER BY digest", logbook)
    let digests = try (0..<rows.count).map { try rows.text($0, 0) }
    for digest in digests { try readParts(of: digest, use) }
    return Set(digests)
  }

  private func readParts(of digest: String, _ use: (TransferredRows) throws -> Void) throws {
    var start = Int64(-1)
    while true {
      let rows = try transaction.rows(
        """
        SELECT start, bytes FROM glucoport.blob_part
        WHERE logbook = $1 AND digest = $2 AND start > $3 ORDER BY start LIMIT 4
        """, logbook, .text(digest), .integer(start))
      guard rows.count > 0 else { return }
      for row in 0..<rows.count {
        start = try rows.integer(row, 0)
        try use(.part(digest: digest, start: start, bytes: try rows.data(row, 1)))
      }
    }
  }
}
