// SPDX-License-Identifier: Apache-2.0

import GRDBSQLite
package import Logbook

/// The SQLite library that this process uses.
package enum SQLiteLibrary {
  /// Its version.
  package static var version: SQLiteVersion { SQLiteVersion(sqlite3_libversion_number()) }

  /// What it was built without that stores need, by the name of the option; empty where nothing is missing.
  package static var missing: [String] {
    let left = ["OMIT_JSON", "OMIT_TRIGGER", "OMIT_WAL"].filter { (name: String) in
      sqlite3_compileoption_used(name) != 0
    }
    return left + (sqlite3_threadsafe() == 0 ? ["THREADSAFE=0"] : [])
  }
}
