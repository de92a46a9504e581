// SPDX-License-Identifier: Apache-2.0

/// The description of one kind of record. It determines what people can type, the limits of amounts, the order and
/// units in lists, and the members of a Nightscout treatment.
public struct RecordKindDescription: Sendable {
  /// What a person types after the kind to add or change a record.
  public enum Typing: Sendable {
    /// Amounts in the units of its fields.
    case amounts
    /// The text of this field.
    case text(field: String)
    /// The id of a reading, for a new record.
    case reading
    /// Nothing, since a separate command makes such records.
    case command
    /// Nothing: a separate command makes it, it states something about other items, and it is not listed.
    case statement
  }

  /// The kind.
  public let kind: RecordKind
  /// What a person types for it.
  public let typing: Typing
  /// The event type of a Nightscout treatment of this kind.
  package let treatmentEvent: String
  /// Its fields in the order of lists.
  public let fields: [RecordField]

  init(_ kind: RecordKind, _ typing: Typing, treatment event: String, fields: [RecordField]) {
    self.kind = kind
    self.typing = typing
    treatmentEvent = event
    self.fields = fields
  }

  /// The field with this name; nil if there is none.
  public func field(_ name: String) -> RecordField? { fields.first { $0.name == name } }

  /// The words that the field `subtype` may have; empty without such a field.
  public var subtypes: [String] {
    if case .choice(let words)? = field("subtype")?.content { words } else { [] }
  }

  /// Whether `record add` accepts it.
  package var isTyped: Bool {
    switch typing {
    case .amounts, .text, .reading: true
    case .command, .statement: false
    }
  }

  /// Whether lists and views show it. Statements about other items are only synced and exported.
  public var isListed: Bool { if case .statement = typing { false } else { true } }

  /// Why these fields are invalid for such a record: a required field is missing or has another type. Nil if they are
  /// valid. Other fields can have any content of another program.
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
  /// The text for a value that does not have this type.
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
