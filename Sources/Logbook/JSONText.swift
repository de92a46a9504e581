// SPDX-License-Identifier: Apache-2.0

/// `text` as a JSON string with its quotes.
package func jsonText(_ text: String) -> String {
  var out: [UInt8] = []
  out.reserveCapacity(text.utf8.count + 2)
  appendJSONText(text, to: &out)
  return String(decoding: out, as: UTF8.self)
}

/// Appends `text` as a JSON string with its quotes (RFC 8259 §7), in UTF-8.
package func appendJSONText(_ text: String, to out: inout [UInt8]) {
  out.append(UInt8(ascii: "\""))
  var text = text
  text.withUTF8 { bytes in
    // An index loop is used, since an iterator would take most of the time in an unoptimised build, which the
    // tests use.
    var (plain, index) = (0, 0)
    while index < bytes.count {
      if let escape = escape(bytes[index]) {
        out.append(contentsOf: bytes[plain..<index])
        out.append(contentsOf: escape)
        plain = index + 1
      }
      index += 1
    }
    // Most texts contain no character to escape. Copying all bytes is faster than copying a range.
    if plain == 0 { out.append(contentsOf: bytes) } else { out.append(contentsOf: bytes[plain...]) }
  }
  out.append(UInt8(ascii: "\""))
}

/// The escape of a byte in a JSON string; nil for a byte without one.
@inline(__always) private func escape(_ byte: UInt8) -> [UInt8]? {
  guard byte < 0x20 || byte == 0x22 || byte == 0x5C || byte == 0x7F else { return nil }
  let letter: Unicode.Scalar? =
    switch byte {
    case 0x22: "\""
    case 0x5C: "\\"
    case 0x0A: "n"
    case 0x0D: "r"
    case 0x09: "t"
    default: nil
    }
  if let letter { return [0x5C, UInt8(ascii: letter)] }
  let digits = Array("0123456789abcdef".utf8)
  return Array("\\u00".utf8) + [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
}

/// An error in a JSON text, as a message for the author of the text. It contains no value from the text.
@usableFromInline package struct JSONError: Error, Hashable, Sendable {
  /// The index of the byte at which the error was found, from 0.
  package let offset: Int
  /// What is wrong at the offset.
  package let reason: String
}

/// Writes values as JSON text. The members of an object are in the order of the type's declaration, unlike
/// with Foundation's encoder.
///
/// Names of properties become words with underscores. A nil property is written as null, so that all objects
/// of a type have the same members.
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

/// A value that already is JSON text, such as a record's fields. The numbers in this text are written
/// unchanged.
package struct JSONFragment: Encodable, Sendable {
  package let text: String

  /// A value with this JSON text, which is not checked.
  package init(_ text: String) { self.text = text }

  /// Encodes the text as a string. The encoder of `OrderedJSON` does not call this function: it inserts the
  /// text as JSON.
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}

/// The name of a member that is data, such as the name of a column. It is written unchanged.
package struct JSONMemberName: CodingKey {
  /// The name.
  package let stringValue: String
  /// Always nil: members have names, not numbers.
  package var intValue: Int? { nil }

  /// The name with this text.
  package init(_ text: String) { stringValue = text }
  /// The name with this text.
  package init?(stringValue: String) { self.init(stringValue) }
  /// Nil, since no name is a number.
  package init?(intValue: Int) { nil }
}

/// A JSON object whose members have a given order.
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
