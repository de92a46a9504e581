// SPDX-License-Identifier: Apache-2.0

package import GRDB
import GRDBSQLite
import Logbook

/// The schema of an SQLite file of glucoport.
package struct FileSchema: Sendable {
  /// The application id in the file's header.
  package let applicationID: Int
  /// The number of the schema. A larger one in a file is from a newer program.
  package let version: Int
  /// The name of such a file for people.
  package let name: String
  private let statements: [String]

  /// A schema with the statements that create it in an empty file.
  package init(applicationID: Int, version: Int, name: String, statements: [String]) {
    self.applicationID = applicationID
    self.version = version
    self.name = name
    self.statements = statements
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
    try require(try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0, path: path)
    return true
  }

  /// Refuses a file of another version of the schema.
  ///
  /// - Throws: `Failure` of category `configuration`.
  package func require(_ found: Int, path: String) throws {
    guard found <= version else {
      throw Failure(
        .configuration,
        "\(path): the \(name) is from a newer glucoport (schema \(found), this program knows \(version)); update glucoport"
      )
    }
    guard found == version else {
      throw Failure(
        .configuration,
        "\(path): the \(name) has schema \(found), which no released glucoport wrote; move it away and start a new one"
      )
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
