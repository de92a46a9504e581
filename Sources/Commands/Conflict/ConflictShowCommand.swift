// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import LogbookStore

/// `glucoport conflict show`: both sides of one conflict, part by part.
struct ConflictShowCommand: ClassifiedCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Show what differs in a conflict.",
    discussion: helpText(
      examples: "glucoport conflict show 8120",
      "glucoport conflict show 8120 --json"))

  @OptionGroup var storeOptions: StoreOptions

  @Argument(help: "The id of the record, or its first characters.")
  var id: String

  @Flag(help: "Print one JSON object.")
  var json = false

  func run() throws {
    let output = Output()
    let store = try storeOptions.open(.reader)
    let conflict = try RecordResolver(store).conflict(of: store.record(named: id).guid)
    try output.result(asJSON: json, ConflictSidesObject(conflict), orLines: ConflictText.lines(conflict))
    try output.finish()
  }
}
