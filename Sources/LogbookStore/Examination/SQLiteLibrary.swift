// SPDX-License-Identifier: Apache-2.0

import GRDBSQLite
package import Logbook

/// The SQLite library that this process uses.
package enum SQLiteLibrary {
  /// The version of the library.
  package static var version: SQLiteVersion { SQLiteVersion(sqlite3_libversion_number()) }

  /// The features that stores need and that the library was built without, as names of its options. Empty if
  /// it has all of them.
  package static var missing: [String] {
    let left = ["OMIT_JSON", "OMIT_TRIGGER", "OMIT_WAL"].filter { (name: String) in
      sqlite3_compileoption_used(name) != 0
    }
    return left + (sqlite3_threadsafe() == 0 ? ["THREADSAFE=0"] : [])
  }
}
