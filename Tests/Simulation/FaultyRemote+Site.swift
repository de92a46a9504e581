// SPDX-License-Identifier: Apache-2.0

package import Logbook
import Synchronization

/// The requests that only a site needs, since it stores only instants and does not know withdrawals.
extension FaultyRemote: MovingService, RemovalService {
  /// This connection; nil if the host does not support moving items.
  nonisolated package var moving: (any MovingService)? { host.moving == nil ? nil : self }
  /// This connection; nil if the host does not support removing hidden items.
  nonisolated package var removal: (any RemovalService)? { host.removal == nil ? nil : self }

  /// Sets the zone of this connection and returns the same connection, since only one upload at a time uses
  /// it.
  nonisolated package func convertingTimes(in zone: LogbookZone) -> any LogbookService {
    self.zone.withLock { $0 = zone }
    return self
  }

  /// The instants at which the host has each of these readings.
  package func instants(of batch: ReadingBatch, _ run: RunStamp) async throws(ServiceError) -> [[Int64]] {
    try await exchange("instants", items: batch.readings.count, at: \.moving) {
      (moving) async throws(ServiceError) in try await moving.instants(of: batch, run)
    }
  }

  /// Moves a record to the instant that the change states.
  package func move(_ change: RecordChange, _ run: RunStamp) async throws(ServiceError) -> RecordVerdict {
    try await exchange("move", items: 1, at: \.moving) { (moving) async throws(ServiceError) in
      try await moving.move(change, run)
    }
  }

  /// Removes hidden readings from the host.
  package func remove(_ batch: ReadingBatch, _ run: RunStamp) async throws(ServiceError) -> Bool {
    try await exchange("removal", items: batch.readings.count, at: \.removal) {
      (removal) async throws(ServiceError) in try await removal.remove(batch, run)
    }
  }

  /// Removes a hidden record from the host.
  package func remove(_ change: RecordChange, _ run: RunStamp) async throws(ServiceError) {
    try await exchange("removal", items: 1, at: \.removal) { (removal) async throws(ServiceError) in
      try await removal.remove(change, run)
    }
  }
}

extension FaultyRemote {
  /// Two connections without faults to a new site. The second one may only read. The clock of the site is in
  /// the year 2026, later than the samples of the conformance rules.
  package static func connectionsToNewSite() throws -> (writer: FaultyRemote, reader: FaultyRemote) {
    let site = try SimulatedSite(number: 0, seed: 0, isUnreliable: false)
    site.moveClock(by: 1_790_000_000_000 - SimulatedSite.start)
    var weather = Weather.calm
    weather.isReadOnly = true
    return (FaultyRemote(site), FaultyRemote(site, weather))
  }
}
