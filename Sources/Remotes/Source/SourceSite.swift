// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import Nightscout

/// Reads a Nightscout site as a source, only with `GET`. Its documents are passed on as the site returned
/// them, so that they are imported like an export of this site.
package enum SourceSite {
  /// How much of the site a run has read.
  package struct Walk: Sendable {
    /// The position at which the next run continues to read the site.
    package let cursor: String
    /// Whether the whole site was not read yet, so that a further run must continue.
    package let hasMore: Bool
  }

  /// The position of a source on a site, between runs.
  private struct SitePosition: Codable {
    /// The walks over all documents that are not yet complete; empty once the whole site was read.
    var first: [NightscoutWalk] = []
    /// The time up to which the history was read, in milliseconds of the site's clock.
    var history: Int64
  }

  /// The length of the period before the last run that is read again, in milliseconds. A document may become
  /// visible after documents that were stored later.
  private static let overlap: Int64 = 60_000
  /// The length of the last period whose events each run reads again, in milliseconds. Documents of API v1
  /// have no `srvModified`, and may be stored late.
  private static let window: Int64 = 2 * 86_400_000
  /// The maximum number of requests for documents in one run.
  private static let maxPages = 60

  /// Reads the documents that are new, and those of the last two days again. The first runs read the whole
  /// site.
  ///
  /// - Parameters:
  ///   - cursor: the position after the last run; nil before the first run.
  ///   - write: receives the documents as one JSON list, piece by piece.
  /// - Throws: `SourceFailure`, and errors of `write`.
  package static func fetch(
    _ login: RemoteLogin, after cursor: String?,
    isolation: isolated (any Actor)? = #isolation, write: (UnsafeRawBufferPointer) throws -> Void
  ) async throws -> Walk {
    do {
      return try await RemoteExchange.with(login) { exchange in
        let site = NightscoutRemote(exchange, token: login.token)
        return try await walk(site, from: cursor.flatMap(position), write)
      }
    } catch let error as ServiceError {
      throw SourceFailure(error, host: login.address.host)
    } catch let failure as Failure {
      throw SourceFailure(failure)
    }
  }

  /// The position of a source that has read the whole site, except the last two days.
  ///
  /// - Parameter now: this host's clock in UTC seconds. If the site's clock is earlier, the site's clock is
  ///   used instead.
  package static func recent(at now: Int64) -> String {
    #"{"first":[],"history":\#(max(0, now) * 1000)}"#
  }

  private static func position(_ text: String) -> SitePosition? {
    do {
      return try JSONDecoder().decode(SitePosition.self, from: Data(text.utf8))
    } catch {
      // The position was stored by another version of the program. The whole site is read again, and known
      // items are not stored again.
      return nil
    }
  }

  private static func walk(
    _ site: NightscoutRemote, from known: SitePosition?, isolation: isolated (any Actor)? = #isolation,
    _ write: (UnsafeRawBufferPointer) throws -> Void
  ) async throws -> Walk {
    if let rights = try await site.session.rights(),
      let missing = rights.missing.first(where: { $0.hasSuffix(":read") })
    {
      throw ServiceError.loginRefused(
        "\(site.hostName): the role of the access token lacks \(missing); a source needs the role readable")
    }
    let asked = try await site.session.now()
    let isFirst = known?.first.isEmpty == false || known == nil
    var cursor =
      known ?? SitePosition(first: [.everything(of: .entries), .everything(of: .treatments)], history: asked)
    var walks = cursor.first
    if !isFirst {
      let since = max(0, min(cursor.history, asked) - overlap)
      walks = [NightscoutCollection.entries, .treatments].flatMap {
        [NightscoutWalk.history(of: $0, from: since), .events(of: $0, from: min(since, asked - window))]
      }
    }
    var (pages, isEmpty) = (0, true)
    func pass(_ text: [UInt8]) throws { try text.withUnsafeBytes(write) }
    try pass([UInt8(ascii: "[")])
    while var walk = walks.first, !isFirst || pages < maxPages {
      for document in try await site.next(&walk, limit: NightscoutRemote.maxDocuments) {
        try pass((isEmpty ? [] : [UInt8(ascii: ",")]) + document.members.bytes)
        isEmpty = false
      }
      pages += 1
      if walk.isAtEnd { walks.removeFirst() } else { walks[0] = walk }
    }
    try pass([UInt8(ascii: "]")])
    if isFirst { cursor.first = walks } else { cursor.history = asked }
    let text = String(decoding: try JSONEncoder().encode(cursor), as: UTF8.self)
    return Walk(cursor: text, hasMore: !cursor.first.isEmpty)
  }
}
