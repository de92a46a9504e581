// SPDX-License-Identifier: Apache-2.0

import GRDB

extension Store {
  /// Lets everything that the remote refused for good wait to be sent once more, for the role `sync`.
  ///
  /// - Returns: how many readings and records there were.
  @discardableResult
  public func releaseRefused() throws -> Int {
    try write { database in
      try database.execute(
        sql: """
          UPDATE record SET quarantine = NULL, quarantined_version = NULL WHERE quarantined_version IS NOT NULL
          """)
      let records = database.changesCount
      try database.execute(sql: "DELETE FROM refusal")
      return records + database.changesCount
    }
  }
}
