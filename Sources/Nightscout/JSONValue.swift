// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// A JSON value of any type, since programs may write anything into a Nightscout document.
package enum JSONValue: Hashable, Sendable {
  case null
  case flag(Bool)
  case number(Double)
  case text(String)
  case list([JSONValue])
  case object([String: JSONValue])

  /// Parses a whole body.
  package static func read(_ body: [UInt8]) throws(JSONError) -> JSONValue {
    try JSONScanner.read(replacingLoneSurrogates(in: body)) { (reader) throws(JSONError) in
      try JSONValue(&reader)
    }
  }

  package init(_ reader: inout JSONScanner) throws(JSONError) {
    switch reader.peek() {
    case UInt8(ascii: "{"):
      var members: [String: JSONValue] = [:]
      try reader.object { (name, reader) throws(JSONError) in
        members[name] = try JSONValue(&reader)
        return true
      }
      self = .object(members)
    case UInt8(ascii: "["):
      var items: [JSONValue] = []
      try reader.array { (reader) throws(JSONError) in items.append(try JSONValue(&reader)) }
      self = .list(items)
    case UInt8(ascii: "\""): self = .text(try reader.string())
    case UInt8(ascii: "t"), UInt8(ascii: "f"): self = .flag(try reader.flag())
    default: self = reader.consume(word: "null") ? .null : .number(try reader.number())
    }
  }

  /// The value as JSON text, with sorted members.
  package var json: String { String(decoding: bytes, as: UTF8.self) }

  /// The bytes of `json`.
  package var bytes: [UInt8] {
    var out: [UInt8] = []
    write(to: &out)
    return out
  }

  private func write(to out: inout [UInt8]) {
    switch self {
    case .null: out.append(contentsOf: "null".utf8)
    case .flag(let flag): out.append(contentsOf: (flag ? "true" : "false").utf8)
    case .number(let number): out.append(contentsOf: plainNumber(number).utf8)
    case .text(let text): appendJSONText(text, to: &out)
    case .list(let items): Self.write(items, "[", "]", to: &out) { $0.write(to: &$1) }
    case .object(let members):
      Self.write(members.sorted { $0.key < $1.key }, "{", "}", to: &out) { member, out in
        appendJSONText(member.key, to: &out)
        out.append(UInt8(ascii: ":"))
        member.value.write(to: &out)
      }
    }
  }

  private static func write<Item>(
    _ items: [Item], _ open: Unicode.Scalar, _ close: Unicode.Scalar, to out: inout [UInt8],
    _ write: (Item, inout [UInt8]) -> Void
  ) {
    out.append(UInt8(ascii: open))
    for (index, item) in items.enumerated() {
      if index > 0 { out.append(UInt8(ascii: ",")) }
      write(item, &out)
    }
    out.append(UInt8(ascii: close))
  }

  /// The value of the member with this name; nil if it is null or missing, or if this is not an object.
  package subscript(name: String) -> JSONValue? {
    guard case .object(let members) = self, let value = members[name], value != .null else { return nil }
    return value
  }

  /// The text; nil if this is not a text.
  package var text: String? { if case .text(let text) = self { text } else { nil } }

  /// The number, also if it is in a text; nil for anything else.
  package var number: Double? {
    switch self {
    case .number(let number): number
    case .text(let text): Double(text).flatMap { $0.isFinite ? $0 : nil }
    default: nil
    }
  }

  /// The items of a list; nil if this is not a list.
  package var items: [JSONValue]? { if case .list(let items) = self { items } else { nil } }

  /// The number, rounded down to an integer; nil if it is too large or this is not a number.
  package var integer: Int64? { number.flatMap { Int64(exactly: $0.rounded(.down)) } }
}

extension JSONValue {
  /// The body, with U+FFFD in place of each half of a surrogate pair. Programs that truncate texts inside a
  /// character produce such halves, and JavaScript keeps them. Without this change, a single note with such a
  /// half would make every pull fail.
  package static func replacingLoneSurrogates(in body: [UInt8]) -> [UInt8] {
    var body = body
    var index = 0
    // The body is changed in place, without slices. A slice that exists during a change would cause a copy of
    // the whole body.
    while index < body.count {
      guard body[index] == UInt8(ascii: "\\") else {
        index += 1
        continue
      }
      guard let unit = unit(in: body, at: index) else {
        index += 2
        continue
      }
      let isPair =
        (0xD800..<0xDC00).contains(unit)
        && (Self.unit(in: body, at: index + 6).map { (0xDC00..<0xE000).contains($0) } ?? false)
      if (0xD800..<0xE000).contains(unit), !isPair {
        for (place, byte) in "fffd".utf8.enumerated() { body[index + 2 + place] = byte }
      }
      index += isPair ? 12 : 6
    }
    return body
  }

  /// The UTF-16 code unit of an escape such as `\u00e4` at this index; nil if there is none.
  private static func unit(in body: [UInt8], at start: Int) -> UInt16? {
    guard start + 6 <= body.count, body[start] == UInt8(ascii: "\\"), body[start + 1] == UInt8(ascii: "u")
    else {
      return nil
    }
    var value: UInt16 = 0
    for byte in body[start + 2..<start + 6] {
      guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { return nil }
      value = value << 4 | UInt16(digit)
    }
    return value
  }
}
