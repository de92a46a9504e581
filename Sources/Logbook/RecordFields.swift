// SPDX-License-Identifier: Apache-2.0

/// One value among the fields of a record.
public enum FieldValue: Hashable, Sendable {
  case number(Double)
  case text(String)
  case flag(Bool)
  /// A set of words, such as tags. They are sorted, so that their order in an export makes no difference.
  case words([String])
}

/// The content of a record: values by field names. The names in use are listed in glucoport-json(5).
public struct RecordFields: Hashable, Sendable {
  /// The values by field name.
  public var values: [String: FieldValue]

  /// Fields with these values.
  public init(_ values: [String: FieldValue] = [:]) { self.values = values }

  /// The value of a field; nil if the source gave none.
  public subscript(name: String) -> FieldValue? {
    get { values[name] }
    set { values[name] = newValue }
  }

  /// The text of the field `subtype`; empty without one.
  public var subtype: String {
    if case .text(let subtype)? = values["subtype"] { subtype } else { "" }
  }
}

// MARK: - JSON

extension RecordFields {
  /// Canonical JSON with sorted names and the shortest notation of numbers, so that equal content is equal
  /// text.
  public var json: String {
    var text = "{"
    for (index, name) in values.keys.sorted().enumerated() {
      if index > 0 { text += "," }
      text += jsonText(name) + ":"
      switch values[name] {
      case .number(let number): text += plainNumber(number)
      case .text(let value): text += jsonText(value)
      case .flag(let value): text += value ? "true" : "false"
      case .words(let words):
        text += "[" + Set(words).sorted().map(jsonText).joined(separator: ",") + "]"
      case nil: text += "null"
      }
    }
    return text + "}"
  }

  /// Parses the fields in a JSON object, within the limits of a record.
  package init(json text: String) throws(JSONError) {
    self = try JSONScanner.read(Array(text.utf8)) { (scanner) throws(JSONError) in
      try RecordFields(&scanner)
    }
  }

  /// Parses the fields in a JSON object, even above the limits of a record: content that is already stored
  /// must still be shown. Inputs are checked with `fault` instead.
  package init(uncheckedJSON text: String) throws(JSONError) {
    self = try JSONScanner.read(Array(text.utf8)) { (scanner) throws(JSONError) in
      try RecordFields(unbounded: &scanner)
    }
  }

  /// Reads an object of numbers, texts, Booleans and lists of words.
  package init(_ scanner: inout JSONScanner) throws(JSONError) {
    self = try RecordFields(unbounded: &scanner)
    if let fault = partFault { throw scanner.error(fault) }
  }

  private init(unbounded scanner: inout JSONScanner) throws(JSONError) {
    var values: [String: FieldValue] = [:]
    try scanner.object { (name, scanner) throws(JSONError) in
      guard values[name] == nil else { throw scanner.error("the same field a second time") }
      values[name] = try Self.value(&scanner)
      return true
    }
    self.init(values)
  }

  private static func value(_ scanner: inout JSONScanner) throws(JSONError) -> FieldValue {
    switch scanner.peek() {
    case UInt8(ascii: "\""): return .text(try scanner.string())
    case UInt8(ascii: "t"), UInt8(ascii: "f"): return .flag(try scanner.flag())
    case UInt8(ascii: "["):
      var words: Set<String> = []
      try scanner.array { (scanner) throws(JSONError) in words.insert(try scanner.string()) }
      return .words(words.sorted())
    default: return .number(try scanner.number())
    }
  }
}

extension RecordFields {
  /// The amounts that totals include. An export or another store may contain any number, and tables must be
  /// able to show a sum. The limit is above every realistic amount.
  private static let amounts = 0.0...1_000_000

  /// The amount in the field `name`; nil without such a number, and for a number outside `amounts`.
  package func amount(_ name: String) -> Double? {
    guard case .number(let number)? = self[name], Self.amounts.contains(number) else { return nil }
    return number
  }
}

/// The description of one field in records of a kind: its content, and how people read and type it.
public struct RecordField: Hashable, Sendable {
  /// The type of the field's values.
  public enum Content: Hashable, Sendable {
    /// An amount, with the range that is plausible in one record.
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

  /// How a list shows the value.
  public enum Label: Hashable, Sendable {
    /// Only the value.
    case plain
    /// The name of the field, then the value.
    case name
    /// The value, then this unit.
    case unit(String)
    /// The value as a count, then this noun.
    case count(one: String, many: String)
  }

  /// A unit in which a person can type an amount, such as `g`.
  public struct TypedUnit: Hashable, Sendable {
    /// The word that a person types after the number.
    public let word: String
    /// The factor that converts a number in this unit to the unit of the field.
    public let factor: Double

    init(_ word: String, times factor: Double = 1) {
      self.word = word
      self.factor = factor
    }
  }

  /// The name of the field in glucoport-json(5).
  public let name: String
  /// The type of the field's values.
  public let content: Content
  /// How a list shows the value.
  public let label: Label
  /// The units in which a person can type the amount; empty for a field that is only typed with its name.
  public let units: [TypedUnit]
  /// The member of a Nightscout treatment that holds the value; nil if no other program reads such a member.
  package let treatmentMember: String?
  /// Whether a person can type the field with its name. Other options and commands set the other fields.
  public let isSettable: Bool
  /// Whether every record of the kind must have the field.
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

  /// The plausible range for one record; nil for a field that is not an amount.
  public var plausibleRange: ClosedRange<Double>? {
    if case .number(let range) = content { range } else { nil }
  }

  /// Whether a value has the type of this field. An implausible amount is accepted, too.
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
