// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Writes the complete commands that a refusal suggests, quoted for a shell.
struct ImportHint {
  /// The options so far, with the name of the input.
  var options: ExportOptions

  /// The command that imports the input with these options.
  var command: String {
    var words = options.commandStart
    func add(_ option: String, _ value: String?) {
      if let value { words += " --\(option) \(value.shellWord)" }
    }
    if options.columns.isEmpty { add("format", options.format) }
    if !options.columns.isEmpty {
      let order = Dictionary(uniqueKeysWithValues: GenericRole.allCases.map { ($0.name, $0.rawValue) })
      let pairs = options.columns.sorted { order[$0.key] ?? .max < order[$1.key] ?? .max }
      add("map", ColumnPairs.text(pairs.map { ($0.key, $0.value) }))
    }
    for row in options.rows { add("where", ColumnPairs.text([(row.column, row.value)])) }
    add("kind", options.kind?.name)
    add("unit", options.unit?.name)
    add("date-order", options.dateOrder)
    if options.zoneIsGiven { add("timezone", options.zone.name) }
    add("device", options.device)
    if options.force { words += " --force" }
    let name = options.inputName
    // A name that begins like an option would be read as one.
    return words + " " + (name != "-" && name.hasPrefix("-") ? "./\(name)" : name).shellWord
  }

  /// The command with each of these changes, one per line, for the end of a sentence with a colon.
  func lines(_ changes: [(inout ExportOptions) -> Void]) -> String {
    changes.map { change in
      var changed = self
      change(&changed.options)
      return "\n  " + changed.command
    }.joined()
  }
}
