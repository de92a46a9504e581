// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import Nightscout

/// Reads a Nightscout site, by the walk of the remote and with `GET` only. The documents are passed on as the site returned
/// them, so that reading them is the import of an export of this site.
package enum SourceSite {
  /// How much of the site was read.
  package struct Walk: Sendable {
    /// The position for the next run.
    package let cursor: String
    /// Whether the first reading of the whole site is not at its end.
    package let hasMore: Bool
  }

  /// The position of a source on a site.
  private struct Cursor: Codable {
    /// The walks through all documents that are left; empty after the first reading of the site.
    var first: [NightscoutWalk] = []
    /// Up to which time of the site's clock, in milliseconds, its history is read.
    var history: Int64
  }

  /// How many milliseconds before the last run are read again: a mark may become visible after a later one.
  private static let overlap: Int64 = 60_000
  /// Documents of this many last milliseconds are read in each run: those of API v1 have no mark, and arrive late.
  private static let window: Int64 = 2 * 86_400_000
  /// The maximum number of requests for documents in one run.
  private static let maxPages = 60

  /// Reads what is new, and the last two days again. The first runs read everything.
  ///
  /// - Parameters:
  ///   - cursor: the position of the last run; nil before the first.
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

  /// The position of a source that has read everything but the last two days.
  ///
  /// - Parameter now: this host's clock in UTC seconds. The site's own clock is used where it is earlier.
  package static func recent(at now: Int64) -> String {
    #"{"first":[],"history":\#(max(0, now) * 1000)}"#
  }

  private static func position(_ text: String) -> Cursor? {
    do {
      return try JSONDecoder().decode(Cursor.self, from: Data(text.utf8))
    } catch {
      // Of another version of the program: the site is read again, and nothing is stored twice.
      return nil
    }
  }

  private static func walk(
    _ site: NightscoutRemote, from known: Cursor?, isolation: isolated (any Actor)? = #isolation,
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
      known ?? Cursor(first: [.everything(of: .entries), .everything(of: .treatments)], history: asked)
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
