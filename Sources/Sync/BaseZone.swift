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
