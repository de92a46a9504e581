// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import LogbookStore

/// `glucoport show`: everything about one reading or record.
struct ShowCommand: ClassifiedCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Show everything about one reading or record.",
    discussion: "'list --long' shows the ids. Of a record's id its first characters are enough.")

  @OptionGroup var storeOptions: StoreOptions

  @Argument(help: "The id of a reading or record.")
  var id: String

  @Flag(help: "Print one JSON object.")
  var json = false

  @Option(
    help: ArgumentHelp(
      "Write the content of an attachment to this file; - is standard output.", valueName: "file"))
  var save: PathArgument?

  @Flag(help: "With --save: replace a file that is there.")
  var force = false

  func validate() throws {
    if save == nil, force { throw ValidationError("--force belongs to --save.") }
    if save != nil, json {
      throw ValidationError("--save writes a content and --json an object; choose one.")
    }
    if save?.path == "" { throw ValidationError("--save takes the name of a file.") }
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
