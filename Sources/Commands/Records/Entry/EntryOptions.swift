// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandParts
import Formats
import Logbook

/// The words and options that describe one entry, for `add` and for each line of `add -`.
struct EntryOptions: ParsableArguments {
  /// The marks that a person can give to a finger stick. The other marks come only from devices and imports.
  static let marks: ReadingMarks = [
    .beforeMeal, .afterMeal, .fasting, .bedtime, .calibration, .controlSolution,
  ]
  /// The kinds of readings that a person can type. The stored values of a sensor can only be imported.
  static let kinds: [ReadingKind] = [.smbg, .scan, .ketone]

  @Argument(
    help: ArgumentHelp(
      "Amounts with their units, and a text; or - for lines of standard input.", valueName: "word"))
  var words: [String] = []

  @Option(
    help: ArgumentHelp(
      "When: 18:30, 'yesterday 18:30', 2026-05-06T18:30, 90m (ago), or RFC 3339 with an offset.",
      valueName: "time"), transform: TimeArgument.parse)
  var at: TimeArgument?

  @Option(help: ArgumentHelp("A text.", valueName: "text"))
  var note: String?

  @Option(
    help: ArgumentHelp(
      "What the glucose value is: \(alternatives(marks.names)). May be repeated.", valueName: "mark"),
    completion: .list(marks.names))
  var mark: [String] = []

  @Option(
    help: ArgumentHelp(
      "The kind of the reading: \(alternatives(kinds.map(\.name))). Default: smbg, a finger stick.",
      valueName: "kind"), completion: .list(kinds.map(\.name)))
  var kind: String?

  @Option(
    help: ArgumentHelp(
      "Insulin: rapid, long, basal or mix; note: health or announcement.", valueName: "subtype"),
    completion: .subtypes)
  var subtype: String?

  @Flag(help: "Accept unusual amounts and times.")
  var force = false

  func validate() throws {
    for name in mark where ReadingMarks(names: [name]).map(Self.marks.isSuperset(of:)) != true {
      throw ValidationError("Unknown mark '\(displayed(name))'; use \(alternatives(Self.marks.names)).")
    }
    if let kind, !Self.kinds.map(\.name).contains(kind) {
      throw ValidationError(
        "A reading of kind '\(displayed(kind))' cannot be typed; use \(alternatives(Self.kinds.map(\.name)))."
      )
    }
  }

  /// The marks of the entry's readings: those of the options, and the mark for typed readings.
  var readingMarks: ReadingMarks { (ReadingMarks(names: mark) ?? []).union(.manual) }
}

/// A line of `add -` that has the words and options of the command.
struct EntryLine: ParsableArguments {
  @OptionGroup var options: EntryOptions

  @Option(help: "Correct an entry: LAST, or the id of an item of it.")
  var edit: String?
}
