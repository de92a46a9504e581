// SPDX-License-Identifier: Apache-2.0

import Logbook
import ServiceConformance
import Simulation
import Testing

/// Checks the connection of simulated nodes to a simulated site against the rules for the ports of a site.
@Suite(.timeLimit(.minutes(10))) struct SimulatedSiteRuleTests {
  @Test(arguments: ServiceRule.removal + ServiceRule.moving)
  func aSimulatedConnectionToASiteObeysTheRulesForItsPorts(_ rule: ServiceRule) async throws {
    try await SimulatedSiteBench().check(rule)
  }
}

private struct SimulatedSiteBench: ServiceBench {
  func with(_ body: @Sendable (any LogbookService, any LogbookService) async throws -> Void) async throws {
    let (writer, reader) = try FaultyRemote.connectionsToNewSite()
    try await body(writer, reader)
  }
}
