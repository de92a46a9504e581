// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// Who may read and write the logbooks of a server: what it looks up with each request, and what `serve token` changes
/// beside it.
package protocol LoginDirectory: Sendable {
  /// The login whose token has this SHA-256; nil when there is none. For a token of a logbook that was removed it
  /// throws `purged`, permanently.
  ///
  /// - Parameter now: the time in UTC seconds, which decides whether a token that was replaced still counts.
  func login(tokenHash: [UInt8], at now: Int64) async throws(ServiceError) -> Login?
  /// Adds a login.
  ///
  /// - Parameter logbook: the name of the logbook that it opens, which is created where there is none; nil for the
  ///   only one that there is.
  /// - Throws: `Failure`: `usage` for a name that exists or is invalid, or without a name among several logbooks.
  func add(
    name: String, role: LoginRole, logbook: String?, token: LoginToken, at now: Int64
  ) async throws
  /// Every login, by name.
  func list() async throws -> [ListedLogin]
  /// Replaces the token of a login by another one.
  ///
  /// - Parameter graceSeconds: how long the replaced token is still accepted; those that were replaced before it are, too,
  ///   at most for so long.
  /// - Throws: `Failure`: `missingInput` without a login of this name.
  func rotate(name: String, token: LoginToken, graceSeconds: Int, at now: Int64) async throws
  /// Removes a login: its token opens nothing from the next request on.
  ///
  /// - Throws: `Failure`: `missingInput` without a login of this name.
  func remove(name: String) async throws
}

extension LoginDirectory {
  /// The login whose token has this SHA-256, where that is its latest one.
  package func login(tokenHash: [UInt8]) async throws(ServiceError) -> Login? {
    try await login(tokenHash: tokenHash, at: .max)
  }
}

/// What the server needs of its storage: logins, and for each the logbook that it opens.
///
/// Each call of a logbook is one transaction: it is applied whole or not at all, and is durable when it returns. A call
/// with a run checks the run, the expected logbook and the position first, in the same transaction. The order of
/// changes is strictly increasing: no change with a smaller number becomes visible after a larger one was handed out.
/// `StorageConformance` holds every storage to this.
package protocol ServerStorage: Sendable {
  /// Who may use it.
  var logins: any LoginDirectory { get }
  /// What the logbook of a login offers to it.
  func logbook(for login: Login) -> any LogbookService
}
