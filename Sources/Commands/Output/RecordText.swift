// SPDX-License-Identifier: Apache-2.0

import Foundation
import LogbookStore

/// A record in one line for people.
enum RecordText {
  static func summary(_ record: StoredRecord) -> String {
    let object: [String: Any]?
    do {
      object = try JSONSerialization.jsonObject(with: Data(record.fields.utf8)) as? [String: Any]
    } catch {
      // The store's own check knows JSON that Foundation refuses, such as nesting a thousand deep: shown as it stands.
      object = nil
    }
    guard let object else { return record.fields }
    let parts = object.keys.sorted(by: precedes).map { name in part(name, object[name]) }
    return parts.joined(separator: " · ")
  }

  private static let order = ["units", "carbs", "minutes", "subtype", "text", "tags"]
  private static let units = ["units": "U", "carbs": "g", "minutes": "min", "rate": "U/h"]

  private static func precedes(_ left: String, _ right: String) -> Bool {
    (order.firstIndex(of: left) ?? order.count, left) < (order.firstIndex(of: right) ?? order.count, right)
  }

  private static func part(_ name: String, _ value: Any?) -> String {
    let text =
      switch value {
      case let words as [Any]: words.map { "\($0)" }.joined(separator: ", ")
      case let value?: "\(value)"
      case nil: ""
      }
    if let unit = units[name] { return "\(text) \(unit)" }
    return ["subtype", "text", "tags"].contains(name) ? text : "\(name) \(text)"
  }
}
