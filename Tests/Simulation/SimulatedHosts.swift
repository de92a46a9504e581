// SPDX-License-Identifier: Apache-2.0

package import Logbook
package import LogbookStore

/// The host with which the nodes of a world sync: a glucoport server or a Nightscout site.
package protocol SimulatedHost: AnyObject, Sendable {
  /// The settings that connect the store of a node to this host.
  var access: RemoteAccess { get }
  /// The logbook, as a login sees it.
  func logbook() async throws -> RemoteLogbook
  /// A closure that returns a connection without network faults. The closure is called for each request.
  func connection() -> @Sendable () -> any LogbookService
  /// The number of readings and all records in the logbook.
  func everything() async throws -> (readings: Int, records: [RemoteRecord])
  /// The digests of the readings in the logbook.
  func digests() async throws -> IdentityDigests
  /// Stops the host and starts it again.
  func restart() async throws
  /// Copies everything that the host has on disk.
  func takeBackup() async throws
  /// Restores the last copy. Returns false if there is no copy.
  func restoreBackup() async throws -> Bool
}
