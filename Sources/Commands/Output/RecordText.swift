// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore

/// A record in one line of text.
enum RecordText {
  static func summary(_ record: StoredRecord) -> String { summary(record.kind, fields: record.fields) }

  /// The same from its parts.
  static func summary(_ kind: RecordKind, fields json: String) -> String {
    let values: [String: FieldValue]
    do {
      values = try RecordFields(uncheckedJSON: json).values
    } catch {
      // Other programs may write fields that glucoport does not. They are shown unchanged.
      return json
    }
    if kind == .attachment, values["name"] != nil { return AttachmentText.summary(values) }
    let fields = kind.fields
    let described = fields.compactMap { field in values[field.name].map { part(field.name, field.label, $0) }
    }
    // Other programs may write fields that this kind does not have here.
    let others = values.filter { name, _ in !fields.contains { $0.name == name } }.sorted { $0.key < $1.key }
    return (described + others.map { part($0.key, .name, $0.value) }).joined(separator: " · ")
  }

  private static func part(_ name: String, _ label: RecordField.Label, _ value: FieldValue) -> String {
    if case .flag(let isSet) = value { return isSet ? name : "not \(name)" }
    let text = text(value)
    switch label {
    case .plain: return text
    case .name: return "\(name) \(text)"
    case .unit(let unit): return "\(text) \(unit)"
    case .count(let one, let many): return "\(text) \(value == .number(1) ? one : many)"
    }
  }

  private static func text(_ value: FieldValue) -> String {
    switch value {
    case .number(let number): plainNumber(number)
    case .text(let text): text
    case .flag(let isSet): String(isSet)
    case .words(let words): words.joined(separator: ", ")
    }
  }
}
