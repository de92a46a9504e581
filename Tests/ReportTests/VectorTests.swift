// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import Report

/// Compares statistics with other programs: iglu for R and its Python port, numpy, and the unit tests of
/// Tidepool's viz.
struct VectorTests {
  @Test func theTestSeriesIsTheOneComputedByOtherPrograms() {
    let values = ArithmeticSeries.values
    #expect(values.prefix(12) == [155, 143, 129, 140, 161, 149, 132, 152, 173, 187, 181, 198])
    #expect(values.suffix(3) == [153, 153, 168])
    #expect(values.reduce(0, +) == 598_349)
  }

  /// The expected results for the test series, with or without gaps.
  struct Expected: Sendable {
    let name: String
    let hasGaps: Bool
    let readings: Int
    let mean, deviation, variation: Double
    let indicator, indicatorInMillimoles: Double
    let counts: [Int]
    let tight, pregnancy: Int
    let percentiles: [Double]
    let lowRisk, highRisk, glycemiaRisk, active: Double
  }

  static let series = [
    Expected(
      name: "A", hasGaps: false, readings: 4032, mean: 148.400050, deviation: 53.716063,
      variation: 36.196796,
      indicator: 6.859729, indicatorInMillimoles: 51.473723, counts: [171, 181, 2514, 1067, 99],
      tight: 1375,
      pregnancy: 1466, percentiles: [56, 108, 151, 186.25, 233], lowRisk: 2.215933,
      highRisk: 5.504772,
      glycemiaRisk: 48.596230, active: 100),
    Expected(
      name: "B", hasGaps: true, readings: 3552, mean: 146.882038, deviation: 53.782988,
      variation: 36.616450,
      indicator: 6.823418, indicatorInMillimoles: 51.077202, counts: [161, 168, 2208, 945, 70],
      tight: 1229,
      pregnancy: 1313, percentiles: [55, 105, 150, 186, 231.45], lowRisk: 2.362620,
      highRisk: 5.357059,
      glycemiaRisk: 49.386261, active: 88.095238),
  ]

  @Test(arguments: series) func theStatisticsOfTheTestSeriesMatchOtherPrograms(_ expected: Expected) {
    let readings = ArithmeticSeries.readings { !expected.hasGaps || ArithmeticSeries.hasNoGap($0) }
    let sensor = figures(readings).total.sensor
    #expect(sensor.readings == expected.readings)
    #expect(agree(sensor.mean.number, expected.mean))
    #expect(agree(sensor.standardDeviation.number, expected.deviation))
    #expect(agree(sensor.variation.number, expected.variation))
    #expect(agree(sensor.managementIndicator.number, expected.indicator))
    #expect(agree(sensor.managementIndicatorInMillimoles.number, expected.indicatorInMillimoles))
    #expect(sensor.ranges.map(\.readings) == expected.counts)
    #expect(sensor.tight.readings == expected.tight)
    #expect(agree(sensor.lowRisk.number, expected.lowRisk))
    #expect(agree(sensor.highRisk.number, expected.highRisk))
    #expect(agree(sensor.glycemiaRisk.number, expected.glycemiaRisk))
    #expect(agree(sensor.active.number, expected.active))
    for (metric, percentile) in zip(sensor.percentiles, expected.percentiles) {
      #expect(agree(metric.number, percentile))
    }
    let pregnancy = figures(readings, targets: .pregnancy).total.sensor
    #expect(pregnancy.ranges[GlucoseBand.target.rawValue].readings == expected.pregnancy)
  }

  @Test func thePartsOfTheGlycemiaRiskIndexMatchThePublishedOnes() {
    let shares = [171, 181, 2514, 1067, 99].map { Double($0) / 40.32 }
    let risk = GlucoseIndices.glycemiaRisk(shares)
    #expect(agree(risk.low, 7.832341) && agree(risk.high, 15.687004))
  }

  @Test func thePercentilesOfAnHourMatchOtherPrograms() throws {
    let hour = try #require(
      figures(ArithmeticSeries.readings(), by: .hour).groups.first { $0.key == 3 })
    #expect(hour.sensor.readings == 168)
    for (metric, expected) in zip(hour.sensor.percentiles, [52.7, 88.5, 159, 204, 248.95]) {
      #expect(agree(metric.number, expected))
    }
    let withGaps = figures(ArithmeticSeries.readings(where: ArithmeticSeries.hasNoGap), by: .hour)
    let other = try #require(withGaps.groups.first { $0.key == 3 })
    #expect(other.sensor.readings == 144)
    for (metric, expected) in zip(other.sensor.percentiles, [54.9, 90.75, 165.5, 208.25, 251.7]) {
      #expect(agree(metric.number, expected))
    }
  }

  /// The number of episodes, and their mean minutes and mg/dL. iglu interpolates values to a grid that
  /// begins one sample later than the test series.
  @Test(arguments: [
    (
      false,
      [
        (EpisodeKind.low, 29, 56.5517, 54.3369), (.veryLow, 22, 32.7273, 44.8750),
        (.extendedLow, 1, 170, 51.2059), (.high, 66, 86.5152, 202.1504),
        (.veryHigh, 6, 81.6667, 264.0482),
      ], (11, 60)
    ),
    (
      true,
      [
        (EpisodeKind.low, 27, 57.4074, 54.4016), (.veryLow, 21, 33.3333, 45.0119),
        (.extendedLow, 1, 170, 51.2059), (.high, 59, 84.3220, 202.0260),
        (.veryHigh, 5, 64.0, 266.0611),
      ], (10, 54)
    ),
  ])
  func theEpisodesOfTheTestSeriesMatchAnotherProgram(
    _ hasGaps: Bool, _ expected: [(EpisodeKind, Int, Double, Double)], _ exclusive: (Int, Int)
  ) {
    let readings = ArithmeticSeries.readings { !hasGaps || ArithmeticSeries.hasNoGap($0) }
    let episodes = figures(readings).total.sensor.episodes
    for (kind, count, minutes, mean) in expected {
      let line = episodes[kind]
      #expect(line.count == count, "\(kind)")
      #expect(agree(line.meanMinutes, minutes, decimals: 4), "\(kind): \(line.meanMinutes ?? 0)")
      #expect(agree(line.mean, mean, decimals: 4), "\(kind): \(line.mean ?? 0)")
    }
    #expect(episodes[.low].withoutDeeper == exclusive.0)
    #expect(episodes[.high].withoutDeeper == exclusive.1)
  }

  @Test(arguments: [
    (
      [100.0, 120, 150], 123.3333, 25.166115, 20.404958, 6.260133, 0.160684, 1.009928,
      [102.0, 110, 120, 135, 147]
    ),
    (
      [50, 60, 65, 70, 100, 150, 180, 181, 250, 251, 300, 400], 171.416667, 111.103112, 64.814650,
      7.410287,
      4.554979, 12.885436, [55.5, 68.75, 165, 250.25, 345]
    ),
  ])
  func theStatisticsOfAFewValuesMatchOtherPrograms(
    _ values: [Double], _ mean: Double, _ deviation: Double, _ variation: Double,
    _ indicator: Double,
    _ lowRisk: Double, _ highRisk: Double, _ percentiles: [Double]
  ) {
    var moments = Moments()
    var distribution = Distribution()
    for value in values {
      moments.add(value)
      distribution.add(value)
    }
    #expect(agree(moments.mean, mean, decimals: 4))
    #expect(agree(moments.standardDeviation, deviation))
    #expect(agree(moments.variation, variation))
    #expect(agree(moments.mean.map(GlucoseIndices.managementIndicator), indicator))
    let risks = values.map(GlucoseIndices.risk)
    #expect(agree(risks.reduce(0) { $0 + $1.low } / Double(values.count), lowRisk))
    #expect(agree(risks.reduce(0) { $0 + $1.high } / Double(values.count), highRisk))
    for (own, expected) in zip(distribution.percentiles(SensorTally.percentiles), percentiles) {
      #expect(agree(own, expected))
    }
  }

  @Test func theTimeInRangesOfAFewValuesMatchesOtherPrograms() {
    var counts = BandCounts()
    for value in [50.0, 60, 65, 70, 100, 150, 180, 181, 250, 251, 300, 400] {
      if let level = Reading.level(value) { counts[Targets.standard.band(of: level)] += 1 }
    }
    #expect(counts.all == [1, 2, 4, 2, 3])
  }

  @Test(arguments: [
    (40.0, 36.4175), (54, 18.4614), (69, 8.2303), (70, 7.7552), (100, 0.4821), (112, 0.0007),
  ])
  func theRiskOfALowGlucoseValueIsThePublishedOne(_ value: Double, _ expected: Double) {
    #expect(agree(GlucoseIndices.risk(value).low, expected, decimals: 4))
    #expect(GlucoseIndices.risk(value).high == 0)
  }

  @Test(arguments: [
    (113.0, 0.0006), (140, 1.665), (180, 7.7293), (181, 7.9134), (250, 22.4362), (300, 33.952),
    (400, 57.0461),
  ])
  func theRiskOfAHighGlucoseValueIsThePublishedOne(_ value: Double, _ expected: Double) {
    #expect(agree(GlucoseIndices.risk(value).high, expected, decimals: 4))
    #expect(GlucoseIndices.risk(value).low == 0)
  }

  @Test func theRiskOfAFractionalGlucoseValueIsBetweenItsNeighbours() {
    let risk = GlucoseIndices.risk(180.5).high
    #expect(risk > GlucoseIndices.risk(180).high && risk < GlucoseIndices.risk(181).high)
  }

  @Test(arguments: [
    (100.0, 5.702, 38.831), (125, 6.3, 45.361), (150, 6.898, 51.892), (154, 6.99368, 52.936),
    (200, 8.094, 64.952), (250, 9.29, 78.013), (300, 10.486, 91.073),
  ])
  func theGlucoseManagementIndicatorIsThePublishedOne(
    _ mean: Double, _ percent: Double, _ millimoles: Double
  ) {
    #expect(agree(GlucoseIndices.managementIndicator(mean: mean), percent))
    #expect(
      agree(GlucoseIndices.managementIndicatorInMillimoles(mean: mean), millimoles, decimals: 3))
  }

  // MARK: - viz

  @Test func aStandardDeviationNeedsThirtyReadings() {
    func sensor(_ values: ClosedRange<Int>) -> SensorFigures {
      figures(values.map { Reading.sensor($0, at: Int64($0) * 300) }).total.sensor
    }
    let enough = sensor(100...131)
    #expect(enough.mean.number == 115.5)
    #expect(agree(enough.standardDeviation.number, 9.380831519646861, decimals: 12))
    #expect(agree(enough.variation.number, 8.121932051642304, decimals: 12))
    let few = sensor(100...127)
    #expect(few.mean.number == 113.5)
    #expect(few.standardDeviation == .absent(.fewReadings(28, of: 30)))
    #expect(few.variation == .absent(.fewReadings(28, of: 30)))
  }

  /// Tidepool's viz weights the time in ranges by the interval, but not the mean, which is `unweighted` in
  /// this test. This program weights both.
  @Test func samplesOfTwoSensorsAreWeightedByTheirIntervals() throws {
    var sensor = SensorTally()
    var unweighted = Moments()
    for (value, minutes) in [(50, 15), (60, 15), (100, 15), (190, 5), (260, 5)] {
      let sample = try #require(SensorSample(Reading.sensor(value, at: 0)))
      sensor.add(sample, minutes: minutes, .standard)
      unweighted.add(Double(value))
    }
    let figures = sensor.figures(.standard, .init(), of: .init(), nil)
    #expect(figures.ranges.map(\.minutes) == [15, 15, 15, 5, 5])
    #expect(figures.minutes == 55)
    #expect(unweighted.mean == 132)
    #expect(agree(figures.mean.number, 5400.0 / 55))
  }

  @Test func rangesOfFingerSticksAreCountedByReadingsNotByTime() {
    let readings = [60, 70, 80, 200, 270].enumerated().map {
      Reading.finger($1, at: Int64($0) * 3600)
    }
    let fingers = figures(readings).total.fingerSticks
    #expect(fingers.ranges.map(\.readings) == [0, 1, 2, 1, 1])
    #expect(fingers.mean.number == 136)
    #expect(fingers.ranges.map(\.percent.number) == [0, 20, 40, 20, 20])
  }

  @Test func theGlucoseManagementIndicatorNeeds70PercentOf14Days() {
    // Each day has two gaps, so that all 14 days have samples.
    func sensor(_ count: Int) -> SensorFigures {
      let readings = (0..<count).map { index in
        Reading.sensor(260, at: Int64(index / 202) * 86400 + Int64(index % 202) * 300)
      }
      return figures(readings, since: "1970-01-01", until: "1970-01-15").total.sensor
    }
    #expect(agree(sensor(2823).managementIndicator.number, 9.5292))
    #expect(sensor(2822).managementIndicator.number == nil)
    #expect(sensor(2822).mean.number == 260)
  }

  @Test(arguments: [
    ([25456, 76484, 585710, 281770, 30580], ["2.5", "7.6", "58.6", "28.2", "3.1"]),
    ([69767, 465116, 465117, 0, 0], ["7.0", "46.5", "46.5", "0.0", "0.0"]),
    ([171, 181, 2514, 1067, 99], ["4.2", "4.5", "62.3", "26.5", "2.5"]),
    ([1, 1, 1, 0, 0], ["33.4", "33.3", "33.3", "0.0", "0.0"]),
    ([0, 0, 0, 0, 0], Array(repeating: "0.0", count: 5)),
  ])
  func percentagesAreRoundedByTheLargestRemainder(_ weights: [Int], _ expected: [String]) {
    let texts = PercentTexts(weights)
    #expect(GlucoseBand.allCases.map { texts[$0] } == expected)
  }

  @Test func theActiveTimeOfASensorIncludesTheLastInterval() {
    let instants: [Int64] = [0, 5, 10, 45, 50]
    let sensor = figures(instants.map { Reading.sensor(100, at: $0 * 60) }).total.sensor
    #expect(agree(sensor.active.number, 45.4545, decimals: 4))
  }

  @Test(arguments: [
    (53.98, GlucoseBand.low), (69.5, .target), (180.5, .target), (180.5001, .high),
    (250.001, .high),
    (250.55, .veryHigh), (53, .veryLow), (54, .low), (69, .low), (70, .target), (180, .target),
    (181, .high),
    (250, .high), (251, .veryHigh),
  ])
  func aGlucoseValueIsInTheRangeOfItsDisplayedNumber(_ value: Double, _ expected: GlucoseBand) throws {
    #expect(Targets.standard.band(of: try #require(Reading.level(value))) == expected)
  }
}
