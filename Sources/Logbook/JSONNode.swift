// SPDX-License-Identifier: Apache-2.0

/// One value of a JSON text under construction. It is a class, since an encoder fills a container after
/// returning it.
final class JSONNode {
  private enum NodeKind { case text, object, list }

  private var form = NodeKind.text
  private var text = "null"
  private var members: [(name: String, value: JSONNode)] = []
  private var elements: [JSONNode] = []

  func fill(_ value: some Encodable) throws {
    switch value {
    case let fragment as JSONFragment: text = fragment.text
    case let string as String: text = jsonText(string)
    case let flag as Bool: text = flag ? "true" : "false"
    case let number as Double: text = try Self.text(number)
    case let number as any BinaryInteger & Encodable: text = String(describing: number)
    case let members as any NamedValues: try members.fill(self)
    default: try value.encode(to: JSONNodeEncoder(node: self))
    }
  }

  private static func text(_ number: Double) throws -> String {
    guard number.isFinite else {
      throw EncodingError.invalidValue(
        number, EncodingError.Context(codingPath: [], debugDescription: "JSON has no such number"))
    }
    return plainNumber(number)
  }

  func member(_ name: String) -> JSONNode {
    let node = JSONNode()
    form = .object
    members.append((name, node))
    return node
  }

  func element() -> JSONNode {
    let node = JSONNode()
    form = .list
    elements.append(node)
    return node
  }

  func becomeObject() { form = .object }

  func becomeList() { form = .list }

  var count: Int { elements.count }

  func write(to out: inout String) {
    switch form {
    case .text: out += text
    case .object:
      out += "{"
      for (index, member) in members.enumerated() {
        if index > 0 { out += "," }
        out += jsonText(member.name) + ":"
        member.value.write(to: &out)
      }
      out += "}"
    case .list:
      out += "["
      for (index, element) in elements.enumerated() {
        if index > 0 { out += "," }
        element.write(to: &out)
      }
      out += "]"
    }
  }
}

/// A dictionary whose keys are texts. The keys are data, so they are written unchanged, in sorted order.
private protocol NamedValues {
  func fill(_ node: JSONNode) throws
}

extension Dictionary: NamedValues where Key == String, Value: Encodable {
  fileprivate func fill(_ node: JSONNode) throws {
    node.becomeObject()
    for (name, value) in sorted(by: { $0.key < $1.key }) { try node.member(name).fill(value) }
  }
}

/// Encodes into one node.
struct JSONNodeEncoder: Encoder {
  let node: JSONNode
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    node.becomeObject()
    return KeyedEncodingContainer(JSONObjectContainer(node: node))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    node.becomeList()
    return JSONListContainer(node: node)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { JSONValueContainer(node: node) }
}

private struct JSONObjectContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let node: JSONNode
  var codingPath: [any CodingKey] { [] }

  private func member(_ key: Key) -> JSONNode {
    node.member(key is JSONMemberName ? key.stringValue : key.stringValue.wordsWithUnderscores)
  }

  func encodeNil(forKey key: Key) { _ = member(key) }

  func encode(_ value: some Encodable, forKey key: Key) throws { try member(key).fill(value) }

  private func encode(optional value: (some Encodable)?, _ key: Key) throws {
    let node = member(key)
    if let value { try node.fill(value) }
  }

  // These functions write null for a nil value. Their default implementations would omit the member.
  func encodeIfPresent(_ value: Bool?, forKey key: Key) throws { try encode(optional: value, key) }
  func encodeIfPresent(_ value: String?, forKey key: Key) throws { try encode(optional: value, key) }
  func encodeIfPresent(_ value: Double?, forKey key: Key) throws { try encode(optional: value, key) }
  func encodeIfPresent(_ value: Int?, forKey key: Key) throws { try encode(optional: value, key) }
  func encodeIfPresent(_ value: Int32?, forKey key: Key) throws { try encode(optional: value, key) }
  func encodeIfPresent(_ value: Int64?, forKey key: Key) throws { try encode(optional: value, key) }
  func encodeIfPresent(_ value: Int16?, forKey key: Key) throws { try encode(optional: value, key) }
  func encodeIfPresent(_ value: Int8?, forKey key: Key) throws { try encode(optional: value, key) }
  func encodeIfPresent(_ value: UInt?, forKey key: Key) throws { try encode(optional: value, key) }
  func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws { try encode(optional: value, key) }
  func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws { try encode(optional: value, key) }
  func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws { try encode(optional: value, key) }
  func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws { try encode(optional: value, key) }
  func encodeIfPresent(_ value: Float?, forKey key: Key) throws {
    try encode(optional: value.map(Double.init), key)
  }
  func encodeIfPresent(_ value: (some Encodable)?, forKey key: Key) throws {
    try encode(optional: value, key)
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> {
    JSONNodeEncoder(node: member(key)).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    JSONNodeEncoder(node: member(key)).unkeyedContainer()
  }

  func superEncoder() -> any Encoder { JSONNodeEncoder(node: node.member("super")) }
  func superEncoder(forKey key: Key) -> any Encoder { JSONNodeEncoder(node: member(key)) }
}

private struct JSONListContainer: UnkeyedEncodingContainer {
  let node: JSONNode
  var codingPath: [any CodingKey] { [] }
  var count: Int { node.count }

  func encodeNil() { _ = node.element() }
  func encode(_ value: some Encodable) throws { try node.element().fill(value) }

  func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
    JSONNodeEncoder(node: node.element()).container(keyedBy: type)
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
    JSONNodeEncoder(node: node.element()).unkeyedContainer()
  }

  func superEncoder() -> any Encoder { JSONNodeEncoder(node: node.element()) }
}

private struct JSONValueContainer: SingleValueEncodingContainer {
  let node: JSONNode
  var codingPath: [any CodingKey] { [] }

  func encodeNil() {}
  func encode(_ value: some Encodable) throws { try node.fill(value) }
}

extension String {
  /// The name in lower case with underscores: `lastSuccess` becomes `last_success`, and `logID` becomes
  /// `log_id`.
  fileprivate var wordsWithUnderscores: String {
    var (text, isInCapitals) = ("", true)
    for letter in self {
      if letter.isUppercase, !isInCapitals { text += "_" }
      isInCapitals = letter.isUppercase
      text += letter.lowercased()
    }
    return text
  }
}
