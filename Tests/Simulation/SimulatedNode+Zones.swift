// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import LogbookStore

extension SimulatedNode {
  /// Sets the base zone, as if the system and not a person had stated it.
  package func setSystemZone(_ name: String) throws { try setFirstZone(name, isGiven: false) }

  /// Sets the base zone of a store without a remote, as the import that creates the store does.
  func setFirstZone(_ name: String, isGiven: Bool) throws {
    try importer().queue.inDatabase { database in
      try database.cachedStatement(
        sql: """
          UPDATE setting SET value = iif(name = 'timezone', ?1, ?2) WHERE name IN ('timezone', 'timezone-origin')
          """
      ).execute(arguments: [name, isGiven ? "given" : "system"])
    }
  }

  /// The name of the base zone, and who stated it.
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

  /// Runs an SQL query. Returns each row as the text of its columns, joined with blanks.
  package func rows(_ sql: String) throws -> [String] {
    try Store(path: path, role: .reader).queue.inDatabase { database in
      try Row.fetchAll(database, sql: sql).map { row in
        row.databaseValues.map { String.fromDatabaseValue($0) ?? "\($0)" }.joined(separator: " ")
      }
    }
  }

  /// A text with the identity and the instant of each uploaded reading and of each record. If the source
  /// stated only the instant, the text ends with the shown time.
  package func instants() throws -> [String] {
    // Opens a separate connection. An open one may still read an old snapshot, because one of its statements
    // failed.
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
