// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Writes the complete commands that a refusal suggests, quoted for a shell.
struct ImportHint {
  /// The options of the import that failed, with the name of the input.
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
    // A name that begins with a hyphen would be read as an option.
    return words + " " + (name != "-" && name.hasPrefix("-") ? "./\(name)" : name).shellWord
  }

  /// One command for each change of the options, each on its own line. The text follows a sentence that ends
  /// with a colon.
  func lines(_ changes: [(inout ExportOptions) -> Void]) -> String {
    changes.map { change in
      var changed = self
      change(&changed.options)
      return "\n  " + changed.command
    }.joined()
  }
}

/// The notation for columns on the command line: `time=ts,value=mgdl`. After a backslash, a comma, an equals
/// sign or another backslash is part of a name.
package enum ColumnPairs {
  /// The pairs in the text; nil if an item between commas is not a pair, or its name or value is empty.
  package static func parse(_ text: String) -> [(name: String, value: String)]? {
    var pairs: [(name: String, value: String)] = []
    var pair = (name: "", value: "")
    var (isValue, isEscaped) = (false, false)
    for character in text + "," {
      if !isEscaped {
        switch character {
        case "\\":
          isEscaped = true
          continue
        case "=" where !isValue:
          isValue = true
          continue
        case ",":
          guard !pair.name.isEmpty, !pair.value.isEmpty else { return nil }
          pairs.append(pair)
          (pair, isValue) = (("", ""), false)
          continue
        default: break
        }
      }
      isEscaped = false
      if isValue { pair.value.append(character) } else { pair.name.append(character) }
    }
    // If the text ends with a backslash, the comma added to it became part of a name or value, so the text is
    // invalid.
    return isValue || !pair.name.isEmpty ? nil : pairs
  }

  /// The pairs as text in the notation that `parse` reads.
  package static func text(_ pairs: [(name: String, value: String)]) -> String {
    pairs.map { "\(escaped($0.name, "\\,="))=\(escaped($0.value, "\\,"))" }.joined(separator: ",")
  }

  private static func escaped(_ text: String, _ signs: String) -> String {
    text.reduce(into: "") { $0 += (signs.contains($1) ? "\\" : "") + String($1) }
  }
}
