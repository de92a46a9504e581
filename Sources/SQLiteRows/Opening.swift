// SPDX-License-Identifier: Apache-2.0

package import GRDB
import GRDBSQLite
import Logbook

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
