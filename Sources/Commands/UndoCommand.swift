// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logbook
import LogbookStore

/// `glucoport undo`: withdraws what an import brought, or takes that back.
struct UndoCommand: ClassifiedCommand {
  static let actionClass = ActionClass.deferrable
  static let configuration = CommandConfiguration(
    commandName: "undo", abstract: "Undo an import; for an import that is undone, undo that.",
    discussion: helpText(
      """
      Nothing is deleted: the readings and records are hidden, here and with the next upload \
      on all other stores of the logbook. 'glucoport log' shows the numbers of the imports. \
      Without a number the last import is undone.
      """,
      examples: "glucoport undo --dry-run",
      "glucoport undo 12"))

  @OptionGroup var storeOptions: StoreOptions

  @Argument(help: "The number of an import.")
  var number: Int64?

  @Flag(help: "Preview; change nothing.")
  var dryRun = false

  @Flag(help: "Without a number: do not ask.")
  var yes = false

  @Flag(help: "Print one JSON object.")
  var json = false

  @Flag(help: "Print nothing on success.")
  var quiet = false

  func validate() throws {
    if json, quiet { throw ValidationError("Use only one of --json and --quiet.") }
  }

  func run() throws {
    let output = Output()
    let store = try storeOptions.open(dryRun ? .reader : .editor)
    let number = try self.number ?? last(store, output)
    let counts =
      dryRun
      ? try store.undoCounts(of: number)
      : try store.undo(number, group: Host.randomUUID(), at: Host.now())
    if !quiet {
      try output.result(
        asJSON: json, UndoObject(number, counts, isDryRun: dryRun),
        orLines: UndoText.lines(number, counts, dryRun ? .preview : .done))
    }
    try output.finish()
    if !counts.largeRecords.isEmpty { throw ExitStatus.partial }
  }

  /// The last import, after the person at the terminal agreed.
  private func last(_ store: Store, _ output: Output) throws -> Int64 {
    guard dryRun || yes || Confirmation.canAsk else {
      throw Failure(
        .usage,
        "no terminal to ask which import is meant; state its number, as 'glucoport log' lists it, or add --yes"
      )
    }
    guard let last = try store.lastImport(), let ingest = try store.ingest(last) else {
      throw Failure(.missingInput, "there is no import to undo; 'glucoport log' lists the imports")
    }
    if !dryRun, !yes {
      let counts = try store.undoCounts(of: last)
      for line in [IngestText.line(ingest)] + UndoText.lines(last, counts, .question) {
        output.message(line)
      }
      try Confirmation.require("Undo this import?", otherwise: "nothing was undone", output)
    }
    return last
  }
}
