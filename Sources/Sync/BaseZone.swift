// SPDX-License-Identifier: Apache-2.0

package import Logbook
package import LogbookStore

/// Agrees with a remote on the base zone without sending anything, for `remote set` and for a run that only fetches.
package enum BaseZone {
  /// The record with the base zone of the remote's logbook; nil if there is none or the remote has no requests for
  /// single records. Then the first upload agrees on the zone.
  package static func fetch(
    from remote: any LogbookService, _ run: RunStamp
  ) async throws(ServiceError) -> RemoteRecord? {
    guard let parts = remote.parts else { return nil }
    let page = try await parts.changes(of: .record(LogbookZones.baseGuid), after: nil, limit: 1, run)
    return page.records.first { $0.guid == LogbookZones.baseGuid }
  }

  /// The failure of a run that needs a person's decision.
  ///
  /// - Parameter command: the command to which `--zone` must be added.
  static func undecided(
    _ mine: RecordState, _ theirs: RecordState, at remoteName: String, command: String
  ) -> Failure {
    let (mine, theirs) = (mine.zoneName ?? "?", theirs.zoneName ?? "?")
    return Failure(
      .configuration,
      "\(remoteName): its logbook is in the time zone \(theirs), this store in \(mine); nothing was sent. "
        + "To keep \(mine): '\(command) --zone mine'; to take \(theirs): '\(command) --zone theirs'")
  }
}

extension Store {
  /// Adopts the base zone of the remote's logbook if it takes precedence over that of this store.
  ///
  /// - Throws: `Failure` of category `configuration` if people set both and there is no choice; nothing changes then.
  package func joinBaseZone(
    _ theirs: RemoteRecord, _ choice: ZoneChoice?, at remoteName: String, command: String, now: Int64
  ) throws {
    _ = try sync { try $0.join(theirs, choice, at: remoteName, command: command, now: now) }
  }

  /// Throws in the same cases as `joinBaseZone`, and changes nothing.
  package func checkBaseZone(
    _ theirs: RemoteRecord, _ choice: ZoneChoice?, at remoteName: String, command: String
  ) throws {
    let mine = try zones()
    let state = LogbookZones.baseState(named: mine.unknownBase ?? mine.base.name, mine.origin)
    guard choice == nil, case .markConflicted = RecordRules.join(state, theirs) else { return }
    throw BaseZone.undecided(state, theirs.state, at: remoteName, command: command)
  }
}

extension SyncTransaction {
  /// Agrees on the base zone, unless this store has already agreed on one with the remote. If this store's zone takes
  /// precedence, it becomes pending, based on the remote's state.
  ///
  /// - Returns: the action; nil for another record, or if both had agreed before.
  /// - Throws: `Failure` of category `configuration` if people set both and there is no choice.
  func join(
    _ theirs: RemoteRecord, _ choice: ZoneChoice?, at remoteName: String, command: String, now: Int64
  ) throws -> RecordAction? {
    guard theirs.guid == LogbookZones.baseGuid, !theirs.state.isDeleted else { return nil }
    if let record = try record(theirs.guid), !record.isUnjoinedBase || record.isConflicted { return nil }
    try stateBaseZone()
    try holdBackBaseZone()
    guard let mine = try record(theirs.guid) else { return nil }
    var action = RecordRules.join(mine.state, theirs)
    if case .markConflicted = action {
      switch choice {
      case .mine: action = .merge(mine.state, onto: theirs)
      case .theirs: action = try yield(mine.state, to: theirs, at: now)
      case nil: throw BaseZone.undecided(mine.state, theirs.state, at: remoteName, command: command)
      }
    }
    try apply(action, on: mine)
    if case .merge = action { _ = try requeue(record: mine.guid) }
    return action
  }

  /// Adopts the remote's base zone by a person's choice. Existing items keep this store's zone, since a person set it
  /// for them.
  func yield(_ mine: RecordState, to theirs: RemoteRecord, at now: Int64) throws -> RecordAction {
    if let name = mine.zoneName { try stateOwnBase(name, at: now) }
    return .adopt(theirs)
  }
}

extension UploadSession {
  /// The command for a person's decision.
  static let command = "glucoport upload"

  /// Agrees with the remote on the base zone before anything else is sent. The zone record is sent on condition that
  /// the remote has none; else the remote returns its own.
  func joinZones() async throws -> UploadEvent {
    let node = run.node
    let change = try store.sync { store -> RecordChange? in
      try store.stateBaseZone()
      guard let record = try store.record(LogbookZones.baseGuid), record.isUnjoinedBase, !record.isConflicted,
        !record.isQuarantined
      else { return nil }
      return try store.prepare(record, node: node)
    }
    guard let change else { return .done }
    switch await ask({ () async throws(ServiceError) in try await remote.apply([change], run) }) {
    // A read-only login gets the zone by the pull. Only the choice to keep this store's zone is impossible with it.
    case .failure(.readOnly):
      try store.sync { try $0.holdBackBaseZone() }
      return plan.options.zoneChoice == .mine ? .failed(.readOnly, items: 0) : .done
    case .failure(let error): return .failed(error, items: 0)
    case .success(let answer):
      if let theirs = try apply(answer) {
        throw BaseZone.undecided(change.state, theirs, at: remoteName, command: Self.command)
      }
      return .done
    }
  }

  /// Applies the remote's answer; returns its base zone if a person must decide.
  private func apply(_ answer: RecordAnswer) throws -> RecordState? {
    let (choice, now) = (plan.options.zoneChoice, environment.now())
    let theirs = try store.sync { store -> RecordState? in
      try store.setLastSeenPosition(answer.position)
      guard let verdict = answer.verdicts.first, let record = try store.record(LogbookZones.baseGuid) else {
        return nil
      }
      let action = RecordRules.action(for: verdict, on: record)
      guard case .markConflicted(let remote) = action else {
        try apply(action, on: record, store)
        return nil
      }
      switch choice {
      case .mine: try apply(.merge(record.state, onto: remote), on: record, store)
      case .theirs: try store.apply(store.yield(record.state, to: remote, at: now), on: record)
      case nil:
        try store.forgetSent(record.guid)
        return remote.state
      }
      return nil
    }
    if let position = answer.position { run.lastSeenPosition = position }
    return theirs
  }

  private func apply(_ action: RecordAction, on record: SyncRecord, _ store: SyncTransaction) throws {
    try store.apply(action, on: record)
    // A state based on the remote's must be sent, while the base zone of a store counts as sent until it has joined.
    if case .merge = action { _ = try store.requeue(record: record.guid) }
  }
}
