// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logbook
import LogbookStore

/// How a command prints the result for a record.
struct RecordOutputOptions: ParsableArguments {
  @Flag(help: "Print the record as one JSON object.")
  var json = false

  @Flag(help: "Print nothing on success.")
  var quiet = false

  func validate() throws {
    if json, quiet { throw ValidationError("Use only one of --json and --quiet.") }
  }

  /// Prints the result for a record: one line, or the object of `show --json`.
  func show(_ done: String, _ edit: RecordEdit, _ store: Store, _ output: Output) throws {
    if quiet { return }
    if json { return try ItemDetails(store).write(.record(edit.record), asJSON: true, output) }
    let table = TableWriter(output: output, unit: nil, isLong: false)
    let children = edit.edits > 1 ? " and \(grouped(edit.edits - 1)) that belong to it" : ""
    output.line("\(edit.edits == 0 ? "unchanged" : done): \(table.line(.record(edit.record)))\(children)")
  }
}
