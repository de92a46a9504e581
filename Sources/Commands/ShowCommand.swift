// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import LogbookStore

/// `glucoport show`: everything about one reading or record.
struct ShowCommand: ClassifiedCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Show everything about one reading or record.",
    discussion: helpText(
      """
      'list --long' shows the ids. The id of a record may be shortened to its first \
      characters.
      """,
      examples: "glucoport show 8120",
      "glucoport show 8a0c --save lab-report.pdf"))

  @OptionGroup var storeOptions: StoreOptions

  @Argument(help: "The id of a reading or record.")
  var id: String

  @Flag(help: "Print one JSON object.")
  var json = false

  @Option(
    help: ArgumentHelp(
      "Write the content of an attachment to this file; - is standard output.", valueName: "file"))
  var save: PathArgument?

  @Flag(help: "With --save: replace an existing file.")
  var force = false

  func validate() throws {
    if save == nil, force { throw ValidationError("--force needs --save.") }
    if save != nil, json {
      throw ValidationError("Use only one of --save and --json.")
    }
    if save?.path == "" { throw ValidationError("--save needs the name of a file.") }
  }

  func run() throws {
    let output = Output()
    if let save {
      try AttachmentSaving(options: storeOptions, target: save.path, replaces: force).save(id, output)
      return try output.finish()
    }
    let store = try storeOptions.open(.reader)
    let item: StoredItem =
      if let reading = try store.reading(at: id) { .reading(reading) } else {
        .record(try store.record(named: id))
      }
    try ItemDetails(store).write(item, asJSON: json, output)
    try output.finish()
  }
}
