// SPDX-License-Identifier: Apache-2.0

import GRDB
import SQLiteRows

extension Store {
  /// What distinguishes this store from those of other people, for identifiers that are hashes of it: when its first import
  /// began and which bytes that read. No import is ever removed, so that it stays the same; nil for a store without one.
  ///
  /// The name of the file is no part of it, since a name can be guessed and the guess then checked against the hash.
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
