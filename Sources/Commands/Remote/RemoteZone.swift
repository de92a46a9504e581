// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore
import Remotes
import Sync

/// The base zone of the logbook behind a remote that a store gets for the first time: fetched before the remote is set,
/// so that two zones which people gave leave everything as it was. A store that had a remote, and one whose remote
/// returns no single records, agrees at its next upload.
struct RemoteZone {
  /// The run that asked; nil where nothing was asked.
  let run: RunStamp?
  private let store: Store
  private let choice: ZoneChoice?
  private let remoteName: String
  private let record: RemoteRecord?
  private static let command = "glucoport remote set"

  /// Asks the remote.
  ///
  /// - Throws: `Failure` of category `configuration` where people gave both zones and there is no choice.
  init(
    _ access: RemoteAccess, _ store: Store, _ choice: ZoneChoice?, _ output: Output,
    isolation: isolated (any Actor)? = #isolation
  ) async throws {
    (self.store, self.choice, remoteName) = (store, choice, access.url)
    guard try !store.hasHadRemote() else {
      (run, record) = (nil, nil)
      return
    }
    let run = RunStamp(node: Host.randomUUID(), number: 1, id: Host.randomUUID())
    do {
      record = try await access.ask { try await BaseZone.fetch(from: $0, run) }
    } catch let failure as Failure {
      // The remote has just said who it is, and nothing is sent before the first upload has asked again.
      output.message("glucoport: \(failure.message); the first upload fetches the time zone")
      record = nil
    }
    self.run = run
    if let record { try store.checkBaseZone(record, choice, at: remoteName, command: Self.command) }
  }

  /// Takes the zone over that goes before, once the remote is set.
  func join() throws {
    guard let record else { return }
    try store.joinBaseZone(record, choice, at: remoteName, command: Self.command, now: Host.now())
  }
}
