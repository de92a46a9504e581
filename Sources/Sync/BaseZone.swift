// SPDX-License-Identifier: Apache-2.0

package import Logbook
package import LogbookStore

/// Finds a common base zone with a remote without sending anything, for `remote set` and for an upload that
/// only pulls.
package enum BaseZone {
  /// The record of the base zone in the remote's logbook. Nil if the remote has none, or if it does not
  /// support requests for single records. In this case, the first upload finds the common zone.
  package static func fetch(
    from remote: any LogbookService, _ run: RunStamp
  ) async throws(ServiceError) -> RemoteRecord? {
    guard let parts = remote.parts else { return nil }
    let page = try await parts.changes(of: .record(LogbookZones.baseGuid), after: nil, limit: 1, run)
    return page.records.first { $0.guid == LogbookZones.baseGuid }
  }

  /// The failure of a command because a person must choose between two base zones.
  ///
  /// - Parameter command: the command to which the message adds `--zone`.
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
  /// Replaces the base zone of this store by that of the remote's logbook, if the remote's has precedence.
  ///
  /// - Throws: `Failure` of category `configuration` if people set both zones and `choice` is nil. Then
  ///   nothing changes.
  package func joinBaseZone(
    _ theirs: RemoteRecord, _ choice: ZoneChoice?, at remoteName: String, command: String, now: Int64
  ) throws {
    _ = try sync { try $0.join(theirs, choice, at: remoteName, command: command, now: now) }
  }

  /// Throws in the same cases as `joinBaseZone`, but changes nothing.
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
  /// Determines the common base zone if this store has not yet done so with the remote. If this store's zone
  /// has precedence, its record becomes pending, based on the remote's state.
  ///
  /// - Returns: the action for the record; nil if `theirs` is not the record of a base zone, or if the common
  ///   zone was already determined.
  /// - Throws: `Failure` of category `configuration` if people set both zones and no choice was given.
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
      case .theirs: action = try adoptRemoteZone(mine.state, to: theirs, at: now)
      case nil: throw BaseZone.undecided(mine.state, theirs.state, at: remoteName, command: command)
      }
    }
    try apply(action, on: mine)
    if case .merge = action { _ = try requeue(record: mine.guid) }
    return action
  }

  /// Adopts the remote's base zone because a person chose it. Existing items keep the zone of this store,
  /// which a person set for them.
  func adoptRemoteZone(_ mine: RecordState, to theirs: RemoteRecord, at now: Int64) throws -> RecordAction {
    if let name = mine.zoneName { try stateOwnBase(name, at: now) }
    return .adopt(theirs)
  }
}

extension UploadSession {
  /// The command with which a person repeats the upload after choosing a zone.
  static let command = "glucoport upload"

  /// Determines the common base zone with the remote before anything else is sent. The zone record is sent
  /// without a base. If the remote already has a zone record, it responds with its own record.
  func joinZones() async throws -> UploadEvent {
    let node = run.node
    let change = try store.sync { store -> RecordChange? in
      if try store.hasJoinedBaseZone() { return nil }
      try store.stateBaseZone()
      guard let record = try store.record(LogbookZones.baseGuid), record.isUnjoinedBase, !record.isConflicted,
        !record.isQuarantined
      else { return nil }
      return try store.prepare(record, node: node)
    }
    guard let change else { return .done }
    switch await ask({ () async throws(ServiceError) in try await remote.apply([change], run) }) {
    // A login that may only read gets the remote's zone with the pull. The upload fails only if a person
    // chose this store's zone, since that zone must be sent.
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

  /// Applies the remote's response. Returns the remote's base zone if a person must decide; otherwise nil.
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
      case .theirs: try store.apply(store.adoptRemoteZone(record.state, to: remote, at: now), on: record)
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
    // The merged state must be sent. Until the store has joined, its base zone is marked as sent, so it must
    // be queued.
    if case .merge = action { _ = try store.requeue(record: record.guid) }
  }
}
