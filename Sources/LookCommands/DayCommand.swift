// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandParts
import Logbook
import LogbookStore
import Report

/// The command `day`, which draws the curve of one day with insulin, food and notes.
struct DayCommand: PrintingCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    "day", "Show the curve of a day in the terminal.",
    """
    The curve of the sensor with the target range, finger sticks and scans; insulin and carbohydrates \
    below. Not a medical device: do not base treatment on this picture.
    """,
    examples: "glucoport day yesterday", "glucoport day 2026-05-06 --unit mmol/L --ascii")

  @OptionGroup var storeOptions: StoreOptions

  @Argument(
    help: ArgumentHelp(
      "The day: 2026-05-06, today, yesterday, 3d. Default: the day of the newest reading or record.",
      valueName: "date"), transform: TimeArgument.parse)
  var date: TimeArgument?

  @OptionGroup var look: LookOptions
  @OptionGroup var picture: PlotOptions

  func run(_ output: Output) throws {
    let store = try storeOptions.open(.reader)
    var (query, unit) = try look.query(store)
    if try query.setDay(date) {
      let view = try query.view(unit: unit)
      for line in lines(view) { output.line(line) }
      try look.printNotes(query, view, output) { storeOptions.words("day") + [String($0.text.prefix(10))] }
    } else {
      output.line("no readings and no records")
    }
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
