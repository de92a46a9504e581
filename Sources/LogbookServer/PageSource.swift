// SPDX-License-Identifier: Apache-2.0

package import Logbook
package import LogbookAPI

/// What makes the pages of a logbook for a browser. The server knows who may see which logbook, and nothing of what is on a
/// page.
package protocol PageSource: Sendable {
  /// A page, of which the source bounds days and readings. Ends early where its task is cancelled.
  ///
  /// - Parameter logbook: what the login offers that made the link. A page only reads.
  func page(_ request: PageRequest, of logbook: any LogbookService) async throws -> PageAnswer
}

/// Which page of a logbook is asked for.
package struct PageRequest: Sendable {
  /// The parameters of the address, each once.
  package var parameters: [String: String]
  /// The server's clock in UTC seconds.
  package var now: Int64

  /// A request with these parameters.
  package init(parameters: [String: String], now: Int64) {
    self.parameters = parameters
    self.now = now
  }
}

/// What comes of a request for a page.
package enum PageAnswer: Hashable, Sendable {
  /// An HTML page without a script, which fetches nothing. Its own links lead to queries of the same path.
  case html([UInt8])
  /// There is no such page: this is wrong with the parameters.
  case invalid(String)
  /// The period has more than a page shows.
  case tooLarge
}

/// Whether and how a server shows pages.
package struct PageSettings: Sendable {
  /// What makes them.
  package var source: any PageSource
  /// A secret that nobody can guess.
  package var makeSecret: @Sendable () -> LoginToken
  /// How long a link is valid where nobody says it.
  package var linkSeconds = 900
  /// How long a link can be valid.
  package var maxLinkSeconds = 86_400
  /// The links of one login; a further one ends the oldest.
  package var maxLinksPerLogin = 8
  /// All links; where there are so many, nobody gets a further one.
  package var maxLinks = 1000
  /// The bytes of a page.
  package var maxBytes = 4 << 20
  /// How long the making of a page may take.
  package var maxTime = Duration.seconds(30)
  /// The pages that are made at one time. Of one login it is one.
  package var maxPagesAtWork = 2

  /// Pages of this source.
  package init(source: any PageSource, makeSecret: @escaping @Sendable () -> LoginToken) {
    self.source = source
    self.makeSecret = makeSecret
  }
}
