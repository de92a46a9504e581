// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logbook
import LogbookStore

/// The common options of `undo` and `redo`: an import by its number, or the next step.
struct StepOptions: ParsableArguments {
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

  func run(_ direction: UndoDirection, _ storeOptions: StoreOptions) throws {
    let output = Output()
    let store = try storeOptions.open(dryRun ? .reader : .editor)
    switch try number.map(PersonStep.ingest) ?? next(direction, store, output) {
    case .ingest(let number): try run(direction, import: number, store, output)
    case .action(let action): try run(direction, action, store, output)
    }
  }

  private func run(
    _ direction: UndoDirection, import number: Int64, _ store: Store, _ output: Output
  ) throws {
    let counts =
      switch (dryRun, direction) {
      case (true, _): try store.undoCounts(of: number, direction)
      case (false, .undo): try store.undo(number, group: Host.randomUUID(), at: Host.now())
      case (false, .redo): try store.redo(number, at: Host.now())
      }
    if !quiet {
      try output.result(
        asJSON: json, UndoObject(number, direction, counts, isDryRun: dryRun),
        orLines: UndoText(direction).lines(number, counts, dryRun ? .preview : .done))
    }
    try output.finish()
    try ExitStatus.of(counts).end()
  }

  private func run(
    _ direction: UndoDirection, _ action: PersonAction, _ logbook: Store, _ output: Output
  ) throws {
    let outcome =
      dryRun
      ? try logbook.outcome(of: action, direction)
      : try logbook.apply(direction, to: action, at: Host.now())
    if !quiet {
      try output.result(
        asJSON: json, ActionObject(action, direction, outcome, isDryRun: dryRun),
        orLines: UndoText(direction).lines(action, outcome, dryRun ? .preview : .done))
    }
    try output.finish()
  }

  /// The next step in a direction, after the person at the terminal confirmed it.
  private func next(
    _ direction: UndoDirection, _ store: Store, _ output: Output
  ) throws -> PersonStep {
    let text = UndoText(direction)
    guard dryRun || yes || Confirmation.canAsk else {
      throw Failure(
        .usage,
        "no terminal to ask which change is meant; state the number of an import, as 'glucoport log' lists it, or add --yes"
      )
    }
    guard let step = try store.nextStep(direction) else {
      throw Failure(.missingInput, text.nothing)
    }
    guard !dryRun, !yes else { return step }
    switch step {
    case .ingest(let number):
      guard let ingest = try store.ingest(number) else { throw Failure(.missingInput, text.nothing) }
      let counts = try store.undoCounts(of: number, direction)
      for line in [IngestText.line(ingest)] + text.lines(number, counts, .question) { output.message(line) }
    case .action(let action):
      let outcome = try store.outcome(of: action, direction)
      for line in text.lines(action, outcome, .question) { output.message(line) }
    }
    try Confirmation.require(text.question, otherwise: text.refusal, output)
    return step
  }
}
