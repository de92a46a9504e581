// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logbook
import LogbookStore
import Report

/// The forms in which `stats` prints figures.
enum StatsForm: String, ExpressibleByArgument, CaseIterable {
  case table, csv
}

/// What `stats` counts if two sources state the same.
enum CountForm: String, ExpressibleByArgument, CaseIterable {
  case once, all
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

  func run() throws {
    let output = Output()
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
    try look.note(query, view, output, endsWithReadings: period.endsWithReadings) { _ in
      storeOptions.words("stats") + ["--last", "14d"]
    }
    try output.finish()
  }
}
