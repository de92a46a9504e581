// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook

extension Logins {
  /// Removes every login of a logbook, and its name. Its id and the hashes of its tokens stay, so that clients with
  /// these tokens are told of the purge.
  func purge(_ id: String) async throws(ServiceError) {
    try await file.write { database in
      let id: StatementArguments = [id]
      // Overwrites the names of people in the file, instead of only freeing their space.
      try database.execute(sql: "PRAGMA secure_delete = ON")
      try database.execute(
        sql: "INSERT INTO purged (logbook) SELECT ?1 WHERE ?1 NOT IN (SELECT logbook FROM purged)",
        arguments: id)
      try database.execute(
        sql: """
          INSERT INTO purged_token (token_hash, logbook)
          SELECT token_hash, logbook FROM login WHERE logbook = ?1
          UNION SELECT r.token_hash, l.logbook FROM replaced_token r JOIN login l ON l.name = r.login WHERE l.logbook = ?1
          """, arguments: id)
      try database.execute(sql: "DELETE FROM login WHERE logbook = ?", arguments: id)
      try database.execute(sql: "DELETE FROM logbook WHERE id = ?", arguments: id)
    }
    try await file.flush()
  }

  /// The ids of all purged logbooks.
  func purgedLogbooks() throws -> [String] {
    try file.readNow { try String.fetchAll($0, sql: "SELECT logbook FROM purged") }
  }
}
