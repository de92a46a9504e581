// SPDX-License-Identifier: Apache-2.0

import Foundation

/// One condition of a search by v3: `field$operator=value`.
struct NightscoutFilter {
  private static let reserved = ["sort", "sort$desc", "limit", "skip", "fields", "token", "secret", "now"]
  private static let operators = ["eq", "ne", "gt", "gte", "lt", "lte", "in", "nin", "re"]
  private static let times = ["date", "srvModified", "srvCreated"]

  let field: String
  let comparison: String
  let value: DocumentValue

  static func filters(_ call: NightscoutCall) throws(NightscoutAnswer) -> [NightscoutFilter] {
    var filters: [NightscoutFilter] = []
    for (name, value) in call.query where !reserved.contains(name) {
      let parts = name.split(separator: "$", maxSplits: 1).map(String.init)
      let comparison = parts.count > 1 ? parts[1] : "eq"
      guard let field = parts.first, operators.contains(comparison) else {
        throw .error(400, "Unsupported filter operator \(comparison)")
      }
      let isText = ["in", "nin", "re"].contains(comparison)
      filters.append(
        NightscoutFilter(
          field: field, comparison: comparison, value: isText ? .string(value) : typed(value, field)))
    }
    return filters
  }

  func takes(_ document: NightscoutDocument) -> Bool {
    let path = field.split(separator: ".").map(String.init)
    guard path.count == 1 else {
      return comparison == "eq" && Self.values(.object(document), path[...]).contains(value)
    }
    let stored = document[field]
    switch comparison {
    case "eq": return stored == value
    case "ne": return stored != value
    case "in": return isListed(stored)
    case "nin": return !isListed(stored)
    case "re": return stored?.text?.range(of: value.text ?? "", options: .regularExpression) != nil
    default: return isOrdered(stored)
    }
  }

  /// What stands at a dotted path, which the database follows into each item of an array.
  private static func values(_ value: DocumentValue?, _ path: ArraySlice<String>) -> [DocumentValue] {
    if let items = value?.array { return items.flatMap { values($0, path) } }
    guard let name = path.first else { return value.map { [$0] } ?? [] }
    return values(value?[name], path.dropFirst())
  }

  /// The database's order of values: nothing, numbers, texts, truths.
  static func order(_ left: DocumentValue?, _ right: DocumentValue?) -> Int {
    switch (left, right) {
    case (.number(let left)?, .number(let right)?): left < right ? -1 : left > right ? 1 : 0
    case (.string(let left)?, .string(let right)?): left < right ? -1 : left > right ? 1 : 0
    default: rank(left) - rank(right)
    }
  }

  /// Numbers are compared with numbers only, texts with texts.
  private func isOrdered(_ stored: DocumentValue?) -> Bool {
    guard let stored, Self.rank(stored) == Self.rank(value) else { return false }
    let order = Self.order(stored, value)
    switch comparison {
    case "gt": return order > 0
    case "gte": return order >= 0
    case "lt": return order < 0
    default: return order <= 0
    }
  }

  /// The list holds texts, so that a number is never in it.
  private func isListed(_ stored: DocumentValue?) -> Bool {
    guard let text = stored?.text else { return false }
    return (value.text ?? "").split(separator: "|").contains { $0 == text }
  }

  private static func rank(_ value: DocumentValue?) -> Int {
    switch value {
    case nil, .null: 0
    case .number: 1
    case .string: 2
    case .object: 3
    case .array: 4
    case .bool: 5
    }
  }

  /// Values lose their type: what looks like a truth or a number becomes one, and quotes go.
  private static func typed(_ text: String, _ field: String) -> DocumentValue {
    if let number = Double(text) {
      return field == "created_at" ? .string(NightscoutTime.iso(Int64(number))) : .number(number)
    }
    if let truth = Bool(text) { return .bool(truth) }
    if text.count > 1, text.hasPrefix("'"), text.hasSuffix("'") {
      return .string(String(text.dropFirst().dropLast()))
    }
    guard let time = NightscoutTime.parse(text)?.milliseconds else { return .string(text) }
    if times.contains(field) { return DocumentValue(time) }
    return .string(field == "created_at" ? NightscoutTime.iso(time) : text)
  }
}
