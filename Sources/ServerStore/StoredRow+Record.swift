// SPDX-License-Identifier: Apache-2.0

import Logbook
import SQLiteRows

extension StoredRow {
  /// The identity of a record.
  func guid(_ column: Int) throws -> String {
    let guid: String = try self[column]
    guard Guid.isValid(guid) else { throw damage(column) }
    return guid
  }

  /// The state of a record in its JSON.
  func state(_ column: Int) throws -> RecordState {
    let text: String = try self[column]
    do {
      return try RecordState(json: text)
    } catch {
      // The reason of the parser would quote a part of the text.
      throw damage(column)
    }
  }
}
