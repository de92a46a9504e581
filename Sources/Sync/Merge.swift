// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// What comes of two sides of one record.
package enum Merge: Hashable, Sendable {
  /// Both say the same, or only the remote changed: the remote's state is the record's.
  case takesRemote
  /// Only this side changed, or both changed different things: this state is to be sent, made on the remote's.
  case yields(RecordState)
  /// Both changed the same thing, or one deleted what the other edited.
  case conflict

  /// Merges the two sides, field by field, against the state that both agreed on last.
  ///
  /// - Parameters:
  ///   - base: the last state that both sides agreed on; nil when there is none that the remote knows.
  ///   - isImportedOnly: whether only imports wrote the local side. A tombstone wins over such content.
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

  /// The merge of what people edit. Where a record came from is never in conflict: the side that knows it tells the other.
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
    // Deleting is never merged with an edit: only a person knows which one was meant.
    if local.isDeleted || remote.isDeleted { return .conflict }
    // A base zone is one statement: who confirms the zone that the system gave says no less than who names another.
    if local.kind == .zone, base.fields["origin"] != nil { return .conflict }
    guard let merged = fieldwise(local, remote, base) else { return .conflict }
    return merged.agrees(with: remote) ? .takesRemote : .yields(merged)
  }

  /// Withdrawals always merge, so that every store hides the same, and so do decisions on what counts.
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
    // The side that set the time also knows how its offset was found.
    let source = time == Moment(local) ? local : remote
    (merged.deviceTime, merged.placement) = (source.deviceTime, source.placement)
    merged.editedAt = [local.editedAt, remote.editedAt].compactMap(\.self).max()
    return merged
  }

  /// The side that changed; nil when both did, in different ways. The inner optional is the value itself.
  private static func choose<Value: Equatable>(_ local: Value, _ remote: Value, _ base: Value) -> Value? {
    if local == remote || remote == base { return local }
    return local == base ? remote : nil
  }
}

/// The time of a record as people edit it.
private struct Moment: Equatable {
  let seconds: Int64
  let offset: Int32?

  init(_ state: RecordState) {
    seconds = state.deviceTime.seconds
    offset = state.statedOffset
  }
}
