// SPDX-License-Identifier: Apache-2.0

import Nightscout

/// A member of JSON outside of its lists, such as the name of a patient next to a list of readings.
struct OuterMember {
  enum MemberValue: Equatable {
    case text(String)
    /// A number, `true`, `false` or `null` as it is written.
    case word(String)
    case object
    case list
  }

  /// The names of the members from the outermost object to this member.
  let path: [String]
  let value: MemberValue

  /// The member's own name.
  var name: String { path.last ?? "" }
  /// The text or number; nil for any other value.
  var text: String? {
    switch value {
    case .text(let text): text
    case .word(let word): word.contains(where: \.isNumber) ? word : nil
    case .object, .list: nil
    }
  }

  private static let maxMembers = 200

  /// The members of the first object in a text, without those inside of lists. The text may end inside the
  /// object. Empty for a text that begins with a list.
  static func all(in json: [UInt8]) -> [OuterMember] {
    json.withUnsafeBufferPointer { bytes in
      var scan = Scan(bytes)
      while scan.members.count < maxMembers, scan.step() {}
      return scan.members
    }
  }

  /// The position in a text, and the members before it.
  private struct Scan {
    private(set) var members: [OuterMember] = []
    private let bytes: UnsafeBufferPointer<UInt8>
    private var index = 0
    /// The names of the objects around the position. The outermost object has none.
    private var path: [String] = []
    private var isInside = false
    /// The number of lists around the position.
    private var lists = 0
    /// The name whose value follows.
    private var name: String?

    init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    /// Reads the next sign; false at the end of the text or of the first object.
    mutating func step() -> Bool {
      guard index < bytes.count else { return false }
      let sign = bytes[index]
      index += 1
      if lists > 0 {
        skipInList(sign)
        return true
      }
      switch sign {
      case UInt8(ascii: "{"): enter()
      case UInt8(ascii: "}"):
        guard !path.isEmpty else { return false }
        path.removeLast()
      case UInt8(ascii: "["):
        guard isInside else { return false }
        add(.list)
        lists = 1
      case UInt8(ascii: "\""): readString()
      case UInt8(ascii: ","), UInt8(ascii: ":"),
        _ where sign.isBlank:
        break
      default: readWord()
      }
      return true
    }

    private mutating func enter() {
      if let name {
        add(.object)
        path.append(name)
      }
      isInside = true
    }

    private mutating func add(_ value: MemberValue) {
      guard let name else { return }
      members.append(OuterMember(path: path + [name], value: value))
      self.name = nil
    }

    private mutating func skipInList(_ sign: UInt8) {
      switch sign {
      case UInt8(ascii: "["): lists += 1
      case UInt8(ascii: "]"): lists -= 1
      case UInt8(ascii: "\""): passString()
      default: break
      }
    }

    /// Moves after the closing quote of a string, and returns whether the string has escapes.
    @discardableResult private mutating func passString() -> Bool {
      var hasEscapes = false
      while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
        if bytes[index] == UInt8(ascii: "\\") {
          hasEscapes = true
          index += 1
        }
        index += 1
      }
      index += 1
      return hasEscapes
    }

    private mutating func readString() {
      let start = index
      let hasEscapes = passString()
      // The text ends inside this string.
      guard index <= bytes.count else { return }
      let raw = bytes[start..<(index - 1)]
      let text = hasEscapes ? Self.unescaped(raw) : String(decoding: raw, as: UTF8.self)
      if name == nil { name = text } else { add(.text(text)) }
    }

    private static func unescaped(_ raw: Slice<UnsafeBufferPointer<UInt8>>) -> String {
      do {
        guard case .text(let text) = try JSONValue.read([0x22] + raw + [0x22]) else { return "" }
        return text
      } catch {
        // An invalid escape is reported by the reader of the rows.
        return String(decoding: raw, as: UTF8.self)
      }
    }

    private mutating func readWord() {
      let start = index - 1
      while index < bytes.count, !bytes[index].isBlank, !",}]".utf8.contains(bytes[index]) { index += 1 }
      add(.word(String(decoding: bytes[start..<index], as: UTF8.self)))
    }
  }
}
