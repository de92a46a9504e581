// SPDX-License-Identifier: Apache-2.0

package import Logbook
package import LogbookStore

/// What the store does with the answer to a change, or with a record that a page brings. A plain value: the session
/// carries it out in the transaction in which the record was read.
package enum RecordAction: Hashable, Sendable {
  /// Nothing is to be done.
  case leave
  /// The remote holds the version that was sent.
  case acknowledge(revision: String)
  /// The sent version is answered, the record was edited meanwhile: it is sent again as it is by then.
  case forgetSent
  /// The remote's state becomes the record's, and nothing is pending.
  case adopt(RemoteRecord)
  /// The merged state stays pending, made on the remote's.
  case merge(RecordState, onto: RemoteRecord)
  /// Both sides are kept until a person decides.
  case markConflicted(RemoteRecord)
  /// The remote's words are kept, and the version is not sent again.
  case quarantine(reason: String)
  /// The record was edited while the page was on its way: the page is not applied.
  case rollBack
}

/// The rules by which records and the remote's answers meet.
package enum RecordRules {
  /// After the answer to a change that was sent.
  package static func action(for verdict: RecordVerdict, on record: SyncRecord) -> RecordAction {
    guard let sentVersion = record.sentVersion else { return .leave }
    // What is decided of the sent version says nothing of a later one, but that the remote has it.
    let isCurrent = record.version == sentVersion
    switch verdict {
    case .accepted(let revision): return .acknowledge(revision: revision)
    case .refused(let reason): return isCurrent ? .quarantine(reason: reason) : .forgetSent
    case .conflict(let revision, let state, let isBaseKnown):
      guard isCurrent else { return .forgetSent }
      let remote = RemoteRecord(guid: record.guid, revision: revision, state: state)
      return reconcile(record, remote, base: isBaseKnown ? record.base : nil)
    }
  }

  private static func reconcile(
    _ record: SyncRecord, _ remote: RemoteRecord, base: RecordState?
  ) -> RecordAction {
    if record.guid == LogbookZones.baseGuid {
      let joined = join(record.state, remote)
      if base == nil { return joined }
      if case .merge = joined, !record.state.isDeleted { return joined }
    }
    let merge = Merge.of(
      local: record.state, remote: remote.state, base: base, isImportedOnly: record.isImportedOnly)
    switch merge {
    case .takesRemote: return .adopt(remote)
    case .yields(let state): return .merge(state, onto: remote)
    case .conflict: return .markConflicted(remote)
    }
  }

  /// Where two logbooks meet, a base zone that a person gave goes before that of a system; of two systems the remote's
  /// holds. Of two that people gave only a person knows which one is right.
  static func join(_ mine: RecordState, _ remote: RemoteRecord) -> RecordAction {
    let given = FieldValue.text(LogbookZones.Origin.given.rawValue)
    if mine.fields["zone"] == remote.state.fields["zone"], !remote.state.isDeleted {
      return mine.fields["origin"] == given && remote.state.fields["origin"] != given
        ? .merge(mine, onto: remote) : .adopt(remote)
    }
    if mine.fields["origin"] != given, !remote.state.isDeleted { return .adopt(remote) }
    return remote.state.isDeleted || remote.state.fields["origin"] != given
      ? .merge(mine, onto: remote) : .markConflicted(remote)
  }

  /// For a record that a page brings.
  ///
  /// - Parameters:
  ///   - record: the record as it is in the store in this transaction; nil when it is not there.
  ///   - isHeldBack: whether it cannot be sent in this run.
  package static func action(
    for incoming: RemoteRecord, on record: SyncRecord?, isHeldBack: Bool
  ) -> RecordAction {
    // No logbook is without its base zone: whoever joins sends one over a tombstone.
    let isBaseZone = incoming.guid == LogbookZones.baseGuid
    if isBaseZone, incoming.state.isDeleted, record?.isUnjoinedBase ?? true { return .leave }
    guard let record else { return .adopt(incoming) }
    if record.revision == incoming.revision { return .leave }
    if isBaseZone, let action = restoredBase(record, incoming, isHeldBack: isHeldBack) { return action }
    if record.isConflicted { return action(for: incoming, onConflicted: record) }
    guard record.isPending else { return .adopt(incoming) }
    guard isHeldBack || record.isQuarantined else { return .rollBack }
    if record.state.agrees(with: incoming.state), record.sentVersion == nil,
      !record.state.teachesProvenance(to: incoming.state)
    {
      return .adopt(incoming)
    }
    let merge = Merge.of(local: record.state, remote: incoming.state, base: record.base)
    // What merges needs no person: when the record is sent, the remote answers with this state, and they are merged.
    return merge == .conflict ? .markConflicted(incoming) : .leave
  }

  /// Sends the base zone of this store again where another program deleted the remote's, or where a store that joined
  /// behind such a deletion sent that of its system. Nil where the remote's is taken like any other record.
  private static func restoredBase(
    _ record: SyncRecord, _ incoming: RemoteRecord, isHeldBack: Bool
  ) -> RecordAction? {
    guard case .merge = join(record.state, incoming), !record.state.isDeleted else { return nil }
    if record.isConflicted { return .leave }
    guard record.isPending else {
      // The version is as it was, since nobody edited it here: with the same time, the remote would take what is sent for a
      // repetition of what it has accepted. A second towards 1970 never leaves the calendar.
      var restored = record.state
      let edited = restored.editedAt ?? 0
      restored.editedAt = edited > 0 ? edited - 1 : edited + 1
      return .merge(restored, onto: incoming)
    }
    // The remote's answer to it brings both together.
    return isHeldBack || record.isQuarantined ? .leave : .rollBack
  }

  private static func action(for incoming: RemoteRecord, onConflicted record: SyncRecord) -> RecordAction {
    if record.conflictRevision == incoming.revision { return .leave }
    return record.state.agrees(with: incoming.state) && record.sentVersion == nil
      ? .adopt(incoming) : .markConflicted(incoming)
  }
}
