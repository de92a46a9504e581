// SPDX-License-Identifier: Apache-2.0

/// The figures of one range: the number of samples, their minutes, and the percentage of the time.
package struct RangeFigures: Encodable, Sendable {
  /// The number of samples or readings in the range.
  package let readings: Int
  /// The time in minutes that the samples represent; 0 for finger sticks, which represent no time.
  package let minutes: Int
  /// The percentage of the recorded time; for finger sticks, the percentage of the readings.
  package let percent: Metric
}

/// The figures of the values that a sensor stored.
package struct SensorFigures: Sendable {
  /// In which direction LO and HI may have changed the mean, the standard deviation and the glucose
  /// management indicator.
  package enum Bound: String, Sendable {
    /// LO counts as its threshold, so the true mean is the calculated one or lower.
    case orLower = "or_lower"
    /// HI counts as its threshold, so the true mean is the calculated one or higher.
    case orHigher = "or_higher"
    case either

    /// The direction for these numbers of readings; nil if at most one reading in a hundred is LO or HI.
    init?(lows: Int, highs: Int, of count: Int) {
      guard (lows + highs) * 100 > count else { return nil }
      self = highs == 0 ? .orLower : lows == 0 ? .orHigher : .either
    }
  }

  /// The number of samples.
  package let readings: Int
  /// The number of LO samples.
  package let lows: Int
  /// The number of HI samples.
  package let highs: Int
  /// The number of samples whose value is the lowest or the highest that their source can state.
  package let atLimits: Int
  /// The time in minutes that the samples represent.
  package let minutes: Int
  /// The minutes of the period, in which the sensor could have measured.
  package let possibleMinutes: Int
  /// The number of calendar days from the first to the last sample, including both.
  package let days: Int
  /// The number of calendar days with samples.
  package let daysWithReadings: Int
  /// The percentage of the period in which the sensor measured.
  package let active: Metric
  /// The lowest value in mg/dL; for LO, its threshold.
  package let lowest: Metric
  /// The highest value in mg/dL; for HI, its threshold.
  package let highest: Metric
  /// The mean in mg/dL.
  package let mean: Metric
  /// The sample standard deviation in mg/dL.
  package let standardDeviation: Metric
  /// The standard deviation in percent of the mean.
  package let variation: Metric
  /// The glucose management indicator in percent.
  package let managementIndicator: Metric
  /// The glucose management indicator in mmol/mol.
  package let managementIndicatorInMillimoles: Metric
  /// The direction in which LO and HI may have changed the mean; nil if at most one reading in a hundred is
  /// LO or HI.
  package let bound: Bound?
  /// The five ranges of the targets, lowest first.
  package let ranges: [RangeFigures]
  /// The range from 70 to 140 mg/dL, whatever the targets are.
  package let tight: RangeFigures
  /// The low blood glucose index.
  package let lowRisk: Metric
  /// The high blood glucose index.
  package let highRisk: Metric
  /// The glycemia risk index, for the standard ranges whatever the targets are.
  package let glycemiaRisk: Metric
  /// The 5th, 25th, 50th, 75th and 95th percentile in mg/dL.
  package let percentiles: [Metric]
  /// The episodes, each counted in the group of its first sample.
  package let episodes: EpisodeCounts
  /// Why there is too little data to compare with goals; nil if there is enough.
  package let goalShortage: Shortage?
  /// Why there is no number of episodes per day; nil if there is one.
  package let episodeShortage: Shortage?

  /// The number of episodes of a kind per 24 hours of recorded time.
  package func episodesPerDay(_ kind: EpisodeKind) -> Metric {
    Metric(Double(episodes[kind].count) * 1440 / Double(max(1, minutes)), unless: episodeShortage)
  }
}

/// Collects the figures of the values that a sensor stored.
struct SensorTally: Sendable {
  static let percentiles = [0.05, 0.25, 0.5, 0.75, 0.95]

  private var lows = 0
  private var highs = 0
  private var atLimits = 0
  private(set) var minutes = 0
  private var moments = Moments()
  private var readings = BandCounts()
  private var bandMinutes = BandCounts()
  private var standardMinutes = BandCounts()
  private var tightReadings = 0
  private var tightMinutes = 0
  private var lowRisk = 0.0
  private var highRisk = 0.0
  private var distribution = Distribution()
  private var days = DaySet()
  var episodes = EpisodeCounts()

  var count: Int { moments.count }

  mutating func add(_ sample: SensorSample, minutes: Int, _ targets: Targets) {
    let level = sample.level
    moments.add(level.milligrams, weight: Double(minutes))
    distribution.add(level.milligrams, weight: minutes)
    let band = targets.band(of: level)
    self.minutes += minutes
    readings[band] += 1
    bandMinutes[band] += minutes
    standardMinutes[Targets.standard.band(of: level)] += minutes
    if Targets.isTight(level) {
      tightReadings += 1
      tightMinutes += minutes
    }
    let risk = GlucoseIndices.risk(level.milligrams)
    lowRisk += risk.low * Double(minutes)
    highRisk += risk.high * Double(minutes)
    switch level.beyond {
    case .low: lows += 1
    case .high: highs += 1
    case .neither: if sample.isAtLimit { atLimits += 1 }
    }
    days.insert(Grouping.day(of: sample.deviceTime))
  }

  /// The figures. A figure for which `DataRules` demands more data is absent.
  ///
  /// - Parameters:
  ///   - possible: the possible time of the group.
  ///   - period: the possible time of the whole period, which contains the group.
  func figures(
    _ targets: Targets, _ possible: PossibleSensorTime.Share, of period: PossibleSensorTime.Share,
    _ grouping: Grouping?
  )
    -> SensorFigures
  {
    let active =
      possible.minutes > 0 ? min(100, 100 * Double(minutes) / Double(possible.minutes)) : 0
    let none = count == 0 ? Shortage.noReadings : nil
    let few =
      none ?? (count < DataRules.readings ? .fewReadings(count, of: DataRules.readings) : nil)
    let percents = none ?? percentShortage(active, possible, of: period, grouping)
    let goals = none ?? goalShortage(active)
    let mean = moments.mean ?? 0
    let isFitted = GlucoseIndices.managementIndicatorMeans.contains(mean)
    let indicator = goals ?? (isFitted ? nil : .meanOutsideFit)
    let weight = Double(max(1, minutes))
    return SensorFigures(
      readings: count, lows: lows, highs: highs, atLimits: atLimits, minutes: minutes,
      possibleMinutes: possible.minutes, days: days.span, daysWithReadings: days.count,
      active: Metric(active, unless: possible.minutes > 0 ? nil : none ?? .shortTime(minutes: 0)),
      lowest: Metric(distribution.lowest, unless: none),
      highest: Metric(distribution.highest, unless: none), mean: Metric(mean, unless: none),
      standardDeviation: Metric(moments.standardDeviation, unless: few),
      variation: Metric(moments.variation, unless: few),
      managementIndicator: Metric(
        GlucoseIndices.managementIndicator(mean: mean), unless: indicator),
      managementIndicatorInMillimoles: Metric(
        GlucoseIndices.managementIndicatorInMillimoles(mean: mean), unless: indicator),
      bound: SensorFigures.Bound(lows: lows, highs: highs, of: count), ranges: ranges(targets, percents),
      tight: RangeFigures(
        readings: tightReadings, minutes: tightMinutes,
        percent: Metric(100 * Double(tightMinutes) / weight, unless: percents)),
      lowRisk: Metric(lowRisk / weight, unless: percents),
      highRisk: Metric(highRisk / weight, unless: percents),
      glycemiaRisk: Metric(
        GlucoseIndices.glycemiaRisk(standardMinutes.shares.map { 100 * $0 }).index, unless: percents
      ),
      percentiles: percentiles(few), episodes: episodes, goalShortage: goals,
      episodeShortage: none
        ?? (minutes < DataRules.episodeMinutes ? .shortTime(minutes: minutes) : nil))
  }

  private func ranges(_ targets: Targets, _ shortage: Shortage?) -> [RangeFigures] {
    zip(GlucoseBand.allCases, bandMinutes.shares).map { band, share in
      let isSeparate = band != .veryHigh || targets.highest != nil
      return RangeFigures(
        readings: readings[band], minutes: bandMinutes[band],
        percent: Metric(100 * share, unless: isSeparate ? shortage : .notSeparate))
    }
  }

  private func percentiles(_ shortage: Shortage?) -> [Metric] {
    let values = distribution.percentiles(Self.percentiles)
    return Self.percentiles.indices.map { index in
      Metric(index < values.count ? values[index] : nil, unless: shortage)
    }
  }

  private func goalShortage(_ active: Double) -> Shortage? {
    days.count < DataRules.days || minutes < DataRules.minutes || active < DataRules.activePercent
      ? .fewDays(days.count, of: DataRules.days, percent: active) : nil
  }

  private func percentShortage(
    _ active: Double, _ possible: PossibleSensorTime.Share, of period: PossibleSensorTime.Share,
    _ grouping: Grouping?
  ) -> Shortage? {
    if grouping == .hour {
      if days.count < DataRules.daysOfAnHour {
        return .fewDays(days.count, of: DataRules.daysOfAnHour, percent: active)
      }
    } else if possible.minutes < DataRules.dayMinutes {
      return .shortTime(minutes: possible.minutes)
    }
    if active < DataRules.activePercent { return .littleTime(percent: active) }
    // One hour more is allowed, since a change of clocks may have made one day longer.
    let isLong = period.minutes > DataRules.maxDays * 1440 + 60
    return isLong ? .longPeriod(days: (period.minutes + 1439) / 1440) : nil
  }
}
