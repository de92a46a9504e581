// SPDX-License-Identifier: Apache-2.0

/// A link that shows the pages of a logbook for a limited time to everyone who has it.
package struct PageLink: Hashable, Sendable {
  /// The path below the address of the service. It contains the secret.
  package var path: String
  /// When it expires, in UTC seconds by the clock of the service.
  package var expiresAt: Int64

  /// A link with this path and end.
  package init(path: String, expiresAt: Int64) {
    self.path = path
    self.expiresAt = expiresAt
  }
}

/// Pages of a logbook for a browser, which has no login.
package protocol PageService: Sendable {
  /// Makes a link to the pages; nil if the service has none.
  ///
  /// - Parameter seconds: how long the link is valid; nil for the choice of the service.
  func makePageLink(seconds: Int?) async throws(ServiceError) -> PageLink?
}
