// SPDX-License-Identifier: Apache-2.0

package import Logbook
package import LogbookStore

/// The host with which the nodes of a world sync: a glucoport server or a site.
package protocol SimulatedHost: AnyObject, Sendable {
  /// The settings with which a node's store accesses this host.
  var access: RemoteAccess { get }
  /// The logbook, for a login.
  func logbook() async throws -> RemoteLogbook
  /// A connection with no other faults than those of the host itself. It is evaluated for each request.
  func connection() -> @Sendable () -> any LogbookService
  /// Everything that the logbook holds.
  func everything() async throws -> (readings: Int, records: [RemoteRecord])
  /// Digests over the readings that the logbook holds.
  func digests() async throws -> IdentityDigests
  /// Stops the host and starts it again.
  func restart() async throws
  /// Copies everything that the host has on disk.
  func takeBackup() async throws
  /// Restores the last copy; false if there is none.
  func restoreBackup() async throws -> Bool
}
