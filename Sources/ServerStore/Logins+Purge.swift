// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook

extension Logins {
  /// Ends every login of a logbook and forgets its name. Its id and the hashes of its tokens stay, by which each is
  /// informed of what happened.
  func purge(_ id: String) async throws(ServiceError) {
    try await file.write { database in
      let id: StatementArguments = [id]
      // Names of people are overwritten in the file, not only given free.
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

  /// The ids of all logbooks that were removed.
  func purgedLogbooks() throws -> [String] {
    try file.readNow { try String.fetchAll($0, sql: "SELECT logbook FROM purged") }
  }
}
