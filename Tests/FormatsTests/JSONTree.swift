// SPDX-License-Identifier: Apache-2.0

import Logbook

/// A JSON text as a tree that keeps the order of members and the digits of numbers, so that a test can write
/// it differently.
indirect enum JSONTree: Sendable {
  case object([(name: String, value: JSONTree)])
  case array([JSONTree])
  case string(String)
  /// A number, `true`, `false` or `null`, as it is in the text.
  case other(String)

  /// The values of a text: a single one, or one for each line of NDJSON.
  static func documents(_ text: String) throws -> [JSONTree] {
    var parser = Parser(bytes: Array(text.utf8))
    var documents: [JSONTree] = []
    while !parser.isAtEnd { documents.append(try parser.value()) }
    return documents
  }

  /// The tree with the members of every object in the opposite order.
  var membersReversed: JSONTree {
    switch self {
    case .object(let members): .object(members.reversed().map { ($0.name, $0.value.membersReversed) })
    case .array(let items): .array(items.map(\.membersReversed))
    case .string, .other: self
    }
  }

  /// The tree with the items of every list in the opposite order.
  var itemsReversed: JSONTree {
    switch self {
    case .object(let members): .object(members.map { ($0.name, $0.value.itemsReversed) })
    case .array(let items): .array(items.reversed().map(\.itemsReversed))
    case .string, .other: self
    }
  }

  /// The tree with unknown members in every object, before and after its other members.
  var withStrangers: JSONTree {
    switch self {
    case .object(let members):
      let first = JSONTree.object([("value", .array([.other("1"), .object([("unit", .string("mg/dL"))])]))])
      let last = JSONTree.string("2020-01-01T00:00:00Z")
      let own = members.map { ($0.name, $0.value.withStrangers) }
      return .object([("x-first", first)] + own + [("x-last", last)])
    case .array(let items): return .array(items.map(\.withStrangers))
    case .string, .other: return self
    }
  }

  /// The tree as JSON text. With an indent, it has line breaks, and blanks around colons and commas.
  func text(indent: Int? = nil, escapes: Bool = false) -> String {
    let line = indent.map { "\n" + String(repeating: " ", count: $0) } ?? ""
    let blank = indent == nil ? "" : " "
    func list(_ items: [String], _ start: String, _ end: String) -> String {
      start + items.map { line + $0 }.joined(separator: "\(blank),") + line + end
    }
    switch self {
    case .object(let members):
      return list(
        members.map { name, value in
          let own = value.text(indent: indent.map { $0 + 2 }, escapes: escapes)
          return "\(Self.quoted(name, false))\(blank):\(blank)\(own)"
        }, "{", "}")
    case .array(let items):
      return list(items.map { $0.text(indent: indent.map { $0 + 2 }, escapes: escapes) }, "[", "]")
    case .string(let text): return Self.quoted(text, escapes)
    case .other(let text): return text
    }
  }

  private static func quoted(_ text: String, _ escapes: Bool) -> String {
    guard escapes else { return jsonText(text) }
    let units = text.utf16.map { unit -> String in
      if (0x20..<0x7F).contains(unit), let scalar = Unicode.Scalar(unit) {
        return ["/", "\"", "\\"].contains(scalar) ? "\\\(scalar)" : "\(scalar)"
      }
      let digits = String(unit, radix: 16, uppercase: true)
      return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }
    return "\"\(units.joined())\""
  }
}

extension JSONTree {
  struct Malformed: Error {
    let place: Int
  }

  private struct Parser {
    let bytes: [UInt8]
    private var place = 0

    init(bytes: [UInt8]) {
      self.bytes = bytes
      skipBlanks()
    }

    var isAtEnd: Bool { place >= bytes.count }
    private var byte: UInt8 { place < bytes.count ? bytes[place] : 0 }

    private mutating func skipBlanks() {
      while place < bytes.count, [0x20, 0x0A, 0x0D, 0x09].contains(bytes[place]) { place += 1 }
    }

    private mutating func skip(_ sign: Character) throws {
      guard byte == sign.asciiValue else { throw Malformed(place: place) }
      place += 1
      skipBlanks()
    }

    mutating func value() throws -> JSONTree {
      defer { skipBlanks() }
      switch byte {
      case UInt8(ascii: "{"):
        return .object(
          try items("{", "}") { parser in
            let name = try parser.string()
            try parser.skip(":")
            return (name, try parser.value())
          })
      case UInt8(ascii: "["): return .array(try items("[", "]") { try $0.value() })
      case UInt8(ascii: "\""): return .string(try string())
      default:
        let start = place
        while place < bytes.count, ![0x2C, 0x5D, 0x7D, 0x20, 0x0A, 0x0D, 0x09].contains(bytes[place]) {
          place += 1
        }
        guard place > start else { throw Malformed(place: place) }
        return .other(String(decoding: bytes[start..<place], as: UTF8.self))
      }
    }

    private mutating func items<Item>(
      _ start: Character, _ end: Character, _ item: (inout Parser) throws -> Item
    ) throws -> [Item] {
      try skip(start)
      var items: [Item] = []
      while byte != end.asciiValue {
        if !items.isEmpty { try skip(",") }
        items.append(try item(&self))
      }
      try skip(end)
      return items
    }

    // The samples have no other escapes than those of quotes, backslashes and line ends.
    private mutating func string() throws -> String {
      guard byte == UInt8(ascii: "\"") else { throw Malformed(place: place) }
      place += 1
      var text: [UInt8] = []
      while byte != UInt8(ascii: "\"") {
        guard place < bytes.count else { throw Malformed(place: place) }
        if byte == UInt8(ascii: "\\") {
          place += 1
          switch byte {
          case UInt8(ascii: "n"): text.append(0x0A)
          case UInt8(ascii: "t"): text.append(0x09)
          case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
          default: throw Malformed(place: place)
          }
        } else {
          text.append(byte)
        }
        place += 1
      }
      place += 1
      skipBlanks()
      return String(decoding: text, as: UTF8.self)
    }
  }
}
