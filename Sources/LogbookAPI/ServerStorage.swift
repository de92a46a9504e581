// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// The logins of all logbooks on a server. The server looks up a login for each request. `serve token`
/// changes logins, even while a server runs.
package protocol LoginDirectory: Sendable {
  /// The login of the token with this SHA-256; nil if there is none. Throws `purged` for a token of a purged
  /// logbook.
  ///
  /// - Parameter now: UTC seconds, which determine whether a replaced token is still valid.
  func login(tokenHash: [UInt8], at now: Int64) async throws(ServiceError) -> Login?
  /// Adds a login.
  ///
  /// - Parameter logbook: the name of its logbook, which is created if it does not exist; nil if the server
  ///   has only one.
  /// - Throws: `Failure`: `usage` for a name that exists or is invalid, or for nil if there are several
  ///   logbooks.
  func add(
    name: String, role: LoginRole, logbook: String?, token: LoginToken, at now: Int64
  ) async throws
  /// All logins, ordered by name.
  func list() async throws -> [ListedLogin]
  /// Replaces the token of a login.
  ///
  /// - Parameter graceSeconds: how long the replaced token stays valid. Tokens of the login that were
  ///   replaced earlier become invalid at this time, too, or earlier.
  /// - Throws: `Failure`: `missingInput` without a login of this name.
  func rotate(name: String, token: LoginToken, graceSeconds: Int, at now: Int64) async throws
  /// Removes a login. Its token is invalid from the next request on.
  ///
  /// - Throws: `Failure`: `missingInput` without a login of this name.
  func remove(name: String) async throws
}

extension LoginDirectory {
  /// The login whose current token has this SHA-256. Replaced tokens are not accepted.
  package func login(tokenHash: [UInt8]) async throws(ServiceError) -> Login? {
    try await login(tokenHash: tokenHash, at: .max)
  }
}

/// A link to the pages of a logbook, as the server stores it.
package struct PageLinkEntry: Hashable, Sendable {
  /// The hash of the token with which the link was created. The link is only valid while this token opens the
  /// same logbook.
  package var tokenHash: [UInt8]
  /// The name of the login.
  package var login: String
  /// The id of the logbook.
  package var logbook: String
  /// When the link was created, in UTC seconds.
  package var madeAt: Int64
  /// When the link expires, in UTC seconds.
  package var expiresAt: Int64

  package init(tokenHash: [UInt8], login: String, logbook: String, madeAt: Int64, expiresAt: Int64) {
    self.tokenHash = tokenHash
    self.login = login
    self.logbook = logbook
    self.madeAt = madeAt
    self.expiresAt = expiresAt
  }
}

/// The links to pages that several servers share. Each is identified by the SHA-256 of its secret.
package protocol PageLinkDirectory: Sendable {
  /// Adds a link. If the login then has more than `maxPerLogin` links, its oldest ones are removed.
  func add(_ link: PageLinkEntry, secretHash: [UInt8], maxPerLogin: Int) async throws(ServiceError)
  /// The link with this secret; nil if there is none or it has expired.
  func link(secretHash: [UInt8], at now: Int64) async throws(ServiceError) -> PageLinkEntry?
}

/// The storage of a server: the logins, and the data of each logbook.
///
/// Each call on a logbook is one atomic transaction, and durable when it returns. In this transaction, a call
/// with a `RunStamp` first checks the run, the expected logbook and the position. Changes have increasing
/// numbers: no change with a smaller number becomes visible after a larger one was returned. `StorageRule` in
/// `ServiceConformance` tests these rules for every storage.
package protocol ServerStorage: Sendable {
  var logins: any LoginDirectory { get }
  /// The links to pages, if several servers share the storage; nil if the server itself keeps them in memory.
  var links: (any PageLinkDirectory)? { get }
  /// The logbook of a login, with the permissions of the login.
  func logbook(for login: Login) -> any LogbookService
  /// Checks whether requests can be answered at the moment.
  ///
  /// - Throws: `ServiceError`: `busy` if the storage cannot be reached or is not prepared for the server.
  func check() async throws(ServiceError)
  /// Measurements of the storage, in the text format of Prometheus and without personal data.
  func metrics() async -> String
  /// Finishes work that an interrupted process left, such as the removal of purged logbooks. Requests are
  /// answered at the same time.
  ///
  /// - Throws: `ServiceError`. In this case, the server continues the work when it is started the next time.
  func finishEarlierWork() async throws(ServiceError)
}

extension ServerStorage {
  /// Nil: by default, the server keeps the links in memory.
  package var links: (any PageLinkDirectory)? { nil }
  /// Looks up a token that cannot exist. If the storage answers, it can be reached.
  package func check() async throws(ServiceError) {
    _ = try await logins.login(tokenHash: [UInt8](repeating: 0, count: 32))
  }
  /// Empty: by default, a storage has no measurements.
  package func metrics() async -> String { "" }
  /// Does nothing: by default, no work is left.
  package func finishEarlierWork() async throws(ServiceError) {}
}
