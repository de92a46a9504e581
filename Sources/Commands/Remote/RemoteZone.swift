// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore
import Remotes
import Sync

/// The base zone of the logbook on a store's first remote. It is fetched before the remote is set, so that a
/// conflict of two zones that people gave changes nothing. If the store had a remote before, or the remote
/// returns no single records, the next upload compares the zones.
struct RemoteZone {
  /// The run of the request; nil if none was sent.
  let run: RunStamp?
  private let store: Store
  private let choice: ZoneChoice?
  private let remoteName: String
  private let record: RemoteRecord?
  private static let command = "glucoport remote set"

  /// Sends the request.
  ///
  /// - Throws: `Failure` of category `configuration` if people gave both zones and no choice is given.
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
      // The remote has just answered, and the first upload asks again before it sends anything.
      output.message("glucoport: \(failure.message); the first upload fetches the time zone")
      record = nil
    }
    self.run = run
    if let record { try store.checkBaseZone(record, choice, at: remoteName, command: Self.command) }
  }

  /// Adopts the zone with priority, after the remote was set.
  func join() throws {
    guard let record else { return }
    try store.joinBaseZone(record, choice, at: remoteName, command: Self.command, now: Host.now())
  }
}
