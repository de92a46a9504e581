// SPDX-License-Identifier: Apache-2.0

package import Logbook
package import LogbookStore

extension RecordRules {
  /// The action for a record that a comparison found only on the remote, or with other content, so that its revision
  /// proves nothing. Local edits, conflicts and deletions are kept.
  package static func action(forCompared incoming: RemoteRecord, on record: SyncRecord?) -> RecordAction {
    guard let record else { return .adopt(incoming) }
    return record.isSettled && !isSentAgain(record, against: incoming.state) ? .adopt(incoming) : .leave
  }

  /// Whether a differing record is sent again. A tombstone stays one.
  package static func isSentAgain(_ record: SyncRecord, against state: RecordState) -> Bool {
    record.state.isDeleted && !state.isDeleted
  }
}
