// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

/// Pending records that every remote refuses, since their content is not valid for a record. Another program
/// stored them, or a version of glucoport that checked less.
enum UnsendableRecords {
  /// Their ids, each with the reason.
  static func find(_ database: Database) throws -> [(guid: String, reason: String)] {
    let rows = try Row.fetchCursor(
      database.cachedStatement(
        sql: """
          SELECT guid, fields FROM record INDEXED BY record_pending
          WHERE \(RecordCondition.isPending) AND sent IS NULL
          """))
    var found: [(String, String)] = []
    while let row = try rows.next() {
      let record = StoredRow(row, of: "record")
      if let reason = fault(try record[1]) { found.append((try record[0], reason)) }
    }
    return found
  }

  private static func fault(_ fields: String) -> String? {
    do throws(JSONError) {
      return try RecordFields(uncheckedJSON: fields).fault
    } catch {
      return "its fields are not an object of numbers, texts, flags and lists of words: \(error.reason)"
    }
  }
}

extension Store {
  /// The number of pending records that cannot be sent to any remote.
  package func unsendableRecords() throws -> Int {
    try read { try UnsendableRecords.find($0).count }
  }
}
