// SPDX-License-Identifier: Apache-2.0

/// What this program knows of one kind of record. All that depends on the kind follows from it: what people may type,
/// the bounds of amounts, the order and the units of what is shown, the members of a Nightscout treatment.
public struct RecordKindDescription: Sendable {
  /// What a person types behind the kind to add or change a record.
  public enum Typing: Sendable {
    /// Amounts in the units of its fields.
    case amounts
    /// The text of this field.
    case text(field: String)
    /// The id of a reading, when it is added.
    case reading
    /// Nothing: a separate command makes such records.
    case command
    /// Nothing: it states something about other items, by a separate command, and is not listed.
    case statement
  }

  /// The kind.
  public let kind: RecordKind
  /// What a person types of it.
  public let typing: Typing
  /// The type of event that a Nightscout treatment of this kind has.
  package let treatmentEvent: String
  /// Its fields, in the order in which they are shown.
  public let fields: [RecordField]

  init(_ kind: RecordKind, _ typing: Typing, treatment event: String, fields: [RecordField]) {
    self.kind = kind
    self.typing = typing
    treatmentEvent = event
    self.fields = fields
  }

  /// The field of this name; nil without one.
  public func field(_ name: String) -> RecordField? { fields.first { $0.name == name } }

  /// The words that the field `subtype` may have; empty without such a field.
  public var subtypes: [String] {
    if case .choice(let words)? = field("subtype")?.content { words } else { [] }
  }

  /// Whether `record add` takes it.
  package var isTyped: Bool {
    switch typing {
    case .amounts, .text, .reading: true
    case .command, .statement: false
    }
  }

  /// Whether lists and views show it. What states something about other items only travels: by sync, and in exports that
  /// a store can read again.
  public var isListed: Bool { if case .statement = typing { false } else { true } }

  /// Why these cannot be the fields of such a record: one that it cannot be without is missing or has another type. Nil
  /// where they can. Other fields may hold what another program means by them.
  package func fault(in fields: RecordFields) -> String? {
    for field in self.fields where field.isRequired {
      if let value = fields[field.name], field.holds(value) { continue }
      return "the '\(field.name)' of an \(kind.rawValue) that is \(field.content.absence)"
    }
    return nil
  }

  static let byKind = Dictionary(uniqueKeysWithValues: all.map { ($0.kind, $0) })
}

extension RecordField.Content {
  /// What a value is that does not have this type.
  fileprivate var absence: String {
    switch self {
    case .number: "no number"
    case .text: "no text"
    case .choice(let words): "none of \(words.joined(separator: ", "))"
    case .words: "no list of words"
    case .flag: "neither true nor false"
    case .byteCount: "no whole number of bytes"
    case .digest: "no SHA-256 in 64 lower-case hexadecimal digits"
    }
  }
}
