// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// The logins of a server's logbooks. The server looks one up for each request; `serve token` changes them, even while
/// a server runs.
package protocol LoginDirectory: Sendable {
  /// The login of the token with this SHA-256; nil if there is none. For a token of a purged logbook it permanently
  /// throws `purged`.
  ///
  /// - Parameter now: UTC seconds, which decide whether a replaced token is still valid.
  func login(tokenHash: [UInt8], at now: Int64) async throws(ServiceError) -> Login?
  /// Adds a login.
  ///
  /// - Parameter logbook: the name of its logbook, which is created if it is missing; nil for the only logbook.
  /// - Throws: `Failure`: `usage` for a name that exists or is invalid, or for nil with several logbooks.
  func add(
    name: String, role: LoginRole, logbook: String?, token: LoginToken, at now: Int64
  ) async throws
  /// All logins by name.
  func list() async throws -> [ListedLogin]
  /// Replaces the token of a login.
  ///
  /// - Parameter graceSeconds: the time for which the replaced token stays valid. It also limits the time of tokens
  ///   that were replaced earlier.
  /// - Throws: `Failure`: `missingInput` without a login of this name.
  func rotate(name: String, token: LoginToken, graceSeconds: Int, at now: Int64) async throws
  /// Removes a login. Its token is invalid from the next request on.
  ///
  /// - Throws: `Failure`: `missingInput` without a login of this name.
  func remove(name: String) async throws
}

extension LoginDirectory {
  /// The login whose latest token has this SHA-256.
  package func login(tokenHash: [UInt8]) async throws(ServiceError) -> Login? {
    try await login(tokenHash: tokenHash, at: .max)
  }
}

/// A valid link to the pages of a logbook.
package struct PageLinkEntry: Hashable, Sendable {
  /// The hash of the token that created it. That token must still open the same logbook.
  package var tokenHash: [UInt8]
  /// The name of the login.
  package var login: String
  /// The id of the logbook.
  package var logbook: String
  /// UTC seconds.
  package var madeAt: Int64
  /// UTC seconds.
  package var expiresAt: Int64

  package init(tokenHash: [UInt8], login: String, logbook: String, madeAt: Int64, expiresAt: Int64) {
    self.tokenHash = tokenHash
    self.login = login
    self.logbook = logbook
    self.madeAt = madeAt
    self.expiresAt = expiresAt
  }
}

/// Links to pages that several servers share, by the SHA-256 of their secrets.
package protocol PageLinkDirectory: Sendable {
  /// Adds a link. The oldest ones of the login that exceed the maximum are removed.
  func add(_ link: PageLinkEntry, secretHash: [UInt8], maxPerLogin: Int) async throws(ServiceError)
  /// The link of a secret; nil if there is none or it has expired.
  func link(secretHash: [UInt8], at now: Int64) async throws(ServiceError) -> PageLinkEntry?
}

/// The storage of a server: logins, and a logbook for each.
///
/// Each call of a logbook is one atomic transaction, and is durable when it returns. A call with a run first checks the
/// run, the expected logbook and the position, in the same transaction. The order of changes is strictly increasing: no
/// change with a smaller number becomes visible after a larger one was returned. `StorageConformance` tests these rules
/// for every storage.
package protocol ServerStorage: Sendable {
  /// The logins.
  var logins: any LoginDirectory { get }
  /// The links to pages, if other servers use the same storage; nil if the server keeps them.
  var links: (any PageLinkDirectory)? { get }
  /// The logbook with the permissions of a login.
  func logbook(for login: Login) -> any LogbookService
  /// Checks that requests can be answered now.
  ///
  /// - Throws: `ServiceError`: `busy` if the storage cannot be reached, or is not as the server needs it.
  func check() async throws(ServiceError)
  /// Figures of the storage in the text format of Prometheus, without personal data.
  func metrics() async -> String
  /// Work that an interrupted process left, such as the removal of purged logbooks. Requests run meanwhile.
  ///
  /// - Throws: `ServiceError`. The next start continues.
  func finishEarlierWork() async throws(ServiceError)
}

extension ServerStorage {
  /// None.
  package var links: (any PageLinkDirectory)? { nil }
  /// Looks up a token that cannot exist, for which the storage must answer.
  package func check() async throws(ServiceError) {
    _ = try await logins.login(tokenHash: [UInt8](repeating: 0, count: 32))
  }
  /// No figures.
  package func metrics() async -> String { "" }
  /// No work.
  package func finishEarlierWork() async throws(ServiceError) {}
}
