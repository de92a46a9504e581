// SPDX-License-Identifier: Apache-2.0

package import Logbook
package import LogbookAPI

/// Creates the pages of a logbook for a browser. The server only knows who may see which logbook; it does not know the
/// content of pages.
package protocol PageSource: Sendable {
  /// Creates a page with a bounded number of days and readings. Must end early if its task is cancelled.
  ///
  /// - Parameter logbook: the logbook with the permissions of the login that created the link. A page only reads.
  func page(_ request: PageRequest, of logbook: any LogbookService) async throws -> PageAnswer
}

/// The request for a page of a logbook.
package struct PageRequest: Sendable {
  /// The parameters of the URL; each occurs once.
  package var parameters: [String: String]
  /// The server's clock in UTC seconds.
  package var now: Int64

  package init(parameters: [String: String], now: Int64) {
    self.parameters = parameters
    self.now = now
  }
}

/// The result of a request for a page.
package enum PageAnswer: Hashable, Sendable {
  /// An HTML page that has no script and loads nothing. Its links lead to queries of the same path.
  case html([UInt8])
  /// The page as a PDF.
  case pdf([UInt8])
  /// There is no such page; the text states the wrong parameter.
  case invalid(String)
  /// The period has more data than a page shows.
  case tooLarge
}

/// The settings of pages.
package struct PageSettings: Sendable {
  /// Creates the pages.
  package var source: any PageSource
  /// Creates an unguessable secret.
  package var makeSecret: @Sendable () -> LoginToken
  /// The default validity of a link.
  package var linkSeconds = 900
  /// The maximum validity of a link.
  package var maxLinkSeconds = 86_400
  /// The maximum number of links of one login; a further one replaces the oldest.
  package var maxLinksPerLogin = 8
  /// The maximum number of links in total. Above it, a login can only replace its own.
  package var maxLinks = 1000
  /// The maximum size of a page.
  package var maxBytes = 4 << 20
  /// The time limit for creating a page.
  package var maxTime = Duration.seconds(30)
  /// The maximum number of pages that are created at the same time. The maximum for one login is one.
  package var maxPagesAtWork = 2

  package init(source: any PageSource, makeSecret: @escaping @Sendable () -> LoginToken) {
    self.source = source
    self.makeSecret = makeSecret
  }
}
