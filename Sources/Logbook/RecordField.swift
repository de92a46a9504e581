// SPDX-License-Identifier: Apache-2.0

/// One field of a kind of record: its content, and how people read and type it.
public struct RecordField: Hashable, Sendable {
  /// The content of a field.
  public enum Content: Hashable, Sendable {
    /// An amount, with the plausible range for one record.
    case number(ClosedRange<Double>)
    case text
    /// One of these words.
    case choice([String])
    /// A set of words.
    case words
    case flag
    /// A whole number of bytes.
    case byteCount
    /// A SHA-256 as 64 lower-case hexadecimal digits.
    case digest
  }

  /// How the value is shown on one line for people.
  public enum Label: Hashable, Sendable {
    /// Only the value.
    case plain
    /// After the field's name.
    case name
    /// Before its unit.
    case unit(String)
    /// Before the noun of the count.
    case count(one: String, many: String)
  }

  /// A unit in which a person types an amount.
  public struct TypedUnit: Hashable, Sendable {
    /// The word after the number.
    public let word: String
    /// The factor that converts it to the field's own unit.
    public let factor: Double

    init(_ word: String, times factor: Double = 1) {
      self.word = word
      self.factor = factor
    }
  }

  /// The name in glucoport-json(5).
  public let name: String
  /// The content.
  public let content: Content
  /// How the value is shown.
  public let label: Label
  /// The units in which a person types it; empty if it is only set by its name.
  public let units: [TypedUnit]
  /// The member of a Nightscout treatment for it; nil if no other program reads it.
  package let treatmentMember: String?
  /// Whether a person can set it by its name. The other fields are set by separate options and commands.
  public let isSettable: Bool
  /// Whether a record of its kind must have it.
  public let isRequired: Bool

  init(
    _ name: String, _ content: Content, _ label: Label = .plain, typed units: [TypedUnit] = [],
    treatment member: String? = nil, isSettable: Bool = true, isRequired: Bool = false
  ) {
    self.name = name
    self.content = content
    self.label = label
    self.units = units
    treatmentMember = member
    self.isSettable = isSettable
    self.isRequired = isRequired
  }

  /// The plausible range for one record; nil for a field without amounts.
  public var plausibleRange: ClosedRange<Double>? {
    if case .number(let range) = content { range } else { nil }
  }

  /// Whether the value has the type of this field. It may be an implausible amount.
  public func holds(_ value: FieldValue) -> Bool {
    switch (content, value) {
    case (.number, .number), (.text, .text), (.words, .words), (.flag, .flag): true
    case (.choice(let words), .text(let word)): words.contains(word)
    case (.byteCount, .number(let number)): Int64(exactly: number).map { $0 >= 0 } ?? false
    case (.digest, .text(let text)): AttachmentContent.isDigest(text)
    default: false
    }
  }
}
