// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import LogbookStore

/// `glucoport conflict list`: shows the records that need a decision.
struct ConflictListCommand: ClassifiedCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the records in conflict.",
    discussion: helpText(
      examples: "glucoport conflict list",
      "glucoport conflict list --json"))

  @OptionGroup var storeOptions: StoreOptions

  @Flag(help: "Print one JSON object per line.")
  var json = false

  func run() throws {
    let output = Output()
    for conflict in try RecordResolver(storeOptions.open(.reader)).conflicts() {
      try output.result(asJSON: json, ConflictObject(conflict), orLines: [ConflictText.line(conflict)])
    }
    try output.finish()
  }
}
