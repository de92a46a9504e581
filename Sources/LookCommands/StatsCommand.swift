// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandParts
import Logbook
import LogbookStore
import Report

/// The output formats of `stats`.
enum StatsForm: String, ExpressibleByArgument, CaseIterable {
  case table, csv
}

/// Whether an item that two sources have counts once in `stats`, or each copy counts.
enum CountForm: String, ExpressibleByArgument, CaseIterable {
  case once, all
}

extension Grouping: ExpressibleByArgument {}

/// The command `stats`, which prints figures of a period, and of its days, hours or devices.
struct StatsCommand: PrintingCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    "stats", "Show means, time in range and other figures.",
    """
    Figures of a sensor and of finger sticks are kept apart. A figure that has too little data is \
    shown as — with the reason. Not a medical device: do not base treatment on these figures.
    """,
    examples: "glucoport stats --last 14d --unit mmol/L",
    "glucoport stats --since 2026-01-01 --until 2026-04-01 --by month --format csv")

  @OptionGroup var storeOptions: StoreOptions

  @OptionGroup var period: PeriodOptions
  @OptionGroup var look: LookOptions

  @Option(
    help: ArgumentHelp(
      "One line for each: \(alternatives(Grouping.allCases.map(\.rawValue))).", valueName: "group"))
  var by: Grouping?

  @Option(
    help: ArgumentHelp("once, or all: count what two sources state twice, too.", valueName: "rule"))
  var count = CountForm.once

  @Flag(help: "Print one JSON object.")
  var json = false

  @Option(help: ArgumentHelp("table or csv.", valueName: "form"))
  var format = StatsForm.table

  @Flag(help: "Add a bar of the ranges and the 24-hour profile.")
  var plot = false

  @OptionGroup var picture: PlotOptions

  func validate() throws {
    if json, format == .csv { throw ValidationError("Use only one of --json and --format csv.") }
    if plot, json || format == .csv { throw ValidationError("--plot is only for tables.") }
    if !plot, picture.ascii || picture.plain { throw ValidationError("--ascii and --plain need --plot.") }
  }

  func run(_ output: Output) throws {
    let store = try storeOptions.open(.reader)
    var (query, unit) = try look.query(store)
    query.options.grouping = by
    if count == .all { query.rules = .all }
    query.options.hasProfile = plot
    try period.apply(to: &query)
    let view = try query.view(unit: unit)
    if format == .csv {
      for line in StatsTable.lines(view) { output.line(line) }
    } else {
      try output.result(asJSON: json, StatsObject(view), orLines: StatsText(view).lines)
    }
    if plot { for line in StatsPicture(view).lines(picture) { output.line(line) } }
    try look.printNotes(query, view, output, endsWithReadings: period.endsWithReadings) { _ in
      storeOptions.words("stats") + ["--last", "14d"]
    }
  }
}

/// Figures as CSV: a row for each group, and one for the whole period. A figure for which there are not
/// enough data is an empty cell.
enum StatsTable {
  /// A column, with a function that returns its cell for a group.
  private struct StatsColumn: Sendable {
    let name: String
    let cell: @Sendable (GroupFigures, StatsView) -> String

    init(_ name: String, _ cell: @escaping @Sendable (GroupFigures, StatsView) -> String) {
      self.name = name
      self.cell = cell
    }

    static func count(_ name: String, _ number: @escaping @Sendable (GroupFigures) -> Int) -> StatsColumn {
      StatsColumn(name) { group, _ in "\(number(group))" }
    }

    static func figure(_ name: String, _ metric: @escaping @Sendable (GroupFigures) -> Metric) -> StatsColumn
    {
      StatsColumn(name) { group, _ in text(metric(group), 1) }
    }

    /// A column with a glucose value in the displayed unit.
    static func glucose(_ name: String, _ metric: @escaping @Sendable (GroupFigures) -> Metric) -> StatsColumn
    {
      StatsColumn(name) { group, view in text(metric(group), view.unit.perMilligram) }
    }

    private static func text(_ metric: Metric, _ factor: Double) -> String {
      metric.scaled(by: factor).number.map { plainNumber(Metric.decimals($0)) } ?? ""
    }
  }

  /// The names of the columns in their order.
  static var names: [String] { columns.map(\.name) }

  static func lines(_ view: StatsView) -> [String] {
    let groups = view.result.groups + [view.result.total]
    return ([names] + groups.map { group in columns.map { $0.cell(group, view) } }).map(csvLine)
  }

  private static let columns = [sensor, ranges, indices, episodes, fingerSticks, fingerRanges, others]
    .flatMap(
      \.self)

  private static let sensor: [StatsColumn] = [
    StatsColumn("group") { group, view in view.name(of: group) ?? "total" },
    StatsColumn("unit") { _, view in view.unit.name },
    .count("days") { $0.days },
    .count("sensor_readings") { $0.sensor.readings },
    .count("sensor_lo") { $0.sensor.lows },
    .count("sensor_hi") { $0.sensor.highs },
    .count("sensor_minutes") { $0.sensor.minutes },
    .figure("active_percent") { $0.sensor.active },
    .glucose("mean") { $0.sensor.mean },
    .glucose("sd") { $0.sensor.standardDeviation },
    .figure("cv_percent") { $0.sensor.variation },
    .figure("gmi_percent") { $0.sensor.managementIndicator },
    .figure("gmi_mmol_mol") { $0.sensor.managementIndicatorInMillimoles },
  ]

  private static let ranges: [StatsColumn] = GlucoseBand.allCases.map { band in
    .figure("\(band.name)_percent") { $0.sensor.ranges[band.rawValue].percent }
  }

  private static let indices: [StatsColumn] = [
    .figure("tight_percent") { $0.sensor.tight.percent },
    .figure("lbgi") { $0.sensor.lowRisk },
    .figure("hbgi") { $0.sensor.highRisk },
    .figure("gri") { $0.sensor.glycemiaRisk },
  ]

  private static let episodes: [StatsColumn] = EpisodeKind.allCases.map { kind in
    .count("\(kind.name)_episodes") { $0.sensor.episodes[kind].count }
  }

  private static let fingerSticks: [StatsColumn] = [
    .count("finger_readings") { $0.fingerSticks.readings },
    .count("finger_lo") { $0.fingerSticks.lows },
    .count("finger_hi") { $0.fingerSticks.highs },
    .glucose("finger_mean") { $0.fingerSticks.mean },
    .glucose("finger_median") { $0.fingerSticks.median },
    .glucose("finger_lowest") { $0.fingerSticks.lowest },
    .glucose("finger_highest") { $0.fingerSticks.highest },
  ]

  private static let fingerRanges: [StatsColumn] = GlucoseBand.allCases.map { band in
    .figure("finger_\(band.name)_percent_of_readings") { $0.fingerSticks.ranges[band.rawValue].percent }
  }

  private static let others: [StatsColumn] = [
    .count("ketone_readings") { $0.ketones.readings },
    .figure("insulin_per_day") { $0.amounts.insulin.perDay },
    .figure("basal_per_day") { $0.amounts.basal.perDay },
    .figure("bolus_per_day") { $0.amounts.bolus.perDay },
    .figure("carbs_per_day") { $0.amounts.carbohydrates.perDay },
    .count("left_out") { group in LeftOut.allCases.reduce(0) { $0 + group.leftOut[$1] } },
  ]
}

/// Figures as text for a terminal.
struct StatsText {
  private let view: StatsView
  private var total: GroupFigures { view.result.total }

  init(_ view: StatsView) { self.view = view }

  var lines: [String] {
    guard let period = view.result.period else { return ["no readings"] }
    return [heading(period)] + sensorLines + fingerLines + ketoneLines + amountLines + leftOutLines
      + groupLines
  }

  private func heading(_ period: Period) -> String {
    let (first, last) = (view.shown(period.start), view.shown(period.end - 1))
    let dates = [first, last].map { $0.text.prefix(10) }
    let targets = view.targets
    let range = [targets.low, targets.high].map { number($0.number(in: view.unit)) }.joined(separator: "–")
    return
      "\(dates[0]) … \(dates[1]) · \(counted(total.days, "day")) · zone \(view.zone.name) · \(view.unit.name) · target \(range)"
      + (targets.goals == nil || targets == .standard ? "" : " (\(targets.name))")
  }
}

// MARK: - Sensor

extension StatsText {
  private var sensorLines: [String] {
    let sensor = total.sensor
    guard sensor.readings > 0 else { return [] }
    let indicator = sensor.managementIndicator.text { number in
      let millimoles = sensor.managementIndicatorInMillimoles.number.map { " % (\(whole($0)) mmol/mol)" }
      return decimal(number) + (millimoles ?? " %")
    }
    var lines = [
      "Sensor: \(counted(sensor.readings, "reading")) on \(counted(sensor.daysWithReadings, "day")), \(sensor.active.text(whole)) % of the time",
      "  mean \(bounded(sensor.mean.text(glucose))) · SD \(sensor.standardDeviation.text(glucose)) · CV \(sensor.variation.text { decimal($0) + " %" })",
      "  GMI \(indicator)",
    ]
    let edge = counts([("LO", sensor.lows), ("HI", sensor.highs), ("at the sensor's limit", sensor.atLimits)])
    if !edge.isEmpty {
      lines.append("  \(edge.joined(separator: " · ")): counted with the limit of the range")
    }
    lines += rangeLines(sensor) + goalLines(sensor)
    lines.append(
      "  LBGI \(sensor.lowRisk.text(decimal)) · HBGI \(sensor.highRisk.text(decimal)) · GRI \(sensor.glycemiaRisk.text { "\(decimal($0)) (zone \(GlucoseIndices.zone(ofGlycemiaRisk: $0)))" })"
    )
    return lines + [episodeLine(sensor)]
  }

  /// The mean as text. If many readings are LO or HI, the text states that the mean is only a bound.
  private func bounded(_ mean: String) -> String {
    switch total.sensor.bound {
    case .orLower: "\(mean) or lower"
    case .orHigher: "\(mean) or higher"
    case .either: "\(mean), bounded"
    case nil: mean
    }
  }

  private func rangeLines(_ sensor: SensorFigures) -> [String] {
    let target = GlucoseBand.target.rawValue
    if let shortage = sensor.ranges[target].percent.shortage {
      return ["  time in ranges — (\(shortage.text))"]
    }
    let exact = sensor.ranges.map { $0.percent.number ?? 0 }
    let percents = PercentTexts(minutes: sensor.ranges)
    let labels = rangeLabels
    func line(_ band: GlucoseBand) -> String? {
      let index = band.rawValue
      guard sensor.ranges[index].percent.shortage != .notSeparate else { return nil }
      return rangeLine(words(band), labels[index], percents[band], exact[index])
    }
    func sum(_ name: String, _ limit: String, _ first: GlucoseBand, _ second: GlucoseBand) -> String {
      rangeLine(
        name, limit, percents.sum(first, second), exact[first.rawValue] + exact[second.rawValue])
    }
    let (low, high) = (view.targets.low.number(in: view.unit), view.targets.high.number(in: view.unit))
    // The rows `above` and `below` combine two ranges each, since goals apply to their sum: low with very
    // low, high with very high.
    let above = view.targets.highest == nil ? nil : sum("above", ">\(number(high))", .high, .veryHigh)
    let below = sum("below", "<\(number(low))", .veryLow, .low)
    var lines = [line(.veryHigh), line(.high), above, line(.target), below, line(.low), line(.veryLow)]
    if let tight = sensor.tight.percent.number {
      let limits = [Targets.tight.low, Targets.tight.high].map { number($0.number(in: view.unit)) }
      lines.append(rangeLine("tight", limits.joined(separator: "–"), PercentTexts.text(tight), tight))
    }
    return lines.compactMap(\.self)
  }

  private func rangeLine(_ name: String, _ limits: String, _ percent: String, _ exact: Double) -> String {
    let minutes = Int((exact * 14.4).rounded())
    let time = minutes < 60 ? "\(minutes) min" : "\(minutes / 60) h \(minutes % 60) min"
    return
      "  \(padded(name, 9)) \(padded(limits, 9)) \(padded(percent, 5, right: true)) %  \(padded(time, 11, right: true)) a day"
  }

  /// The limits of each range as text, beginning with the lowest.
  private var rangeLabels: [String] {
    let (targets, unit) = (view.targets, view.unit)
    let step = unit == .milligramsPerDecilitre ? 1.0 : 0.1
    let (low, high) = (targets.low.number(in: unit), targets.high.number(in: unit))
    let lowest = number(targets.lowest.number(in: unit))
    let highest = targets.highest.map { number($0.number(in: unit)) }
    return [
      "<\(lowest)", "\(lowest)–\(number(low - step))", "\(number(low))–\(number(high))",
      highest.map { "\(number(high + step))–\($0)" } ?? ">\(number(high))", highest.map { ">\($0)" } ?? "",
    ]
  }

  private func goalLines(_ sensor: SensorFigures) -> [String] {
    guard view.targets.goals != nil else { return [] }
    if let shortage = sensor.goalShortage { return ["  goals — (\(shortage.text))"] }
    let goals = StatsGoal.all(of: sensor, view.targets).map { goal in
      "\(goal.range.name) \(goal.isAbove ? "over" : "under") \(plainNumber(goal.limit)) %: \(goal.isMet ? "met" : "not met")"
    }
    return goals.isEmpty ? [] : ["  goals: " + goals.joined(separator: " · ")]
  }

  private func episodeLine(_ sensor: SensorFigures) -> String {
    let parts = EpisodeKind.allCases.map { kind -> String in
      let rate = sensor.episodesPerDay(kind).number.map { " (\(decimal($0)) a day)" } ?? ""
      return "\(kind.name.replacing("_", with: " ")) \(sensor.episodes[kind].count)\(rate)"
    }
    return "  episodes: " + parts.joined(separator: " · ")
  }
}

// MARK: - The rest

extension StatsText {
  private var fingerLines: [String] {
    let fingers = total.fingerSticks
    guard fingers.readings > 0 else { return [] }
    let percents = PercentTexts(readings: fingers.ranges)
    let ranges = GlucoseBand.allCases.reversed().compactMap { band -> String? in
      guard fingers.ranges[band.rawValue].percent.shortage != .notSeparate else { return nil }
      return "\(words(band)) \(percents[band]) %"
    }
    let edge = counts([("LO", fingers.lows), ("HI", fingers.highs)])
    return [
      "Finger sticks: \(counted(fingers.readings, "reading")) on \(counted(fingers.daysWithReadings, "day")), \(fingers.perDay.text(decimal)) a day, \(fingers.perDayWithReadings.text(decimal)) a day with readings"
        + (edge.isEmpty ? "" : " · " + edge.joined(separator: " · ")),
      "  of the readings taken: mean \(fingers.mean.text(glucose)) · median \(fingers.median.text(glucose)) · lowest \(fingers.lowest.text(glucose)) · highest \(fingers.highest.text(glucose))",
      "  SD \(fingers.standardDeviation.text(glucose)) · CV \(fingers.variation.text { decimal($0) + " %" }) · LBGI \(fingers.lowRisk.text(decimal)) · HBGI \(fingers.highRisk.text(decimal))",
      "  percent of readings: " + ranges.joined(separator: " · "),
      "  People measure more often when something feels wrong, so this is not a part of the time.",
    ]
  }

  private var ketoneLines: [String] {
    let ketones = total.ketones
    guard ketones.readings > 0 else { return [] }
    return [
      "Ketones: \(counted(ketones.readings, "reading")), mean \(ketones.mean.text(decimal)), highest \(ketones.highest.text(decimal)) mmol/L"
    ]
  }

  private var amountLines: [String] {
    let amounts = total.amounts
    var lines: [String] = []
    if amounts.insulin.records + amounts.insulinWithoutAmount > 0 {
      let parts = [("basal", amounts.basal), (amounts.bolusName, amounts.bolus), ("mixed", amounts.mixed)]
        .filter {
          $0.1.records > 0
        }.map { " · \($0) \(amount($1, "U"))" }
      let without = amounts.insulinWithoutAmount
      lines.append(
        "Insulin: \(amount(amounts.insulin, "U"))" + parts.joined()
          + (amounts.hasOnlyBoluses ? " · no basal insulin in these data" : "")
          + (without > 0 ? " · \(counted(without, "record")) without an amount" : ""))
    }
    if amounts.carbohydrates.records > 0 {
      lines.append("Carbohydrates: \(amount(amounts.carbohydrates, "g"))")
    }
    if amounts.servings.records > 0 { lines.append("Servings: \(amount(amounts.servings, ""))") }
    return lines + view.result.doubts.flatMap(CountText.lines)
  }

  private func amount(_ amount: DailyAmount, _ unit: String) -> String {
    let unit = unit.isEmpty ? "" : " " + unit
    if let shortage = amount.shortage {
      return "no sum (\(shortage.text)\(shortage == .severalSources ? "; see below" : ""))"
    }
    let partial = amount.partialDays > 0 ? " (\(amount.partialDays) in part)" : ""
    return
      "\(decimal(amount.total))\(unit), \(amount.perDay.text(decimal))\(unit) a day on \(counted(amount.daysWithAny, "day"))\(partial)"
  }

  private var leftOutLines: [String] {
    let parts = counts(
      LeftOut.allCases.map {
        ($0 == .withdrawn ? "hidden" : $0.name.replacing("_", with: " "), total.leftOut[$0])
      })
    let doubled = view.result.doubled.map { "  " + CountText.line($0) }
    return parts.isEmpty ? [] : ["Left out: " + parts.joined(separator: " · ")] + doubled
  }
}

// MARK: - Groups

extension StatsText {
  private var groupLines: [String] {
    guard let grouping = view.grouping, !view.result.groups.isEmpty else { return [] }
    let rows = view.result.groups.map { row($0) }
    let heads = [grouping.rawValue, "sensor", "active", "mean", "SD", "low", "target", "high"]
    let more = ["lows", "sticks", "median", "insulin", "carbs"]
    let table = [heads + more + [""]] + rows
    let widths = (0..<heads.count + more.count).map { column in table.map { $0[column].count }.max() ?? 0 }
    return [""]
      + table.map { cells in
        let line = zip(cells, widths).enumerated().map { index, cell in
          padded(cell.0, cell.1, right: index > 0)
        }.joined(separator: "  ")
        return (cells[widths.count].isEmpty ? line : line + "  " + cells[widths.count]).trimmedAtEnd
      }
  }

  /// One line of the table with the figures of a group, and the reason why some are missing.
  private func row(_ group: GroupFigures) -> [String] {
    let (sensor, fingers, amounts) = (group.sensor, group.fingerSticks, group.amounts)
    func short(_ metric: Metric, _ text: (Double) -> String) -> String { metric.number.map(text) ?? "—" }
    func percent(_ bands: GlucoseBand...) -> String {
      let parts = bands.compactMap { sensor.ranges[$0.rawValue].percent.number }
      return parts.isEmpty ? "—" : PercentTexts.text(parts.reduce(0, +)) + " %"
    }
    let shortage = sensor.ranges[GlucoseBand.target.rawValue].percent.shortage
    let isOfSticks = sensor.readings == 0 && fingers.readings > 0
    let active = sensor.readings > 0 ? short(sensor.active) { whole($0) + " %" } : "—"
    let values = [short(sensor.mean, glucose), short(sensor.standardDeviation, glucose)]
    let parts = [percent(.veryLow, .low), percent(.target), percent(.high, .veryHigh)]
    let sticks = ["\(fingers.readings)", short(fingers.median, glucose)]
    let daily = [short(amounts.insulin.perDay, decimal), short(amounts.carbohydrates.perDay, whole)]
    let first = [displayed(view.name(of: group) ?? ""), "\(sensor.readings)", active]
    let episodes = ["\(sensor.episodes[.low].count)"]
    return first + values + parts + episodes + sticks + daily + [isOfSticks ? "" : shortage?.text ?? ""]
  }
}

// MARK: - Words and numbers

extension StatsText {
  private func words(_ band: GlucoseBand) -> String { band.name.replacing("_", with: " ") }

  private func counts(_ parts: [(name: String, count: Int)]) -> [String] {
    parts.filter { $0.count > 0 }.map { "\($0.name) \(grouped($0.count))" }
  }

  /// A glucose value given in mg/dL, in the displayed unit.
  private func glucose(_ milligrams: Double) -> String {
    view.unit == .milligramsPerDecilitre ? whole(milligrams) : decimal(milligrams * view.unit.perMilligram)
  }

  private func number(_ value: Double) -> String {
    view.unit == .milligramsPerDecilitre ? whole(value) : decimal(value)
  }

  private func whole(_ number: Double) -> String { plainNumber(number.rounded()) }

  private func decimal(_ number: Double) -> String {
    let tenths = Int64((abs(number) * 10).rounded())
    return "\(number < 0 && tenths > 0 ? "-" : "")\(tenths / 10).\(tenths % 10)"
  }
}

/// The picture that `stats --plot` prints after the figures.
struct StatsPicture {
  private let view: StatsView

  init(_ view: StatsView) { self.view = view }

  func lines(_ options: PlotOptions) -> [String] {
    guard view.result.period != nil, let profile = view.result.profile else { return [] }
    let glucose = GlucoseText(view.unit)
    if options.plain { return [""] + profile.words(glucose) }
    let (columns, painter) = (PlotOptions.columns, PlotPainter.standardOutput)
    var lines: [PlotLine] = []
    if let bar = RangeBar(view.result.total.sensor.ranges, view.targets, options.signs) {
      lines += [PlotLine()] + bar.lines(columns: columns)
    }
    let picture = ProfilePlot(profile, view.targets, glucose, options.signs, columns: columns)
    return (lines + [PlotLine()] + picture.lines).map(painter.text)
  }
}
