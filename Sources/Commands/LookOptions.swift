// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Formats
import Logbook
import LogbookStore
import Report

/// The options for the device and the values in `stats`, `report` and `day`.
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

  /// Prints on standard error what the figures do not show about their period.
  ///
  /// - Parameter command: shows the day of a reading, or the last days with readings; these options are added
  ///   to it.
  func note(
    _ query: StatsQuery, _ view: StatsView, _ output: Output, endsWithReadings: Bool = false,
    _ command: (DeviceTime) -> [String]
  ) throws {
    let options = device.map { ["--device", $0] } ?? []
    let note = try PeriodNote(query: query, view: view).text(
      { (command($0) + options).map(\.shellWord).joined(separator: " ") }, endsWithReadings: endsWithReadings)
    if let note { output.message("glucoport: \(note)") }
  }

  /// A query with these options, and the unit that a person chose; nil for the unit of the first reading.
  func query(_ store: Store) throws -> (query: StatsQuery, unit: GlucoseUnit?) {
    let display = try values.unit ?? store.displayUnit()
    var query = try StatsQuery(store: store, device: device, zone: try store.timezone(), now: Host.now())
    if let device { try query.requireDevice(device) }
    query.options.targets = try TargetsArgument(targets)?.targets(in: display) ?? .standard
    return (query, display)
  }
}

/// The option for the unit of values, the same in all commands.
struct UnitOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Show values in this unit: mg/dL or mmol/L.", valueName: "unit"))
  var unit: GlucoseUnit?
}

/// The options for the period of figures.
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

  /// Whether the period is the last days with readings.
  var endsWithReadings: Bool { !range.isGiven }

  /// Sets the period of a query.
  func apply(to query: inout StatsQuery) throws {
    if range.isGiven {
      try query.setPeriod(range)
    } else {
      try query.setPeriod(last ?? .fortnight)
    }
  }
}
