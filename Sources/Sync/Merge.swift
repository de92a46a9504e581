// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// The result of merging the local state of a record with that of the remote.
package enum Merge: Hashable, Sendable {
  /// Adopt the remote's state, since both states are equal or only the remote changed.
  case takesRemote
  /// Send this state, based on the remote's state. Either only this store changed the record, or both changed
  /// different fields.
  case yields(RecordState)
  /// This store and the remote changed the same field, or one deleted the record while the other edited it.
  case conflict

  /// Merges both states field by field, relative to the last state on which the store and the remote agreed.
  ///
  /// - Parameters:
  ///   - base: the last state on which the store and the remote agreed; nil if there is none, or if the
  ///     remote does not know it.
  ///   - isImportedOnly: whether only imports wrote the local state. Then a tombstone has precedence over it.
  package static func of(
    local: RecordState, remote: RecordState, base: RecordState?, isImportedOnly: Bool = false
  ) -> Merge {
    let merge = ofContents(local: local, remote: remote, base: base, isImportedOnly: isImportedOnly)
    switch merge {
    case .takesRemote where !remote.isDeleted && local.addsProvenance(to: remote):
      return .yields(remote.addingProvenance(local.provenance))
    case .yields(let state):
      return .yields(state.addingProvenance(local.provenance).addingProvenance(remote.provenance))
    case .takesRemote, .conflict: return merge
    }
  }

  /// Merges the content. The provenance never causes a conflict: if only one state has it, the merged state
  /// gets it.
  private static func ofContents(
    local: RecordState, remote: RecordState, base: RecordState?, isImportedOnly: Bool
  ) -> Merge {
    if local.agrees(with: remote) { return .takesRemote }
    // Imports wrote both states. So the content of the later export is used, as if one store had imported
    // both.
    if let mine = local.importAge, let theirs = remote.importAge, mine != theirs {
      return mine > theirs ? .yields(local) : .takesRemote
    }
    if [.withdrawal, .count].contains(local.kind), !local.isDeleted, !remote.isDeleted {
      return merged(statements: local, remote, base)
    }
    if let base {
      if local.agrees(with: base) { return .takesRemote }
      if remote.agrees(with: base) { return .yields(local) }
    }
    // An undo or redo wrote at least one state, and no person wrote the other. The later export is not undone
    // in the store that has its content.
    if local.kind != .zone, !local.isDeleted, !remote.isDeleted, let mine = local.export,
      let theirs = remote.export, mine != theirs
    {
      return mine > theirs ? .yields(local) : .takesRemote
    }
    guard let base else {
      return remote.isDeleted && isImportedOnly ? .takesRemote : .conflict
    }
    // A deletion is never merged with an edit, since only a person can decide.
    if local.isDeleted || remote.isDeleted { return .conflict }
    // The record of the base zone is one decision, so its fields are not merged. A person who confirmed the
    // system's zone made a decision, just as one who set another zone.
    if local.kind == .zone, base.fields["origin"] != nil { return .conflict }
    guard let merged = fieldwise(local, remote, base) else { return .conflict }
    return merged.agrees(with: remote) ? .takesRemote : .yields(merged)
  }

  /// Withdrawals are always merged without a conflict, so that every store hides the same items. Decisions on
  /// doubles are merged in the same way.
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
    // The merged content is in no export, so it has no age of an export.
    merged.export = nil
    guard let entry = choose(local.entryGuid, remote.entryGuid, base.entryGuid),
      let time = choose(Moment(local), Moment(remote), Moment(base))
    else { return nil }
    merged.entryGuid = entry
    // The time and its offset must come from the same state.
    let source = time == Moment(local) ? local : remote
    (merged.deviceTime, merged.placement) = (source.deviceTime, source.placement)
    merged.editedAt = [local.editedAt, remote.editedAt].compactMap(\.self).max()
    return merged
  }

  /// Returns the value that differs from `base`; nil if both values differ from it and from each other.
  /// `Value` may itself be an optional type.
  private static func choose<Value: Equatable>(_ local: Value, _ remote: Value, _ base: Value) -> Value? {
    if local == remote || remote == base { return local }
    return local == base ? remote : nil
  }
}

/// The time of a record, as far as people edit it.
private struct Moment: Equatable {
  let seconds: Int64
  let offset: Int32?

  init(_ state: RecordState) {
    seconds = state.deviceTime.seconds
    offset = state.statedOffset
  }
}
