// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// The result of merging two sides of a record.
package enum Merge: Hashable, Sendable {
  /// The remote's state: both are equal, or only the remote changed.
  case takesRemote
  /// A state to send, based on the remote's: only this side changed, or both changed different fields.
  case yields(RecordState)
  /// Both changed the same field, or one deleted what the other edited.
  case conflict

  /// Merges the two sides field by field, relative to the last state that both agreed on.
  ///
  /// - Parameters:
  ///   - base: the last state that both sides agreed on; nil if there is none that the remote knows.
  ///   - isImportedOnly: whether only imports wrote the local side. A tombstone takes precedence over such content.
  package static func of(
    local: RecordState, remote: RecordState, base: RecordState?, isImportedOnly: Bool = false
  ) -> Merge {
    let merge = ofContents(local: local, remote: remote, base: base, isImportedOnly: isImportedOnly)
    switch merge {
    case .takesRemote where !remote.isDeleted && local.teachesProvenance(to: remote):
      return .yields(remote.learning(local.provenance))
    case .yields(let state): return .yields(state.learning(local.provenance).learning(remote.provenance))
    case .takesRemote, .conflict: return merge
    }
  }

  /// Merges the editable parts. Provenance never conflicts: the side that knows it passes it on.
  private static func ofContents(
    local: RecordState, remote: RecordState, base: RecordState?, isImportedOnly: Bool
  ) -> Merge {
    if local.agrees(with: remote) { return .takesRemote }
    if [.withdrawal, .count].contains(local.kind), !local.isDeleted, !remote.isDeleted {
      return merged(statements: local, remote, base)
    }
    guard let base else {
      return remote.isDeleted && isImportedOnly ? .takesRemote : .conflict
    }
    if local.agrees(with: base) { return .takesRemote }
    if remote.agrees(with: base) { return .yields(local) }
    // A deletion is never merged with an edit: only a person can decide.
    if local.isDeleted || remote.isDeleted { return .conflict }
    // The base zone is a single statement: confirming the system's zone weighs the same as setting another one.
    if local.kind == .zone, base.fields["origin"] != nil { return .conflict }
    guard let merged = fieldwise(local, remote, base) else { return .conflict }
    return merged.agrees(with: remote) ? .takesRemote : .yields(merged)
  }

  /// Withdrawals always merge, so that every store hides the same items; so do decisions on what counts.
  private static func merged(
    statements local: RecordState, _ remote: RecordState, _ base: RecordState?
  ) -> Merge {
    var merged = remote
    merged.fields =
      local.kind == .count
      ? CountDecision.merged(local.fields, remote.fields, base: base?.fields)
      : Withdrawal.merged(local.fields, remote.fields, base: base?.fields)
    merged.editedAt = [local.editedAt, remote.editedAt].compactMap(\.self).max()
    return merged.agrees(with: remote) ? .takesRemote : .yields(merged)
  }

  private static func fieldwise(
    _ local: RecordState, _ remote: RecordState, _ base: RecordState
  ) -> RecordState? {
    var merged = local
    var fields = RecordFields()
    let names = Set(local.fields.values.keys).union(remote.fields.values.keys).union(base.fields.values.keys)
    for name in names {
      guard let value = choose(local.fields[name], remote.fields[name], base.fields[name]) else { return nil }
      fields[name] = value
    }
    merged.fields = fields
    guard let entry = choose(local.entryGuid, remote.entryGuid, base.entryGuid),
      let time = choose(Moment(local), Moment(remote), Moment(base))
    else { return nil }
    merged.entryGuid = entry
    // The side that set the time also determines the source of its offset.
    let source = time == Moment(local) ? local : remote
    (merged.deviceTime, merged.placement) = (source.deviceTime, source.placement)
    merged.editedAt = [local.editedAt, remote.editedAt].compactMap(\.self).max()
    return merged
  }

  /// The value of the side that changed; nil if both changed it differently. The inner optional is the value itself.
  private static func choose<Value: Equatable>(_ local: Value, _ remote: Value, _ base: Value) -> Value? {
    if local == remote || remote == base { return local }
    return local == base ? remote : nil
  }
}

/// The parts of a record's time that people edit.
private struct Moment: Equatable {
  let seconds: Int64
  let offset: Int32?

  init(_ state: RecordState) {
    seconds = state.deviceTime.seconds
    offset = state.statedOffset
  }
}
