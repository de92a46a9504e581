// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestServers
import Testing

/// Compares the answers of the simulated site with those of the real server 15.0.7, over a real socket.
///
/// The answers must be equal, except for the following, which is not compared:
/// - `Vary`, which our clients do not read
/// - the texts of pages for unknown paths, and the stack of the server's own errors, which describe its files
/// - the version of the database, and the settings in `status`, which differ between sites
/// - the text of a refused bulk write, which is from the database; its code and index are compared
/// - the ETag of `properties` and `ddata`, since the recordings have only some of their members
/// - whether an answer is late, except for requests that name an address, because a busy machine also answers
///   late
@Suite(.timeLimit(.minutes(10)))
struct NightscoutExchangeTests {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(
    path: "Exchanges")

  /// The scenarios are replayed in this order with one site, as they were recorded.
  private static let scenarios = [
    "v3 search", "v3 search of treatments", "v3 create entries", "v3 create treatments", "v3 put", "v3 patch",
    "v3 delete", "v3 history", "v3 lastModified", "v1 entries", "v1 treatments", "status", "bodies",
    "two at once",
    "IOB and COB", "IOB and COB with a full memory", "auth tokens", "auth v3", "auth v1", "rough edges",
  ]

  @Test func theSimulatedNightscoutAnswersEveryRecordedExchangeAsTheRealServer() async throws {
    let exchanges = try Self.scenarios.flatMap { try Exchange.scenario($0, in: Self.folder) }
    let first = try #require(exchanges.first)
    let differences = try await Self.replay(exchanges, from: first.time)
    #expect(exchanges.count == 694)
    #expect(differences.isEmpty, "\(Self.listed(differences))")
  }

  @Test func aSimulatedNightscoutWithOtherSettingsAnswersAsTheRealServer() async throws {
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

  /// Replays the exchanges. Returns the differences from the recorded answers, by `place` of the exchange.
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
