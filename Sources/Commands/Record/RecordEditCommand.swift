// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logbook
import LogbookStore

/// `glucoport record edit`: changes the content of a record.
struct RecordEditCommand: AsyncParsableCommand, ClassifiedCommand {
  static let actionClass = ActionClass.deferrable
  static let configuration = CommandConfiguration(
    commandName: "edit", abstract: "Change a record.",
    discussion: helpText(
      "Other fields do not change. An edit that changes nothing is not counted.",
      examples: "glucoport record edit 8120 50 g",
      "glucoport record edit 8120 --at 19:00 --note 'soup and bread'"))

  @OptionGroup var storeOptions: StoreOptions

  @Argument(help: "The id of the record, or its first characters.")
  var id: String

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

  func run() async throws {
    let output = Output()
    let store = try storeOptions.open(.editor)
    let record = try store.record(named: id)
    let zone = try store.timezone()
    try content.checkTime(storeOptions, output)
    let changes = try content.changes(record.kind, words: words)
    // The entry is looked up before the edit's transaction; the fields are changed inside it.
    var placed = RecordDraft(
      kind: record.kind, at: record.deviceTime, placement: record.placement, fields: RecordFields())
    try content.place(&placed, in: store, zone: zone)
    let edit = try RecordEditor(store, at: Host.now()).edit(record.guid) { draft in
      draft.fields = changes.applied(to: draft.fields)
      if content.at != nil { (draft.deviceTime, draft.placement) = (placed.deviceTime, placed.placement) }
      if content.entry != nil { draft.entryGuid = placed.entryGuid }
      guard changes.values.isEmpty || !draft.fields.values.isEmpty else {
        throw Failure(
          .usage, "\(record.guid): the record would be empty; to delete it: 'glucoport record delete'")
      }
    }
    for edit in try await pushOption.attempt([edit], in: store, storeOptions, output, isQuiet: result.quiet) {
      try result.show("edited", edit, store, output)
    }
    try output.finish()
  }
}
