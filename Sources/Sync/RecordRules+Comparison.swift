// SPDX-License-Identifier: Apache-2.0

package import Logbook
package import LogbookStore

extension RecordRules {
  /// For a record that a comparison found there and not here, or there with other content than was agreed on, so that
  /// its revision proves nothing. An edit, a conflict and a deletion that were made here stay.
  package static func action(forCompared incoming: RemoteRecord, on record: SyncRecord?) -> RecordAction {
    guard let record else { return .adopt(incoming) }
    return record.isSettled && !isSentAgain(record, against: incoming.state) ? .adopt(incoming) : .leave
  }

  /// Whether a record that differs there is sent again: a tombstone stays one.
  package static func isSentAgain(_ record: SyncRecord, against state: RecordState) -> Bool {
    record.state.isDeleted && !state.isDeleted
  }
}
