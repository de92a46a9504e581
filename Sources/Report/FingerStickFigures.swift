// SPDX-License-Identifier: Apache-2.0

/// Figures of finger sticks. Percentages are of the readings and never of the time, since people measure more
/// often when something feels wrong. So there is no management indicator, no glycemia risk index and no goal.
package struct FingerStickFigures: Sendable {
  /// The number of readings.
  package let readings: Int
  /// The number of LO readings.
  package let lows: Int
  /// The number of HI readings.
  package let highs: Int
  /// The number of calendar days with readings.
  package let daysWithReadings: Int
  /// The mean number of readings per day, over all days of the period.
  package let perDay: Metric
  /// The mean number of readings per day, over the days with readings.
  package let perDayWithReadings: Metric
  /// The lowest reading in mg/dL; for LO, its threshold.
  package let lowest: Metric
  /// The highest reading in mg/dL; for HI, its threshold.
  package let highest: Metric
  /// The median in mg/dL.
  package let median: Metric
  /// The mean of the readings, in mg/dL.
  package let mean: Metric
  /// The sample standard deviation in mg/dL.
  package let standardDeviation: Metric
  /// The standard deviation in percent of the mean.
  package let variation: Metric
  /// The five ranges of the targets, lowest first, in percent of the readings.
  package let ranges: [RangeFigures]
  /// The low blood glucose index.
  package let lowRisk: Metric
  /// The high blood glucose index.
  package let highRisk: Metric

  /// In which direction LO and HI may have changed the mean; nil if at most one reading in a hundred is LO or
  /// HI.
  var bound: SensorFigures.Bound? { SensorFigures.Bound(lows: lows, highs: highs, of: readings) }
}

/// Collects the figures of finger sticks.
struct FingerStickTally: Sendable {
  private var lows = 0
  private var highs = 0
  private var moments = Moments()
  private var readings = BandCounts()
  private var distribution = Distribution()
  private var lowRisk = 0.0
  private var highRisk = 0.0
  private var days = DaySet()

  var count: Int { moments.count }

  mutating func add(_ level: GlucoseLevel, day: Int, _ targets: Targets) {
    moments.add(level.milligrams)
    distribution.add(level.milligrams)
    readings[targets.band(of: level)] += 1
    let risk = GlucoseIndices.risk(level.milligrams)
    lowRisk += risk.low
    highRisk += risk.high
    lows += level.beyond == .low ? 1 : 0
    highs += level.beyond == .high ? 1 : 0
    days.insert(day)
  }

  /// The figures. A figure for which `DataRules` demands more data is absent.
  ///
  /// - Parameters:
  ///   - days: the number of calendar days of the group.
  ///   - doubtful: the days on which two sources seem to state the same readings. If the group has such a
  ///     day, figures that need the number of readings are unknown.
  func figures(
    _ targets: Targets, days possibleDays: Int, doubtful: Set<Int> = []
  ) -> FingerStickFigures {
    let none = count == 0 ? Shortage.noReadings : nil
    let uncounted = none ?? (days.intersects(doubtful) ? .severalSources : nil)
    let few =
      uncounted ?? (count < DataRules.readings ? .fewReadings(count, of: DataRules.readings) : nil)
    func each(_ days: Int) -> Double { Double(count) / Double(max(1, days)) }
    return FingerStickFigures(
      readings: count, lows: lows, highs: highs, daysWithReadings: days.count,
      perDay: Metric(each(max(days.count, possibleDays)), unless: uncounted),
      perDayWithReadings: Metric(each(days.count), unless: uncounted),
      lowest: Metric(distribution.lowest, unless: none),
      highest: Metric(distribution.highest, unless: none),
      median: Metric(distribution.percentile(0.5), unless: none),
      mean: Metric(moments.mean, unless: none),
      standardDeviation: Metric(moments.standardDeviation, unless: few),
      variation: Metric(moments.variation, unless: few),
      ranges: zip(GlucoseBand.allCases, readings.shares).map { band, share in
        let isSeparate = band != .veryHigh || targets.highest != nil
        return RangeFigures(
          readings: readings[band], minutes: 0,
          percent: Metric(100 * share, unless: isSeparate ? none : .notSeparate))
      },
      lowRisk: Metric(lowRisk / Double(max(1, count)), unless: few),
      highRisk: Metric(highRisk / Double(max(1, count)), unless: few))
  }
}

/// Figures of ketone readings, in mmol/L.
package struct KetoneFigures: Encodable, Sendable {
  /// The number of readings, including LO and HI.
  package let readings: Int
  /// The mean of the readings that are numbers, not LO or HI.
  package let mean: Metric
  /// The highest reading that is a number, not HI.
  package let highest: Metric
}

/// Collects the figures of ketone readings.
struct KetoneTally: Sendable {
  private var moments = Moments()
  private var highest = 0.0
  private(set) var count = 0

  mutating func add(_ number: Double?) {
    count += 1
    guard let number else { return }
    moments.add(number)
    highest = max(highest, number)
  }

  var figures: KetoneFigures {
    let none = moments.count == 0 ? Shortage.noReadings : nil
    return KetoneFigures(
      readings: count, mean: Metric(moments.mean, unless: none),
      highest: Metric(highest, unless: none))
  }
}
