// SPDX-License-Identifier: Apache-2.0

public import ArgumentParser
import CommandParts
public import Logbook
import LogbookStore

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
