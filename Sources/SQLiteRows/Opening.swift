// SPDX-License-Identifier: Apache-2.0

package import GRDB
import GRDBSQLite
import Logbook

extension Configuration {
  /// Fewer, larger pages make an import a fifth faster; 16 KiB is still small for a single edit.
  package static let pageSize = 16384

  /// What every file of the program is opened with: constraints hold, and what was committed is on the disk.
  ///
  /// - Parameters:
  ///   - busyTimeoutSeconds: how long a connection waits for another's transaction.
  ///   - maxReaders: how many connections read beside the one that writes.
  ///   - cacheKiB: the memory of a connection's cache.
  ///   - check: what is asked of a file before anything in it changes.
  /// - Throws: `Failure`: `configuration` for a library of SQLite that is too old.
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
      // Before any journal mode: only an empty file takes another page size, and the journal mode would rewrite the
      // header of a file that is not ours.
      try database.execute(sql: "PRAGMA page_size = \(pageSize)")
      try check(database)
      try database.execute(sql: "PRAGMA synchronous = FULL; PRAGMA cache_size = -\(cacheKiB)")
    }
    return configuration
  }
}
