// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestServers
import Testing

/// Holds the stand-in to what the real server 15.0.7 answered, exchange by exchange over a real socket.
///
/// Nothing differs but what is not compared, each with its reason:
/// - `Vary`, which no client of ours looks at;
/// - the words of pages for paths that nobody serves, and the stack of the server's own errors, which describe its files;
/// - the version of the database, and the settings within `status`, which are each site's own;
/// - of a refused bulk write all but code and index, for the words are the database's;
/// - the tag of `properties` and `ddata`, of which the recordings hold only some members;
/// - whether an answer is late, but for those that name an address, because a busy machine is late, too.
@Suite(.timeLimit(.minutes(10)))
struct NightscoutExchangeTests {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(
    path: "Exchanges")

  /// One after the other with one site, as they were recorded.
  private static let scenarios = [
    "v3 search", "v3 search of treatments", "v3 create entries", "v3 create treatments", "v3 put", "v3 patch",
    "v3 delete", "v3 history", "v3 lastModified", "v1 entries", "v1 treatments", "status", "bodies",
    "two at once",
    "IOB and COB", "IOB and COB with a full memory", "auth tokens", "auth v3", "auth v1", "rough edges",
  ]

  @Test func theStandInAnswersEveryRecordedExchangeAsTheRealServerDid() async throws {
    let exchanges = try Self.scenarios.flatMap { try Exchange.scenario($0, in: Self.folder) }
    let first = try #require(exchanges.first)
    let differences = try await Self.replay(exchanges, from: first.time)
    #expect(exchanges.count == 694)
    #expect(differences.isEmpty, "\(Self.listed(differences))")
  }

  @Test func aSiteOfAnotherSettingAnswersAsTheRealServerDid() async throws {
    let exchanges = try Exchange.scenario("another setting", in: Self.folder)
    let first = try #require(exchanges.first)
    let differences = try await Self.replay(exchanges, from: first.time) { settings in
      settings.serverOffsetMinutes = 330
      settings.maxDocuments = 5
      settings.defaultRoles = ["readable"]
      settings.autopruneDays = ["treatments": 60]
      settings.meetsLegacyDocuments = false
    }
    #expect(exchanges.count == 27)
    #expect(differences.isEmpty, "\(Self.listed(differences))")
  }

  private static func listed(_ differences: [String: [String]]) -> String {
    differences.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.joined(separator: "; "))" }
      .joined(separator: "\n")
  }

  /// The differences by the exchange that has them.
  private static func replay(
    _ exchanges: [Exchange], from time: Int64,
    _ change: @escaping @Sendable (inout NightscoutSettings) -> Void = { _ in }
  ) async throws -> [String: [String]] {
    try await Apart.run {
      let site = try ExchangeSite(at: time, change)
      var differences: [String: [String]] = [:]
      var rest = exchanges[...]
      while let first = rest.first {
        let group = first.isTogether ? Array(rest.prefix { $0.isTogether }) : [first]
        rest = rest.dropFirst(group.count)
        for (place, found) in try Self.differences(of: group, with: site) where !found.isEmpty {
          differences[place] = found
        }
      }
      return differences
    }
  }

  private static func differences(
    of group: [Exchange], with site: ExchangeSite
  ) throws -> [(place: String, found: [String])] {
    do {
      return zip(group, try site.send(group)).map { exchange, answer in
        (exchange.place, site.differences(answer.reply, answer.isLate, from: exchange))
      }
    } catch is RawConnection.NoAnswer {
      return group.map { ($0.place, $0.status == 0 ? [] : ["no answer for \($0.status)"]) }
    }
  }
}
