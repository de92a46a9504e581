// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore

extension Store {
  /// The record that an id, or enough of its first characters, names on the command line.
  ///
  /// - Throws: `Failure`: `missingInput` without one, `usage` when several start so.
  func record(named id: String) throws -> StoredRecord {
    let isGuidStart = id.count >= 4 && id.allSatisfy { $0.isHexDigit || $0 == "-" }
    let found = isGuidStart ? try records(guidPrefix: id.lowercased()) : []
    guard let record = found.first else {
      throw Failure(
        .missingInput,
        "\(displayed(id)): there is no such reading or record; 'glucoport list --long' shows the ids")
    }
    guard found.count == 1 else {
      throw Failure(.usage, "\(id): \(found.count) records start so; give more of the id")
    }
    return record
  }
}
