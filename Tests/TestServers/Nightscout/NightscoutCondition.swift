// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A condition of a database query on one field of a document.
struct NightscoutCondition {
  /// One comparison with the value in a document.
  enum Test {
    case equal(DocumentValue)
    case unequal(DocumentValue)
    case ordered(String, DocumentValue)
    case among([DocumentValue])
    case notAmong([DocumentValue])
    case matching(NSRegularExpression)
    case present(Bool)
  }

  /// The error for an invalid pattern, or an operator that the database does not know.
  struct Refused: Error {}

  let field: String
  private let path: [String]
  private let tests: [Test]

  init(_ field: String, _ tests: [Test]) {
    self.field = field
    path = field.split(separator: ".").map(String.init)
    self.tests = tests
  }

  /// Reads a condition in the notation of the database. An object of operators contains several comparisons.
  init(_ field: String, raw value: DocumentValue) throws {
    let object = value.object ?? [:]
    let hasOperators = !object.isEmpty && object.keys.allSatisfy { $0.hasPrefix("$") }
    self.init(field, hasOperators ? try object.map { try Self.test($0.key, $0.value) } : [.equal(value)])
  }

  /// The first comparison by order (`gt`, `gte`, `lt`, `lte`); nil without one.
  var bound: (comparison: String, value: DocumentValue)? {
    for case .ordered(let comparison, let value) in tests { return (comparison, value) }
    return nil
  }

  func takes(_ document: NightscoutDocument) -> Bool {
    let stored = path.count == 1 ? document[field] : nil
    let values = path.count == 1 ? stored.map { [$0] } ?? [] : Self.values(.object(document), path[...])
    return tests.allSatisfy { Self.passes($0, values) }
  }

  static func pattern(_ text: String, ignoringCase: Bool = false) throws -> Test {
    let options: NSRegularExpression.Options = ignoringCase ? [.caseInsensitive] : []
    do { return .matching(try NSRegularExpression(pattern: text, options: options)) } catch {
      throw Refused()
    }
  }

  private static func test(_ name: String, _ value: DocumentValue) throws -> Test {
    switch name {
    case "$eq": .equal(value)
    case "$ne": .unequal(value)
    case "$gt", "$gte", "$lt", "$lte": .ordered(String(name.dropFirst()), value)
    case "$in": .among(value.array ?? [value])
    case "$nin": .notAmong(value.array ?? [value])
    case "$regex": try pattern(value.text ?? "")
    case "$exists": .present(JavaScriptNumber.isTruthy(value) && value != "false")
    default: throw Refused()
    }
  }

  private static func passes(_ test: Test, _ stored: [DocumentValue]) -> Bool {
    switch test {
    case .equal(let value): isEqual(stored, value)
    case .unequal(let value): !isEqual(stored, value)
    case .ordered(let comparison, let value): each(stored).contains { isOrdered($0, comparison, value) }
    case .among(let values): values.contains { isEqual(stored, $0) }
    case .notAmong(let values): !values.contains { isEqual(stored, $0) }
    case .matching(let pattern): each(stored).contains { matches($0, pattern) }
    case .present(let isPresent): stored.isEmpty != isPresent
    }
  }

  /// Whether a stored value equals `value`. A stored list is compared as a whole and by each of its items. A
  /// missing value equals null.
  private static func isEqual(_ stored: [DocumentValue], _ value: DocumentValue) -> Bool {
    stored.isEmpty ? value == .null : each(stored).contains(value)
  }

  private static func each(_ stored: [DocumentValue]) -> [DocumentValue] {
    stored.contains { $0.array != nil } ? stored.flatMap { [$0] + ($0.array ?? []) } : stored
  }

  private static func matches(_ stored: DocumentValue, _ pattern: NSRegularExpression) -> Bool {
    guard case .string(let text) = stored else { return false }
    return pattern.firstMatch(in: text, range: NSRange(text.startIndex..., in: text)) != nil
  }

  /// Whether a stored value meets a comparison such as `gt`. Numbers are compared only with numbers, and
  /// texts only with texts.
  private static func isOrdered(_ stored: DocumentValue, _ comparison: String, _ value: DocumentValue) -> Bool
  {
    guard rank(stored) == rank(value) else { return false }
    if let number = value.number, number.isNaN { return false }
    let order = order(stored, value)
    switch comparison {
    case "gt": return order > 0
    case "gte": return order >= 0
    case "lt": return order < 0
    default: return order <= 0
    }
  }

  /// The values at a dotted path, which the database follows into each item of an array.
  private static func values(_ value: DocumentValue?, _ path: ArraySlice<String>) -> [DocumentValue] {
    if let items = value?.array, !path.isEmpty { return items.flatMap { values($0, path) } }
    guard let name = path.first else { return value.map { [$0] } ?? [] }
    return values(value?[name], path.dropFirst())
  }

  /// Compares two values in the database's order: missing values, numbers, texts, objects, lists, database
  /// keys, Booleans.
  static func order(_ left: DocumentValue?, _ right: DocumentValue?) -> Int {
    switch (left, right) {
    case (.number(let left)?, .number(let right)?): left < right ? -1 : left > right ? 1 : 0
    case (.string(let left)?, .string(let right)?), (.id(let left)?, .id(let right)?):
      left == right ? 0 : left.utf8.lexicographicallyPrecedes(right.utf8) ? -1 : 1
    case (.bool(let left)?, .bool(let right)?): (left ? 1 : 0) - (right ? 1 : 0)
    default: rank(left) - rank(right)
    }
  }

  static func rank(_ value: DocumentValue?) -> Int {
    switch value {
    case nil, .null: 0
    case .number: 1
    case .string: 2
    case .object: 3
    case .array: 4
    case .id: 5
    case .bool: 6
    }
  }
}
