// SPDX-License-Identifier: Apache-2.0

import Logbook
import SQLiteRows

extension StoredRow {
  func guid(_ column: Int) throws -> String {
    let guid: String = try self[column]
    guard Guid.isValid(guid) else { throw damage(column) }
    return guid
  }

  /// Parses the state of a record from its JSON.
  func state(_ column: Int) throws -> RecordState {
    let text: String = try self[column]
    do {
      return try RecordState(json: text)
    } catch {
      // The parser's reason would quote a part of the text.
      throw damage(column)
    }
  }
}
