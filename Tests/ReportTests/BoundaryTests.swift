// SPDX-License-Identifier: Apache-2.0

import Logbook
import SeededRandom
import Testing

@testable import Report

/// Tests the limits of glucose ranges with every value that a device can show, and the texts for these
/// limits.
struct BoundaryTests {
  /// The limits of a set of targets, as printed in the consensus. One list is in mg/dL, the other in tenths
  /// of mmol/L. A list begins with the lowest value that is not very low. It goes on with the lowest value in
  /// the target and the lowest value above it. The last value is the lowest very high value, if the targets
  /// have such a range.
  struct Limits: CustomTestStringConvertible, Sendable {
    let name: String
    let milligrams: [Int]
    let tenths: [Int]

    var testDescription: String { name }
  }

  static let limits = [
    Limits(name: "standard", milligrams: [54, 70, 181, 251], tenths: [30, 39, 101, 140]),
    Limits(name: "older", milligrams: [54, 70, 181, 251], tenths: [30, 39, 101, 140]),
    Limits(name: "pregnancy", milligrams: [54, 63, 141], tenths: [30, 35, 79]),
  ]

  private static func band(_ value: Int, _ limits: [Int]) -> GlucoseBand? {
    GlucoseBand(rawValue: limits.filter { value >= $0 }.count)
  }

  // MARK: - Ranges

  @Test(arguments: limits) func everyGlucoseValueIsInItsRangeOfTheInternationalConsensus(_ limits: Limits)
    throws
  {
    let targets = try #require(Targets.named.first { $0.name == limits.name })
    for value in 1...600 {
      let level = try #require(Reading.level(Double(value)))
      #expect(targets.band(of: level) == Self.band(value, limits.milligrams), "\(value) mg/dL")
    }
    for tenth in 1...333 {
      let level = try #require(Reading.level(Double(tenth) / 10, .millimolesPerLitre))
      #expect(targets.band(of: level) == Self.band(tenth, limits.tenths), "\(tenth) tenths")
    }
  }

  @Test func theTightTargetRangeIncludesBothLimits() throws {
    for value in 1...600 {
      let level = try #require(Reading.level(Double(value)))
      #expect(Targets.isTight(level) == (70...140).contains(value), "\(value)")
    }
    for tenth in 1...333 {
      let level = try #require(Reading.level(Double(tenth) / 10, .millimolesPerLitre))
      #expect(Targets.isTight(level) == (39...78).contains(tenth), "\(tenth)")
    }
  }

  /// A device may show LO for all values below 70. Such a LO still counts as very low.
  @Test(arguments: [20.0, 40, 54, 70, 100]) func readingsLOAndHIAreInTheOuterRangesOfAllTargets(
    _ limit: Double
  ) throws {
    for unit in [GlucoseUnit.milligramsPerDecilitre, .millimolesPerLitre] {
      let low = try #require(GlucoseLevel(.low(below: limit, unit), of: .cbg))
      let high = try #require(GlucoseLevel(.high(above: limit, unit), of: .cbg))
      for targets in Targets.named {
        #expect(targets.band(of: low) == .veryLow && !Targets.isTight(low))
        #expect(
          targets.band(of: high) == (targets.highest == nil ? .high : .veryHigh) && !Targets.isTight(high))
      }
    }
  }

  @Test(arguments: [0.0, -1, 10_000.5, .nan, .infinity]) func anImpossibleGlucoseNumberIsIgnored(
    _ number: Double
  ) {
    #expect(Reading.level(number) == nil && Reading.level(number, .millimolesPerLitre) == nil)
    #expect(Reading.level(10_000) != nil)
  }

  @Test func readingsLOAndHIWithoutALimitGetTheLimitsOfCommonDevices() throws {
    func level(_ measurement: Measurement, _ kind: ReadingKind) throws -> Double {
      try #require(GlucoseLevel(measurement, of: kind)).milligrams
    }
    #expect(try level(.low(below: nil, .milligramsPerDecilitre), .cbg) == 40)
    #expect(try level(.high(above: nil, .milligramsPerDecilitre), .cbg) == 400)
    #expect(try level(.low(below: nil, .milligramsPerDecilitre), .smbg) == 20)
    #expect(try level(.high(above: nil, .milligramsPerDecilitre), .smbg) == 600)
    // In the other unit, LO and HI mean the same glucose, rounded to tenths.
    #expect(try abs(level(.low(below: nil, .millimolesPerLitre), .cbg) - 40) < 1)
    #expect(try abs(level(.high(above: nil, .millimolesPerLitre), .smbg) - 600) < 1)
  }

  // MARK: - Goals

  /// The goals for 25 days of a sensor with this number of samples in each range, lowest range first.
  private func goals(_ counts: [Int], _ targets: Targets = .standard) -> [StatsGoal] {
    let values = zip([50, 60, 100, 200, 300], counts).flatMap { Array(repeating: $0, count: $1) }
    let readings = values.enumerated().map {
      Reading.sensor($1, at: StatisticsTests.start + Int64($0) * 900)
    }
    return StatsGoal.all(of: figures(readings, targets: targets).total.sensor, targets)
  }

  @Test func aGoalForTimeInRangeIsNotReachedExactlyAtItsLimit() {
    // The counts are 1, 3, 70, 21 and 5 percent of 2400 samples.
    let goals = goals([24, 72, 1680, 504, 120])
    #expect(goals.map(\.range) == [.target, .below, .veryLow, .above, .veryHigh])
    #expect(goals.map(\.percent) == [70, 4, 1, 26, 5] && goals.allSatisfy { !$0.isMet })
  }

  @Test func aGoalForTimeInRangeIsReachedOneSampleFromItsLimit() {
    let goals = goals([23, 72, 1681, 505, 119])
    #expect(goals.map(\.isMet) == [true, true, true, false, true])
    #expect(self.goals([23, 72, 1706, 480, 119]).map(\.isMet) == [true, true, true, true, true])
    // 600 samples are exactly 25 percent, although the binary sum of 481/2400 and 119/2400 differs slightly.
    #expect(self.goals([23, 72, 1705, 481, 119]).map(\.isMet) == [true, true, true, false, true])
  }

  @Test func olderPeopleHaveTheirOwnGoalsForTimeInRange() {
    let goals = goals([0, 23, 1201, 937, 239], .older)
    #expect(goals.map(\.range) == [.target, .below, .above, .veryHigh])
    #expect(goals.map(\.limit) == [50, 1, 50, 10] && goals.allSatisfy(\.isMet))
    #expect(self.goals([0, 24, 1200, 936, 240], .older).allSatisfy { !$0.isMet || $0.range == .above })
  }

  @Test func withCustomTargetsOrTooFewDataNoGoalsAreShown() throws {
    let own = try #require(Targets(from: 70, to: 180, .milligramsPerDecilitre))
    #expect(goals([24, 72, 1680, 504, 120], own).isEmpty)
    #expect(goals([0, 0, 13 * 96, 0, 0]).isEmpty && !goals([0, 0, 14 * 96, 0, 0]).isEmpty)
  }

  // MARK: - Texts

  @Test func glucoseRangesAreLabelledAsInTheConsensus() {
    let (milligrams, millimoles) = (GlucoseText(.milligramsPerDecilitre), GlucoseText(.millimolesPerLitre))
    #expect(milligrams.ranges(.standard) == ["<54", "54–69", "70–180", "181–250", ">250"])
    #expect(millimoles.ranges(.standard) == ["<3.0", "3.0–3.8", "3.9–10.0", "10.1–13.9", ">13.9"])
    #expect(milligrams.ranges(.pregnancy) == ["<54", "54–62", "63–140", ">140", ""])
    #expect(millimoles.ranges(.pregnancy) == ["<3.0", "3.0–3.4", "3.5–7.8", ">7.8", ""])
    let comma = GlucoseText(.millimolesPerLitre, mark: ",").ranges(.standard)
    #expect(comma == ["<3,0", "3,0–3,8", "3,9–10,0", "10,1–13,9", ">13,9"])
  }

  private func digits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

  @Test(arguments: UInt64(1)...5) func aStatisticIsShownWithTheRequestedDecimals(_ seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let glucose = GlucoseText(.milligramsPerDecilitre)
    for _ in 0..<200 {
      let hundredths = Int.random(in: 1...999_999, using: &generator)
      let number = Double(hundredths) / 100
      #expect(glucose.decimal(number, 2) == "\(hundredths / 100).\(digits(hundredths % 100))")
      #expect(glucose.decimal(-number, 2) == "-\(hundredths / 100).\(digits(hundredths % 100))")
      let tenths = Double(hundredths) / 10
      #expect(glucose.decimal(tenths, 1) == "\(hundredths / 10).\(hundredths % 10)")
      #expect(Double(glucose.plain(number)) == number && !glucose.plain(Double(hundredths)).contains("."))
    }
  }

  @Test(arguments: [
    (0.0, "0", "0.0", "0"), (0.04, "0", "0.0", "0.04"), (-0.04, "0", "0.0", "-0.04"),
    (-0.001, "0", "0.0", "0"),
    (9.95, "10", "10.0", "9.95"), (0.5, "1", "0.5", "0.5"), (1.5, "2", "1.5", "1.5"),
    (99.996, "100", "100.0", "100"),
    (2.5, "3", "2.5", "2.5"),
  ])
  func aStatisticIsRoundedHalfUp(_ number: Double, _ whole: String, _ tenths: String, _ plain: String) {
    let glucose = GlucoseText(.milligramsPerDecilitre)
    #expect(glucose.decimal(number, 0) == whole && glucose.plain(number) == plain)
    #expect(glucose.decimal(number, 1) == tenths)
  }

  /// A value in its own unit is shown as the device showed it.
  @Test func aGlucoseValueIsShownAsItsDeviceShowedIt() throws {
    for tenth in 6...333 {
      let level = try #require(Reading.level(Double(tenth) / 10, .millimolesPerLitre))
      #expect(GlucoseText(.millimolesPerLitre).level(level) == "\(tenth / 10).\(tenth % 10)")
    }
    for value in 10...600 {
      let level = try #require(Reading.level(Double(value)))
      #expect(GlucoseText(.milligramsPerDecilitre).level(level) == "\(value)")
    }
  }

  // MARK: - Languages

  @Test func everyReasonForAMissingStatisticHasItsTextInEveryLanguage() {
    let shortages: [Shortage] = [
      .noReadings, .fewReadings(3, of: 30), .shortTime(minutes: 754), .fewDays(9, of: 14, percent: 61.9),
      .littleTime(percent: 69.99), .longPeriod(days: 120), .meanOutsideFit, .notSeparate,
    ]
    for texts in PageTexts.all {
      let sentences = shortages.map(texts.text(of:))
      #expect(Set(sentences).count == shortages.count && !sentences.contains { $0.contains("{") })
      #expect(sentences[1].contains("3") && sentences[1].contains("30"))
      #expect(sentences[2].contains("12") && sentences[2].contains("34"))
      // A number below 62 or 70 percent is never rounded up to this limit.
      #expect(sentences[3].contains("61") && !sentences[3].contains("62"))
      #expect(sentences[4].contains("69") && sentences[4].contains("70"))
      #expect(sentences[5].contains("120") && sentences[5].contains("90"))
      #expect(Set(LeftOut.allCases.map(texts.text(of:))).count == LeftOut.allCases.count)
      #expect(Set(GlucoseBand.allCases.map(texts.name(of:))).count == GlucoseBand.allCases.count)
      #expect(Set(EpisodeKind.allCases.map(texts.name(of:))).count == EpisodeKind.allCases.count)
    }
  }
}
