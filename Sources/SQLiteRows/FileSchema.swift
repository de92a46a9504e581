// SPDX-License-Identifier: Apache-2.0

package import GRDB
import GRDBSQLite
import Logbook

/// The SQL statements that convert a file from one version of its schema to the next one. A released step is
/// never edited.
package struct SchemaStep: Sendable {
  /// The version of a file before the step.
  let version: Int
  let statements: [String]

  /// A step from `version` to the next version.
  package init(from version: Int, statements: [String]) {
    (self.version, self.statements) = (version, statements)
  }
}

/// The schema of an SQLite file of glucoport.
package struct FileSchema: Sendable {
  /// The application id in the file's header.
  package let applicationID: Int
  /// The version number of the schema. A file with a larger number comes from a newer program.
  package let version: Int
  /// The name of this type of file in messages.
  package let name: String
  /// The oldest version that this program can open, by applying steps.
  package let firstKept: Int
  let steps: [SchemaStep]
  private let statements: [String]

  /// A schema with the SQL statements that create it in an empty file.
  ///
  /// - Parameter steps: one step for each version from `firstKept` up to, but not including, `version`.
  package init(
    applicationID: Int, version: Int, name: String, statements: [String], firstKept: Int,
    steps: [SchemaStep] = []
  ) {
    precondition(steps.map(\.version) == Array(firstKept..<version), "a step is missing or in excess")
    self.applicationID = applicationID
    self.version = version
    self.name = name
    self.statements = statements
    self.firstKept = firstKept
    self.steps = steps
  }

  /// Whether the file has the tables of the schema; false for a file without any table. A file gets the
  /// application id in the same transaction as its tables.
  ///
  /// - Throws: `Failure`: `badInput` for another program's database, `configuration` for an unknown schema.
  package func isCreated(in database: Database, path: String) throws -> Bool {
    // The tables are counted before the application id is read. If the id was read first, another process
    // could create the file between both queries. The file would then look like that of another program.
    if try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_schema") == 0 { return false }
    guard try Int.fetchOne(database, sql: "PRAGMA application_id") == applicationID else {
      throw Failure(.badInput, "\(path): this is an SQLite database, but no glucoport \(name)")
    }
    let found = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
    try require(found, path: path)
    guard found == version else {
      throw Failure(
        .configuration,
        "\(path): the \(name) is of an older glucoport (schema \(found)) and cannot be brought up to date where it is; copy it into a folder that you may write to, and open the copy"
      )
    }
    return true
  }

  /// Throws if this program cannot open a file with this version of the schema.
  ///
  /// - Throws: `Failure` of category `configuration`.
  package func require(_ found: Int, path: String) throws {
    guard found <= version else {
      throw Failure(
        .configuration,
        "\(path): the \(name) is from a newer glucoport (schema \(found), this program knows \(version)); update glucoport"
      )
    }
    guard found >= firstKept else {
      throw Failure(
        .configuration,
        "\(path): the \(name) has schema \(found), which no released glucoport wrote; move it away and start a new one"
      )
    }
  }

  /// The names of the parts of the schema that have this type, such as `trigger`.
  func names(of type: String) throws -> [String] { try parts(type, "name") }

  /// The names of tables for which a file has a view instead. Reading such a view may never end.
  ///
  /// - Parameter views: the result of the query `views`.
  package func replacedTables(_ views: [String]) throws -> [String] {
    let views = Set(views.map { $0.lowercased() })
    return try names(of: "table").filter(views.contains)
  }

  /// The SQL query for the names of all views in a file.
  package static let views = "SELECT name FROM sqlite_schema WHERE type = 'view' AND name IS NOT NULL"

  /// The SQL statements that create the parts of the schema with this type.
  func statements(of type: String) throws -> [String] { try parts(type, "sql") }

  private func parts(_ type: String, _ column: String) throws -> [String] {
    try DatabaseQueue().write { database in
      try make(in: database)
      let sql = "SELECT \(column) FROM sqlite_schema WHERE type = ? AND sql IS NOT NULL ORDER BY name"
      return try String.fetchAll(database, sql: sql, arguments: [type])
    }
  }

  /// Creates the schema in an empty file, inside the caller's transaction.
  package func make(in database: Database) throws {
    for part in statements { try database.execute(sql: part) }
    try database.execute(
      sql: "PRAGMA application_id = \(applicationID); PRAGMA user_version = \(version)")
  }
}

extension Configuration {
  /// The size of a page in bytes. Larger pages make an import a fifth faster; 16 KiB are still small for a
  /// single edit.
  package static let pageSize = 16384

  /// The configuration of the connections to every file of the program. Foreign keys are checked, and a
  /// commit writes the data to the disk.
  ///
  /// - Parameters:
  ///   - busyTimeoutSeconds: how long a connection waits for the transaction of another connection.
  ///   - maxReaders: the number of connections that can read while another connection writes.
  ///   - cacheKiB: the size of a connection's cache.
  ///   - check: checks the file before the connection changes it.
  /// - Throws: `Failure` of category `configuration` if the SQLite library is too old.
  package static func ofFile(
    busyTimeoutSeconds: Double, maxReaders: Int, cacheKiB: Int,
    check: @escaping @Sendable (Database) throws -> Void
  ) throws -> Configuration {
    try SQLiteVersion(sqlite3_libversion_number()).check()
    var configuration = Configuration()
    configuration.busyMode = .timeout(busyTimeoutSeconds)
    configuration.foreignKeysEnabled = true
    configuration.maximumReaderCount = maxReaders
    configuration.prepareDatabase { database in
      // These settings come before the journal mode. Only an empty file accepts another page size. Setting
      // the journal mode would rewrite the header of another program's file.
      try database.execute(sql: "PRAGMA page_size = \(pageSize)")
      try check(database)
      try database.execute(sql: "PRAGMA synchronous = FULL; PRAGMA cache_size = -\(cacheKiB)")
    }
    return configuration
  }
}
