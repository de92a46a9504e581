// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore

extension UploadSession {
  /// Returns whether this upload cannot send a record. If such a record is pending, the page of the remote's
  /// changes is not rolled back.
  private var heldBackRule: (SyncTransaction, String) throws -> Bool {
    let (heldBack, canPush, removes) = (heldBack, plan.canPushRecords, remote.removal != nil)
    return { store, guid in
      try !canPush || heldBack.contains(guid) || store.waitsForEntry(guid)
        || (removes && store.isHidden(record: guid))
    }
  }

  /// Applies a page of the remote's changes completely in one transaction, or not at all.
  ///
  /// - Parameter keepPlace: stores the position of the next page in the same transaction. It returns false if
  ///   the page does not continue at the store's position.
  /// - Returns: false if the page does not continue at the store's position, or if one of its records was
  ///   edited in the meantime.
  func apply(_ whole: ChangePage, _ keepPlace: (SyncTransaction) throws -> Bool) throws -> Bool {
    let (now, name, isHeldBack) = (environment.now(), remoteName, heldBackRule)
    var (summary, ingest, disputed, conflicted) = (summary, pulledIngest, disputed, pulledConflicts)
    let (options, removes) = (plan.options, remote.removal != nil)
    do {
      try store.sync { store in
        guard try keepPlace(store) else { throw PageNotApplied() }
        var page = whole
        try PullGate.filter(&page) { try store.record($0)?.state }
        let orphaned = page.records.isEmpty ? [] : try store.orphanedEntries()
        for incoming in page.records {
          // An upload that sends items has already determined the common base zone. An upload that only pulls
          // determines it here.
          if options.joinsZones,
            let action = try store.join(
              incoming, options.zoneChoice, at: name, command: Self.command, now: now)
          {
            summary.countPulled(action, wasConflicted: false)
            continue
          }
          let record = try store.record(incoming.guid)
          let ruled = RecordRules.action(
            for: incoming, on: record,
            isHeldBack: try record.map { try $0.isPending && isHeldBack(store, $0.guid) } ?? false,
            isUndone: try removes && record != nil && store.isOfUndoneImport(record: incoming.guid))
          let action = try store.checkingNesting(of: ruled, on: record)
          if action == .rollBack { throw PageNotApplied() }
          try store.apply(action, on: record, incoming: incoming)
          if case .markConflicted = action, record?.isConflicted != true { conflicted.insert(incoming.guid) }
          summary.countPulled(action, wasConflicted: record?.isConflicted ?? false)
        }
        if !page.readings.readings.isEmpty || !page.notTaken.isEmpty {
          let stored = try store.storePulled(
            page.readings, foreign: page.foreign, notTaken: page.notTaken, ingest: ingest, from: name, at: now
          )
          summary.notTaken.merge(page.notTaken, uniquingKeysWith: +)
          ingest = stored.ingest
          summary.pulledReadings += stored.new + stored.shown
          disputed.formUnion(stored.disputed)
          summary.disputedReadings = disputed.count
        }
        if !whole.hasMore {
          if summary.pulledReadings + summary.pulledRecords > 0 { try store.withdrawCorrected() }
          try store.restoreReplaced(at: now)
        }
        if !page.records.isEmpty {
          try store.stateBrought(at: now)
          let resolved = try store.resolveNesting()
          summary.pulledRecords += resolved.count
          summary.conflicts -= conflicted.intersection(resolved).count
          conflicted.subtract(resolved)
          summary.conflicts += try store.orphanedEntries().subtracting(orphaned).count
        }
      }
    } catch is PageNotApplied {
      self.summary.rollbacks += 1
      return false
    }
    self.summary = summary
    self.disputed = disputed
    pulledConflicts = conflicted
    pulledIngest = ingest
    if removes, whole.records.contains(where: { $0.state.kind == .withdrawal }) {
      hasPulledWithdrawals = true
    }
    return true
  }
}

/// Thrown to roll back a page of the remote's changes. The page does not continue at the store's position, or
/// one of its records was edited in the meantime.
private struct PageNotApplied: Error {}

extension SyncTransaction {
  /// Checks an action that makes a record belong to an entry. If the rule for nesting forbids that, both
  /// states are kept until a person decides.
  ///
  /// - Parameter record: the local record; nil for a new one, which is also checked. Two nodes may each make
  ///   one of two entries belong to the other, and a third node is the first to see both.
  func checkingNesting(of action: RecordAction, on record: SyncRecord?) throws -> RecordAction {
    switch action {
    case .adopt(let remote) where try forbidsNesting(of: remote, over: record):
      return .markConflicted(remote)
    case .merge(let state, let remote) where try forbidsNesting(of: state, remote.guid, over: record):
      return .markConflicted(remote)
    default: return action
    }
  }

  /// Performs an action, in the transaction in which the record was read.
  ///
  /// - Parameter incoming: the record on a page of the remote's changes; nil after the response to a sent
  ///   change.
  func apply(_ action: RecordAction, on record: SyncRecord?, incoming: RemoteRecord? = nil) throws {
    switch action {
    case .leave, .rollBack: break
    case .adopt(let remote): try adopt(remote, over: record)
    case .markConflicted(let remote) where record == nil: try storeAsSeparateEntry(remote)
    case .markConflicted(let remote): try markConflicted(remote, isAnswered: incoming == nil)
    case .acknowledge(let revision):
      if let record { try acknowledge(record, revision: revision) }
    case .forgetSent:
      if let record { try forgetSent(record.guid) }
    case .merge(let state, let remote):
      guard let record else { return }
      try merge(state, onto: remote, over: record)
      // `RecordRules` merges a record on a page of the remote's changes only if the record is not pending.
      // Then the remote's state lacks something that this store has. So the merged state is queued; otherwise
      // it would never be sent.
      if incoming != nil { _ = try requeue(record: record.guid) }
    case .quarantine(let reason):
      if let record { try quarantine(record.guid, reason: reason) }
    }
  }
}

extension UploadSummary {
  fileprivate mutating func countPulled(_ action: RecordAction, wasConflicted: Bool) {
    switch action {
    case .adopt: pulledRecords += 1
    case .markConflicted where !wasConflicted: conflicts += 1
    default: break
    }
  }
}
