// SPDX-License-Identifier: Apache-2.0

/// The conditions of a search in API v3: `field$operator=value`. If a search has several conditions on one
/// field, only the last one is used.
enum NightscoutFilter {
  private static let reserved = ["token", "sort", "sort$desc", "limit", "skip", "fields", "now"]
  private static let operators = ["eq", "ne", "gt", "gte", "lt", "lte", "in", "nin", "re"]
  private static let times = ["date", "srvModified", "srvCreated"]

  static func conditions(_ query: NightscoutQuery) throws(NightscoutAnswer) -> [NightscoutCondition] {
    var conditions: [String: NightscoutCondition] = [:]
    for name in query.names where !reserved.contains(name) {
      guard let sent = query[name] else { continue }
      let (field, comparison) = parts(of: name)
      guard operators.contains(comparison) else {
        throw .error(400, "Unsupported filter operator \(comparison)")
      }
      let value = typed(sent, field)
      do {
        conditions[field] = try condition(field, comparison, value)
      } catch {
        throw .databaseError
      }
    }
    // A search always shows valid documents only.
    conditions["isValid"] = NightscoutCondition("isValid", [.unequal(false)])
    return Array(conditions.values)
  }

  /// The field and the operator in a parameter's name. The operator follows the last dollar sign before
  /// letters.
  private static func parts(of name: String) -> (String, String) {
    var rest = name[...]
    while let dollar = rest.lastIndex(of: "$") {
      let letters = name[name.index(after: dollar)...].prefix { $0.isASCII && $0.isLetter }
      if !letters.isEmpty { return (String(name[..<dollar]), String(letters)) }
      rest = name[..<dollar]
    }
    return (name, "eq")
  }

  private static func condition(
    _ field: String, _ comparison: String, _ value: DocumentValue
  ) throws -> NightscoutCondition {
    switch comparison {
    case "eq": try NightscoutCondition(field, raw: value)
    case "ne": NightscoutCondition(field, [.unequal(value)])
    case "in": NightscoutCondition(field, [.among(listed(value))])
    case "nin": NightscoutCondition(field, [.notAmong(listed(value))])
    case "re": NightscoutCondition(field, [try NightscoutCondition.pattern(plain(value))])
    default: NightscoutCondition(field, [.ordered(comparison, value)])
    }
  }

  /// The values of a list that are separated by `|`. These values stay texts, so a stored number never
  /// equals one of them.
  private static func listed(_ value: DocumentValue) -> [DocumentValue] {
    plain(value).split(separator: "|", omittingEmptySubsequences: false).map { .string(String($0)) }
  }

  private static func plain(_ value: DocumentValue) -> String {
    switch value {
    case .string(let text), .id(let text): text
    case .array(let items): items.map(plain).joined(separator: ",")
    default: value.json
    }
  }

  /// Converts a text that looks like a number or a Boolean, and removes single quotes around a text.
  private static func typed(_ sent: DocumentValue, _ field: String) -> DocumentValue {
    var value = sent
    if case .string(let text) = sent {
      if let number = JavaScriptNumber.whole(text) {
        value = .number(number)
      } else if text == "true" || text == "false" {
        value = .bool(text == "true")
      } else if text.count > 1, text.hasPrefix("'"), text.hasSuffix("'") {
        value = .string(String(text.dropFirst().dropLast()))
      }
    }
    let isText = field == "created_at"
    guard isText || times.contains(field), let time = NightscoutShape.instant(value)?.milliseconds else {
      return value
    }
    return isText ? .string(NightscoutTime.iso(time)) : DocumentValue(time)
  }
}
