// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The figures of a period, or of one of its groups.
package struct GroupFigures: Sendable {
  /// The group's key, as `Grouping.name(of:)` takes it; nil for the whole period.
  package let key: Int?
  /// The calendar days of the group.
  package let days: Int
  /// What a sensor's own history says.
  package let sensor: SensorFigures
  /// What finger sticks say.
  package let fingerSticks: FingerStickFigures
  /// What ketone readings say.
  package let ketones: KetoneFigures
  /// Insulin and carbohydrates.
  package let amounts: DailyAmounts
  /// How many readings were left out.
  package let leftOut: LeftOutCounts
}

/// The figures of a period and of its groups.
package struct StatisticsResult: Sendable {
  /// The period; nil where nothing counts and none was asked for.
  package let period: Period?
  /// The whole period.
  package let total: GroupFigures
  /// The groups in their order, or the last ones; those of days, weeks and months without anything, too.
  package let groups: [GroupFigures]
  /// The profile by the time of day; nil where none was asked for.
  package let profile: Profile?
  /// What was left out because another source states it, too.
  package let doubled: [DoubledItems]
  /// What each source states of bolus and basal insulin, of carbohydrates, and how many finger sticks it has.
  package let sources:
    (bolus: [SourceAmount], basal: [SourceAmount], food: [SourceAmount], sticks: [SourceAmount])
  /// The sources that seem to state the same in a way that no rule can match. There are no sums of what they state.
  package let doubts: [SourceDoubt]
}

extension Statistics {
  func result(offset: (DeviceTime) -> Int32, profile: ProfileTally?) -> StatisticsResult {
    let grouping = options.grouping
    let period = period(offset)
    // Without a start that was asked for, a sensor's time begins with the sensor.
    let sensorPeriod = period.flatMap { period in
      let start = options.since == nil ? sensorSpan?.start : period.start
      let end = options.until == nil ? sensorSpan?.end : period.end
      return start.flatMap { start in end.map { Period(start: start, end: $0) } }
    }
    let none = Period(start: 0, end: 0)
    // Where nothing counts there is nothing that could bound a long period, and none of its groups says anything.
    let isVoid = span == nil && period.map(Self.isLong) ?? false
    let possible = PossibleTime(sensorPeriod ?? none, by: isVoid ? nil : grouping, offset: offset)
    // The same for a period that was asked for: a long one takes long to walk through.
    let days =
      sensorPeriod == period
      ? possible : PossibleTime(period ?? none, by: isVoid ? nil : grouping, offset: offset)
    let hasTimes = grouping != .device && grouping != .kind
    let doubtful = doubtfulDays
    func figures(_ key: Int?, _ tally: GroupTally) -> GroupFigures {
      let (own, ownDays) =
        if let key, hasTimes {
          (possible.groups[key] ?? .init(), days.groups[key]?.days ?? 0)
        } else { (possible.total, days.total.days) }
      let isCalendar = grouping == .day || grouping == .week || grouping == .month
      var amounts = tally.amounts
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
      profile: profile?.profile(offset: offset), doubled: doubled,
      sources: (bolusSources.amounts, basalSources.amounts, foodSources.amounts, stickSources.amounts),
      doubts: sourceDoubts)
  }

  /// The sources that seem to state the same in a way that no rule can match.
  private var sourceDoubts: [SourceDoubt] {
    // Where everything is asked for, the sum is what was asked for.
    options.rules.isOn
      ? [bolusSources, basalSources, foodSources, stickSources].flatMap { $0.doubts(options.rules) } : []
  }

  private var doubtfulDays: DoubtfulDays {
    guard options.rules.isOn else { return DoubtfulDays() }
    return DoubtfulDays(
      bolus: bolusSources.doubtfulDays(options.rules), basal: basalSources.doubtfulDays(options.rules),
      food: foodSources.doubtfulDays(options.rules), sticks: stickSources.doubtfulDays(options.rules))
  }

  /// The sources that seem to state the same, where no figures are needed.
  package consuming func finishDoubts() -> [SourceDoubt] {
    finishSources()
    return sourceDoubts
  }

  /// The period that was asked for, else that of what there is.
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

  /// When the day of an instant begins.
  private static func midnight(before instant: Int64, _ offset: (DeviceTime) -> Int32) -> Int64 {
    func midnight(_ day: Int) -> Int64 {
      Int64(day) * 86400 - Int64(offset(DeviceTime(seconds: Int64(day) * 86400)))
    }
    // An offset is less than a day.
    var day = Grouping.day(of: DeviceTime(seconds: instant)) + 1
    while midnight(day) > instant { day -= 1 }
    return midnight(day)
  }
}
