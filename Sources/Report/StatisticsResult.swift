// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The figures of a period, or of one of its groups.
package struct GroupFigures: Sendable {
  /// The group's key for `Grouping.name(of:)`; nil for the whole period.
  package let key: Int?
  /// The number of calendar days of the group.
  package let days: Int
  /// The figures of the values that sensors stored.
  package let sensor: SensorFigures
  package let fingerSticks: FingerStickFigures
  /// The figures of ketone readings.
  package let ketones: KetoneFigures
  /// Insulin and carbohydrates.
  package let amounts: DailyAmounts
  /// The numbers of readings and records that are not in the figures, by reason.
  package let leftOut: LeftOutCounts
}

/// The figures of a period and of its groups.
package struct StatisticsResult: Sendable {
  /// The period; nil if no item counts and no period was requested.
  package let period: Period?
  /// The whole period.
  package let total: GroupFigures
  /// The groups in their order, or only the last ones if their number is limited. Empty days, weeks and
  /// months are included.
  package let groups: [GroupFigures]
  /// The profile by the time of day; nil if it was not requested.
  package let profile: Profile?
  /// The items that were left out because another source states them, too.
  package let doubled: [DoubledItems]
  /// The amounts of each source: of bolus and basal insulin, of carbohydrates, and the number of finger
  /// sticks.
  package let sources:
    (bolus: [SourceAmount], basal: [SourceAmount], food: [SourceAmount], sticks: [SourceAmount])
  /// The pairs of sources that seem to state the same items in a way that no rule can match. Their amounts
  /// have no sums.
  package let doubts: [SourceDoubt]
}

extension Statistics {
  func result(offset: (DeviceTime) -> Int32, profile: ProfileTally?) -> StatisticsResult {
    let grouping = options.grouping
    let period = period(offset)
    // Without a requested start, the period of the sensor begins with its first sample.
    let sensorPeriod = period.flatMap { period in
      let start = options.since == nil ? sensorSpan?.start : period.start
      let end = options.until == nil ? sensorSpan?.end : period.end
      return start.flatMap { start in end.map { Period(start: start, end: $0) } }
    }
    let none = Period(start: 0, end: 0)
    // A long requested period without items has only empty groups. These groups are not created, since that
    // would take much time.
    let isVoid = span == nil && period.map(Self.isLong) ?? false
    let possible = PossibleSensorTime(sensorPeriod ?? none, by: isVoid ? nil : grouping, offset: offset)
    let days =
      sensorPeriod == period
      ? possible : PossibleSensorTime(period ?? none, by: isVoid ? nil : grouping, offset: offset)
    let hasTimes = grouping != .device && grouping != .kind
    let doubtful = doubtfulDays
    let judged = rateCoverage.judgedDays()
    func figures(_ key: Int?, _ tally: GroupTally) -> GroupFigures {
      let (own, ownDays) =
        if let key, hasTimes {
          (possible.groups[key] ?? .init(), days.groups[key]?.days ?? 0)
        } else { (possible.total, days.total.days) }
      let isCalendar = grouping == .day || grouping == .week || grouping == .month
      var amounts = tally.amounts
      amounts.withholdIncompleteRates(on: judged.incomplete)
      amounts.countPartialDays(among: judged.partial)
      amounts.withholdSums(on: doubtful)
      return GroupFigures(
        key: key, days: ownDays,
        sensor: tally.sensor.figures(
          options.targets, own, of: key != nil && isCalendar ? own : possible.total,
          key == nil ? nil : grouping),
        fingerSticks: tally.fingerSticks.figures(
          options.targets, days: ownDays, doubtful: doubtful.sticks),
        ketones: tally.ketones.figures, amounts: amounts, leftOut: tally.leftOut)
    }
    let counted = groupIndices.filter { !hasTimes || !groups[$0.value].isEmpty }.keys
    let keys = Set(counted).union(days.groups.keys).sorted()
    return StatisticsResult(
      period: period, total: figures(nil, total),
      groups: keys.suffix(options.maxGroups ?? keys.count).map { key in
        figures(key, groupIndices[key].map { groups[$0] } ?? GroupTally())
      },
      profile: profile?.profile(offset: offset), doubled: doubledInOrder,
      sources: (bolusSources.amounts, basalSources.amounts, foodSources.amounts, stickSources.amounts),
      doubts: sourceDoubts)
  }

  /// The pairs of sources that seem to state the same items although no rule can match them.
  private var sourceDoubts: [SourceDoubt] {
    // A person who requested that everything counts gets the sums, so there are no doubts.
    guard options.rules.isOn else { return [] }
    let parts = [bolusSources, basalSources].flatMap { $0.doubts(options.rules, notIn: allInsulinSources) }
    let others = [allInsulinSources, foodSources, stickSources].flatMap { $0.doubts(options.rules) }
    return parts + others + mismatchedDoses.doubts(options.rules)
  }

  private var doubtfulDays: DoubtfulDays {
    guard options.rules.isOn else { return DoubtfulDays() }
    let otherUse = mismatchedDoses.doubtfulDays(options.rules, .use)
    let otherPart = mismatchedDoses.doubtfulDays(options.rules, .part)
    let anyUse = allInsulinSources.doubtfulDays(options.rules).union(otherUse)
    return DoubtfulDays(
      bolus: bolusSources.doubtfulDays(options.rules).union(anyUse).union(otherPart),
      basal: basalSources.doubtfulDays(options.rules).union(anyUse),
      food: foodSources.doubtfulDays(options.rules), sticks: stickSources.doubtfulDays(options.rules))
  }

  /// The pairs of sources that seem to state the same items, for a caller that needs no figures.
  package consuming func finishDoubts() -> [SourceDoubt] {
    finishSources()
    return sourceDoubts
  }

  /// The requested period. If its beginning or end was not requested, the first or last item determines it.
  private func period(_ offset: (DeviceTime) -> Int32) -> Period? {
    guard let start = options.since ?? span?.start, let end = options.until ?? span?.end else {
      return nil
    }
    guard let first = span?.start, Self.isLong(Period(start: start, end: first)) else {
      return Period(start: start, end: end)
    }
    return Period(start: Self.midnight(before: first, offset), end: end)
  }

  private static func isLong(_ period: Period) -> Bool {
    period.end - period.start > DataRules.maxEmptyDays * 86400
  }

  /// The beginning of the day of an instant.
  private static func midnight(before instant: Int64, _ offset: (DeviceTime) -> Int32) -> Int64 {
    // An offset is less than a day, so the search starts at the next day and goes back.
    var day = Grouping.day(of: DeviceTime(seconds: instant)) + 1
    while Grouping.midnight(of: day, offset) > instant { day -= 1 }
    return Grouping.midnight(of: day, offset)
  }
}
