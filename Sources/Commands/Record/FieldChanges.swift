// SPDX-License-Identifier: Apache-2.0

import Formats
import Logbook

/// The changes of a record's fields from the command line. A nil value removes the field.
struct FieldChanges {
  private(set) var values: [String: FieldValue?] = [:]
  private let kind: RecordKind

  init(_ kind: RecordKind) { self.kind = kind }

  /// Sets a field from its text.
  ///
  /// - Throws: `Failure` of category `usage`, also for a field that this kind does not have.
  mutating func set(_ name: String, to text: String) throws {
    let fields = kind.fields.filter(\.isSettable)
    guard let field = fields.first(where: { $0.name == name }) else {
      let names = fields.map(\.name).joined(separator: ", ")
      throw Failure(.usage, "\(kind.rawValue) has no field '\(displayed(name))'; it has \(names)")
    }
    try set(name, to: try field.value(text))
  }

  /// Sets a field that has no text form.
  mutating func set(_ name: String, to value: FieldValue?) throws {
    guard values[name] == nil else { throw Failure(.usage, "\(name) is set twice") }
    values[name] = .some(value)
  }

  /// Sets fields from `field=value`.
  mutating func set(_ assignment: String) throws {
    guard let sign = assignment.firstIndex(of: "=") else {
      throw Failure(.usage, "--set needs field=value, not '\(displayed(assignment))'")
    }
    try set(String(assignment[..<sign]), to: String(assignment[assignment.index(after: sign)...]))
  }

  /// Sets fields from the words after the kind or the id: amounts with or without their units, or a note's
  /// text.
  mutating func set(words: [String]) throws {
    if words.isEmpty { return }
    switch kind.details?.typing {
    case .amounts: try set(amounts: words)
    case .text(let field): try set(field, to: words.joined(separator: " "))
    case .reading, .command, .statement, nil:
      throw Failure(
        .usage,
        "\(kind.rawValue) has no amount, so '\(displayed(words[0]))' has no meaning; use --note for a text")
    }
  }

  private mutating func set(amounts words: [String]) throws {
    // One word may have a number and its unit: '4.5 U', which the shell passes if it is quoted.
    var rest = words.flatMap { $0.split(separator: " ", omittingEmptySubsequences: false) }[...]
    while let word = rest.popFirst() {
      let number = word.prefix { $0.isNumber || $0 == "." || $0 == "," }
      let glued = word.dropFirst(number.count)
      let isUnit = glued.isEmpty && rest.first.map { $0.first?.isLetter ?? false } ?? false
      let unit = try unit(String(isUnit ? rest.removeFirst() : glued))
      let amount = try unit.field.number(String(number.isEmpty ? word : number))
      try set(unit.field.name, to: .number(amount * unit.factor))
    }
  }

  /// The fields after the changes.
  func applied(to fields: RecordFields) -> RecordFields {
    var fields = fields
    for (name, value) in values { fields[name] = value }
    return fields
  }

  /// The field and the factor of a unit; the first unit if a person gives none.
  private func unit(_ word: String) throws -> (field: RecordField, word: String, factor: Double) {
    let units = kind.fields.flatMap { field in
      field.units.map { (field: field, word: $0.word, factor: $0.factor) }
    }
    guard let unit = word.isEmpty ? units.first : units.first(where: { $0.word == word }) else {
      throw Failure(.usage, refusal(ofUnit: word, units: units.map(\.word)))
    }
    return unit
  }

  /// The error for a word that is not a unit, with its probable meaning.
  private func refusal(ofUnit word: String, units: [String]) -> String {
    if kind.details?.subtypes.contains(word) == true {
      return "'\(word)' is a subtype of \(kind.rawValue); write --subtype \(word)"
    }
    return
      "'\(displayed(word))' is not a unit of \(kind.rawValue), which has \(alternatives(units)); for a text write --note \(word.shellWord)"
  }
}
