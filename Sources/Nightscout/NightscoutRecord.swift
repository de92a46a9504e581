// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// A record in a treatment.
package struct NightscoutRecord: Hashable, Sendable {
  package let guid: String
  /// Its content, including edits of other programs.
  package let state: RecordState
  /// Whether the treatment is exactly as glucoport wrote it.
  package let isOwn: Bool
  package let identifier: String

  /// The record as a deleted one.
  var tombstone: NightscoutRecord {
    var state = state
    (state.fields, state.isDeleted) = (RecordFields(), true)
    return NightscoutRecord(guid: guid, state: state, isOwn: false, identifier: identifier)
  }
}
