// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import Ingest

/// Tests when rejected items end an import, the error messages for them, and the texts for the difference of
/// a meter's clock.
@Suite struct ImportMessageTests {
  private static func policy(isStrict: Bool = false, _ maxRejections: Int? = nil) -> ImportPolicy {
    var policy = ImportPolicy()
    (policy.isStrict, policy.maxRejections) = (isStrict, maxRejections)
    return policy
  }

  @Test(
    arguments: [
      (false, nil, 0, false), (false, nil, .max, false), (false, 0, 0, false), (false, 0, 1, true),
      (false, 5, 5, false),
      (false, 5, 6, true), (true, nil, 0, false), (true, nil, 1, true), (true, 5, 0, false),
      (true, 5, 1, true),
    ] as [(Bool, Int?, Int, Bool)])
  func anImportStopsAtTheFirstRejectionAboveTheMaximum(
    _ isStrict: Bool, _ maxRejections: Int?, _ count: Int, _ isRefused: Bool
  ) {
    #expect(Self.policy(isStrict: isStrict, maxRejections).refuses(count) == isRefused)
  }

  @Test(
    arguments: [
      (true, nil, 1, false, "1 item was rejected and --strict permits none; nothing was stored"),
      (true, 9, 2, false, "2 items were rejected and --strict permits none; nothing was stored"),
      (
        false, 1, 2, false,
        "2 items were rejected and --max-rejects permits 1; what was read before is stored"
      ),
      (false, 0, 1, true, "1 item was rejected and --max-rejects permits 0; nothing was stored"),
      (
        false, 1000, 1001, false,
        "1,001 items were rejected and --max-rejects permits 1000; what was read before is stored"
      ),
    ] as [(Bool, Int?, Int, Bool, String)])
  func theErrorOfAnImportStatesTheExceededLimitAndWhatIsStored(
    _ isStrict: Bool, _ maxRejections: Int?, _ count: Int, _ storesNothing: Bool, _ words: String
  ) {
    let failure = Self.policy(isStrict: isStrict, maxRejections)
      .failure(of: "a.csv", [], count: count, storesNothing: storesNothing)
    #expect(failure.failure.category == .badInput && failure.failure.message == "a.csv: \(words)")
    #expect(failure.count == count && failure.source == "a.csv")
  }

  @Test func theErrorOfAnImportListsOnlyTheFirstRejections() {
    let all = (1...50).map { Rejection(line: Int64($0), reason: "r") }
    let failure = Self.policy(isStrict: true).failure(of: "-", all, count: 50, storesNothing: false)
    #expect(failure.rejections.map(\.line) == (1...Int64(ImportReport.maxRejections)).map { $0 })
  }

  @Test(
    arguments: [
      (0, "0 s"), (59, "59 s"), (60, "1 min 0 s"), (3599, "59 min 59 s"), (3600, "1 h 0 min"),
      (86_399, "23 h 59 min"),
      (86_400, "1 d 0 h"), (900_000, "10 d 10 h"),
    ] as [(Int64, String)])
  func aDurationIsWrittenInItsTwoLargestUnits(_ seconds: Int64, _ words: String) {
    #expect(ClockJudgement.words(seconds) == words)
  }

  /// The times are just before and just after the zone's offset changes.
  @Test(
    arguments: [
      ("2025-03-30T00:59:59", "2025-03-30T01:59:59", 0),
      ("2025-03-30T01:00:00", "2025-03-30T02:00:00", -3600),
      ("2025-03-30T01:00:00", "2025-03-30T03:00:00", 0), ("2025-10-26T00:59:59", "2025-10-26T02:59:59", 0),
      ("2025-10-26T01:00:00", "2025-10-26T02:00:00", 0), ("2025-10-26T01:00:00", "2025-10-26T03:00:00", 3600),
    ] as [(String, String, Int64)])
  func theMeterClockIsComparedWithTheLocalTimeAtTheMomentOfReading(
    _ host: String, _ meter: String, _ lead: Int64
  )
    throws
  {
    let comparison = ClockComparison(
      meter: try #require(DeviceTime(text: meter)), host: try #require(DeviceTime(text: host)).seconds)
    let judgement = ClockJudgement(comparison, in: try LogbookZone(name: "Europe/Madrid"))
    #expect(
      judgement.difference == lead && judgement.isOff == (lead != 0) && judgement.isOffByHours == (lead != 0))
  }

  @Test(
    arguments: [
      (121, true, false), (120, false, false), (1800, true, false), (3600 - 121, true, false),
      (3600 - 120, true, true),
      (3600 + 120, true, true), (3600 + 121, true, false), (26 * 3600 + 120, true, true),
      (27 * 3600, true, false),
    ] as [(Int64, Bool, Bool)])
  func aMeterClockOffByWholeHoursIsReportedAsPossiblyAnotherZone(
    _ lead: Int64, _ isOff: Bool, _ isOffByHours: Bool
  )
    throws
  {
    for lead in [lead, -lead] {
      let comparison = ClockComparison(meter: DeviceTime(seconds: 1_782_900_000 + lead), host: 1_782_900_000)
      let judgement = ClockJudgement(comparison, in: try LogbookZone(name: "UTC"))
      #expect(judgement.isOff == isOff && judgement.isOffByHours == isOffByHours, "\(lead)")
      #expect((judgement.warning == nil) == !isOff)
      #expect(judgement.warning?.contains(lead > 0 ? "ahead of" : "behind") ?? true)
      #expect((judgement.warning?.contains("another zone") ?? false) == isOffByHours)
    }
  }
}
