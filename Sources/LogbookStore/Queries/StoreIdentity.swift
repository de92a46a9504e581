// SPDX-License-Identifier: Apache-2.0

import GRDB
import SQLiteRows

extension Store {
  /// Distinguishes this store from the stores of other people, for identifiers that are hashes of it. It
  /// consists of the time at which the first import began and the digest of its input. No import is ever
  /// removed, so it stays the same. Nil for a store without imports.
  ///
  /// The name of the file is not part of it, since a name can be guessed and the guess checked against the
  /// hash.
  package func identityParts() throws -> [String]? {
    try read { database in
      try Row.fetchOne(
        database, sql: "SELECT started_at, coalesce(digest, '') FROM ingest ORDER BY id LIMIT 1"
      ).map { row in
        let row = StoredRow(row, of: "ingest")
        let (startedAt, digest): (Int64, String) = (try row.seconds(0), try row[1])
        return [String(startedAt), digest]
      }
    }
  }
}
