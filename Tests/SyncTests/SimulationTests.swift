// SPDX-License-Identifier: Apache-2.0

import Simulation
import Testing

/// Simulates a few random schedules in each test run. Tests/run.sh simulates more of them, with other seeds
/// for each commit.
@Suite struct SimulationTests {
  @Test func everySyncRuleHoldsInRandomSchedules() async throws {
    let broken = try await Schedules.firstBroken(1..<9, Template(), steps: 20)
    #expect(broken == nil, "\(broken ?? "")")
  }

  /// The rules allow for the limitations of Nightscout that glucoport-nightscout(7) documents.
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
