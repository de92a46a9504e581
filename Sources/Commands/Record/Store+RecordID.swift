// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore

extension Store {
  /// The record for an id on the command line, which may be shortened to its first characters.
  ///
  /// - Throws: `Failure`: `missingInput` without one, `usage` if several records match, or if the id is that
  ///   of a reading.
  func record(named id: String) throws -> StoredRecord {
    let isGuidStart = id.count >= 4 && id.allSatisfy { $0.isHexDigit || $0 == "-" }
    let found = isGuidStart ? try records(guidPrefix: id.lowercased()) : []
    guard let record = found.first else {
      // An export shows the record of the base zone even if it does not exist yet.
      if isGuidStart, LogbookZones.baseGuid.hasPrefix(id.lowercased()) {
        throw Failure.zoneRecord(LogbookZones.baseGuid)
      }
      if try reading(at: id) != nil {
        throw Failure(
          .usage,
          "\(id): this is a reading, which never changes; to hide it: 'glucoport reading hide \(id)'"
        )
      }
      throw Failure(
        .missingInput,
        "\(displayed(id)): no such reading or record; 'glucoport list --long' shows the ids")
    }
    guard found.count == 1 else {
      throw Failure(
        .usage, "\(id): \(found.count) records have ids that begin like this; write more of the id")
    }
    return record
  }
}
