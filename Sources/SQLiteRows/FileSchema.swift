// SPDX-License-Identifier: Apache-2.0

package import GRDB
import GRDBSQLite
import Logbook

/// What makes files of one version of a schema files of the next one. A released step is never edited.
package struct SchemaStep: Sendable {
  /// The version before the step.
  let version: Int
  let statements: [String]

  /// The step from a version to the next one.
  package init(from version: Int, statements: [String]) {
    (self.version, self.statements) = (version, statements)
  }
}

/// The schema of an SQLite file of glucoport.
package struct FileSchema: Sendable {
  /// The application id in the file's header.
  package let applicationID: Int
  /// The number of the schema. A larger one in a file is from a newer program.
  package let version: Int
  /// The name of such a file for people.
  package let name: String
  /// The oldest version whose files this program opens, after the steps from there.
  package let firstKept: Int
  let steps: [SchemaStep]
  private let statements: [String]

  /// A schema with the statements that create it in an empty file.
  ///
  /// - Parameter steps: one for each version from `firstKept` to the one before `version`.
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

  /// Whether the file has the schema; false for a file without tables. A file gets our application id in the
  /// transaction that creates its tables.
  ///
  /// - Throws: `Failure`: `badInput` for another program's database, `configuration` for an unknown schema.
  package func isMade(in database: Database, path: String) throws -> Bool {
    // In this order, since another process may create the tables in between.
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

  /// Refuses a file of a version of the schema that this program cannot open.
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

  /// The names of the parts of one type, such as `trigger`.
  func names(of type: String) throws -> [String] { try parts(type, "name") }

  /// The tables in whose place a file has a view, which may never end.
  ///
  /// - Parameter views: the result of `views`.
  package func replacedTables(_ views: [String]) throws -> [String] {
    let views = Set(views.map { $0.lowercased() })
    return try names(of: "table").filter(views.contains)
  }

  /// The names of the views of a file.
  package static let views = "SELECT name FROM sqlite_schema WHERE type = 'view' AND name IS NOT NULL"

  /// The statements that create the parts of one type.
  func statements(of type: String) throws -> [String] { try parts(type, "sql") }

  private func parts(_ type: String, _ column: String) throws -> [String] {
    try DatabaseQueue().write { database in
      try make(in: database)
      let sql = "SELECT \(column) FROM sqlite_schema WHERE type = ? AND sql IS NOT NULL ORDER BY name"
      return try String.fetchAll(database, sql: sql, arguments: [type])
    }
  }

  /// Creates everything in an empty file, inside the caller's transaction.
  package func make(in database: Database) throws {
    for part in statements { try database.execute(sql: part) }
    try database.execute(
      sql: "PRAGMA application_id = \(applicationID); PRAGMA user_version = \(version)")
  }
}

extension Configuration {
  /// With fewer, larger pages an import is a fifth faster. 16 KiB are still small for a single edit.
  package static let pageSize = 16384

  /// The configuration of every file of the program: constraints apply, and committed data are on the disk.
  ///
  /// - Parameters:
  ///   - busyTimeoutSeconds: how long a connection waits for a transaction of another.
  ///   - maxReaders: the number of connections that read next to the writing one.
  ///   - cacheKiB: the memory of a connection's cache.
  ///   - check: a check of the file before anything in it changes.
  /// - Throws: `Failure` of category `configuration` for a library of SQLite that is too old.
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
      // Before the journal mode: only an empty file accepts another page size, and the journal mode would rewrite the
      // header of another program's file.
      try database.execute(sql: "PRAGMA page_size = \(pageSize)")
      try check(database)
      try database.execute(sql: "PRAGMA synchronous = FULL; PRAGMA cache_size = -\(cacheKiB)")
    }
    return configuration
  }
}
