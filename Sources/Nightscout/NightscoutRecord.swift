// SPDX-License-Identifier: Apache-2.0

public import Logbook

/// A record that a treatment holds.
public struct NightscoutRecord: Hashable, Sendable {
  /// Its identity.
  public let guid: String
  /// Its content, with what other programs edited.
  public let state: RecordState
  /// Whether the treatment says exactly what glucoport wrote.
  public let isOwn: Bool
  /// The key of the treatment.
  public let identifier: String

  /// The record as one that was deleted.
  var tombstone: NightscoutRecord {
    var state = state
    (state.fields, state.isDeleted) = (RecordFields(), true)
    return NightscoutRecord(guid: guid, state: state, isOwn: false, identifier: identifier)
  }
}
