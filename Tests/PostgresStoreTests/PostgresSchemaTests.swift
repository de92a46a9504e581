// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import LogbookAPI
import ServiceConformance
import TestPostgres
import Testing

@testable import PostgresStore

/// Tests the tables of a database, and the statements that they refuse to a server.
@Suite(.timeLimit(.minutes(10))) struct PostgresSchemaTests {
  private static var soon: ContinuousClock.Instant { .now + .seconds(60) }

  /// The number that a statement without a condition on the logbook returns to the role of the server.
  private static func count(_ connection: DatabaseConnection, _ sql: String) throws -> Int64 {
    try connection.rows(sql, [], by: soon).integer(0, 0)
  }

  /// Tables without rows of a logbook, and tables that a server reads before it knows the logbook.
  private static let directory: Set = [
    "schema_version", "logbook", "login", "replaced_token", "purged", "purged_token", "cluster",
    "page_link",
  ]

  /// All other tables. They are read from the database, so that a table that is added later is tested too.
  private static func tables(_ connection: DatabaseConnection) throws -> [String] {
    let rows = try connection.rows(
      """
      SELECT relname FROM pg_class WHERE relnamespace = 'glucoport'::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'f')
        AND NOT relispartition ORDER BY relname
      """, [], by: soon)
    let names = try (0..<rows.count).map { try rows.text($0, 0) }
    #expect(directory.isSubset(of: names))
    return names.filter { !directory.contains($0) }
  }

  /// Creates two logbooks with a row in each table.
  ///
  /// - Parameters:
  ///   - connection: a connection of the server's role.
  ///   - admin: a connection of a superuser, who sees every row.
  private static func with(
    _ body: (_ stand: RunningStorage, _ connection: DatabaseConnection, _ admin: DatabaseConnection)
      async throws ->
      Void
  ) async throws {
    try await TestDatabases.shared.get().with { copies in
      let name = try copies.copy()
      let bench = StorageBench { _, _ in
        let storage = try PostgresStorage(DatabaseAddress(copies.server.address(name)))
        return OpenStorage(storage, stop: storage.close)
      }
      let stand = try await StoragePlace(bench: bench, folder: ScratchFolder()).start()
      for login in [stand.writer, stand.stranger] {
        let client = Client(stand, as: login)
        try await client.push(Sample.everyShape)
        try await client.push(Sample.change(Client.uuid(), 1, on: nil, Sample.note("text")))
        let content = AttachmentContent(
          digest: "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb", size: 1)
        let answer = try await client.service.neededAttachments.append(
          Array("a".utf8), to: content, at: 0, client.run)
        #expect(answer == .holds(HeldContent(bytes: 1, size: 1)))
      }
      let address = try DatabaseAddress(copies.server.address(name))
      let admin = try DatabaseConnection(DatabaseAddress(copies.server.address(name, as: "postgres")))
      try admin.run(
        "INSERT INTO glucoport.residence SELECT id, 0, 'here' FROM glucoport.logbook ON CONFLICT DO NOTHING",
        by: soon)
      try await body(stand, try DatabaseConnection(address), admin)
      try await stand.stop()
    }
  }

  @Test func aQueryWithoutAConditionSeesOnlyTheLogbookOfItsTransaction() async throws {
    try await Self.with { _, connection, _ in
      for table in try Self.tables(connection) {
        #expect(
          try Self.count(connection, "SELECT count(*) FROM glucoport.\(table)") == 0, "\(table) is open")
      }
      let ids = try connection.rows("SELECT id FROM glucoport.logbook ORDER BY id", [], by: Self.soon)
      #expect(ids.count == 2)
      for row in 0..<2 {
        let id = try ids.integer(row, 0)
        try connection.run("BEGIN; SET LOCAL glucoport.logbook = '\(id)'", by: Self.soon)
        for table in try Self.tables(connection) {
          let others = try Self.count(
            connection, "SELECT count(*) FROM glucoport.\(table) WHERE logbook <> \(id)")
          #expect(others == 0, "\(table) shows another logbook")
          #expect(
            try Self.count(connection, "SELECT count(*) FROM glucoport.\(table)") > 0, "\(table) is empty")
        }
        try connection.run("COMMIT", by: Self.soon)
      }
      // The setting has ended with its transaction, so no row is visible.
      #expect(try Self.count(connection, "SELECT count(*) FROM glucoport.reading") == 0)
    }
  }

  @Test func aChangeWithoutAConditionTouchesNoOtherLogbook() async throws {
    try await Self.with { _, connection, _ in
      let ids = try connection.rows("SELECT id FROM glucoport.logbook ORDER BY id", [], by: Self.soon)
      let (own, other) = (try ids.integer(0, 0), try ids.integer(1, 0))
      try connection.run(
        """
        BEGIN; SET LOCAL glucoport.logbook = '\(own)';
        UPDATE glucoport.counter SET last_seq = 1000; UPDATE glucoport.record SET revision = 'x';
        UPDATE glucoport.node SET last_seq = 1000; DELETE FROM glucoport.blob_part; DELETE FROM glucoport.blob;
        SET LOCAL glucoport.logbook = '\(other)'
        """, by: Self.soon)
      #expect(try Self.count(connection, "SELECT count(*) FROM glucoport.counter WHERE last_seq = 1000") == 0)
      #expect(try Self.count(connection, "SELECT count(*) FROM glucoport.record WHERE revision = 'x'") == 0)
      #expect(try Self.count(connection, "SELECT count(*) FROM glucoport.node WHERE last_seq = 1000") == 0)
      #expect(try Self.count(connection, "SELECT count(*) FROM glucoport.blob_part") == 1)
      // A complete attachment is not deleted even in its own logbook.
      try connection.run("SET LOCAL glucoport.logbook = '\(own)'", by: Self.soon)
      #expect(try Self.count(connection, "SELECT count(*) FROM glucoport.blob_part") == 1)
      try connection.run("ROLLBACK", by: Self.soon)
      #expect(throws: DatabaseError.self) {
        try connection.run(
          """
          BEGIN; SET LOCAL glucoport.logbook = '\(own)';
          INSERT INTO glucoport.epoch (logbook, first_seq, tag) VALUES (\(other), 7, '00000000')
          """, by: Self.soon)
      }
    }
  }

  /// The count and a digest of another logbook's rows in a table, as a superuser sees them.
  private static func rows(of logbook: Int64, in table: String, _ admin: DatabaseConnection) throws -> [Int64]
  {
    let rows = try admin.rows(
      """
      SELECT count(*), bit_xor(hashtextextended(t::text, 0))::int8 FROM glucoport.\(table) t WHERE logbook = \(logbook)
      """, [], by: soon)
    return [try rows.integer(0, 0), rows.isNull(0, 1) ? 0 : try rows.integer(0, 1)]
  }

  /// The SQLSTATE with which a statement of the server's role fails in a transaction of a logbook; nil if it
  /// succeeds.
  private static func refusal(
    _ statement: String, in logbook: Int64, _ connection: DatabaseConnection
  ) throws -> String? {
    defer { do { try connection.run("ROLLBACK", by: soon) } catch { Issue.record(error) } }
    try connection.run("BEGIN; SET LOCAL glucoport.logbook = '\(logbook)'", by: soon)
    do {
      try connection.run(statement, by: soon)
      return nil
    } catch DatabaseError.refused(let state, _) {
      return state
    }
  }

  /// Each statement deliberately lacks a condition on the logbook, or names the other logbook. It is
  /// committed unless it is refused.
  @Test func noStatementOfAServerReachesAnotherLogbookInAnyTable() async throws {
    try await Self.with { _, connection, admin in
      let ids = try admin.rows("SELECT id FROM glucoport.logbook ORDER BY id", [], by: Self.soon)
      let (own, other) = (try ids.integer(0, 0), try ids.integer(1, 0))
      let tables = try Self.tables(connection)
      #expect(tables.count >= 11)
      let before = try tables.map { try Self.rows(of: other, in: $0, admin) }
      #expect(before.allSatisfy { $0[0] > 0 }, "the other logbook has rows in each of \(tables)")
      for table in tables {
        let name = "glucoport.\(table)"
        let copy =
          "INSERT INTO \(name) SELECT (jsonb_populate_record(t, '{\"logbook\": \(other)}')).* FROM \(name) t LIMIT 1"
        #expect(try Self.refusal(copy, in: own, connection) == "42501", "\(copy)")
        for statement in [
          "UPDATE \(name) SET logbook = logbook", "UPDATE \(name) SET logbook = \(other)",
          "DELETE FROM \(name)", "TRUNCATE \(name)",
          "DELETE FROM \(name) WHERE logbook = \(other)", "SELECT 1 FROM \(name) FOR UPDATE; COMMIT",
        ] {
          let state = try Self.refusal(statement + "; COMMIT", in: own, connection)
          #expect(state == nil || state == "42501", "\(statement)")
        }
        // The division fails because no row of the other logbook is counted.
        for logbook in ["", "SET LOCAL glucoport.logbook = ''; "] {
          let count = logbook + "SELECT 1 / count(*) FROM \(name) WHERE logbook = \(other)"
          #expect(try Self.refusal(count, in: own, connection) == "22012", "\(count)")
        }
      }
      #expect(try tables.map { try Self.rows(of: other, in: $0, admin) } == before)
    }
  }

  @Test func aServerDeletesOnlyTheLogbookOfItsTransaction() async throws {
    try await Self.with { stand, connection, admin in
      let ids = try admin.rows("SELECT id, guid FROM glucoport.logbook ORDER BY id", [], by: Self.soon)
      let (own, other) = (try ids.integer(0, 0), try ids.text(1, 1))
      try connection.run("BEGIN; SET LOCAL glucoport.logbook = '\(own)'", by: Self.soon)
      #expect(try Self.count(connection, "SELECT glucoport.purge('\(other)')") == 0)
      try connection.run("COMMIT", by: Self.soon)
      #expect(try Self.count(connection, "SELECT glucoport.purge('\(other)')") == 0, "without a logbook")
      #expect(try Self.count(connection, "SELECT glucoport.erase()") == 0)
      #expect(try Self.count(admin, "SELECT count(*) FROM glucoport.logbook") == 2)
      #expect(try await Client(stand, as: stand.stranger).service.logbook().name == "second")
    }
  }

  @Test func theServerRoleCannotAccessPartitionsDirectly() async throws {
    try await Self.with { (_, connection, _) throws in
      let partitions = "FROM pg_class WHERE relnamespace = 'glucoport'::regnamespace AND relispartition"
      #expect(try Self.count(connection, "SELECT count(*) \(partitions)") >= 8)
      let open = "has_table_privilege(oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE')"
      #expect(try Self.count(connection, "SELECT count(*) \(partitions) AND relkind = 'r' AND \(open)") == 0)
    }
  }

  @Test(arguments: [
    "UPDATE glucoport.reading SET value = 1", "DELETE FROM glucoport.reading", "TRUNCATE glucoport.reading",
    "UPDATE glucoport.epoch SET tag = '00000000'", "DELETE FROM glucoport.epoch",
    "DELETE FROM glucoport.record", "UPDATE glucoport.series SET kind = 2", "DELETE FROM glucoport.logbook",
    "DELETE FROM glucoport.purged", "UPDATE glucoport.blob_part SET bytes = ''",
    "SELECT count(*) FROM glucoport.reading_0", "ALTER TABLE glucoport.reading DISABLE ROW LEVEL SECURITY",
    "DROP SCHEMA glucoport CASCADE", "CREATE TABLE glucoport.t (a int)",
    "UPDATE glucoport.residence SET state = 'here'", "DELETE FROM glucoport.residence",
    "UPDATE glucoport.logbook SET cluster = 'default'", "INSERT INTO glucoport.cluster VALUES ('a', 'b')",
    "UPDATE glucoport.cluster SET address = 'b'",
  ])
  func theServerRoleIsRefusedForbiddenDatabaseStatements(_ statement: String) async throws {
    try await TestDatabases.shared.get().with { copies in
      let connection = try DatabaseConnection(DatabaseAddress(copies.server.address(try copies.copy())))
      #expect(throws: DatabaseError.refused(state: "42501", object: "")) {
        do {
          try connection.run(statement, by: Self.soon)
        } catch DatabaseError.refused(let state, _) {
          throw DatabaseError.refused(state: state, object: "")
        }
      }
    }
  }

  /// The server's role inherits no permissions, but it could switch to a role that it is a member of.
  @Test(arguments: [
    "GRANT UPDATE (value) ON glucoport.reading TO $role", "GRANT TRIGGER ON glucoport.reading TO $role",
    "GRANT REFERENCES ON glucoport.record TO $role", "GRANT DELETE ON glucoport.record TO $role",
    "GRANT UPDATE ON glucoport.reading_1 TO $role",
    "GRANT DELETE ON glucoport.reading_1 TO $role", "GRANT SELECT ON glucoport.reading_1 TO PUBLIC",
    "GRANT \(PostgresServer.owner) TO $role", "GRANT pg_write_all_data TO $role",
    "REVOKE INSERT ON glucoport.record FROM $role",
    "REVOKE EXECUTE ON FUNCTION glucoport.purge(text) FROM $role",
    "REVOKE EXECUTE ON FUNCTION glucoport.erase() FROM $role",
    "GRANT UPDATE (state) ON glucoport.residence TO $role", "REVOKE SELECT ON glucoport.cluster FROM $role",
  ])
  func aDatabaseRoleWithOtherPermissionsThanAServerNeedsIsRefused(_ statement: String) async throws {
    try await Self.expectRefusal(after: statement, .permission)
  }

  @Test(arguments: [
    "ALTER TABLE glucoport.reading DISABLE ROW LEVEL SECURITY",
    "ALTER TABLE glucoport.blob NO FORCE ROW LEVEL SECURITY",
    "ALTER TABLE glucoport.residence NO FORCE ROW LEVEL SECURITY",
  ])
  func tablesWithoutRowLevelSecurityAreRefused(_ statement: String) async throws {
    try await Self.expectRefusal(after: statement, .configuration)
  }

  private static func expectRefusal(after statement: String, _ category: FailureCategory) async throws {
    try await TestDatabases.shared.get().with { copies in
      let name = try copies.copy()
      let role = "role_of_\(name)"
      try copies.server.run("CREATE ROLE \(role) LOGIN NOINHERIT")
      let owner = try DatabaseAddress(copies.server.address(name, as: PostgresServer.owner))
      _ = try PostgresDatabase(owner).prepare(role: role, isPreview: false)
      let served = PostgresDatabase(try DatabaseAddress(copies.server.address(name, as: role)))
      #expect(try served.check() == PostgresSchema.version)
      try copies.server.run(statement.replacing("$role", with: role), in: name)
      #expect { try served.check() } throws: { ($0 as? Failure)?.category == category }
    }
  }

  @Test func preparingADatabaseRunsOnceAndItsPreviewChangesNothing() async throws {
    try await TestDatabases.shared.get().with { copies in
      let name = try copies.copy()
      let empty = name + "_empty"
      try copies.server.run("CREATE DATABASE \(empty) OWNER \(PostgresServer.owner)")
      let database = PostgresDatabase(
        try DatabaseAddress(copies.server.address(empty, as: PostgresServer.owner)), partitions: 1)
      #expect { try database.check() } throws: { ($0 as? Failure)?.category == .configuration }
      let statements = try database.prepare(role: PostgresServer.role, isPreview: true)
      #expect(statements.contains { $0.contains("CREATE SCHEMA glucoport") })
      #expect { try database.check() } throws: { ($0 as? Failure)?.category == .configuration }
      #expect(try database.prepare(role: PostgresServer.role, isPreview: false).count == statements.count)
      #expect(try database.prepare(role: nil, isPreview: false) == [])
      #expect {
        try database.prepare(role: "nobody\"; DROP SCHEMA glucoport CASCADE; --", isPreview: false)
      } throws: {
        ($0 as? Failure)?.category == .missingInput
      }
      let served = PostgresDatabase(try DatabaseAddress(copies.server.address(empty)))
      #expect(try served.check() == PostgresSchema.version)
      #expect { try served.prepare(role: nil, isPreview: false) } throws: {
        ($0 as? Failure)?.category == .permission
      }
      // The owner and a superuser may do more than a server should.
      for role in [PostgresServer.owner, "postgres"] {
        let address = try DatabaseAddress(copies.server.address(empty, as: role))
        #expect { try PostgresDatabase(address).check() } throws: {
          ($0 as? Failure)?.category == .permission
        }
      }
      try copies.server.run("INSERT INTO glucoport.schema_version VALUES (99)", in: empty)
      for act in [{ _ = try served.check() }, { _ = try database.prepare(role: nil, isPreview: false) }] {
        #expect(throws: Failure.self) { try act() }
      }
      // Tables without a version number, and a schema of another program, are not prepared.
      try copies.server.run("DELETE FROM glucoport.schema_version", in: empty)
      for act in [{ _ = try served.check() }, { _ = try database.prepare(role: nil, isPreview: false) }] {
        #expect { try act() } throws: { ($0 as? Failure)?.category == .inputOutput }
      }
      try copies.server.run("DROP TABLE glucoport.schema_version", in: empty)
      #expect { try database.prepare(role: nil, isPreview: false) } throws: {
        ($0 as? Failure)?.category == .configuration
      }
      try copies.server.run("DROP DATABASE \(empty) WITH (FORCE)")
    }
  }

  /// The test starts from tables of version 1 with a logbook, and a role that serves them.
  @Test func tablesOfTheFirstVersionAreUpgradedWithTheirLogbooks() async throws {
    try await TestDatabases.shared.get().with { copies in
      let name = try copies.copy() + "_first"
      try copies.server.run("CREATE DATABASE \(name) OWNER \(PostgresServer.owner)")
      let owner = PostgresDatabase(try DatabaseAddress(copies.server.address(name, as: PostgresServer.owner)))
      for statement in PostgresSchema.step(to: 1, partitions: 2) { try owner.run(statement) }
      try owner.run(
        """
        INSERT INTO glucoport.schema_version (version) VALUES (1);
        INSERT INTO glucoport.logbook (guid, name) VALUES ('\(Client.uuid())', 'anna');
        SET glucoport.logbook = '1';
        INSERT INTO glucoport.counter (logbook) VALUES (1); INSERT INTO glucoport.contents (logbook) VALUES (1);
        INSERT INTO glucoport.epoch VALUES (1, 0, 'abcdef01');
        GRANT USAGE ON SCHEMA glucoport TO \(PostgresServer.role);
        GRANT SELECT ON glucoport.schema_version TO \(PostgresServer.role)
        """)
      let served = PostgresDatabase(try DatabaseAddress(copies.server.address(name)))
      #expect { try served.check() } throws: { ($0 as? Failure)?.category == .configuration }
      _ = try owner.prepare(role: PostgresServer.role, isPreview: false)
      #expect(try served.check() == 4)
      let storage = try PostgresStorage(DatabaseAddress(copies.server.address(name)))
      let token = LoginToken("gp_anna")
      try await storage.logins.add(name: "anna", role: .write, logbook: "anna", token: token, at: 1)
      let login = try #require(try await storage.logins.login(tokenHash: token.hash))
      #expect(try await storage.logbook(for: login).logbook().position == "0.abcdef01")
      let run = RunStamp(node: Client.uuid(), number: 1, id: Client.uuid())
      #expect(try await storage.logbook(for: login).store(Sample.history(3), run).stored == 3)
      try await storage.close()
      try copies.server.run("DROP DATABASE \(name) WITH (FORCE)")
    }
  }

  @Test(arguments: [
    "postgresql://anna:secret@db/glucoport", "host=db password=secret",
    "postgresql://db/x?sslpassword=secret",
    "postgresql://[", "no address",
  ])
  func anInvalidDatabaseAddressIsRefusedWithoutRepeatingItInTheMessage(_ text: String) {
    #expect { try DatabaseAddress(text) } throws: { error in
      guard let failure = error as? Failure else { return false }
      return failure.category == .usage && !failure.message.contains("secret")
    }
  }

  @Test func aDatabaseThatCannotBeReachedIsReportedAsUnavailable() throws {
    let address = try DatabaseAddress("host=/nonexistent dbname=x user=y")
    #expect { try PostgresDatabase(address).check() } throws: {
      ($0 as? Failure)?.category == .unavailable
    }
  }

  @Test func aDeletedLogbookLeavesNoRowInAnyTable() async throws {
    try await Self.with { stand, connection, _ in
      let id = try connection.rows(
        "SELECT id FROM glucoport.logbook WHERE name = 'first'", [], by: Self.soon
      ).integer(0, 0)
      try await stand.purge(stand.writer)
      try connection.run("BEGIN; SET LOCAL glucoport.logbook = '\(id)'", by: Self.soon)
      for table in try Self.tables(connection) {
        #expect(try Self.count(connection, "SELECT count(*) FROM glucoport.\(table)") == 0, "\(table)")
      }
      #expect(try Self.count(connection, "SELECT count(*) FROM glucoport.purged WHERE is_erased") == 1)
      try connection.run("COMMIT", by: Self.soon)
    }
  }
}
