// SPDX-License-Identifier: Apache-2.0

package import Logbook
package import LogbookAPI

/// Creates the pages of a logbook for a browser. The server only decides who may see a logbook, and does not
/// know the content of pages.
package protocol PageSource: Sendable {
  /// Creates a page with a limited number of days and readings. It must return early if its task is
  /// cancelled.
  ///
  /// - Parameter logbook: the logbook, with the permissions of the login that created the link. A page must
  ///   only read.
  func page(_ request: PageRequest, of logbook: any LogbookService) async throws -> PageAnswer
}

/// The request for a page of a logbook.
package struct PageRequest: Sendable {
  /// The parameters of the URL. The server refuses a parameter that occurs twice.
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
  /// A page in HTML without scripts, which loads no other resources. Its links lead to the same path with
  /// other parameters.
  case html([UInt8])
  /// The page as a PDF.
  case pdf([UInt8])
  /// The page does not exist. The text states which parameter is wrong.
  case invalid(String)
  /// The requested period has more data than a page can show.
  case tooLarge
}

package struct PageSettings: Sendable {
  /// The object that creates the pages.
  package var source: any PageSource
  /// Creates the secret of a link, which must not be guessable.
  package var makeSecret: @Sendable () -> LoginToken
  /// How long a link is valid by default, in seconds.
  package var linkSeconds = 900
  /// The maximum time for which a link is valid, in seconds.
  package var maxLinkSeconds = 86_400
  /// The maximum number of links of one login. If it has more, its oldest link is removed.
  package var maxLinksPerLogin = 8
  /// The maximum number of links of all logins. When it is reached, only a login with `maxLinksPerLogin`
  /// links can create another one, which replaces its oldest link.
  package var maxLinks = 1000
  /// The maximum size of a page in bytes.
  package var maxBytes = 4 << 20
  /// The time limit for creating a page.
  package var maxTime = Duration.seconds(30)
  /// The maximum number of pages that are created at the same time. For each login, only one page is created
  /// at a time.
  package var maxPagesAtWork = 2

  package init(source: any PageSource, makeSecret: @escaping @Sendable () -> LoginToken) {
    self.source = source
    self.makeSecret = makeSecret
  }
}
