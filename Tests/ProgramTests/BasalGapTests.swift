// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestProgram
import Testing

/// Tests figures of insulin from a Nightscout site with the built program: temporary rates of a pump whose
/// profile is not in the data.
@Suite(.timeLimit(.minutes(5)))
struct BasalGapTests {
  /// Five days with a bolus each day and a temporary rate of 2 U/h in each hour.
  private static func treatments(minutes: Int) -> String {
    let rates = (0..<120).map { hour in
      let time = String(format: "2026-05-%02dT%02d:03:11Z", 1 + hour / 24, hour % 24)
      return
        #"{"_id":"a\#(hour)","eventType":"Temp Basal","created_at":"\#(time)","duration":\#(minutes),"absolute":2,"enteredBy":"loop://iPhone"}"#
    }
    let boluses = (1...5).map { day in
      #"{"_id":"b\#(day)","eventType":"Bolus","created_at":"2026-05-0\#(day)T12:00:00Z","insulin":6,"enteredBy":"loop://iPhone"}"#
    }
    return "[" + (rates + boluses).joined(separator: ",") + "]"
  }

  private static func program(minutes: Int) async throws -> Program {
    let program = try Program()
    try program.write(treatments(minutes: minutes), to: "treatments.json")
    let imported = try await program.run(
      "import", "--quiet", "--timezone", "UTC", program.path("treatments.json"))
    #expect(imported.status == 0, "\(imported.errors)")
    return program
  }

  private static func insulin(_ program: Program, _ part: String) async throws -> [String: any Sendable] {
    let objects = try await program.run("stats", "--json", "--since", "2026-05-01").objects()
    let total = try #require(objects.first?["total"] as? [String: any Sendable])
    let insulin = try #require(total["insulin"] as? [String: any Sendable])
    return try #require(insulin[part] as? [String: any Sendable])
  }

  @Test func theInsulinOfTemporaryRatesWithGapsIsNotSummedAndTheReasonShown() async throws {
    let program = try await Self.program(minutes: 30)
    let reason = "basal insulin between temporary rates is unknown"
    let stats = try await program.run("stats", "--since", "2026-05-01").output
    #expect(
      stats.contains(
        "Insulin: no sum (\(reason)) · basal no sum (\(reason)) · bolus 30.0 U, 6.0 U a day on 5 days\n"),
      "\(stats)")
    for part in ["all", "basal"] {
      let amount = try await Self.insulin(program, part)
      #expect(amount["total"] as? Double == nil)
      #expect((amount["per_day"] as? [String: any Sendable])?["reason"] as? String == reason)
    }
    #expect(try await Self.insulin(program, "bolus")["total"] as? Double == 30)
    let day = try await program.run("day", "2026-05-03").output
    #expect(day.contains("Insulin — (\(reason))") && day.contains("basal — (\(reason))"), "\(day)")
    #expect(day.contains("bolus 6 U"))
    let page = try await program.run("report", "--since", "2026-05-01", "--pages", "all", "-o", "-").output
    #expect(page.contains("— (\(reason))"))
  }

  @Test func theInsulinOfTemporaryRatesWithoutGapsIsSummed() async throws {
    let program = try await Self.program(minutes: 60)
    #expect(try await Self.insulin(program, "all")["total"] as? Double == 270)
    #expect(try await Self.insulin(program, "basal")["total"] as? Double == 240)
    let day = try await program.run("day", "2026-05-03").output
    #expect(day.contains("Insulin 54 U · basal 48 U") || day.contains("Insulin 54 U, basal 48 U"), "\(day)")
  }
}
