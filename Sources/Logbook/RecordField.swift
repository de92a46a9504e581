// SPDX-License-Identifier: Apache-2.0

/// One field of a kind of record: what it holds, how people read and type it.
public struct RecordField: Hashable, Sendable {
  /// What a field holds.
  public enum Content: Hashable, Sendable {
    /// An amount, with what one record can plausibly have.
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

  /// How the value is shown in one line for people.
  public enum Label: Hashable, Sendable {
    /// The value alone.
    case plain
    /// Behind the field's name.
    case name
    /// In front of its unit.
    case unit(String)
    /// In front of what it counts.
    case count(one: String, many: String)
  }

  /// A unit in which a person types an amount.
  public struct TypedUnit: Hashable, Sendable {
    /// The word behind the number.
    public let word: String
    /// What makes the field's own unit of it.
    public let factor: Double

    init(_ word: String, times factor: Double = 1) {
      self.word = word
      self.factor = factor
    }
  }

  /// The name in glucoport-json(5).
  public let name: String
  /// What it holds.
  public let content: Content
  /// How its value is shown.
  public let label: Label
  /// The units in which a person types it; empty where only its name sets it.
  public let units: [TypedUnit]
  /// The member of a Nightscout treatment that holds it; nil where no other program reads it.
  package let treatmentMember: String?
  /// Whether a person may set it by its name. The others are set by options and commands of their own.
  public let isSettable: Bool
  /// Whether a record of its kind is nothing without it.
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

  /// What one record can plausibly have; nil for a field without amounts.
  public var plausibleRange: ClosedRange<Double>? {
    if case .number(let range) = content { range } else { nil }
  }

  /// Whether the value has the type of this field. An implausible amount has it, too.
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
