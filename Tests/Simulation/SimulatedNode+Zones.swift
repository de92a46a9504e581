// SPDX-License-Identifier: Apache-2.0

import GRDB
import LogbookStore

extension SimulatedNode {
  /// Makes the base zone one that nobody gave.
  package func setSystemZone(_ name: String) throws {
    try importer().queue.inDatabase { database in
      try database.execute(sql: "UPDATE setting SET value = ? WHERE name = 'timezone'", arguments: [name])
      try database.execute(sql: "UPDATE setting SET value = 'system' WHERE name = 'timezone-origin'")
    }
  }

  /// The instant of every reading and record, each with what identifies it.
  package func instants() throws -> [String] {
    // A separate connection: others may hold the snapshot of a statement that failed.
    try Store(path: path, role: .reader).queue.inDatabase { database in
      try String.fetchAll(
        database,
        sql: """
          SELECT d.serial || ' ' || r.position || ' ' || (r.device_time - coalesce(r.stated_offset, r.derived_offset))
          FROM reading AS r JOIN series AS s ON s.id = r.series JOIN device AS d ON d.id = s.device
          WHERE r.uploaded
          UNION ALL SELECT guid || ' ' || (device_time - utc_offset) FROM record ORDER BY 1
          """)
    }
  }
}
