// SPDX-License-Identifier: Apache-2.0

import Simulation
import Testing

/// Some schedules for daily work; Tests/run.sh simulates more, with different ones for each commit.
@Suite struct SimulationTests {
  @Test func everySyncRuleHoldsInRandomSchedules() async throws {
    let broken = try await Schedules.firstBroken(1..<9, Template(), steps: 20)
    #expect(broken == nil, "\(broken ?? "")")
  }

  /// The limitations of Nightscout in glucoport-nightscout(7) are taken into account.
  @Test func everySyncRuleHoldsInRandomSchedulesOverANightscoutSite() async throws {
    let broken = try await Schedules.firstBroken(1..<9, Template(), steps: 20, on: .site)
    #expect(broken == nil, "\(broken ?? "")")
  }

  @Test func aScheduleOfOneSeedReplaysIndependentlyOfEarlierRuns() async throws {
    let template = try await Template()
    let first = try await Schedules.journal(seed: 9, after: 0, template)
    let second = try await Schedules.journal(seed: 9, after: 8, template)
    #expect(first.lines == second.lines && !first.lines.isEmpty)
  }
}
