// SPDX-License-Identifier: Apache-2.0

/// A link that shows the pages of a logbook to everybody who has it, for a while.
package struct PageLink: Hashable, Sendable {
  /// The path below the address of the service. It holds the secret.
  package var path: String
  /// When it ends, in UTC seconds by the clock of the service.
  package var expiresAt: Int64

  /// A link with this path and end.
  package init(path: String, expiresAt: Int64) {
    self.path = path
    self.expiresAt = expiresAt
  }
}

/// Pages of a logbook for a browser, which has no login of its own.
package protocol PageService: Sendable {
  /// Makes a link to the pages; nil where the service shows none.
  ///
  /// - Parameter seconds: how long it is valid; nil for what the service chooses.
  func makePageLink(seconds: Int?) async throws(ServiceError) -> PageLink?
}
