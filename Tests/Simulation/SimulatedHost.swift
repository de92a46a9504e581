// SPDX-License-Identifier: Apache-2.0

package import Logbook
package import LogbookStore

/// What the nodes of a world sync with: a server of ours, or a site.
package protocol SimulatedHost: AnyObject, Sendable {
  /// How a node's store keeps it.
  var access: RemoteAccess { get }
  /// What the logbook is, as a login sees it.
  func logbook() async throws -> RemoteLogbook
  /// A way to it on which nothing goes wrong but what the host itself lets go wrong: what it offers at each request.
  func connection() -> @Sendable () -> any LogbookService
  /// Everything that the logbook holds.
  func everything() async throws -> (readings: Int, records: [RemoteRecord])
  /// Digests over the readings that the logbook holds.
  func digests() async throws -> IdentityDigests
  /// Stops it and starts it again.
  func restart() async throws
  /// Copies everything that is on disk.
  func takeBackup() async throws
  /// Puts the last copy back; false when there is none.
  func restoreBackup() async throws -> Bool
}
