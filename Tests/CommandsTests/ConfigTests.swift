// SPDX-License-Identifier: Apache-2.0

import TestProgram
import Testing

@Suite struct ConfigTests {
  @Test(arguments: ["5", "12", "5d", "h", "-5m", "5 h", "1.5h", "", "5H", "٥h"])
  func aPullIntervalWithoutAUnitIsRefusedWithTheListOfUnits(_ value: String) async throws {
    let outcome = try await Program().run("config", "pull-interval", "--", value)
    #expect(outcome.status == 64 && outcome.output == "", "\(outcome)")
    #expect(
      outcome.errors.hasPrefix(
        "Error: pull-interval is a number with its unit, h, m or s, such as 12h or 90m; or 0."),
      "\(outcome)")
  }

  @Test(arguments: [("12h", "12h"), ("90m", "90m"), ("30s", "30s"), ("0", "0s"), ("120m", "2h")])
  func aPullIntervalWithItsUnitIsStored(_ value: String, _ shown: String) async throws {
    let program = try Program()
    _ = try await program.run("record", "add", "note", "there is a store")
    let set = try await program.run("config", "pull-interval", value)
    #expect(set.status == 0, "\(set)")
    #expect(try await program.run("config", "pull-interval").output == "pull-interval \(shown)\n")
  }
}
