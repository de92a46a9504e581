// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore

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
      if let theirs = try settle(answer) {
        throw BaseZone.undecided(change.state, theirs, at: remoteName, command: Self.command)
      }
      return .done
    }
  }

  /// Applies the remote's answer; returns its base zone if a person must decide.
  private func settle(_ answer: RecordAnswer) throws -> RecordState? {
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
