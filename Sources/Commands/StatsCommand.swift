// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logbook
import LogbookStore
import Report

/// The forms in which `stats` prints figures.
enum StatsForm: String, ExpressibleByArgument, CaseIterable {
  case table, csv
}

extension Grouping: ExpressibleByArgument {}

/// `glucoport stats`: figures of a period, and of its days, hours or devices.
struct StatsCommand: ClassifiedCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    commandName: "stats", abstract: "Show means, time in range and other figures.",
    discussion: helpText(
      """
      Figures of a sensor and of finger sticks are kept apart. A figure that has too little data is \
      shown as — with the reason. Not a medical device: do not base treatment on these figures.
      """,
      examples: "glucoport stats --last 14d --unit mmol/L",
      "glucoport stats --since 2026-01-01 --until 2026-04-01 --by month --format csv"))

  @OptionGroup var storeOptions: StoreOptions

  @Option(
    help: ArgumentHelp(
      "Only readings from this time on: 2026-05-06, 2026-05-06T18:30, yesterday, 14d, 36h.",
      valueName: "time"))
  var since: TimeArgument?

  @Option(help: ArgumentHelp("Only readings before this time.", valueName: "time"))
  var until: TimeArgument?

  @Option(
    help: ArgumentHelp(
      "The last days with readings: 14d, 4w, 36h. Default: 14d.", valueName: "span"))
  var last: SpanArgument?

  @Option(
    help: ArgumentHelp(
      "Only this device: its serial number, or a part of its name.", valueName: "device"))
  var device: String?

  @Option(
    help: ArgumentHelp(
      "One line for each: \(alternatives(Grouping.allCases.map(\.rawValue))).", valueName: "group"))
  var by: Grouping?

  @Option(
    help: ArgumentHelp(
      "The target range: \(Targets.named.map(\.name).joined(separator: ", ")), or LOW-HIGH.",
      valueName: "targets"))
  var targets = Targets.standard.name

  @Option(help: ArgumentHelp("Show values in this unit: mg/dL or mmol/L.", valueName: "unit"))
  var unit: GlucoseUnit?

  @Flag(help: "Print one JSON object.")
  var json = false

  @Option(help: ArgumentHelp("table or csv.", valueName: "form"))
  var format = StatsForm.table

  @Flag(help: "Add a bar of the ranges and the 24-hour profile.")
  var plot = false

  @OptionGroup var picture: PlotOptions

  func validate() throws {
    if last != nil, since != nil || until != nil {
      throw ValidationError("Use --last, or --since and --until.")
    }
    if json, format == .csv { throw ValidationError("Use only one of --json and --format csv.") }
    if plot, json || format == .csv { throw ValidationError("--plot is only for tables.") }
    if !plot, picture.ascii || picture.plain { throw ValidationError("--ascii and --plain need --plot.") }
    if device == "" { throw ValidationError("--device needs a serial number or a name.") }
    try TargetsArgument.validate(targets)
  }

  func run() throws {
    let output = Output()
    let store = try storeOptions.open(.reader)
    let display = try unit ?? store.displayUnit()
    var query = StatsQuery(store: store, device: device, zone: try store.timezone(), now: Host.now())
    if let device { try query.requireDevice(device) }
    query.options.grouping = by
    query.options.hasProfile = plot
    query.options.targets = try TargetsArgument(targets)?.targets(in: display) ?? .standard
    if since != nil || until != nil {
      query.setPeriod(since: since, until: until)
    } else {
      try query.setPeriod(last ?? .fortnight)
    }
    let view = try query.view(unit: display)
    if format == .csv {
      for line in StatsTable.lines(view) { output.line(line) }
    } else {
      try output.result(asJSON: json, StatsObject(view), orLines: StatsText(view).lines)
    }
    if plot { for line in StatsPicture(view).lines(picture) { output.line(line) } }
    try output.finish()
  }
}

/// Targets as a person types them: a name, or the lowest and the highest value.
struct TargetsArgument {
  private enum Form {
    case named(Targets)
    case range(low: Double, high: Double)
  }

  private let text: String
  private let form: Form

  /// - Throws: `ValidationError` for what is no name and no range.
  static func validate(_ text: String) throws {
    guard TargetsArgument(text) == nil else { return }
    throw ValidationError(
      "Unknown targets '\(text)'; use \(alternatives(Targets.named.map(\.name))), or a range such as 70-180.")
  }

  init?(_ text: String) {
    self.text = text
    if let named = Targets.named.first(where: { $0.name == text }) {
      form = .named(named)
      return
    }
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, let low = Self.number(parts[0]), let high = Self.number(parts[1]) else {
      return nil
    }
    form = .range(low: low, high: high)
  }

  /// The targets, with numbers in this unit; without one numbers show theirs by their size.
  ///
  /// - Throws: `Failure` of category `usage` for a range that is empty or reaches too far.
  func targets(in unit: GlucoseUnit?) throws -> Targets {
    switch form {
    case .named(let targets): return targets
    case .range(let low, let high):
      let unit = unit ?? (high < 30 ? .millimolesPerLitre : .milligramsPerDecilitre)
      if let targets = Targets(from: low, to: high, unit) { return targets }
      let (least, most) = unit == .milligramsPerDecilitre ? ("54", "250") : ("3", "13.9")
      throw Failure(
        .usage, "--targets \(text): a range in \(unit.name) is within \(least)-\(most); --unit sets the unit")
    }
  }

  private static func number(_ text: Substring) -> Double? {
    guard !text.isEmpty, text.utf8.count <= 6, text.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") })
    else { return nil }
    return Double(text)
  }
}
