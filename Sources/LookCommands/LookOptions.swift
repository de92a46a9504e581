// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandParts
import Glibc
import Logbook
import LogbookStore
import Report

/// The options of `stats`, `report` and `day` that select a device and the values.
struct LookOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Only this device: its serial number, or a part of its name.", valueName: "device"))
  var device: String?

  @Option(
    help: ArgumentHelp(
      "The target range: \(Targets.named.map(\.name).joined(separator: ", ")), or LOW-HIGH.",
      valueName: "targets"), completion: .targets)
  var targets = Targets.standard.name

  @OptionGroup var values: UnitOptions

  func validate() throws {
    if device == "" { throw ValidationError("--device needs a serial number or a name.") }
    try TargetsArgument.validate(targets)
  }

  /// Prints notes on standard error about data that the figures do not contain.
  ///
  /// - Parameter command: returns the command that shows the day of a reading, or the last days with
  ///   readings. The values of these options are added to that command.
  func printNotes(
    _ query: StatsQuery, _ view: StatsView, _ output: Output, endsWithReadings: Bool = false,
    _ command: (DeviceTime) -> [String]
  ) throws {
    let options = device.map { ["--device", $0] } ?? []
    let note = try PeriodNote(query: query, view: view).text(
      { (command($0) + options).map(\.shellWord).joined(separator: " ") }, endsWithReadings: endsWithReadings)
    if let note { output.message("glucoport: \(note)") }
  }

  /// A query with these options, and the unit that a person chose. If the unit is nil, that of the first
  /// reading is used.
  func query(_ store: Store) throws -> (query: StatsQuery, unit: GlucoseUnit?) {
    let display = try values.unit ?? store.displayUnit()
    var query = try StatsQuery(store: store, device: device, zone: try store.timezone(), now: Host.now())
    if let device { try query.requireDevice(device) }
    query.options.targets = try TargetsArgument(targets)?.targets(in: display) ?? .standard
    return (query, display)
  }
}

/// The option for the unit of values, which is the same in all commands.
struct UnitOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Show values in this unit: mg/dL or mmol/L.", valueName: "unit"))
  var unit: GlucoseUnit?
}

/// The options for the period that figures describe.
struct PeriodOptions: ParsableArguments {
  @OptionGroup var range: RangeOptions

  @Option(
    help: ArgumentHelp(
      "The last days with readings: 14d, 4w, 36h. Default: 14d.", valueName: "span"),
    transform: SpanArgument.parse)
  var last: SpanArgument?

  func validate() throws {
    if last != nil, range.isGiven {
      throw ValidationError("Use --last, or --since and --until.")
    }
  }

  /// Whether the period ends with the last reading, since no other period was given.
  var endsWithReadings: Bool { !range.isGiven }

  /// Sets the period of a query: the given range, else the given length, else two weeks.
  func apply(to query: inout StatsQuery) throws {
    if range.isGiven {
      try query.setPeriod(range)
    } else {
      try query.setPeriod(last ?? .fortnight)
    }
  }
}

/// Glucose targets as a person types them: a name, or the lowest and the highest value.
struct TargetsArgument {
  private enum TargetsForm {
    case named(Targets)
    case range(low: Double, high: Double)
  }

  private let text: String
  private let form: TargetsForm

  /// Checks the targets that a person typed.
  ///
  /// - Throws: `ValidationError` for a text that is neither a name nor a range, and for a range whose first
  ///   value is the higher one.
  static func validate(_ text: String) throws {
    if let targets = TargetsArgument(text) { return try targets.checkOrder() }
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

  /// The targets, with numbers in this unit. If `unit` is nil, the size of the numbers shows the unit.
  ///
  /// - Throws: `Failure` of category `usage` for a range that is empty or too wide.
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

  private func checkOrder() throws {
    guard case .range(let low, let high) = form, low >= high else { return }
    let advice =
      low == high
      ? "the two values must differ" : "the lower value comes first: \(plainNumber(high))-\(plainNumber(low))"
    throw ValidationError("--targets \(text): \(advice).")
  }

  private static func number(_ text: Substring) -> Double? {
    guard !text.isEmpty, text.utf8.count <= 6, text.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") })
    else { return nil }
    return Double(text)
  }
}

/// The options for drawing a picture in the terminal.
struct PlotOptions: ParsableArguments {
  @Flag(help: "Draw with ASCII characters only.")
  var ascii = false

  @Flag(help: "Describe the picture in words, for screen readers.")
  var plain = false

  func validate() throws {
    if ascii, plain { throw ValidationError("Use only one of --ascii and --plain.") }
  }

  var signs: PlotSigns { PlotSigns(isASCII: ascii) }

  /// The width of the terminal in columns; 80 if it is unknown.
  static var columns: Int { Host.terminalColumns(STDOUT_FILENO) }
}

/// A note about data outside the period of figures: the period has no readings although the store has some,
/// or there are newer records.
struct PeriodNote {
  let query: StatsQuery
  let view: StatsView

  /// The number of readings that the figures include.
  static func readings(_ view: StatsView) -> Int {
    let total = view.result.total
    return total.sensor.readings + total.fingerSticks.readings + total.ketones.readings
  }

  /// The note with a command to type; nil if there is nothing to note.
  ///
  /// - Parameters:
  ///   - command: returns the command that shows the day of a reading, or the last days with readings.
  ///   - endsWithReadings: whether the period ends with the last reading, so that newer records are not in
  ///     it.
  func text(_ command: (DeviceTime) -> String, endsWithReadings: Bool) throws -> String? {
    guard let newest = try query.newestReading() else { return nil }
    func without(_ days: String) -> String {
      "no readings \(days); the newest reading is of \(minute(newest.shown)); to see it: '\(command(newest.shown))'"
    }
    guard let period = view.result.period else { return without("in this period") }
    if Self.readings(view) == 0, newest.utc < period.start || newest.utc >= period.end {
      return without(days(period))
    }
    // West of the logbook's zone, the newest reading may be later than the end of its shown day there.
    guard endsWithReadings, let record = try query.newestInstant(), record >= period.end, record > newest.utc
    else { return nil }
    return
      "the figures end with the newest reading, \(minute(newest.shown)); records up to \(minute(view.shown(record))) "
      + "are newer and not in them; to add them: --since \(day(period.start))"
  }

  private func days(_ period: Period) -> String {
    let (first, last) = (day(period.start), day(period.end - 1))
    return first == last ? "on \(first)" : "from \(first) to \(last)"
  }

  private func day(_ instant: Int64) -> String { String(view.shown(instant).text.prefix(10)) }

  private func minute(_ time: DeviceTime) -> String {
    String(time.text.prefix(16)).replacing("T", with: " ")
  }
}
