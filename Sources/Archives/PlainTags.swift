// SPDX-License-Identifier: Apache-2.0

/// Takes tags of XML that are written as programs write nearly all of a large export: names in ASCII, values in quotation marks
/// and without control characters, no references but the five of XML itself.
///
/// What such a tag says is beyond doubt. Whatever else XML can be, damage included, is not taken, and left to expat, which takes
/// more than twice as long for the same bytes.
struct PlainTags {
  struct Attribute {
    let column: Int
    let value: Range<Int>
    let hasReferences: Bool
  }

  private static let mostAttributes = 64
  private static let references: [(text: [UInt8], byte: UInt8)] = [
    ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"), ("&quot;", "\""), ("&apos;", "'"),
  ].map { (Array($0.0.utf8), UInt8(ascii: $0.1)) }

  let bytes: UnsafeBufferPointer<UInt8>
  /// The first byte that is not taken; without meaning once something was not plain.
  private(set) var place: Int
  /// How many lines end before `place`.
  private(set) var lines: Int64 = 0
  /// Those of the last start tag that was taken.
  private(set) var attributes: [Attribute] = []

  init(_ bytes: UnsafeBufferPointer<UInt8>, from place: Int) {
    (self.bytes, self.place) = (bytes, place)
  }

  /// 0 behind the last byte, which is nowhere plain.
  private var current: UInt8 { place < bytes.count ? bytes[place] : 0 }

  /// A carriage return is not plain: expat counts its lines, and makes it a line feed.
  mutating func skipBlanks() {
    while true {
      switch current {
      case 0x0A: lines += 1
      case 0x20, 0x09: break
      default: return
      }
      place += 1
    }
  }

  private mutating func take(_ byte: UInt8) -> Bool {
    guard current == byte else { return false }
    place += 1
    return true
  }

  private mutating func takeName() -> Range<Int>? {
    let start = place
    guard Self.isLetter(current) else { return nil }
    while Self.isLetter(current) || Self.isInsideName(current) { place += 1 }
    return start..<place
  }

  private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }

  /// Digits, `-`, `.` and `_`. A colon is left to expat.
  private static func isInsideName(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || byte == 0x2D || byte == 0x2E || byte == 0x5F
  }

  func hasBytes(of name: Range<Int>, _ other: [UInt8]) -> Bool {
    name.count == other.count && other.elementsEqual(bytes[name])
  }

  /// Takes `<` and the name behind it; nil where no element begins.
  mutating func takeOpening() -> Range<Int>? { take(UInt8(ascii: "<")) ? takeName() : nil }

  /// Takes the rest of a start tag, whose attributes are in `attributes` then.
  ///
  /// - Parameter names: of the attributes of such tags.
  /// - Returns: whether the element ends with this tag; nil where the tag is not plain or not complete.
  mutating func takeAttributes(_ names: inout AttributeNames) -> Bool? {
    attributes.removeAll(keepingCapacity: true)
    while true {
      let behind = place
      skipBlanks()
      if take(UInt8(ascii: ">")) { return false }
      if take(UInt8(ascii: "/")) { return take(UInt8(ascii: ">")) ? true : nil }
      guard place > behind, attributes.count < Self.mostAttributes, takeAttribute(&names) else { return nil }
    }
  }

  private mutating func takeAttribute(_ names: inout AttributeNames) -> Bool {
    guard let name = takeName(), take(UInt8(ascii: "=")), take(UInt8(ascii: "\"")),
      let column = names.column(of: bytes[name], at: attributes.count)
    else { return false }
    let start = place
    var (hasReferences, isASCII) = (false, true)
    while true {
      switch current {
      case UInt8(ascii: "\""):
        let value = start..<place
        place += 1
        attributes.append(Attribute(column: column, value: value, hasReferences: hasReferences))
        return isASCII || String(validating: bytes[value], as: UTF8.self) != nil
      case UInt8(ascii: "&"):
        hasReferences = true
        guard let reference = reference(at: place) else { return false }
        place += reference.length
      // From U+F000 on, there are two that no XML may have.
      case 0..<0x20, UInt8(ascii: "<"), 0xEF: return false
      case let byte:
        if byte >= 0x80 { isASCII = false }
        place += 1
      }
    }
  }

  /// One of the five references that XML knows without a document type.
  private func reference(at place: Int) -> (length: Int, byte: UInt8)? {
    for (text, byte) in Self.references where bytes[place...].starts(with: text) { return (text.count, byte) }
    return nil
  }

  var isAtEndTag: Bool {
    current == UInt8(ascii: "<") && place + 1 < bytes.count && bytes[place + 1] == UInt8(ascii: "/")
  }

  /// Takes `</name>`; false where something else comes.
  mutating func takeEnd(of name: Range<Int>) -> Bool {
    guard take(UInt8(ascii: "<")), take(UInt8(ascii: "/")), let ended = takeName() else { return false }
    skipBlanks()
    return ended.count == name.count && bytes[ended].elementsEqual(bytes[name]) && take(UInt8(ascii: ">"))
  }

  /// Adds what an attribute says to the end of `values`.
  func appendValue(of attribute: Attribute, to values: inout [UInt8]) {
    guard attribute.hasReferences else { return values.append(contentsOf: bytes[attribute.value]) }
    var place = attribute.value.lowerBound
    while place < attribute.value.upperBound {
      let reference = bytes[place] == UInt8(ascii: "&") ? reference(at: place) : nil
      values.append(reference?.byte ?? bytes[place])
      place += reference?.length ?? 1
    }
  }
}

/// The names of attributes in the order in which tags had them: nearly always, the next tag has the same.
struct AttributeNames {
  private let columns: [[UInt8]]
  private var met: [(name: [UInt8], column: Int)] = []

  /// - Parameter columns: the names that have a column.
  init(_ columns: [String]) { self.columns = columns.map { Array($0.utf8) } }

  /// The column of a tag's attribute; -1 where its name has none; nil where the tag has the name twice.
  ///
  /// - Parameter place: how many attributes of the tag come before, for which this was asked, too.
  mutating func column(of name: Slice<UnsafeBufferPointer<UInt8>>, at place: Int) -> Int? {
    if place < met.count {
      if met[place].name.count == name.count, met[place].name.elementsEqual(name) { return met[place].column }
      met.removeSubrange(place...)
    }
    if met.contains(where: { $0.name.count == name.count && $0.name.elementsEqual(name) }) { return nil }
    met.append((Array(name), columns.firstIndex { $0.elementsEqual(name) } ?? -1))
    return met[place].column
  }
}
