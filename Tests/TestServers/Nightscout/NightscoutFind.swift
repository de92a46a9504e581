// SPDX-License-Identifier: Apache-2.0

/// The conditions of a query in API v1: `find[field][$operator]=value`. A document must meet all of them.
struct NightscoutFind {
  /// The error for an invalid time.
  struct BadTime: Error {}

  private static let fourDays: Int64 = 4 * 86_400_000
  private static let wholeNumbers = [
    "entries": ["date", "sgv", "filtered", "unfiltered", "rssi", "noise", "mbg"],
    "treatments": ["insulin", "carbs", "glucose"],
  ]
  private static let patterns = ["treatments": ["notes", "eventType", "enteredBy"], "entries": []]

  let conditions: [NightscoutCondition]
  /// The database key that the query requests; nil if the query does not request a single key.
  let id: String?

  /// Reads the conditions of a query. If it has no condition on the time, only the last four days are
  /// searched.
  init(_ sent: NightscoutDocument, in collection: String, at now: Int64) throws {
    var find = sent
    for field in Self.wholeNumbers[collection] ?? [] { find[field] = find[field].map(Self.whole) }
    let timeField = collection == "entries" ? "date" : "created_at"
    if !JavaScriptNumber.isTruthy(find["_id"]) {
      if let time = find[timeField] {
        find[timeField] = try Self.times(time)
      } else if find["dateString"] == nil {
        let start = now - Self.fourDays
        let bound = timeField == "date" ? DocumentValue(start) : .string(NightscoutTime.iso(start))
        find[timeField] = ["$gte": bound]
      }
    }
    id = find["_id"]?.text.flatMap { NightscoutState.isKey($0) ? $0.lowercased() : nil }
    conditions = try find.map { field, value in
      if field == "_id", let text = value.text { return Self.keyed(text) }
      if Self.patterns[collection]?.contains(field) == true, let pattern = try Self.pattern(value) {
        return NightscoutCondition(field, [pattern])
      }
      return try NightscoutCondition(field, raw: value)
    }
  }

  /// A condition on the `_id`; if the text is a UUID, a condition on the `identifier`.
  private static func keyed(_ text: String) -> NightscoutCondition {
    if NightscoutState.isKey(text) { return NightscoutCondition("_id", [.equal(.id(text.lowercased()))]) }
    return NightscoutCondition(isUUID(text) ? "identifier" : "_id", [.equal(.string(text))])
  }

  static func isUUID(_ text: String) -> Bool {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    return parts.map(\.count) == [8, 4, 4, 4, 12] && parts.allSatisfy { $0.allSatisfy(\.isHexDigit) }
  }

  /// Converts a text to the integer at its start.
  private static func whole(_ value: DocumentValue) -> DocumentValue {
    switch value {
    case .string(let text): .number(JavaScriptNumber.leadingInteger(text) ?? .nan)
    case .object(let object): .object(object.mapValues(whole))
    case .array(let items): .array(items.map(whole))
    default: value
    }
  }

  /// Converts time bounds to UTC. The site reads a time without an operator as single characters, and fails
  /// because some of them are not times.
  private static func times(_ value: DocumentValue) throws -> DocumentValue {
    switch value {
    case .object(let bounds):
      return .object(
        try bounds.mapValues { bound in
          guard let text = bound.text, JavaScriptNumber.of(text).isNaN else {
            if bound.number?.isNaN == true { throw BadTime() }
            return bound
          }
          guard let time = NightscoutTime.parse(text.replacing(" ", with: "+", maxReplacements: 1)) else {
            throw BadTime()
          }
          return .string(NightscoutTime.iso(time.milliseconds))
        })
    case .string: throw BadTime()
    default: return value
    }
  }

  /// A regular expression that is written as `/pattern/i`; nil for any other value.
  private static func pattern(_ value: DocumentValue) throws -> NightscoutCondition.Test? {
    guard case .string(let text) = value, let start = text.firstIndex(of: "/"),
      let end = text.lastIndex(of: "/"), start < end
    else { return nil }
    let flags = text[text.index(after: end)...]
    let pattern = String(text[text.index(after: start)..<end])
    return try NightscoutCondition.pattern(pattern, ignoringCase: flags.contains("i"))
  }
}
