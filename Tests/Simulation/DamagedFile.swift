// SPDX-License-Identifier: Apache-2.0

import GRDB

/// Changes rows of a database against the rules of its schema.
package enum DamagedFile {
  /// Runs SQL without the triggers of the tables. Other connections may have the file open.
  package static func execute(_ sql: String, in path: String) throws {
    var configuration = Configuration()
    configuration.busyMode = .timeout(20)
    configuration.foreignKeysEnabled = false
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    try queue.write { database in
      let triggers = try Row.fetchAll(
        database, sql: "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")
      for trigger in triggers { try database.execute(sql: "DROP TRIGGER \(trigger["name"] as String)") }
      try database.execute(sql: sql)
      for trigger in triggers { try database.execute(sql: trigger["sql"]) }
    }
    try queue.close()
  }
}
