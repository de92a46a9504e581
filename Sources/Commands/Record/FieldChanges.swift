// SPDX-License-Identifier: Apache-2.0

import Formats
import Logbook

/// What the command line says of a record's fields: the value of each that it names; none takes the field away.
struct FieldChanges {
  private(set) var values: [String: FieldValue?] = [:]
  private let kind: RecordKind

  init(_ kind: RecordKind) { self.kind = kind }

  /// Sets a field from its text.
  ///
  /// - Throws: `Failure` of category `usage`, as for a field that this kind does not have.
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

  /// Sets fields from the words behind the kind or the id: amounts with or without their units, or a note's text.
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
    // One word may hold a number and its unit: '4.5 U' as the shell passes it in quotation marks.
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

  /// The fields behind the changes.
  func applied(to fields: RecordFields) -> RecordFields {
    var fields = fields
    for (name, value) in values { fields[name] = value }
    return fields
  }

  /// The field and the factor of a unit; the first one where a person gives none.
  private func unit(_ word: String) throws -> (field: RecordField, word: String, factor: Double) {
    let units = kind.fields.flatMap { field in
      field.units.map { (field: field, word: $0.word, factor: $0.factor) }
    }
    guard let unit = word.isEmpty ? units.first : units.first(where: { $0.word == word }) else {
      throw Failure(.usage, refusal(ofUnit: word, units: units.map(\.word)))
    }
    return unit
  }

  /// What a word that is no unit was probably meant to be.
  private func refusal(ofUnit word: String, units: [String]) -> String {
    if kind.details?.subtypes.contains(word) == true {
      return "'\(word)' is a subtype of \(kind.rawValue); write --subtype \(word)"
    }
    return
      "'\(displayed(word))' is not a unit of \(kind.rawValue), which has \(alternatives(units)); for a text write --note \(word.shellWord)"
  }
}
