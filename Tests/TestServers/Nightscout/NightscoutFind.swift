// SPDX-License-Identifier: Apache-2.0

import Foundation

/// One condition of a query by v1: `find[field][$operator]=value`.
struct NightscoutFind {
  /// Fields whose conditions keep a query from being cut to the last days.
  static let bounding = ["_id", "date", "dateString", "sysTime", "created_at"]

  let field: String
  var comparison = "$eq"
  let value: String

  static func conditions(_ call: NightscoutCall) -> [NightscoutFind] {
    call.query.compactMap { name, value in
      let parts = name.split { $0 == "[" || $0 == "]" }.map(String.init)
      guard parts.count > 1, parts[0] == "find" else { return nil }
      return NightscoutFind(field: parts[1], comparison: parts.count > 2 ? parts[2] : "$eq", value: value)
    }
  }

  func takes(_ document: NightscoutDocument) -> Bool {
    let stored = document[field]
    if comparison == "$exists" { return (stored != nil) == (value == "true") }
    if comparison == "$ne" { return !isEqual(stored) }
    guard let stored else { return false }
    switch comparison {
    case "$gt", "$gte", "$lt", "$lte": return isOrdered(stored)
    case "$in": return value.split(separator: "|").contains { stored.text == String($0) }
    case "$regex": return stored.text?.range(of: value, options: .regularExpression) != nil
    default: return isEqual(stored)
    }
  }

  private func isEqual(_ stored: DocumentValue?) -> Bool {
    switch stored {
    case .number(let number)?: Double(value) == number
    case .bool(let bool)?: Bool(value) == bool
    case .string(let text)?: text == value
    default: false
    }
  }

  private func isOrdered(_ stored: DocumentValue) -> Bool {
    let limit = stored.number == nil ? DocumentValue.string(value) : Double(value).map(DocumentValue.number)
    guard let limit else { return false }
    let order = NightscoutFilter.order(stored, limit)
    switch comparison {
    case "$gt": return order > 0
    case "$gte": return order >= 0
    case "$lt": return order < 0
    default: return order <= 0
    }
  }
}
