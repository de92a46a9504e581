// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// A record that a treatment holds.
package struct NightscoutRecord: Hashable, Sendable {
  /// Its identity.
  package let guid: String
  /// Its content, with what other programs edited.
  package let state: RecordState
  /// Whether the treatment says exactly what glucoport wrote.
  package let isOwn: Bool
  /// The key of the treatment.
  package let identifier: String

  /// The record as one that was deleted.
  var tombstone: NightscoutRecord {
    var state = state
    (state.fields, state.isDeleted) = (RecordFields(), true)
    return NightscoutRecord(guid: guid, state: state, isOwn: false, identifier: identifier)
  }
}
