// SPDX-License-Identifier: Apache-2.0

public import ArgumentParser
import CommandParts
public import Logbook
import LogbookStore

/// `glucoport record`: commands for records, which are the entries of the diary.
struct RecordCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    "record", "Add, edit, hide, delete, show and list records, and attach files.",
    """
    No record command needs the network: a later upload sends the change, or --push sends \
    it at once.
    """,
    examples: "glucoport record add insulin 4.5 --subtype rapid", "glucoport record list --since 7d",
    subcommands: [
      RecordAddCommand.self, RecordEditCommand.self, RecordDeleteCommand.self, RecordHideCommand.self,
      RecordRestoreCommand.self, RecordShowCommand.self,
      RecordListCommand.self, RecordAttachCommand.self, RecordAttachmentsCommand.self,
    ])
}

/// `glucoport record list`: lists records in the order of time.
struct RecordListCommand: PrintingCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    "list", "List records, oldest first.",
    ListOptions.tableRule,
    examples: "glucoport record list --since 7d", "glucoport record list --kind food --format csv")

  @OptionGroup var storeOptions: StoreOptions
  @OptionGroup var items: ItemOptions
  @OptionGroup var listing: ListOptions

  func validate() throws {
    if items.namesReadings { throw ValidationError("'record list' accepts only kinds of records.") }
  }

  func run(_ output: Output) throws {
    let store = try storeOptions.open(.reader)
    var filter = try items.filter(store)
    filter.readingKinds = []
    try listing.write(filter, of: store, unit: nil, output)
  }
}

/// The options that name a store and a record in it.
struct RecordTarget: ParsableArguments {
  @OptionGroup var storeOptions: StoreOptions

  @Argument(help: "The id of the record, or its first characters.")
  var id: String

  /// Opens the store for a role, and finds the record.
  ///
  /// - Throws: errors as in `StoreOptions.open` and `Store.record`.
  func open(_ role: StoreRole) throws -> (store: Store, record: StoredRecord) {
    let store = try storeOptions.open(role)
    return (store, try store.record(named: id))
  }
}

/// `glucoport record show`: prints all facts about one record.
struct RecordShowCommand: PrintingCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    "show", "Show everything about one record.",
    examples: "glucoport record show 8120", "glucoport record show 8120 --json")

  @OptionGroup var target: RecordTarget

  @Flag(help: "Print the record as one JSON object.")
  var json = false

  func run(_ output: Output) throws {
    let (store, record) = try target.open(.reader)
    try ItemDetails(store).write(.record(record), asJSON: json, output)
  }
}

/// `glucoport record edit`: changes the time, the fields or the entry of a record.
struct RecordEditCommand: AsyncPrintingCommand {
  static let actionClass = ActionClass.deferrable
  static let configuration = CommandConfiguration(
    "edit", "Change a record.",
    "Other fields do not change. An edit that changes nothing is not counted.",
    examples: "glucoport record edit 8120 50 g",
    "glucoport record edit 8120 --at 19:00 --note 'soup and bread'")

  @OptionGroup var target: RecordTarget

  @Argument(help: ArgumentHelp("Amounts with units, or the text of a note.", valueName: "word"))
  var words: [String] = []

  @OptionGroup var content: RecordContentOptions
  @OptionGroup var pushOption: PushOption
  @OptionGroup var result: RecordOutputOptions

  func validate() throws {
    if words.isEmpty, content.isEmpty {
      throw ValidationError("Nothing to change; add amounts, a text or options.")
    }
  }

  func run(_ output: Output) async throws {
    let (store, record) = try target.open(.editor)
    let zone = try store.timezone()
    try content.checkTime(target.storeOptions, output)
    let changes = try content.changes(record.kind, words: words)
    // The time and the entry do not depend on the stored fields, so they are determined before the
    // transaction that edits the fields.
    var placed = RecordDraft(
      kind: record.kind, at: record.deviceTime, placement: record.placement, fields: RecordFields())
    try content.setTimeAndEntry(of: &placed, in: store, zone: zone)
    let copies = try RecordCopies(of: record, in: store)
    let edit = try RecordEditor(store, at: Host.now()).edit(record.guid) { draft in
      draft.fields = changes.applied(to: draft.fields)
      if content.at != nil { (draft.deviceTime, draft.placement) = (placed.deviceTime, placed.placement) }
      if content.entry != nil { draft.entryGuid = placed.entryGuid }
      guard changes.values.isEmpty || !draft.fields.values.isEmpty else {
        throw Failure(
          .usage, "\(record.guid): the record would be empty; to delete it: 'glucoport record delete'")
      }
    }
    let tried = try await pushOption.attempt(
      [edit], in: store, target.storeOptions, output, isQuiet: result.quiet)
    for edit in tried {
      try result.show("edited", edit, store, output)
    }
    try copies.warn(store, output)
  }
}

/// `glucoport record delete`: deletes a record and the records that belong to it. Tombstones replace the
/// deleted records.
struct RecordDeleteCommand: AsyncPrintingCommand {
  static let actionClass = ActionClass.deferrable
  static let configuration = CommandConfiguration(
    "delete", "Delete a record, and the records that belong to it.",
    """
    'glucoport undo' brings a deleted record back in this store, within 30 days; to hide one \
    that may be needed later: 'glucoport record hide'. Its id, kind and time are kept, so that \
    the deletion can be sent to other nodes. On a terminal, the command asks first.
    """,
    examples: "glucoport record delete 8120", "glucoport record delete 8120 --push")

  @OptionGroup var target: RecordTarget

  @Flag(help: "Do not ask.")
  var yes = false

  @OptionGroup var pushOption: PushOption
  @OptionGroup var result: RecordOutputOptions

  func run(_ output: Output) async throws {
    let (store, record) = try target.open(.editor)
    if !yes, !record.isDeleted, Confirmation.canAsk {
      output.message(TableWriter(output: output, unit: nil, isLong: false).line(.record(record)))
      try Confirmation.require(
        "Delete this record? 'glucoport undo' brings it back for 30 days, only in this store.",
        otherwise: "nothing was deleted", output)
    }
    let copies = try RecordCopies(of: record, in: store)
    let edit = try RecordEditor(store, at: Host.now()).delete(record.guid)
    let tried = try await pushOption.attempt(
      [edit], in: store, target.storeOptions, output, isQuiet: result.quiet)
    for edit in tried {
      try result.show("deleted", edit, store, output)
    }
    try copies.warn(store, output)
  }
}

/// `glucoport record hide`: hides a record, until it is restored.
struct RecordHideCommand: PrintingCommand {
  static let actionClass = ActionClass.deferrable
  static let configuration = CommandConfiguration(
    "hide", "Hide a record and the records that belong to it.",
    """
    Nothing is deleted: 'glucoport record restore' shows it again. Other stores of the logbook hide it with the next upload.
    """,
    examples: "glucoport record hide 8120", "glucoport record hide 8120 --reason 'typed twice'")

  @OptionGroup var target: RecordTarget

  @Option(help: ArgumentHelp("Why, for people.", valueName: "text"))
  var reason = ""

  @Flag(help: "Print nothing on success.")
  var quiet = false

  func run(_ output: Output) throws {
    let (store, record) = try target.open(.editor)
    let copies = try RecordCopies(of: record, in: store)
    let isChanged = try WithdrawalEditor(store, at: Host.now()).set(
      record, isHidden: true, reason: reason)
    if !quiet {
      output.line(isChanged ? "hidden: \(record.guid)" : "unchanged: \(record.guid) is hidden already")
    }
    try copies.warn(store, output)
  }
}

/// `glucoport record restore`: shows a record again, whatever hides it.
struct RecordRestoreCommand: PrintingCommand {
  static let actionClass = ActionClass.deferrable
  static let configuration = CommandConfiguration(
    "restore", "Show a hidden record again.",
    """
    It is shown whatever hid it: 'glucoport record hide' or 'glucoport undo'.
    """,
    examples: "glucoport record restore 8120", "glucoport record restore 8120 --quiet")

  @OptionGroup var target: RecordTarget

  @Flag(help: "Print nothing on success.")
  var quiet = false

  func run(_ output: Output) throws {
    let (store, record) = try target.open(.editor)
    let isChanged = try WithdrawalEditor(store, at: Host.now()).set(
      record, isHidden: false, reason: "")
    if !quiet {
      output.line(isChanged ? "restored: \(record.guid)" : "unchanged: \(record.guid) is not hidden")
    }
  }
}

/// The options for the result that a command prints about a record.
struct RecordOutputOptions: ParsableArguments {
  @Flag(help: "Print the record as one JSON object.")
  var json = false

  @Flag(help: "Print nothing on success.")
  var quiet = false

  func validate() throws {
    if json, quiet { throw ValidationError("Use only one of --json and --quiet.") }
  }

  /// Prints the result for a record: one line, or with `--json` the object of `show --json`.
  func show(_ done: String, _ edit: RecordEdit, _ store: Store, _ output: Output) throws {
    if quiet { return }
    if json { return try ItemDetails(store).write(.record(edit.record), asJSON: true, output) }
    let table = TableWriter(output: output, unit: nil, isLong: false)
    let children = edit.edits > 1 ? " and \(grouped(edit.edits - 1)) that belong to it" : ""
    output.line("\(edit.edits == 0 ? "unchanged" : done): \(table.line(.record(edit.record)))\(children)")
  }
}

/// `glucoport record add`: adds one record.
struct RecordAddCommand: AsyncPrintingCommand {
  static let actionClass = ActionClass.deferrable
  static let configuration = CommandConfiguration(
    "add", "Add insulin, food, exercise, a note, or an annotation of a reading.",
    """
    Amounts have units: 'insulin 4.5 U', 'food 45 g', 'exercise 30 min'. These units are \
    the default. A note has its text, an annotation the id of its reading.
    """,
    examples: "glucoport record add food 45 g --note soup --at 18:30",
    "glucoport record add note 'after swimming' --at 'yesterday 20:00'")

  @OptionGroup var storeOptions: StoreOptions

  @Argument(
    help: ArgumentHelp(alternatives(RecordKind.allValueStrings) + ".", valueName: "kind"),
    completion: .recordKinds)
  var kind: RecordKind

  @Argument(
    help: ArgumentHelp("Amounts with units, the text of a note, or the id of a reading.", valueName: "word"))
  var words: [String] = []

  @OptionGroup var content: RecordContentOptions
  @OptionGroup var pushOption: PushOption
  @OptionGroup var result: RecordOutputOptions

  func validate() throws {
    if namesReading, words.count != 1 {
      throw ValidationError("An annotation names one reading, by the id that 'glucoport list --long' shows.")
    }
  }

  func run(_ output: Output) async throws {
    let changes = try content.changes(kind, words: namesReading ? [] : words)
    var fields = changes.applied(to: RecordFields())
    guard !fields.values.isEmpty else {
      throw Failure(
        .usage, "\(kind.rawValue): there is nothing to keep; give \(content(of: kind)) or a --note")
    }
    try content.checkTime(storeOptions, output)
    // A reading or an entry that the record names must exist, so the store must exist as well.
    let namesOthers = namesReading || content.entry != nil
    let store = try namesOthers ? storeOptions.open(.editor) : storeOptions.openOrCreate(.editor, output)
    let zone = try store.timezone()
    if namesReading { fields["reading"] = .text(try reading(store).identity.text) }
    let (time, placement) = TimeArgument.now.placedTime(zone: zone, now: Host.now())
    var draft = RecordDraft(kind: kind, at: time, placement: placement, fields: fields)
    try content.setTimeAndEntry(of: &draft, in: store, zone: zone)
    let edit = try RecordEditor(store, at: Host.now()).add(draft, guid: Host.randomUUID())
    for edit in try await pushOption.attempt([edit], in: store, storeOptions, output, isQuiet: result.quiet) {
      try result.show("added", edit, store, output)
    }
  }

  /// Whether the words for this kind of record are only the id of a reading, as for an annotation.
  private var namesReading: Bool { if case .reading? = kind.details?.typing { true } else { false } }

  private func content(of kind: RecordKind) -> String {
    switch kind.details?.typing {
    case .reading: "a text"
    case .text: "its text"
    case .amounts, .command, .statement, nil: "an amount"
    }
  }

  private func reading(_ store: Store) throws -> StoredReading {
    guard let reading = try store.reading(at: words[0]) else {
      throw Failure(
        .missingInput,
        "\(displayed(words[0])): no such reading; 'glucoport list --long' shows the ids")
    }
    return reading
  }
}

/// Lets `record add` read the kind of a record from its name.
extension RecordKind: ExpressibleByArgument {
  /// The kind with this name; nil if people cannot add records of it.
  public init?(argument: String) {
    guard let kind = RecordKind(rawValue: argument), kind.details?.isTyped == true else { return nil }
    self = kind
  }

  /// The names of the kinds that a person can add.
  public static var allValueStrings: [String] {
    RecordKindDescription.all.filter(\.isTyped).map(\.kind.rawValue)
  }
}

extension CompletionKind {
  /// Completes the kinds of records that a person can add.
  static var recordKinds: CompletionKind { .list(RecordKind.allValueStrings) }
}
