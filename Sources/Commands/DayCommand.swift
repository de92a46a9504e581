// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logbook
import LogbookStore
import Report

/// `glucoport day`: the curve of one day with insulin, food and notes.
struct DayCommand: ClassifiedCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    commandName: "day", abstract: "Show the curve of a day in the terminal.",
    discussion: helpText(
      """
      The curve of the sensor with the target range, finger sticks and scans; insulin and carbohydrates \
      below. Not a medical device: do not base treatment on this picture.
      """,
      examples: "glucoport day yesterday",
      "glucoport day 2026-05-06 --unit mmol/L --ascii"))

  @OptionGroup var storeOptions: StoreOptions

  @Argument(
    help: ArgumentHelp(
      "The day: 2026-05-06, today, yesterday, 3d. Default: the day of the newest reading.",
      valueName: "date"))
  var date: TimeArgument?

  @Option(
    help: ArgumentHelp(
      "Only this device: its serial number, or a part of its name.", valueName: "device"))
  var device: String?

  @Option(
    help: ArgumentHelp(
      "The target range: \(Targets.named.map(\.name).joined(separator: ", ")), or LOW-HIGH.",
      valueName: "targets"))
  var targets = Targets.standard.name

  @Option(help: ArgumentHelp("Show values in this unit: mg/dL or mmol/L.", valueName: "unit"))
  var unit: GlucoseUnit?

  @OptionGroup var picture: PlotOptions

  func validate() throws {
    if device == "" { throw ValidationError("--device needs a serial number or a name.") }
    try TargetsArgument.validate(targets)
  }

  func run() throws {
    let output = Output()
    let store = try storeOptions.open(.reader)
    let display = try unit ?? store.displayUnit()
    var query = StatsQuery(store: store, device: device, zone: try store.timezone(), now: Host.now())
    if let device { try query.requireDevice(device) }
    query.options.targets = try TargetsArgument(targets)?.targets(in: display) ?? .standard
    if try query.setDay(date) {
      let view = try query.view(unit: display)
      for line in lines(view) { output.line(line) }
    } else {
      output.line("no readings")
    }
    try output.finish()
  }

  private func lines(_ view: StatsView) -> [String] {
    view.days.flatMap { day in
      let shown = DayPicture(
        day, view.result.total, view.targets, GlucoseText(view.unit), zone: view.zone.name)
      if picture.plain { return shown.sentences }
      return shown.lines(picture.signs, columns: PlotOptions.columns).map(
        PlotPainter.standardOutput.text)
    }
  }
}
