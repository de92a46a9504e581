// SPDX-License-Identifier: Apache-2.0

import Logbook
import ServiceConformance
import TestServers
import Testing

@testable import Remotes

/// Checks every registered remote against the rules for services (`ServiceRule`). The server of each remote
/// behaves as a real server does. A new type of remote needs a `RemoteBench` and a test in this suite.
@Suite(.timeLimit(.minutes(10))) struct RemoteConformanceTests {
  /// The bench for each type of remote, by the id of the type.
  private static let benches: [String: any RemoteBench] = [
    GlucoportRemote.id: GlucoportBench(), NightscoutRemote.id: NightscoutBench(),
  ]

  @Test(arguments: ServiceRule.ofStorages) func aGlucoportServerObeysEveryConformanceRule(_ rule: ServiceRule)
    async throws
  {
    try await GlucoportBench().check(rule)
  }

  @Test(arguments: ServiceRule.pages) func aGlucoportServerWithPagesObeysTheRulesForPages(_ rule: ServiceRule)
    async throws
  {
    try await GlucoportBench(hasPages: true).check(rule)
  }

  @Test(arguments: ServiceRule.core + ServiceRule.snapshots + ServiceRule.moving)
  func aNightscoutSiteObeysEveryConformanceRule(_ rule: ServiceRule) async throws {
    try await NightscoutBench().check(rule)
  }

  @Test(arguments: ServiceRule.removal)
  func aNightscoutSiteObeysTheRulesForRemoval(_ rule: ServiceRule) async throws {
    try await NightscoutBench(mayDelete: true).check(rule)
  }

  @Test func aGlucoportServerHasNoFurtherCapabilities() async throws {
    try await GlucoportBench().with { server, _ in
      #expect(server.snapshots == nil && server.removal == nil && server.moving == nil)
      let link = try await server.pages?.makePageLink(seconds: nil)
      #expect(link == nil)
    }
  }

  @Test func aNightscoutSiteHasNoFurtherCapabilities() async throws {
    try await NightscoutBench().with { site, _ in
      #expect(site.parts == nil && site.digests == nil && site.attachments == nil && site.purging == nil)
      #expect(site.pages == nil)
    }
  }

  @Test func everyRemoteTypeIsTestedAndHasAUniqueIDAndName() {
    let kinds = RemoteRegister.all
    #expect(kinds.count == Self.benches.count && Set(kinds.map(\.id)) == Set(Self.benches.keys))
    for kind in kinds {
      #expect(!kind.title.isEmpty && kind.id.allSatisfy { $0.isLowercase || $0 == "-" }, "\(kind)")
    }
  }

  @Test(arguments: RemoteRegister.all.map(\.id))
  func theRegisterStatesWhichRemoteTypesStoreAttachments(_ kind: String) async throws {
    let bench = try #require(Self.benches[kind])
    try await bench.with { remote, _ in
      #expect((remote.attachments != nil) == RemoteRegister.takesAttachments(kind))
    }
  }

  @Test(arguments: RemoteRegister.all.map(\.id)) func everyRemoteRefusesAWrongToken(_ kind: String)
    async throws
  {
    let bench = try #require(Self.benches[kind])
    try await bench.serve { url, _, _ in
      let problem = await #expect(throws: ServiceError.self) {
        try await remote(kind, url, "wrong") { _ = try await $0.logbook() }
      }
      guard case .loginRefused = problem else {
        Issue.record("\(String(describing: problem))")
        return
      }
    }
  }
}

/// Runs a server for one type of remote and connects a remote to it, so that rules can be checked.
private protocol RemoteBench: ServiceBench {
  var kind: String { get }
  /// Runs a server with one empty logbook.
  func serve(
    _ body: @Sendable (_ url: String, _ writeToken: String, _ readToken: String) async throws -> Void
  ) async throws
}

extension RemoteBench {
  func with(
    _ body: @Sendable (any LogbookService, any LogbookService) async throws -> Void
  ) async throws {
    try await serve { url, writeToken, readToken in
      try await remote(kind, url, writeToken) { writer in
        try await remote(kind, url, readToken) { reader in try await body(writer, reader) }
      }
    }
  }
}

private func remote(
  _ kind: String, _ url: String, _ token: String, _ body: (any LogbookService) async throws -> Void
) async throws {
  let login = RemoteLogin(
    address: try RemoteAddress(url, allowsPlainHTTP: false), token: try Login.token(token),
    agent: "glucoport/test")
  try await RemoteRegister.with(kind, login) { try await body($0) }
}

private struct GlucoportBench: RemoteBench {
  let kind = GlucoportRemote.id
  var hasPages = false

  func serve(_ body: @Sendable (String, String, String) async throws -> Void) async throws {
    try await ServedLogbook.with(hasPages: hasPages) {
      try await body($0, ServedLogbook.writeToken, ServedLogbook.readToken)
    }
  }
}

private struct NightscoutBench: RemoteBench {
  let kind = NightscoutRemote.id
  /// Whether the login may delete entries, which an upload without hidden readings does not need.
  var mayDelete = false

  func serve(_ body: @Sendable (String, String, String) async throws -> Void) async throws {
    let site = try LoopbackNightscout()
    let writer =
      mayDelete
      ? site.site.addSubject("remover", rights: LoopbackNightscout.rights + ["api:entries:delete"])
      : site.token(canWrite: true)
    try await body(site.url, writer, site.token(canWrite: false))
  }
}
