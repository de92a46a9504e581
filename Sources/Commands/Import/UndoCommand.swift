// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandParts
import Glibc
import Logbook
import LogbookStore

/// `glucoport undo`: reverses an import, or the last change that a person made in this store.
struct UndoCommand: ClassifiedCommand {
  static let actionClass = ActionClass.deferrable
  static let configuration = CommandConfiguration(
    "undo", "Undo an import, or the last change that was made in this store.",
    """
    Without a number, the last import, typed record, edit, hiding or deletion in this store is \
    undone; each further 'glucoport undo' goes back one step more. 'glucoport log' lists them. \
    The readings and records of an import are hidden, not deleted. The next upload makes the \
    same change on all other stores of the logbook. 'glucoport redo' is the other direction.
    """,
    examples: "glucoport undo --dry-run", "glucoport undo 12")

  @OptionGroup var storeOptions: StoreOptions
  @OptionGroup var step: StepOptions

  func run() throws { try step.run(.undo, storeOptions) }
}

/// `glucoport redo`: repeats what `undo` has reversed.
struct RedoCommand: ClassifiedCommand {
  static let actionClass = ActionClass.deferrable
  static let configuration = CommandConfiguration(
    "redo", "Redo an import that is undone, or what 'glucoport undo' took back last.",
    """
    Without a number, what the last 'glucoport undo' took back is done again; each further \
    'glucoport redo' goes one step on. A new import or change leaves nothing to redo; an import \
    can always be named by its number.
    """,
    examples: "glucoport redo --dry-run", "glucoport redo 12")

  @OptionGroup var storeOptions: StoreOptions
  @OptionGroup var step: StepOptions

  func run() throws { try step.run(.redo, storeOptions) }
}

/// The options that `undo` and `redo` share: the number of an import, or no number for the next change to
/// undo or redo.
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
    case .ingest(let number): try undoImport(direction, number, store, output)
    case .action(let action): try undoAction(direction, action, store, output)
    case .merge(let path): throw Self.refusal(ofMerge: path, into: store)
    }
  }

  private static func refusal(ofMerge path: String, into store: Store) -> Failure {
    // If several copies exist, their names do not show which copy was made before this merge. So the message
    // has only the start of their names.
    let start = store.path + Store.beforeMerges[0]
    let isKept = Store.beforeMerges.contains { access(PathText.bytes(store.path + $0), F_OK) == 0 }
    let remedy =
      isKept
      ? "copies of the store from before merges are kept as \(displayed(start))…, and 'glucoport restore' makes one the store again"
      : "no copy of the store from before it is kept"
    return Failure(
      .usage,
      "the last change is the merge of \(displayed(path)), which is not undone; \(remedy); 'glucoport undo NUMBER' undoes an import"
    )
  }

  private func undoImport(
    _ direction: UndoDirection, _ number: Int64, _ store: Store, _ output: Output
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

  private func undoAction(
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

  /// The next change to undo or redo. If a person is at the terminal, they confirm it first.
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
    case .merge: return step
    }
    try Confirmation.require(text.question, otherwise: text.refusal, output)
    return step
  }
}

/// The texts about what an undo or a redo changes.
struct UndoText {
  /// The moment at which lines are printed.
  enum Occasion {
    /// After the change.
    case done
    /// With `--dry-run`, instead of the change.
    case preview
    /// Before the change, which the person must confirm.
    case question
  }

  /// How many records a message names at most.
  private static let maxNamed = 10

  private let direction: UndoDirection

  init(_ direction: UndoDirection) { self.direction = direction }

  private var isRedo: Bool { direction == .redo }

  /// The message for the case that there is nothing to undo or redo.
  var nothing: String {
    isRedo
      ? "there is nothing to redo; 'glucoport redo NUMBER' redoes an import that 'glucoport log' lists as undone"
      : "there is nothing to undo; 'glucoport log' lists what was done in this store"
  }

  var question: String { isRedo ? "Redo this?" : "Undo this?" }

  var refusal: String { isRedo ? "nothing was redone" : "nothing was undone" }

  func lines(_ number: Int64, _ counts: UndoCounts, _ occasion: Occasion) -> [String] {
    if counts.isDoneAlready {
      return [
        isRedo
          ? "import \(number): it is not undone, so there is nothing to redo"
          : "import \(number): it is undone already; 'glucoport redo \(number)' shows it again"
      ]
    }
    if counts.broughtNothing { return ["import \(number): it brought nothing, so there is nothing to undo"] }
    let would = occasion == .done ? "" : "would be "
    let (changed, opposite) = isRedo ? ("shown again", "hidden") : ("hidden", "shown again")
    var lines = ["import \(number): \(would)\(isRedo ? "redone" : "undone")"]
    lines.append(
      "  \(counted(counts.readings, "reading")) \(would)\(changed), \(grouped(counts.uploaded)) of them uploaded"
    )
    if counts.oppositeReadings > 0 {
      lines.append("  \(counted(counts.oppositeReadings, "reading")) that it corrected \(would)\(opposite)")
    }
    if counts.records + counts.editedRecords > 0 {
      let edited =
        counts.editedRecords > 0
        ? ", \(grouped(counts.editedRecords)) edited since and left as \(counts.editedRecords == 1 ? "it is" : "they are")"
        : ""
      lines.append("  \(counted(counts.records, "record")) \(would)\(changed)\(edited)")
    }
    if counts.oppositeRecords > 0 {
      lines.append(
        "  \(counted(counts.oppositeRecords, "record")) that its source had deleted \(would)\(opposite)")
    }
    if counts.changedRecords > 0 {
      let content = isRedo ? "back to the content of the import" : "to the content of the latest other import"
      lines.append("  \(counted(counts.changedRecords, "record")) \(would)changed \(content)")
    }
    if counts.changesZone {
      let counted = isRedo ? "counts again" : "no longer counts"
      lines.append("  the time zone that was given for it \(counted); times are calculated again")
    }
    if counts.changesNothing {
      lines.append(
        isRedo
          ? "  what it brought is shown already, or something else hides it"
          : "  other imports brought the same, or it is hidden already")
    }
    lines += Self.largeRecordLines(counts.largeRecords)
    for (other, count) in counts.otherValues.sorted(by: { $0.key < $1.key }) {
      lines.append(
        "  \(counted(count, "reading")) \(would)hidden \(count == 1 ? "has" : "have") another value in import \(other); "
          + "'glucoport import --again' with the file of import \(other) stores it")
    }
    if counts.lacksNotes {
      lines.append(
        "  warning: the store has no complete note of which readings another import also brought; some of these may be hidden"
      )
    }
    if occasion == .preview { lines.append("  preview: nothing was changed") }
    return lines
  }

  func lines(_ action: PersonAction, _ outcome: ActionOutcome, _ occasion: Occasion) -> [String] {
    let would = occasion == .done ? "" : "would be "
    let verb = isRedo ? "redone" : "undone"
    let isLeft = outcome.changed.isEmpty && !outcome.left.isEmpty
    let head = isLeft ? (occasion == .done ? "not \(verb)" : "would not be \(verb)") : would + verb
    var lines = ["\(head): \(ActionText.summary(action))"]
    if !outcome.left.isEmpty {
      lines.append(
        "  \(counted(outcome.left.count, action.subjects.contains { $0.reading != nil } ? "item" : "record")) changed since and left as \(outcome.left.count == 1 ? "it is" : "they are")"
      )
    }
    if occasion == .preview { lines.append("  preview: nothing was changed") }
    return lines
  }

  private static func largeRecordLines(_ guids: [String]) -> [String] {
    guard !guids.isEmpty else { return [] }
    let more = guids.count > maxNamed ? [" … and \(grouped(guids.count - maxNamed)) more"] : []
    let (keeps, its) = guids.count == 1 ? ("keeps", "its change is") : ("keep", "their changes are")
    return [
      "  warning: \(counted(guids.count, "record")) \(keeps) the content of the import, since \(its) too large to undo; "
        + "correct with 'glucoport record edit':"
    ] + guids.prefix(maxNamed).map { "    \($0)" } + more.map { "   \($0)" }
  }
}

extension UndoCounts {
  /// Whether the undo or redo changes nothing that can be seen.
  fileprivate var changesNothing: Bool {
    readings + oppositeReadings + records + oppositeRecords == 0
      && changedRecords + editedRecords + largeRecords.count == 0 && !changesZone
  }
}

/// The result for an import in `undo --json` and `redo --json`; glucoport-json(5) documents the members.
struct UndoObject: Encodable {
  let ingest: Int64
  let undone: Bool
  let already: Bool
  let readings: Int
  let uploaded: Int
  let oppositeReadings: Int
  let records: Int
  let oppositeRecords: Int
  let editedRecords: Int
  let changedRecords: Int
  let largeRecords: [String]
  let otherValues: Int
  let changesZone: Bool
  let broughtNothing: Bool
  let lacksNotes: Bool
  let dryRun: Bool

  init(_ number: Int64, _ direction: UndoDirection, _ counts: UndoCounts, isDryRun: Bool) {
    ingest = number
    undone = direction == .undo && !counts.broughtNothing
    already = counts.isDoneAlready
    readings = counts.readings
    uploaded = counts.uploaded
    oppositeReadings = counts.oppositeReadings
    records = counts.records
    oppositeRecords = counts.oppositeRecords
    editedRecords = counts.editedRecords
    changedRecords = counts.changedRecords
    largeRecords = counts.largeRecords
    otherValues = counts.otherValues.values.reduce(0, +)
    changesZone = counts.changesZone
    broughtNothing = counts.broughtNothing
    lacksNotes = counts.lacksNotes
    dryRun = isDryRun
  }
}
