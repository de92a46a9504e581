// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import Report

/// Compares the statistics of random series with computations from the definitions.
struct RandomFiguresTests {
  private static let start = Time.at("2026-03-02")
  private static let parts = [0.05, 0.25, 0.5, 0.75, 0.95]

  /// Fourteen days with a sample in each quarter of an hour.
  private static func readings(_ values: [Int], marks: ReadingMarks = []) -> [GlucoseReading] {
    values.enumerated().map { Reading.sensor($1, at: start + Int64($0) * 900, marks: marks) }
  }

  @Test(arguments: UInt64(1)...8) func statisticsOfRandomSensorValuesMatchTheDefinitions(_ seed: UInt64) {
    var walk = RandomWalk(seed: seed)
    let values = walk.values(14 * 96)
    let naive = NaiveFigures(values: values.map(Double.init))
    let sensor = figures(Self.readings(values)).total.sensor
    #expect(sensor.readings == values.count && sensor.minutes == 14 * 1440)
    #expect(agree(sensor.mean.number, naive.mean))
    #expect(agree(sensor.standardDeviation.number, naive.deviation))
    #expect(agree(sensor.variation.number, naive.variation))
    #expect(sensor.ranges.map(\.readings) == naive.ranges)
    #expect(sensor.ranges.map(\.minutes) == naive.ranges.map { $0 * 15 })
    #expect(sensor.tight.readings == naive.counts([70, 141])[1])
    for (range, count) in zip(sensor.ranges, naive.ranges) {
      #expect(agree(range.percent.number, Double(count) * 100 / Double(values.count)))
    }
    #expect(agree(sensor.lowRisk.number, naive.lowRisk))
    #expect(agree(sensor.highRisk.number, naive.highRisk))
    #expect(agree(sensor.glycemiaRisk.number, naive.glycemiaRisk))
    #expect(agree(sensor.managementIndicator.number, 3.31 + 0.02392 * naive.mean))
    for (metric, part) in zip(sensor.percentiles, Self.parts) {
      #expect(agree(metric.number, naive.percentile(part)), "\(part)")
    }
  }

  @Test(arguments: [29, 30, 31, 100, 101]) func percentilesMatchTheType7DefinitionForAnyNumberOfSamples(
    _ count: Int
  ) {
    var walk = RandomWalk(seed: UInt64(count))
    let values = walk.values(count, step: 90)
    let naive = NaiveFigures(values: values.map(Double.init))
    let sensor = figures(Self.readings(values)).total.sensor
    if count < 30 {
      #expect(sensor.percentiles == Self.parts.map { _ in Metric.absent(.fewReadings(count, of: 30)) })
    } else {
      for (metric, part) in zip(sensor.percentiles, Self.parts) {
        #expect(agree(metric.number, naive.percentile(part)), "\(part)")
      }
    }
  }

  @Test(arguments: UInt64(1)...4) func statisticsOfRandomFingerSticksMatchTheDefinitions(_ seed: UInt64) {
    var walk = RandomWalk(seed: seed)
    let values = walk.values(120, step: 80)
    let naive = NaiveFigures(values: values.map(Double.init))
    let readings = values.enumerated().map { Reading.finger($1, at: Self.start + Int64($0) * 14_400) }
    let fingers = figures(readings).total.fingerSticks
    #expect(fingers.readings == 120 && fingers.perDay.number == 6 && fingers.daysWithReadings == 20)
    #expect(agree(fingers.mean.number, naive.mean))
    #expect(agree(fingers.standardDeviation.number, naive.deviation))
    #expect(agree(fingers.variation.number, naive.variation))
    #expect(agree(fingers.median.number, naive.percentile(0.5)))
    #expect(fingers.lowest.number == Double(values.min() ?? 0))
    #expect(fingers.highest.number == Double(values.max() ?? 0))
    #expect(fingers.ranges.map(\.readings) == naive.ranges && fingers.ranges.allSatisfy { $0.minutes == 0 })
    #expect(agree(fingers.lowRisk.number, naive.lowRisk))
    #expect(agree(fingers.highRisk.number, naive.highRisk))
  }

  /// The same series as a device would show it in tenths of mmol/L, with limits in tenths.
  @Test(arguments: UInt64(1)...4) func sensorValuesInMillimolesHaveTheStatisticsOfTheirNumbers(_ seed: UInt64)
  {
    var walk = RandomWalk(seed: seed)
    let tenths = walk.values(14 * 96).map { Int((Double($0) / 1.801559).rounded()) }
    let readings = tenths.enumerated().map { index, tenth in
      Reading.of(
        .cbg, .value(Quantity(Double(tenth) / 10, .millimolesPerLitre)), at: Self.start + Int64(index) * 900)
    }
    let naive = NaiveFigures(values: tenths.map { Double($0) / 10 * 18.01559 })
    let counts = NaiveFigures(values: tenths.map(Double.init)).counts([30, 39, 101, 140])
    let sensor = figures(readings).total.sensor
    #expect(sensor.ranges.map(\.readings) == counts)
    #expect(agree(sensor.mean.number, naive.mean))
    #expect(agree(sensor.standardDeviation.number, naive.deviation))
    #expect(agree(sensor.lowRisk.number, naive.lowRisk) && agree(sensor.highRisk.number, naive.highRisk))
    for (metric, part) in zip(sensor.percentiles, Self.parts) {
      // The statistics round values to hundredths of a mg/dL, so percentiles may differ by half a hundredth.
      #expect(abs((metric.number ?? 0) - naive.percentile(part)) <= 0.0051, "\(part)")
    }
  }

  @Test(arguments: UInt64(1)...3) func readingsOfOtherKindsNeverChangeTheStatisticsOfASensor(_ seed: UInt64) {
    var walk = RandomWalk(seed: seed)
    let history = Self.readings(walk.values(7 * 96))
    var others: [GlucoseReading] = []
    for index in 0..<200 {
      let time = Self.start + Int64(walk.number(0...604_799))
      let value = Measurement.value(Quantity(Double(walk.next()), .milligramsPerDecilitre))
      switch index % 5 {
      case 0: others.append(Reading.of(.smbg, value, at: time, 7))
      case 1: others.append(Reading.of(.scan, value, at: time))
      case 2:
        others.append(Reading.of(.ketone, .value(Quantity(0.5, .millimolesPerLitre)), at: time, 7))
      case 3: others.append(Reading.of(.smbg, value, at: time, 7, .controlSolution))
      default:
        var hidden = Reading.of(.cbg, value, at: time, 3)
        hidden.isWithdrawn = true
        others.append(hidden)
      }
    }
    let alone = figures(history).total.sensor
    let result = figures(StatisticsTests.inOrder(history, others)).total
    let among = result.sensor
    #expect(among.readings == alone.readings && among.mean == alone.mean)
    #expect(among.standardDeviation == alone.standardDeviation && among.percentiles == alone.percentiles)
    #expect(among.ranges.map(\.percent) == alone.ranges.map(\.percent))
    for kind in EpisodeKind.allCases { #expect(among.episodes[kind].count == alone.episodes[kind].count) }
    #expect(result.fingerSticks.readings == 40 && result.ketones.readings == 40)
    #expect(result.leftOut[.scan] == 40 && result.leftOut[.controlSolution] == 40)
    #expect(result.leftOut[.withdrawn] == 40)
  }

  /// A second device starts a minute after a device without pauses. It changes only the number of left-out
  /// readings.
  @Test(arguments: UInt64(1)...3) func aSecondSensorNeverChangesTheStatisticsOfTheFirst(_ seed: UInt64) {
    var walk = RandomWalk(seed: seed)
    let first = Self.readings(walk.values(3 * 96))
    let second = walk.values(3 * 96).enumerated().map {
      Reading.sensor($1, at: Self.start + 60 + Int64($0) * 900, device: 2)
    }
    let alone = figures(first).total
    let both = figures(StatisticsTests.inOrder(first, second)).total
    #expect(both.sensor.mean == alone.sensor.mean && both.sensor.minutes == alone.sensor.minutes)
    #expect(both.sensor.ranges.map(\.minutes) == alone.sensor.ranges.map(\.minutes))
    #expect(both.leftOut[.overlapping] == second.count && alone.leftOut[.overlapping] == 0)
  }

  // MARK: - LO and HI

  @Test(arguments: UInt64(1)...4) func readingsLOAndHICountWithTheValueOfTheirLimit(_ seed: UInt64) {
    var walk = RandomWalk(seed: seed)
    var (numbers, lows, highs): ([Double], Int, Int) = ([], 0, 0)
    let readings = (0..<300).map { index -> GlucoseReading in
      let time = Self.start + Int64(index) * 900
      switch walk.number(0...9) {
      case 0:
        lows += 1
        numbers.append(55)
        return Reading.of(.cbg, .low(below: 55, .milligramsPerDecilitre), at: time)
      case 1:
        highs += 1
        numbers.append(240)
        return Reading.of(.cbg, .high(above: 240, .milligramsPerDecilitre), at: time)
      default:
        let value = walk.number(70...180)
        numbers.append(Double(value))
        return Reading.sensor(value, at: time)
      }
    }
    let sensor = figures(readings).total.sensor
    #expect(sensor.lows == lows && sensor.highs == highs)
    // As numbers, 55 is only low and 240 is only high. But LO and HI stand for values that the device could
    // not measure, so they are in the outer ranges.
    #expect(sensor.ranges.map(\.readings) == [lows, 0, 300 - lows - highs, 0, highs])
    #expect(agree(sensor.mean.number, NaiveFigures(values: numbers).mean))
    #expect(sensor.bound == .either)
  }

  // MARK: - Sums and distributions

  @Test(arguments: UInt64(1)...6) func distributionsOfPartsAddUpToThatOfTheWhole(_ seed: UInt64) {
    var walk = RandomWalk(seed: seed)
    let values = walk.values(200, step: 60).map(Double.init)
    var (whole, parts) = (Distribution(), [Distribution(), Distribution(), Distribution()])
    for value in values {
      whole.add(value)
      parts[walk.number(0...2)].add(value)
    }
    var sum = Distribution()
    for part in parts { sum.add(part) }
    #expect(sum.percentiles(Self.parts) == whole.percentiles(Self.parts))
    #expect(sum.lowest == values.min() && sum.highest == values.max())
  }

  @Test(arguments: UInt64(1)...6) func aValueWithAWeightCountsAsThatNumberOfEqualValues(_ seed: UInt64) {
    var walk = RandomWalk(seed: seed)
    var (weighted, repeated) = (Distribution(), [Double]())
    for value in walk.values(60, step: 60).map(Double.init) {
      let weight = [1, 5, 15][walk.number(0...2)]
      weighted.add(value, weight: weight)
      repeated += Array(repeating: value, count: weight)
    }
    let naive = NaiveFigures(values: repeated)
    // `Distribution` divides all weights by their greatest common divisor. A value with the weight 1 makes
    // this divisor 1.
    weighted.add(100)
    let all = NaiveFigures(values: naive.values + [100])
    for part in [0, 0.01] + Self.parts + [0.99, 1] {
      #expect(agree(weighted.percentile(part), all.percentile(part)), "\(part)")
    }
  }

  @Test func theOrderOfValuesDoesNotChangeTheStatistics() {
    var walk = RandomWalk(seed: 11)
    let values = walk.values(150, step: 100).map(Double.init)
    func percentiles(_ values: [Double]) -> [Double] {
      var distribution = Distribution()
      for value in values { distribution.add(value) }
      return distribution.percentiles(Self.parts)
    }
    let sorted = percentiles(values.sorted())
    #expect(percentiles(values) == sorted && percentiles(values.reversed()) == sorted)
    #expect(percentiles([]) == [] && percentiles([7]) == [7, 7, 7, 7, 7])
  }

  @Test func equalValuesHaveAStandardDeviationOfZero() {
    for value in [40.1, 99.9, 180.15590000000002, 400] {
      var moments = Moments()
      for _ in 0..<1000 { moments.add(value, weight: 5) }
      #expect(moments.standardDeviation == 0 && moments.mean == value && moments.variation == 0)
    }
  }

  @Test func aSingleValueHasAMeanAndNoStandardDeviation() {
    var moments = Moments()
    #expect(moments.mean == nil && moments.standardDeviation == nil && moments.variation == nil)
    moments.add(120, weight: 15)
    #expect(moments.mean == 120 && moments.standardDeviation == nil && moments.variation == nil)
  }

  // MARK: - Percentages

  @Test(arguments: UInt64(1)...20) func roundedPercentagesAddUpTo100AndAreOffByLessThanATenth(_ seed: UInt64)
    throws
  {
    var walk = RandomWalk(seed: seed)
    for _ in 0..<50 {
      let weights = (0..<5).map { _ in walk.happens(onceIn: 3) ? 0 : walk.number(0...1000) }
      let sum = weights.reduce(0, +)
      guard sum > 0 else { continue }
      let texts = PercentTexts(weights)
      let percents = try GlucoseBand.allCases.map { band in
        let text = texts[band]
        #expect((text == "0.0") == (weights[band.rawValue] == 0), "\(weights)")
        return text == "<0.1" ? 0 : try #require(Double(text))
      }
      #expect(abs(percents.reduce(0, +) - 100) < 0.0001, "\(weights)")
      for (percent, weight) in zip(percents, weights) {
        #expect(abs(percent - 100 * Double(weight) / Double(sum)) < 0.1, "\(weights)")
      }
    }
  }

  @Test(arguments: [
    (0.0, "0.0"), (0.04, "<0.1"), (0.05, "0.1"), (0.3, "0.3"), (0.96, "1.0"), (1.44, "1.4"), (100, "100.0"),
  ])
  func aSmallPercentageIsNeverShownAsZero(_ percent: Double, _ text: String) {
    #expect(PercentTexts.text(percent) == text)
    #expect(PercentTexts.text(percent, mark: ",") == text.replacing(".", with: ","))
  }

  @Test func theSumOfTwoPercentagesIsRoundedOnce() {
    // Each part is 4.13 percent, shown as 4.1. Together they are 8.26 percent, shown as 8.3.
    let texts = PercentTexts([413, 413, 9174, 0, 0])
    #expect([texts[.veryLow], texts[.low], texts[.target]] == ["4.1", "4.1", "91.8"])
    #expect(texts.sum(.veryLow, .low) == "8.3" && texts.sum(.high, .veryHigh) == "0.0")
  }
}
