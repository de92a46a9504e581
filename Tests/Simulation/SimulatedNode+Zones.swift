// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import LogbookStore

extension SimulatedNode {
  /// Sets a base zone that no person gave.
  package func setSystemZone(_ name: String) throws { try setFirstZone(name, isGiven: false) }

  /// Sets the base zone of a store without a remote, as the import does that creates the store.
  func setFirstZone(_ name: String, isGiven: Bool) throws {
    try importer().queue.inDatabase { database in
      try database.cachedStatement(
        sql: """
          UPDATE setting SET value = iif(name = 'timezone', ?1, ?2) WHERE name IN ('timezone', 'timezone-origin')
          """
      ).execute(arguments: [name, isGiven ? "given" : "system"])
    }
  }

  /// The base zone, and whether a person gave it.
  func baseZone() throws -> String {
    let zones = try sync().zones()
    return "\(zones.base.name) \(zones.origin)"
  }

  /// The identities of all readings in the store.
  func identities() throws -> Set<String> {
    try sync().queue.inDatabase { database in
      try Set(
        String.fetchCursor(
          database.cachedStatement(
            sql: """
              SELECT d.serial || ' ' || s.kind || ' ' || r.position || ' ' || r.value_bucket || ' ' || r.occurrence
              FROM reading AS r JOIN series AS s ON s.id = r.series JOIN device AS d ON d.id = s.device
              """)))
    }
  }

  /// The rows of a query, each as the texts of its columns.
  package func rows(_ sql: String) throws -> [String] {
    try Store(path: path, role: .reader).queue.inDatabase { database in
      try Row.fetchAll(database, sql: sql).map { row in
        row.databaseValues.map { String.fromDatabaseValue($0) ?? "\($0)" }.joined(separator: " ")
      }
    }
  }

  /// The instant of every reading and record, each with its identity. If the source states the instant, the shown time
  /// follows.
  package func instants() throws -> [String] {
    // A separate connection, since others may have the snapshot of a failed statement.
    try Store(path: path, role: .reader).queue.inDatabase { database in
      try String.fetchAll(
        database,
        sql: """
          SELECT d.serial || ' ' || r.position || ' ' || (r.device_time - coalesce(r.stated_offset, r.derived_offset))
            || iif(r.offset_source = 5, '/' || r.device_time, '')
          FROM reading AS r JOIN series AS s ON s.id = r.series JOIN device AS d ON d.id = s.device
          WHERE r.uploaded
          UNION ALL SELECT guid || ' ' || (device_time - utc_offset) || iif(offset_source = 5, '/' || device_time, '')
          FROM record ORDER BY 1
          """)
    }
  }
}
