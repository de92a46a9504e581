// SPDX-License-Identifier: Apache-2.0

import MeterConformance
import Meters
import SimulatedMeters
import Testing

struct DriverConformanceTests {
  private static let suite = MeterConformance(
    DriverRegister.all, meters: SimulatedRegister.all, clockless: ["accu-chek-mobile", "glucomen-areo"],
    disks: ["accu-chek-mobile"])

  @Test func everyMeterDriverIsRegisteredAndSimulated() { Self.suite.checkRegister() }

  @Test(arguments: suite.trials, MeterConformance.Rule.allCases)
  func everyMeterDriverObeysEveryConformanceRule(_ trial: DriverTrial, _ rule: MeterConformance.Rule) throws {
    try Self.suite.check(rule, of: trial)
  }
}

extension DriverTrial {
  /// Each driver of the register with each of its simulated meters.
  static let all = DriverTrial.all(DriverRegister.all, with: SimulatedRegister.all)
}
