// SPDX-License-Identifier: Apache-2.0

import Logbook
import Report

/// The figures of `stats --json`; glucoport-json(5) documents its members.
struct StatsObject: Encodable {
  let since: String?
  let until: String?
  let timezone: String
  let unit: String
  let targets: TargetsObject
  let by: String?
  let counted: String
  let total: FiguresObject
  let groups: [FiguresObject]
  let doubled: [DoubledObject]
  let sensorCopies: [DoubledObject]

  init(_ view: StatsView) {
    since = view.result.period.map { instant($0.start) }
    until = view.result.period.map { instant($0.end) }
    timezone = view.zone.name
    unit = view.unit.name
    targets = TargetsObject(view.targets, view.unit)
    by = view.grouping?.rawValue
    total = FiguresObject(view.result.total, view)
    groups = view.result.groups.map { FiguresObject($0, view) }
    counted = (view.countsOnce ? CountForm.once : .all).rawValue
    doubled = view.result.doubled.filter { !$0.isSensorValue }.map(DoubledObject.init)
    sensorCopies = view.result.doubled.filter(\.isSensorValue).map(DoubledObject.init)
  }
}

/// The items that were left out of one source because another one states them, too.
struct DoubledObject: Encodable {
  let kind: String
  let source: String
  let also: String
  let items: Int

  init(kind: CountableItem.Kind, source: CountingSource, other: CountingSource, items: Int) {
    (self.kind, self.items) = (kind.rawValue, items)
    (self.source, also) = (source.text, other.text)
  }

  init(_ line: DoubledItems) {
    self.init(kind: line.kind, source: line.source, other: line.counted, items: line.items)
  }
}

/// The amounts that one source states, whether they count or not.
struct SourceAmountObject: Encodable {
  let source: String
  let total: Double
  let daysWithAny: Int
  let perDay: Double
  /// The source whose amounts seem to be the same, so that both must not be added up.
  let differsFrom: String?
  let shiftMinutes: Int?

  init(_ amount: SourceAmount, _ doubts: [SourceDoubt]) {
    source = amount.source.text
    total = decimals(amount.total)
    daysWithAny = amount.days
    perDay = decimals(amount.perDay)
    let doubt = doubts.first { [$0.first.source, $0.second.source].contains(amount.source) }
    let other = doubt.map { $0.first.source == amount.source ? $0.second.source : $0.first.source }
    differsFrom = other?.text
    shiftMinutes = doubt?.shiftSeconds.map { Int($0 / 60) }
  }

  static func all(
    _ amounts: [SourceAmount], _ view: StatsView, _ kind: CountableItem.Kind, isBasal: Bool = false
  ) -> [Self] {
    let doubts = view.result.doubts.filter { doubt in
      doubt.kind == kind && (doubt.unlike == .use || doubt.isBasal == isBasal)
    }
    return amounts.map { SourceAmountObject($0, doubts) }
  }
}

/// The limits of the ranges.
struct TargetsObject: Encodable {
  let name: String
  let veryLowBelow: Double
  let low: Double
  let high: Double
  let veryHighAbove: Double?

  init(_ targets: Targets, _ unit: GlucoseUnit) {
    name = targets.name
    veryLowBelow = targets.lowest.number(in: unit)
    low = targets.low.number(in: unit)
    high = targets.high.number(in: unit)
    veryHighAbove = targets.highest?.number(in: unit)
  }
}

/// One figure, or the reason why there is none.
struct MetricObject: Encodable {
  let value: Double?
  let reason: String?

  init(_ metric: Metric, times factor: Double = 1) {
    value = metric.number.map { decimals($0 * factor) }
    reason = metric.shortage?.text
  }
}

/// The figures of the whole period or of a group.
struct FiguresObject: Encodable {
  let group: String?
  let days: Int
  let sensor: SensorObject
  let fingerSticks: FingerSticksObject
  let ketones: KetonesObject
  let insulin: InsulinObject
  let carbohydrates: CarbohydratesObject
  let leftOut: JSONMembers<Int>

  init(_ group: GroupFigures, _ view: StatsView) {
    self.group = view.name(of: group)
    days = group.days
    sensor = SensorObject(group.sensor, view)
    let (result, isWhole) = (view.result, group.key == nil)
    fingerSticks = FingerSticksObject(
      group.fingerSticks, view.unit,
      isWhole ? SourceAmountObject.all(result.sources.sticks, view, .smbg) : nil)
    ketones = KetonesObject(group.ketones)
    insulin = InsulinObject(
      group.amounts, bolus: isWhole ? SourceAmountObject.all(result.sources.bolus, view, .insulin) : nil,
      basal: isWhole ? SourceAmountObject.all(result.sources.basal, view, .insulin, isBasal: true) : nil)
    carbohydrates = CarbohydratesObject(
      group.amounts, isWhole ? SourceAmountObject.all(result.sources.food, view, .food) : nil)
    leftOut = members(LeftOut.allCases.map { ($0.name, group.leftOut[$0]) })
  }
}

/// The figures of a sensor's own history.
struct SensorObject: Encodable {
  let readings: Int
  let lo: Int
  let hi: Int
  let atLimit: Int
  let minutes: Int
  let days: Int
  let daysWithReadings: Int
  let activePercent: MetricObject
  let mean: MetricObject
  let sd: MetricObject
  let cvPercent: MetricObject
  let gmiPercent: MetricObject
  let gmiMmolMol: MetricObject
  let bound: String?
  let ranges: JSONMembers<RangeObject>
  let goals: [GoalObject]
  let lbgi: MetricObject
  let hbgi: MetricObject
  let gri: MetricObject
  let percentiles: JSONMembers<MetricObject>
  let episodes: JSONMembers<EpisodeObject>

  init(_ sensor: SensorFigures, _ view: StatsView) {
    let factor = view.unit.perMilligram
    readings = sensor.readings
    (lo, hi, atLimit) = (sensor.lows, sensor.highs, sensor.atLimits)
    minutes = sensor.minutes
    (days, daysWithReadings) = (sensor.days, sensor.daysWithReadings)
    activePercent = MetricObject(sensor.active)
    mean = MetricObject(sensor.mean, times: factor)
    sd = MetricObject(sensor.standardDeviation, times: factor)
    cvPercent = MetricObject(sensor.variation)
    gmiPercent = MetricObject(sensor.managementIndicator)
    gmiMmolMol = MetricObject(sensor.managementIndicatorInMillimoles)
    bound = sensor.bound?.rawValue
    let ranges = zip(GlucoseBand.allCases, sensor.ranges).map { ($0.name, RangeObject($1)) }
    self.ranges = members(ranges + [("tight", RangeObject(sensor.tight))])
    goals = StatsGoal.all(of: sensor, view.targets).map(GoalObject.init)
    lbgi = MetricObject(sensor.lowRisk)
    hbgi = MetricObject(sensor.highRisk)
    gri = MetricObject(sensor.glycemiaRisk)
    percentiles = members(
      zip(["p5", "p25", "p50", "p75", "p95"], sensor.percentiles).map {
        ($0, MetricObject($1, times: factor))
      })
    episodes = members(
      EpisodeKind.allCases.map { ($0.name, EpisodeObject(sensor.episodes[$0], sensor.episodesPerDay($0))) })
  }
}

/// The share of one range.
struct RangeObject: Encodable {
  let readings: Int
  let minutes: Int
  let percent: MetricObject

  init(_ range: RangeFigures) {
    readings = range.readings
    minutes = range.minutes
    percent = MetricObject(range.percent)
  }
}

/// A goal for the share of one range, and whether it is reached.
struct GoalObject: Encodable {
  let range: String
  let above: Double?
  let below: Double?
  let percent: Double
  let met: Bool

  init(_ goal: StatsGoal) {
    range = goal.range.rawValue
    above = goal.isAbove ? goal.limit : nil
    below = goal.isAbove ? nil : goal.limit
    percent = decimals(goal.percent)
    met = goal.isMet
  }
}

/// The episodes of one kind.
struct EpisodeObject: Encodable {
  let count: Int
  let withoutDeeper: Int
  let minutes: Int
  let perDay: MetricObject

  init(_ line: EpisodeCounts.Line, _ perDay: Metric) {
    count = line.count
    withoutDeeper = line.withoutDeeper
    minutes = line.minutes
    self.perDay = MetricObject(perDay)
  }
}

/// The figures of finger sticks.
struct FingerSticksObject: Encodable {
  struct Range: Encodable {
    let readings: Int
    let percentOfReadings: MetricObject
  }

  let readings: Int
  let lo: Int
  let hi: Int
  let daysWithReadings: Int
  let perDay: MetricObject
  let perDayWithReadings: MetricObject
  let lowest: MetricObject
  let highest: MetricObject
  let median: MetricObject
  let mean: MetricObject
  let sd: MetricObject
  let cvPercent: MetricObject
  let ranges: JSONMembers<Range>
  let lbgi: MetricObject
  let hbgi: MetricObject
  /// The amounts of each source; only for the whole period.
  let sources: [SourceAmountObject]?

  init(_ fingers: FingerStickFigures, _ unit: GlucoseUnit, _ sources: [SourceAmountObject]?) {
    self.sources = sources
    let factor = unit.perMilligram
    readings = fingers.readings
    (lo, hi, daysWithReadings) = (fingers.lows, fingers.highs, fingers.daysWithReadings)
    perDay = MetricObject(fingers.perDay)
    perDayWithReadings = MetricObject(fingers.perDayWithReadings)
    lowest = MetricObject(fingers.lowest, times: factor)
    highest = MetricObject(fingers.highest, times: factor)
    median = MetricObject(fingers.median, times: factor)
    mean = MetricObject(fingers.mean, times: factor)
    sd = MetricObject(fingers.standardDeviation, times: factor)
    cvPercent = MetricObject(fingers.variation)
    ranges = members(
      zip(GlucoseBand.allCases, fingers.ranges).map {
        ($0.name, Range(readings: $1.readings, percentOfReadings: MetricObject($1.percent)))
      })
    lbgi = MetricObject(fingers.lowRisk)
    hbgi = MetricObject(fingers.highRisk)
  }
}

/// The figures of ketone readings.
struct KetonesObject: Encodable {
  let readings: Int
  let mean: MetricObject
  let highest: MetricObject

  init(_ ketones: KetoneFigures) {
    readings = ketones.readings
    mean = MetricObject(ketones.mean)
    highest = MetricObject(ketones.highest)
  }
}

/// An amount with its mean over the days that have any.
struct AmountObject: Encodable {
  let total: Double?
  let records: Int
  let daysWithAny: Int
  let perDay: MetricObject

  init(_ amount: DailyAmount) {
    total = amount.sum.map(decimals)
    records = amount.records
    daysWithAny = amount.daysWithAny
    perDay = MetricObject(amount.perDay)
  }
}

/// The insulin in units.
struct InsulinObject: Encodable {
  let all: AmountObject
  let basal: AmountObject
  let bolus: AmountObject
  let mixed: AmountObject
  let withoutAmount: Int
  /// The bolus insulin of each source; only for the whole period.
  let sources: [SourceAmountObject]?
  /// The basal insulin of each source; only for the whole period.
  let basalSources: [SourceAmountObject]?

  init(_ amounts: DailyAmounts, bolus: [SourceAmountObject]?, basal sources: [SourceAmountObject]?) {
    (self.sources, basalSources) = (bolus, sources)
    all = AmountObject(amounts.insulin)
    self.basal = AmountObject(amounts.basal)
    self.bolus = AmountObject(amounts.bolus)
    mixed = AmountObject(amounts.mixed)
    withoutAmount = amounts.insulinWithoutAmount
  }
}

/// The carbohydrates.
struct CarbohydratesObject: Encodable {
  let grams: AmountObject
  let servings: AmountObject
  /// The amounts of each source; only for the whole period.
  let sources: [SourceAmountObject]?

  init(_ amounts: DailyAmounts, _ sources: [SourceAmountObject]?) {
    self.sources = sources
    grams = AmountObject(amounts.carbohydrates)
    servings = AmountObject(amounts.servings)
  }
}

private func members<Value: Encodable>(_ pairs: [(String, Value)]) -> JSONMembers<Value> {
  JSONMembers(pairs.map { (name: $0.0, value: $0.1) })
}

/// A number with at most four decimals, since further ones are rounding errors.
private func decimals(_ number: Double) -> Double { (number * 10_000).rounded() / 10_000 }

extension GlucoseUnit {
  /// The factor from mg/dL to this unit.
  var perMilligram: Double { Quantity(1, .milligramsPerDecilitre).converted(to: self).number }
}
