// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookAPI

/// The links to report pages. They are stored in the database, since the next request may arrive at another
/// server.
extension PostgresLogins: PageLinkDirectory {
  /// The maximum difference between the clocks of two servers, in seconds.
  private static let maxClockDifference: Int64 = 60

  func add(_ link: PageLinkEntry, secretHash: [UInt8], maxPerLogin: Int) async throws(ServiceError) {
    try await inDirectory { transaction in
      try transaction.rows(
        """
        DELETE FROM glucoport.page_link WHERE login = $1 AND (expires_at <= $2 OR place NOT IN (
          SELECT place FROM glucoport.page_link WHERE login = $1 AND expires_at > $2 ORDER BY place DESC LIMIT $3))
        """, .text(link.login), .integer(link.madeAt), .integer(Int64(maxPerLogin - 1)))
      let added = try transaction.rows(
        """
        INSERT INTO glucoport.page_link (secret_hash, token_hash, login, logbook, made_at, expires_at)
        SELECT $1, $2, name, $4, $5, $6 FROM glucoport.login WHERE name = $3 RETURNING 1
        """, .data(secretHash), .data(link.tokenHash), .text(link.login), .text(link.logbook),
        .integer(link.madeAt), .integer(link.expiresAt))
      // No row was added: the login was removed after it was looked up for this request.
      guard added.count == 1 else {
        throw ServiceError.busy("the token was revoked meanwhile; try again", retryAfterSeconds: 1)
      }
    }
  }

  func link(secretHash: [UInt8], at now: Int64) async throws(ServiceError) -> PageLinkEntry? {
    try await inDirectory { transaction in
      let rows = try transaction.rows(
        """
        SELECT token_hash, login, logbook, made_at, expires_at FROM glucoport.page_link
        WHERE secret_hash = $1 AND expires_at > $2 AND made_at <= $2 + $3
        """, .data(secretHash), .integer(now), .integer(Self.maxClockDifference))
      guard rows.count == 1 else { return nil }
      return PageLinkEntry(
        tokenHash: try rows.data(0, 0), login: try rows.text(0, 1), logbook: try rows.text(0, 2),
        madeAt: try rows.integer(0, 3), expiresAt: try rows.integer(0, 4))
    }
  }
}
