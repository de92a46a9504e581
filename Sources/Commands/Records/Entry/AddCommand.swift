// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandParts
import Logbook
import LogbookStore

/// `glucoport add`: stores one entry, which can have several items of one moment.
struct AddCommand: AsyncPrintingCommand {
  static let actionClass = ActionClass.deferrable
  static let configuration = CommandConfiguration(
    "add", "Type an entry: glucose, food, insulin, exercise, ketones, a text.",
    """
    The unit says what an amount is: 45g, 4.5U, 30min, 300kcal, 4000steps, '0.4 mmol ketones'. \
    A number without a unit is glucose. Words without a number are a text. '-' reads one entry \
    from each line of standard input.
    """,
    examples: "glucoport add 6.1 45g 4.5U rapid \"soup\" --at 18:30", "glucoport add --edit LAST 50g")

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
          "With '-', each line has its own options, --edit among them; only --strict, --push, --json and --quiet go with it."
        )
      }
    } else if strict {
      throw ValidationError("--strict needs '-', for lines of standard input.")
    }
  }

  func run(_ output: Output) async throws {
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
  }

  /// Adds the typed entry and returns its items.
  private func add(_ output: Output) throws -> [StoredItem] {
    let words = try EntryWords(entry, unit: try storeOptions.existing()?.displayUnit())
    try words.requireWhole(entry)
    let draft = EntryDraft(words, entry, zone: try storeOptions.zone())
    if ask { try confirm(draft.lines, "Add this?", otherwise: "nothing was added", output) }
    let store = try storeOptions.openOrCreate(.importer, output)
    return try EntryEditor(store, at: Host.now()).add([draft.entry(.random)]).flatMap(\.items)
  }

  /// Changes a stored entry as the words and options state, and returns its items.
  private func correct(_ id: String, _ output: Output) throws -> [StoredItem] {
    let store = try storeOptions.open(.importer)
    let words = try EntryWords(entry, unit: store.displayUnit())
    let stored = try EntryCorrection.entry(id, store)
    let revision = try EntryCorrection.revision(of: stored, words, entry, zone: store.timezone())
    if ask {
      let table = TableWriter(output: output, unit: nil, isLong: false)
      let lines =
        stored.readings.map { table.line(.reading($0)) } + stored.records.map { table.line(.record($0)) }
      try confirm(
        lines, "Change this to '\(displayed(entry.words.joined(separator: " ")))'?",
        otherwise: "nothing was changed", output)
    }
    return try EntryEditor(store, at: Host.now()).revise(revision).items
  }

  private func confirm(
    _ lines: [String], _ question: String, otherwise nothing: String, _ output: Output
  ) throws {
    for line in lines { output.message(line) }
    try Confirmation.require(question, otherwise: nothing, output)
  }

  /// Prints the result for an item: one line, or with `--json` the object of `show --json`.
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

/// The changes to a stored entry that a person corrects. Only what the words and options name is changed.
struct EntryCorrection {
  private let entry: StoredEntry
  private let words: EntryWords
  private let options: EntryOptions
  private let zone: LogbookZone
  private var revision = EntryRevision()
  /// For each hidden reading, the identity of the reading that replaces it.
  private var replaced: [String: String] = [:]

  /// The entry to which an item belongs, or the entry that was last typed in the store.
  ///
  /// - Parameter id: the id of an item, or `LAST`.
  /// - Throws: `Failure` of category `missingInput` if no such item or entry exists.
  static func entry(_ id: String, _ store: Store) throws -> StoredEntry {
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

  /// The changes that correct a stored entry as the words and options state.
  ///
  /// - Throws: `Failure` of category `usage` if a device took a reading of the entry, or if the words and
  ///   options name nothing.
  static func revision(
    of entry: StoredEntry, _ words: EntryWords, _ options: EntryOptions, zone: LogbookZone
  ) throws -> EntryRevision {
    var correction = EntryCorrection(entry: entry, words: words, options: options, zone: zone)
    try correction.applyWords()
    return correction.revision
  }

  private init(entry: StoredEntry, words: EntryWords, options: EntryOptions, zone: LogbookZone) {
    (self.entry, self.words, self.options, self.zone) = (entry, words, options, zone)
  }

  private mutating func applyWords() throws {
    let namesSomething =
      !words.isEmpty || words.noteSubtype != nil || options.at != nil || !options.mark.isEmpty
      || options.kind != nil
    guard namesSomething else { throw Failure(.usage, "nothing to correct; add amounts, a text or options") }
    for reading in entry.readings where reading.device != .typed {
      throw Failure(
        .usage,
        "\(reading.shortID): a device took this reading, which never changes; hide it with 'glucoport reading hide', and add another"
      )
    }
    try correctReadings()
    addReadings()
    try correctRecords()
    try addRecords()
  }

  private var place: (time: DeviceTime, placement: Placement)? {
    options.at?.placedTime(zone: zone, now: Host.now())
  }

  /// The time of the items that a correction adds: the time in the options, else the time of the stored
  /// entry.
  private var addedPlace: (time: DeviceTime, placement: Placement) {
    if let place { return place }
    if let first = entry.records.first { return (first.deviceTime, first.placement) }
    if let first = entry.readings.first { return (first.deviceTime, first.placement) }
    return TimeArgument.now.placedTime(zone: zone, now: Host.now())
  }

  private mutating func correctReadings() throws {
    if entry.readings.isEmpty, words.readings.isEmpty, !options.mark.isEmpty || options.kind != nil {
      throw Failure(.usage, "--mark and --kind need a glucose or ketone value")
    }
    let chosen = options.kind.flatMap { ReadingKind(name: $0) }
    if let chosen, words.readings.isEmpty,
      !entry.readings.contains(where: { ($0.kind == .ketone) == (chosen == .ketone) })
    {
      throw Failure(
        .usage, "glucose does not become ketones, and ketones no glucose; give the value with --kind")
    }
    for stored in entry.readings {
      let typed = words.readings.first { ($0.kind == .ketone) == (stored.kind == .ketone) }
      let isMeant = (chosen == .ketone) == (stored.kind == .ketone)
      let kind = isMeant ? chosen ?? stored.kind : stored.kind
      let marks = options.mark.isEmpty ? stored.marks : options.readingMarks
      let (time, placement) = place ?? (stored.deviceTime, stored.placement)
      let measurement = typed?.measurement ?? stored.measurement
      guard
        kind != stored.kind || marks != stored.marks || measurement != stored.measurement
          || time != stored.deviceTime || options.at != nil && placement != stored.placement
      else {
        revision.kept.append(stored)
        continue
      }
      revision.hidden.append(stored)
      let reading = Reading(
        device: DeviceIndex(0), kind: kind, tick: Host.randomTick(), at: time, placement: placement,
        measurement, marks: marks, line: 0)
      replaced[stored.identity.text] = ReadingIdentity(reading, .typed).text
      revision.added.readings.append((reading, .typed))
    }
  }

  private mutating func addReadings() {
    let (time, placement) = addedPlace
    for typed in words.readings
    where !entry.readings.contains(where: { ($0.kind == .ketone) == (typed.kind == .ketone) }) {
      let reading = Reading(
        device: DeviceIndex(0), kind: typed.kind, tick: Host.randomTick(), at: time, placement: placement,
        typed.measurement, marks: options.readingMarks, line: 0)
      revision.added.readings.append((reading, .typed))
    }
  }

  /// The index of the record that has the entry's text; nil if there is none.
  private var textPlace: Int? {
    entry.records.firstIndex { $0.entryGuid == nil && $0.kind.details?.field("text") != nil }
  }

  private mutating func correctRecords() throws {
    for (index, stored) in entry.records.enumerated() {
      var draft = try RecordDraft(stored)
      if let changes = words.changes[stored.kind] { draft.fields = changes.applied(to: draft.fields) }
      if let place { (draft.deviceTime, draft.placement) = place }
      if index == textPlace, let text = words.text { draft.fields["text"] = text.isEmpty ? nil : .text(text) }
      if stored.kind == .note, let subtype = words.noteSubtype { draft.fields["subtype"] = .text(subtype) }
      if case .text(let identity)? = draft.fields["reading"], let new = replaced[identity] {
        draft.fields["reading"] = .text(new)
      }
      revision.records.append((stored.guid, draft))
    }
  }

  private mutating func addRecords() throws {
    let (time, placement) = addedPlace
    func draft(_ kind: RecordKind, _ fields: RecordFields) -> RecordDraft {
      RecordDraft(kind: kind, at: time, placement: placement, fields: fields)
    }
    for kind in EntryWords.recordKinds where !entry.records.contains(where: { $0.kind == kind }) {
      guard let changes = words.changes[kind] else { continue }
      if kind == .insulin, changes.values["units"] == nil, changes.values["rate"] == nil {
        throw Failure(.usage, "a subtype of insulin needs an amount, such as 4.5U")
      }
      revision.added.records.append((draft(kind, changes.applied(to: RecordFields())), Host.randomUUID()))
    }
    if textPlace == nil, let text = words.text, !text.isEmpty {
      if revision.added.records.isEmpty {
        let identity =
          revision.added.readings.first.map { ReadingIdentity($0.reading, $0.device) }
          ?? revision.kept.first?.identity
        var fields = RecordFields(["text": .text(text)])
        if let identity { fields["reading"] = .text(identity.text) }
        let kind = identity == nil ? RecordKind.note : .annotation
        revision.added.records.append((draft(kind, fields), Host.randomUUID()))
      } else {
        revision.added.records[0].draft.fields["text"] = .text(text)
      }
    }
    // If the stored entry belongs to another entry, as a dose belongs to a meal, the added records belong to
    // that other entry, too.
    let stored = entry.records.first.map { $0.entryGuid ?? $0.guid }
    let first = stored ?? revision.added.records.first?.guid
    for index in revision.added.records.indices where revision.added.records[index].guid != first {
      revision.added.records[index].draft.entryGuid = first
    }
  }
}
