// SPDX-License-Identifier: Apache-2.0

package import Logbook
package import LogbookStore

/// What the store does after the remote's response to a sent change, or with a record on a page of the
/// remote's changes. It is a plain value. `UploadSession` performs the action in the transaction in which it
/// read the record.
package enum RecordAction: Hashable, Sendable {
  /// Do nothing.
  case leave
  /// Mark the version that was sent as synced, with this revision.
  case acknowledge(revision: String)
  /// Discard the sent change. The remote has answered it, but the record was edited in the meantime, and its
  /// current state must be sent.
  case forgetSent
  /// Replace the record by the remote's state. The record is then not pending.
  case adopt(RemoteRecord)
  /// Store a merged state that is based on the remote's state, and keep the record pending.
  case merge(RecordState, onto: RemoteRecord)
  /// Store the remote's state next to the local one, until a person decides.
  case markConflicted(RemoteRecord)
  /// Store the remote's reason, and do not send this version again.
  case quarantine(reason: String)
  /// Do not apply the page, since the record was edited while the page was requested.
  case rollBack
}

/// The rules for responses to sent changes, and for records on pages of the remote's changes.
package enum RecordRules {
  /// The action after the remote's response to a sent change.
  package static func action(for verdict: RecordVerdict, on record: SyncRecord) -> RecordAction {
    guard let sentVersion = record.sentVersion else { return .leave }
    // The response concerns only the version that was sent. A later version is still pending.
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

  /// The rule for the base zones of two logbooks. A zone that a person set has precedence over that of a
  /// system. If both are zones of systems, the remote's is used. If people set both, a person must decide.
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

  /// The action for a record on a page of the remote's changes.
  ///
  /// - Parameters:
  ///   - record: the record in the store, as the current transaction sees it; nil if the store does not have
  ///     it.
  ///   - isHeldBack: whether this upload cannot send the record.
  ///   - isUndone: whether the record has the content of an undone import of this store, and is not sent to
  ///     this remote for that reason. The remote can then never merge the contents, so its state is adopted.
  ///     No person wrote what is replaced, and a redo of the import writes it again.
  package static func action(
    for incoming: RemoteRecord, on record: SyncRecord?, isHeldBack: Bool, isUndone: Bool = false
  ) -> RecordAction {
    // Every logbook needs a base zone. So a store that joins a logbook ignores a tombstone of the base zone,
    // and sends its own zone.
    let isBaseZone = incoming.guid == LogbookZones.baseGuid
    if isBaseZone, incoming.state.isDeleted, record?.isUnjoinedBase ?? true { return .leave }
    guard let record else { return .adopt(incoming) }
    if record.revision == incoming.revision { return .leave }
    if isBaseZone, let action = restoredBase(record, incoming, isHeldBack: isHeldBack) { return action }
    if record.isConflicted { return action(for: incoming, onConflicted: record) }
    if isUndone { return .adopt(incoming) }
    guard record.isPending else { return adoption(of: incoming, over: record) }
    guard isHeldBack || record.isQuarantined else { return .rollBack }
    if record.state.agrees(with: incoming.state), record.sentVersion == nil,
      !record.state.addsProvenance(to: incoming.state)
    {
      return .adopt(incoming)
    }
    let merge = Merge.of(local: record.state, remote: incoming.state, base: record.base)
    // A record that can be merged stays as it is. When it is sent, the remote responds with this state, and
    // both are merged.
    return merge == .conflict ? .markConflicted(incoming) : .leave
  }

  /// The action for a state from the remote that can be adopted. Another store may have imported an older
  /// export than the one with the content in this store. In this case, the local content is sent again, with
  /// the age of its export.
  ///
  /// A site stores no tombstones, so another store may have created a record again that was deleted in this
  /// store. If the new state lacks the provenance that this store knows, the provenance is sent.
  private static func adoption(of incoming: RemoteRecord, over record: SyncRecord) -> RecordAction {
    let local = record.state
    if let mine = local.importAge, let theirs = incoming.state.importAge, theirs < mine,
      record.base?.export.map({ $0 < mine }) ?? true, !local.agrees(with: incoming.state)
    {
      return .merge(local, onto: incoming)
    }
    guard local.isDeleted, !incoming.state.isDeleted, local.addsProvenance(to: incoming.state) else {
      return .adopt(incoming)
    }
    return .merge(incoming.state.addingProvenance(local.provenance), onto: incoming)
  }

  /// The action that sends the base zone of this store again, if another program deleted that of the remote.
  /// The same is done if a third store joined after such a deletion and sent the zone of its system. Nil if
  /// the remote's zone is treated like any other record.
  private static func restoredBase(
    _ record: SyncRecord, _ incoming: RemoteRecord, isHeldBack: Bool
  ) -> RecordAction? {
    guard case .merge = join(record.state, incoming), !record.state.isDeleted else { return nil }
    if record.isConflicted { return .leave }
    guard record.isPending else {
      // No person edited the record, so its version stays. With the same time of edit, the remote would take
      // this change for a repetition of the accepted one. So the time is moved by a second towards 1970,
      // which always results in a valid time.
      var restored = record.state
      let edited = restored.editedAt ?? 0
      restored.editedAt = edited > 0 ? edited - 1 : edited + 1
      return .merge(restored, onto: incoming)
    }
    // If the pending change can be sent, the page is rolled back. The remote's response to the change then
    // merges both states.
    return isHeldBack || record.isQuarantined ? .leave : .rollBack
  }

  private static func action(for incoming: RemoteRecord, onConflicted record: SyncRecord) -> RecordAction {
    if record.conflictRevision == incoming.revision { return .leave }
    return record.state.agrees(with: incoming.state) && record.sentVersion == nil
      ? .adopt(incoming) : .markConflicted(incoming)
  }
}

extension RecordRules {
  /// The action for a record that a comparison found only on the remote, or with different content. An equal
  /// revision is ignored, since the content differs nevertheless. Local edits, conflicts and deletions are
  /// kept.
  ///
  /// - Parameter isUndone: as for a record on a page of the remote's changes.
  package static func action(
    forCompared incoming: RemoteRecord, on record: SyncRecord?, isUndone: Bool = false
  ) -> RecordAction {
    guard let record else { return .adopt(incoming) }
    if isUndone, !record.isConflicted { return .adopt(incoming) }
    return record.isUpToDate && !isSentAgain(record, against: incoming.state) ? .adopt(incoming) : .leave
  }

  /// Whether a record that differs must be sent again. This is true for a record that is deleted in this
  /// store and not on the remote.
  package static func isSentAgain(_ record: SyncRecord, against state: RecordState) -> Bool {
    record.state.isDeleted && !state.isDeleted
  }
}
