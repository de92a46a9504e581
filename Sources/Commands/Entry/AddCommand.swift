// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logbook
import LogbookStore

/// `glucoport add`: adds one entry with all items of one moment.
struct AddCommand: AsyncParsableCommand, ClassifiedCommand {
  static let actionClass = ActionClass.deferrable
  static let configuration = CommandConfiguration(
    commandName: "add", abstract: "Type an entry: glucose, food, insulin, exercise, ketones, a text.",
    discussion: helpText(
      """
      The unit says what an amount is: 45g, 4.5U, 30min, 300kcal, 4000steps, '0.4 mmol ketones'. \
      A number without a unit is glucose. Words without a number are a text. '-' reads one entry \
      from each line of standard input.
      """,
      examples: "glucoport add 6.1 45g 4.5U rapid \"soup\" --at 18:30",
      "glucoport add --edit LAST 50g"))

  @OptionGroup var storeOptions: StoreOptions
  @OptionGroup var entry: EntryOptions

  @Option(
    help: ArgumentHelp("Correct an entry: LAST, or the id of an item of it.", valueName: "id"))
  var edit: String?

  @Flag(help: "Show what the words mean, and ask before anything is stored.")
  var ask = false

  @Flag(help: "With -: store all lines or none.")
  var strict = false

  @OptionGroup var pushOption: PushOption
  @OptionGroup var result: RecordOutputOptions

  private var readsLines: Bool { entry.words == ["-"] }

  func validate() throws {
    if readsLines {
      let hasOptions =
        entry.at != nil || entry.note != nil || !entry.mark.isEmpty || entry.kind != nil
        || entry.subtype != nil
        || entry.force
      if hasOptions || ask || edit != nil {
        throw ValidationError(
          "With '-', each line has its own options; only --strict, --push, --json and --quiet go with it.")
      }
    } else if strict {
      throw ValidationError("--strict needs '-', for lines of standard input.")
    }
  }

  func run() async throws {
    let output = Output()
    if readsLines { return try await addLines(output) }
    if ask, !Confirmation.canAsk {
      throw Failure(.usage, "no terminal to ask; leave out --ask, and nothing else changes")
    }
    if !entry.force { try RecordContentOptions.requirePlausible(entry.at, storeOptions, output) }
    let items = try edit.map { try correct($0, output) } ?? add(output)
    let done = edit == nil ? "added" : "edited"
    let store = try storeOptions.open(.reader)
    for item in try await pushOption.attempt(items, in: store, storeOptions, output, isQuiet: result.quiet) {
      try show(done, item, store, output)
    }
    try output.finish()
  }

  /// Adds the items and returns them.
  private func add(_ output: Output) throws -> [StoredItem] {
    let words = try EntryWords(entry, unit: try storeOptions.existing()?.displayUnit())
    try words.requireWhole(entry)
    let draft = EntryDraft(words, entry, zone: try storeOptions.zone())
    if ask { try confirm(draft.lines, "Add this?", otherwise: "nothing was added", output) }
    let store = try storeOptions.openOrCreate(.importer, output)
    return try EntryEditor(store, at: Host.now()).add([draft.entry(.random)]).flatMap(\.items)
  }

  /// Corrects an entry and returns its items.
  private func correct(_ id: String, _ output: Output) throws -> [StoredItem] {
    let store = try storeOptions.open(.importer)
    let words = try EntryWords(entry, unit: store.displayUnit())
    let stored = try storedEntry(id, store)
    let revision = try EntryCorrection.revision(of: stored, words, entry, zone: store.timezone())
    if ask {
      let table = TableWriter(output: output, unit: nil, isLong: false)
      let lines =
        stored.readings.map { table.line(.reading($0)) } + stored.records.map { table.line(.record($0)) }
      try confirm(
        lines, "Change this to '\(displayed(entry.words.joined(separator: " ")))'?",
        otherwise: "nothing was changed", output)
    }
    return try EntryEditor(store, at: Host.now()).revise(revision)
  }

  private func storedEntry(_ id: String, _ store: Store) throws -> StoredEntry {
    guard id == "LAST" else {
      let item: StoredItem =
        if let reading = try store.reading(at: id) { .reading(reading) } else {
          .record(try store.record(named: id))
        }
      return try store.entry(of: item)
    }
    guard let entry = try store.lastEntry() else {
      throw Failure(
        .missingInput, "nothing was typed in this store so far; 'glucoport log' lists what was done")
    }
    return entry
  }

  private func confirm(
    _ lines: [String], _ question: String, otherwise nothing: String, _ output: Output
  ) throws {
    for line in lines { output.message(line) }
    try Confirmation.require(question, otherwise: nothing, output)
  }

  /// Prints the result for an item: one line, or the object of `show --json`.
  private func show(_ done: String, _ item: StoredItem, _ store: Store, _ output: Output) throws {
    if result.quiet { return }
    if result.json { return try ItemDetails(store).write(item, asJSON: true, output) }
    let table = TableWriter(output: output, unit: nil, isLong: false, showsIDs: true)
    output.line("\(done): \(table.line(item))")
  }

  private func addLines(_ output: Output) async throws {
    let lines = EntryLines(
      storeOptions, isStrict: strict, keepsItems: pushOption.push, result, output)
    let items = try lines.run()
    if !items.isEmpty {
      let store = try storeOptions.open(.reader)
      _ = try await pushOption.attempt(items, in: store, storeOptions, output, isQuiet: result.quiet)
    }
    try output.finish()
    if lines.refused > 0 { throw strict ? ExitStatus(.badInput) : ExitStatus.partial }
  }
}
