// SPDX-License-Identifier: Apache-2.0

import CommandParts
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
    doubled = view.result.doubled.filter { !$0.isSensorValue && !$0.isComputed }.map(DoubledObject.init)
    sensorCopies = view.result.doubled.filter(\.isSensorValue).map(DoubledObject.init)
  }
}

/// The amounts that one source states, even those that do not count.
struct SourceAmountObject: Encodable {
  let source: String
  let total: Double
  let daysWithAny: Int
  let perDay: Double
  /// Another source that seems to state the same doses or meals; nil without such a source. The amounts of
  /// both sources must not be added.
  let differsFrom: String?
  /// By how many minutes most amounts of this source are later than the equal amounts of the other source.
  let shiftMinutes: Int?

  init(_ amount: SourceAmount, _ doubts: [SourceDoubt]) {
    source = amount.source.text
    total = Metric.decimals(amount.total)
    daysWithAny = amount.days
    perDay = Metric.decimals(amount.perDay)
    let doubt = doubts.first { [$0.first.source, $0.second.source].contains(amount.source) }
    let other = doubt.map { $0.first.source == amount.source ? $0.second.source : $0.first.source }
    differsFrom = other?.text
    let isFirst = doubt?.first.source == amount.source
    shiftMinutes = doubt?.shiftSeconds.map { Int((isFirst ? -$0 : $0) / 60) }
  }

  static func all(
    _ amounts: [SourceAmount], _ view: StatsView, _ kind: CountableItem.Kind, isBasal: Bool = false
  ) -> [Self] {
    let doubts = view.result.doubts.filter { doubt in
      doubt.kind == kind && (doubt.doseDifference == .use || doubt.isAllInsulin || doubt.isBasal == isBasal)
    }
    return amounts.map { SourceAmountObject($0, doubts) }
  }
}

/// The limits between the glucose ranges.
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

/// The figures of the whole period or of a group.
struct FiguresObject: Encodable {
  let group: String?
  let days: Int
  let sensor: SensorObject
  let fingerSticks: FingerSticksObject
  let ketones: KetoneFigures
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
    ketones = group.ketones
    insulin = InsulinObject(
      group.amounts, bolus: isWhole ? SourceAmountObject.all(result.sources.bolus, view, .insulin) : nil,
      basal: isWhole ? SourceAmountObject.all(result.sources.basal, view, .insulin, isBasal: true) : nil)
    carbohydrates = CarbohydratesObject(
      group.amounts, isWhole ? SourceAmountObject.all(result.sources.food, view, .food) : nil)
    leftOut = members(LeftOut.allCases.map { ($0.name, group.leftOut[$0]) })
  }
}

/// The figures of a sensor's history.
struct SensorObject: Encodable {
  let readings: Int
  let lo: Int
  let hi: Int
  let atLimit: Int
  let minutes: Int
  let days: Int
  let daysWithReadings: Int
  let activePercent: Metric
  let lowest: Metric
  let highest: Metric
  let mean: Metric
  let sd: Metric
  let cvPercent: Metric
  let gmiPercent: Metric
  let gmiMmolMol: Metric
  let bound: String?
  let ranges: JSONMembers<RangeFigures>
  let goals: [StatsGoal]
  let lbgi: Metric
  let hbgi: Metric
  let gri: Metric
  let percentiles: JSONMembers<Metric>
  let episodes: JSONMembers<EpisodeObject>

  init(_ sensor: SensorFigures, _ view: StatsView) {
    let factor = view.unit.perMilligram
    readings = sensor.readings
    (lo, hi, atLimit) = (sensor.lows, sensor.highs, sensor.atLimits)
    minutes = sensor.minutes
    (days, daysWithReadings) = (sensor.days, sensor.daysWithReadings)
    activePercent = sensor.active
    lowest = sensor.lowest.scaled(by: factor)
    highest = sensor.highest.scaled(by: factor)
    mean = sensor.mean.scaled(by: factor)
    sd = sensor.standardDeviation.scaled(by: factor)
    cvPercent = sensor.variation
    gmiPercent = sensor.managementIndicator
    gmiMmolMol = sensor.managementIndicatorInMillimoles
    bound = sensor.bound?.rawValue
    let ranges = zip(GlucoseBand.allCases, sensor.ranges).map { ($0.name, $1) }
    self.ranges = members(ranges + [("tight", sensor.tight)])
    goals = StatsGoal.all(of: sensor, view.targets)
    lbgi = sensor.lowRisk
    hbgi = sensor.highRisk
    gri = sensor.glycemiaRisk
    percentiles = members(
      zip(["p5", "p25", "p50", "p75", "p95"], sensor.percentiles).map {
        ($0, $1.scaled(by: factor))
      })
    episodes = members(
      EpisodeKind.allCases.map { ($0.name, EpisodeObject(sensor.episodes[$0], sensor.episodesPerDay($0))) })
  }
}

/// The number of episodes of one kind, such as low glucose.
struct EpisodeObject: Encodable {
  let count: Int
  let withoutDeeper: Int
  let atNight: Int
  let minutes: Int
  let perDay: Metric

  init(_ line: EpisodeCounts.EpisodeLine, _ perDay: Metric) {
    count = line.count
    withoutDeeper = line.withoutDeeper
    atNight = line.atNight
    minutes = line.minutes
    self.perDay = perDay
  }
}

/// The figures of finger sticks.
struct FingerSticksObject: Encodable {
  struct BandObject: Encodable {
    let readings: Int
    let percentOfReadings: Metric
  }

  let readings: Int
  let lo: Int
  let hi: Int
  let daysWithReadings: Int
  let perDay: Metric
  let perDayWithReadings: Metric
  let lowest: Metric
  let highest: Metric
  let median: Metric
  let mean: Metric
  let sd: Metric
  let cvPercent: Metric
  let ranges: JSONMembers<BandObject>
  let lbgi: Metric
  let hbgi: Metric
  /// The number of finger sticks that each source states; only for the whole period.
  let sources: [SourceAmountObject]?

  init(_ fingers: FingerStickFigures, _ unit: GlucoseUnit, _ sources: [SourceAmountObject]?) {
    self.sources = sources
    let factor = unit.perMilligram
    readings = fingers.readings
    (lo, hi, daysWithReadings) = (fingers.lows, fingers.highs, fingers.daysWithReadings)
    perDay = fingers.perDay
    perDayWithReadings = fingers.perDayWithReadings
    lowest = fingers.lowest.scaled(by: factor)
    highest = fingers.highest.scaled(by: factor)
    median = fingers.median.scaled(by: factor)
    mean = fingers.mean.scaled(by: factor)
    sd = fingers.standardDeviation.scaled(by: factor)
    cvPercent = fingers.variation
    ranges = members(
      zip(GlucoseBand.allCases, fingers.ranges).map {
        ($0.name, BandObject(readings: $1.readings, percentOfReadings: $1.percent))
      })
    lbgi = fingers.lowRisk
    hbgi = fingers.highRisk
  }
}

/// The amounts of insulin in units.
struct InsulinObject: Encodable {
  let all: DailyAmount
  let basal: DailyAmount
  let bolus: DailyAmount
  let mixed: DailyAmount
  let withoutAmount: Int
  /// The number of doses in `bolus` whose type is unknown. Some of them may be basal insulin.
  let unknownUse: Int
  /// The bolus insulin that each source states; only for the whole period.
  let sources: [SourceAmountObject]?
  /// The basal insulin that each source states; only for the whole period.
  let basalSources: [SourceAmountObject]?

  init(_ amounts: DailyAmounts, bolus: [SourceAmountObject]?, basal sources: [SourceAmountObject]?) {
    (self.sources, basalSources) = (bolus, sources)
    all = amounts.insulin
    self.basal = amounts.basal
    self.bolus = amounts.bolus
    mixed = amounts.mixed
    withoutAmount = amounts.insulinWithoutAmount
    unknownUse = amounts.dosesOfUnknownUse
  }
}

/// The amounts of carbohydrates, in grams and in servings.
struct CarbohydratesObject: Encodable {
  let grams: DailyAmount
  let servings: DailyAmount
  /// The amounts that each source states; only for the whole period.
  let sources: [SourceAmountObject]?

  init(_ amounts: DailyAmounts, _ sources: [SourceAmountObject]?) {
    self.sources = sources
    grams = amounts.carbohydrates
    servings = amounts.servings
  }
}

private func members<Value: Encodable>(_ pairs: [(String, Value)]) -> JSONMembers<Value> {
  JSONMembers(pairs.map { (name: $0.0, value: $0.1) })
}

extension GlucoseUnit {
  /// The factor that converts mg/dL to this unit.
  var perMilligram: Double { Quantity(1, .milligramsPerDecilitre).converted(to: self).number }
}
