// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logbook
import LogbookStore

/// The values of `--keep`.
enum KeptSide: String, ExpressibleByArgument, CaseIterable {
  case mine, theirs, both, newer
}

/// `glucoport conflict resolve`: resolves one conflict with an edit, which a later upload sends.
struct ConflictResolveCommand: ClassifiedCommand {
  static let actionClass = ActionClass.deferrable
  static let configuration = CommandConfiguration(
    commandName: "resolve", abstract: "Resolve a conflict.",
    discussion: helpText(
      "Clocks are compared only with --keep newer.",
      examples: "glucoport conflict resolve 8120 --keep mine",
      "glucoport conflict resolve 8120 --edit"))

  @OptionGroup var storeOptions: StoreOptions

  @Argument(help: "The id of the record, or its first characters.")
  var id: String

  @Option(
    help: ArgumentHelp(
      "mine, theirs, both (theirs as a separate record), or newer (the later edit, by the two clocks).",
      valueName: "side"))
  var keep: KeptSide?

  @Flag(help: "Edit the fields of both sides in $VISUAL or $EDITOR, and keep the result.")
  var edit = false

  @OptionGroup var result: RecordOutputOptions

  func validate() throws {
    if (keep != nil) == edit { throw ValidationError("Give --keep or --edit.") }
  }

  func run() throws {
    let output = Output()
    let store = try storeOptions.open(.resolver)
    let resolver = RecordResolver(store)
    let conflict = try resolver.conflict(of: store.record(named: id).guid)
    guard let resolution = try resolution(of: conflict) else {
      output.message("glucoport: \(conflict.guid): the file was not changed, so the conflict is not resolved")
      throw ExitStatus.conflicts
    }
    let edit = try resolver.resolve(conflict, resolution, at: Host.now())
    try result.show("resolved", edit, store, output)
    if case .both(let copy) = resolution {
      try result.show("added", RecordEdit(record: store.record(named: copy), edits: 1), store, output)
    }
    try output.finish()
  }

  /// The person's decision; nil for none.
  private func resolution(of conflict: RecordConflict) throws -> Resolution? {
    switch keep {
    case .mine: return .mine
    case .theirs: return .theirs
    case .both: return .both(guid: Host.randomUUID())
    case .newer: return try conflict.newer()
    case nil:
      // Check before the person types fields that would be refused.
      try conflict.check(.fields(RecordFields()))
      let sheet = ConflictSheet(conflict)
      let text = try TextEditor.edit(sheet.text, name: "conflict.json")
      return try sheet.fields(from: text).map(Resolution.fields)
    }
  }
}
