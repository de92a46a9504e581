// SPDX-License-Identifier: Apache-2.0

/// Writes values as JSON text with the members in the order in which the type declares them, which Foundation's encoder
/// does not keep.
///
/// Names of properties become words with underscores. A property that is nil is written as null, so that all objects of a
/// type have the same members.
public enum OrderedJSON {
  /// The value as JSON, on one line.
  ///
  /// - Throws: `EncodingError` for a number that JSON cannot hold.
  public static func text(_ value: some Encodable) throws -> String {
    let node = JSONNode()
    try node.fill(value)
    var text = ""
    node.write(to: &text)
    return text
  }
}

/// JSON text that is a value by itself, such as a record's fields: its numbers stay exactly as they are written.
public struct JSONFragment: Encodable, Sendable {
  /// The text.
  public let text: String

  /// A value that is JSON already.
  public init(_ text: String) { self.text = text }

  /// In another encoder than that of `OrderedJSON` the text is a string.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}

/// The name of a member that is data, such as a column, and is written as it is.
public struct JSONMemberName: CodingKey {
  /// The name.
  public let stringValue: String
  /// Nil: members have names.
  public var intValue: Int? { nil }

  /// The name with this text.
  public init(_ text: String) { stringValue = text }
  /// The name with this text.
  public init?(stringValue: String) { self.init(stringValue) }
  /// Nil.
  public init?(intValue: Int) { nil }
}

/// An object of members in an order of their own; a dictionary is written in the order of its names.
public struct JSONMembers<Value: Encodable>: Encodable {
  private let members: [(name: String, value: Value)]

  /// The members in their order.
  public init(_ members: [(name: String, value: Value)]) { self.members = members }

  /// Encodes the members in their order.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: JSONMemberName.self)
    for member in members { try container.encode(member.value, forKey: JSONMemberName(member.name)) }
  }
}
