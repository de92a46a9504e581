// SPDX-License-Identifier: Apache-2.0

package import Logbook
package import LogbookStore

/// Agreeing with a remote on the base zone without sending anything: what `remote set` does, and a run that only fetches.
package enum BaseZone {
  /// The record with which the remote's logbook states its base zone; nil where it has none, or the remote returns no
  /// single records. Then the first upload agrees on it.
  package static func fetch(
    from remote: any LogbookService, _ run: RunStamp
  ) async throws(ServiceError) -> RemoteRecord? {
    guard let parts = remote.parts else { return nil }
    let page = try await parts.changes(of: .record(LogbookZones.baseGuid), after: nil, limit: 1, run)
    return page.records.first { $0.guid == LogbookZones.baseGuid }
  }

  /// The failure of a run that waits for a person.
  ///
  /// - Parameter command: to which `--zone` is to be added.
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
  /// Takes over what the remote's logbook says of the base zone, as far as it goes before what this store says.
  ///
  /// - Throws: `Failure` of category `configuration` where people gave both and there is no choice; nothing changes then.
  package func joinBaseZone(
    _ theirs: RemoteRecord, _ choice: ZoneChoice?, at remoteName: String, command: String, now: Int64
  ) throws {
    _ = try sync { try $0.join(theirs, choice, at: remoteName, command: command, now: now) }
  }

  /// Refuses where `joinBaseZone` would, and changes nothing.
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
  /// Settles what the remote says of the base zone, as long as this store has not agreed on one with it. What goes before
  /// the remote's zone is pending then, made on it.
  ///
  /// - Returns: what was done; nil where the record is none of the base zone, or both agreed before.
  /// - Throws: `Failure` of category `configuration` where people gave both and there is no choice.
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

  /// Takes the remote's base zone, since a person chose it. What this store placed by its own stays as it is: that zone was
  /// given for it.
  func yield(_ mine: RecordState, to theirs: RemoteRecord, at now: Int64) throws -> RecordAction {
    if let name = mine.zoneName { try stateOwnBase(name, at: now) }
    return .adopt(theirs)
  }
}
