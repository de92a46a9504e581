// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookAPI
import LogbookStore

/// A record in one line for people.
enum RecordText {
  static func summary(_ record: StoredRecord) -> String {
    let values: [String: FieldValue]
    do {
      values = try RecordWire.fields(record.fields).values
    } catch {
      // Other programs may write fields that glucoport does not; they are shown as they stand.
      return record.fields
    }
    if record.kind == .attachment, values["name"] != nil { return AttachmentText.summary(values) }
    return values.sorted { precedes($0.key, $1.key) }.map(part).joined(separator: " · ")
  }

  private static let order = ["units", "carbs", "servings", "minutes", "subtype", "text", "tags"]
  private static let units = [
    "units": "U", "carbs": "g", "servings": "servings", "minutes": "min", "rate": "U/h",
  ]

  private static func precedes(_ left: String, _ right: String) -> Bool {
    (order.firstIndex(of: left) ?? order.count, left) < (order.firstIndex(of: right) ?? order.count, right)
  }

  private static func part(_ name: String, _ value: FieldValue) -> String {
    let text =
      switch value {
      case .number(let number): plainNumber(number)
      case .text(let text): text
      case .flag(let isSet): isSet ? name : "not \(name)"
      case .words(let words): words.joined(separator: ", ")
      }
    if case .flag = value { return text }
    if name == "servings", value == .number(1) { return "1 serving" }
    if let unit = units[name] { return "\(text) \(unit)" }
    return ["subtype", "text", "tags"].contains(name) ? text : "\(name) \(text)"
  }
}
