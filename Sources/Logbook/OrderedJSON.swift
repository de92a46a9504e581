// SPDX-License-Identifier: Apache-2.0

/// Writes values as JSON text with the members in the order of the type's declaration, which Foundation's encoder does
/// not keep.
///
/// Names of properties become words with underscores. A nil property is written as null, so that all objects of a type
/// have the same members.
package enum OrderedJSON {
  /// The value as JSON, on one line.
  ///
  /// - Throws: `EncodingError` for a number that JSON cannot hold.
  package static func text(_ value: some Encodable) throws -> String {
    let node = JSONNode()
    try node.fill(value)
    var text = ""
    node.write(to: &text)
    return text
  }
}

/// JSON text that is a value, such as a record's fields. Its numbers stay exactly as they are written.
package struct JSONFragment: Encodable, Sendable {
  /// The text.
  package let text: String

  /// A value that is JSON text.
  package init(_ text: String) { self.text = text }

  /// With another encoder than that of `OrderedJSON`, the text is encoded as a string.
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}

/// The name of a member that is data, such as a column, and is written unchanged.
package struct JSONMemberName: CodingKey {
  /// The name.
  package let stringValue: String
  /// Nil: members have names.
  package var intValue: Int? { nil }

  /// The name with this text.
  package init(_ text: String) { stringValue = text }
  /// The name with this text.
  package init?(stringValue: String) { self.init(stringValue) }
  /// Nil.
  package init?(intValue: Int) { nil }
}

/// An object with members in a given order. A dictionary is written in the order of its names.
package struct JSONMembers<Value: Encodable>: Encodable {
  private let members: [(name: String, value: Value)]

  /// The members in their order.
  package init(_ members: [(name: String, value: Value)]) { self.members = members }

  /// Encodes the members in their order.
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: JSONMemberName.self)
    for member in members { try container.encode(member.value, forKey: JSONMemberName(member.name)) }
  }
}
