// SPDX-License-Identifier: Apache-2.0

/// Parses the plain XML tags that make up nearly all of a large export. Names are ASCII; values are quoted,
/// and have no control characters and only the five predefined references.
///
/// The meaning of a plain tag is unambiguous. All other XML, including damaged XML, is left to expat, which
/// takes four times as long for the same bytes. With expat only, an export of Apple Health, which is mostly
/// other measures than glucose, would take 2.2 times the processor time.
struct PlainTags {
  struct Attribute {
    let column: Int
    let value: Range<Int>
    let hasReferences: Bool
  }

  private static let maxAttributes = 64
  private static let references: [(text: [UInt8], byte: UInt8)] = [
    ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"), ("&quot;", "\""), ("&apos;", "'"),
  ].map { (Array($0.0.utf8), UInt8(ascii: $0.1)) }

  let bytes: UnsafeBufferPointer<UInt8>
  /// The index of the first byte that is not parsed; undefined after a method found that the XML is not
  /// plain.
  private(set) var place: Int
  /// The number of line breaks between the first place and `place`.
  private(set) var lines: Int64 = 0
  /// The attributes of the last start tag.
  private(set) var attributes: [Attribute] = []

  init(_ bytes: UnsafeBufferPointer<UInt8>, from place: Int) {
    (self.bytes, self.place) = (bytes, place)
  }

  /// The byte at `place`; 0 past the last byte. A plain tag never contains a 0.
  private var current: UInt8 { place < bytes.count ? bytes[place] : 0 }

  /// Moves past blanks and line feeds. It stops at a carriage return, which is left to expat: expat turns it
  /// into a line feed and counts it as a line break.
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

  private mutating func consume(_ byte: UInt8) -> Bool {
    guard current == byte else { return false }
    place += 1
    return true
  }

  private mutating func readName() -> Range<Int>? {
    let start = place
    guard Self.isLetter(current) else { return nil }
    while Self.isLetter(current) || Self.isInsideName(current) { place += 1 }
    return start..<place
  }

  private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }

  /// Whether a byte is a digit, `-`, `.` or `_`. A plain name can have these and letters after its first
  /// letter. A name with a colon is left to expat.
  private static func isInsideName(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || byte == 0x2D || byte == 0x2E || byte == 0x5F
  }

  func hasBytes(of name: Range<Int>, _ other: [UInt8]) -> Bool {
    name.count == other.count && other.elementsEqual(bytes[name])
  }

  /// Parses `<` and the name after it; nil if no element begins here.
  mutating func readOpening() -> Range<Int>? { consume(UInt8(ascii: "<")) ? readName() : nil }

  /// Parses the rest of a start tag into `attributes`.
  ///
  /// - Parameter names: the attribute names of earlier tags of the same kind.
  /// - Returns: true for an empty element, which ends with `/>`; false for one with an end tag; nil if the
  ///   tag is incomplete or not plain.
  mutating func readAttributes(_ names: inout AttributeNames) -> Bool? {
    attributes.removeAll(keepingCapacity: true)
    while true {
      let nameEnd = place
      skipBlanks()
      if consume(UInt8(ascii: ">")) { return false }
      if consume(UInt8(ascii: "/")) { return consume(UInt8(ascii: ">")) ? true : nil }
      guard place > nameEnd, attributes.count < Self.maxAttributes, readAttribute(&names) else { return nil }
    }
  }

  private mutating func readAttribute(_ names: inout AttributeNames) -> Bool {
    guard let name = readName(), consume(UInt8(ascii: "=")), consume(UInt8(ascii: "\"")),
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
      // U+FFFE and U+FFFF are invalid in XML. They begin with 0xEF in UTF-8, as do all characters from U+F000
      // on, so that all of these are left to expat.
      case 0..<0x20, UInt8(ascii: "<"), 0xEF: return false
      case let byte:
        if byte >= 0x80 { isASCII = false }
        place += 1
      }
    }
  }

  /// The length and byte of one of the five references that XML predefines, such as `&lt;`; nil for any other
  /// reference.
  private func reference(at place: Int) -> (length: Int, byte: UInt8)? {
    for (text, byte) in Self.references where bytes[place...].starts(with: text) { return (text.count, byte) }
    return nil
  }

  var isAtEndTag: Bool {
    current == UInt8(ascii: "<") && place + 1 < bytes.count && bytes[place + 1] == UInt8(ascii: "/")
  }

  /// Parses `</name>`; false for anything else.
  mutating func readEnd(of name: Range<Int>) -> Bool {
    guard consume(UInt8(ascii: "<")), consume(UInt8(ascii: "/")), let ended = readName() else { return false }
    skipBlanks()
    return ended.count == name.count && bytes[ended].elementsEqual(bytes[name]) && consume(UInt8(ascii: ">"))
  }

  /// Appends an attribute's value to `values`.
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

/// Finds the column of an attribute by its name. It keeps the names of the last tag in order, since the next
/// tag nearly always has the same names in the same order.
struct AttributeNames {
  private let columns: [[UInt8]]
  private var seen: [(name: [UInt8], column: Int)] = []

  /// - Parameter columns: the attribute names that are columns, in order.
  init(_ columns: [String]) { self.columns = columns.map { Array($0.utf8) } }

  /// The column of a tag's attribute: -1 if the attribute is not a column, nil if the tag has the name twice.
  ///
  /// - Parameter place: the attribute's position in the tag. Call this for each attribute of a tag in order.
  mutating func column(of name: Slice<UnsafeBufferPointer<UInt8>>, at place: Int) -> Int? {
    if place < seen.count {
      if seen[place].name.count == name.count, seen[place].name.elementsEqual(name) {
        return seen[place].column
      }
      seen.removeSubrange(place...)
    }
    if seen.contains(where: { $0.name.count == name.count && $0.name.elementsEqual(name) }) { return nil }
    seen.append((Array(name), columns.firstIndex { $0.elementsEqual(name) } ?? -1))
    return seen[place].column
  }
}

/// The names of an `ElementShape` as bytes, for `PlainTags`.
struct PlainShape {
  let row: [UInt8]
  let pair: [UInt8]?
  let keys: [[UInt8]]
  var ofRows: AttributeNames
  /// The attributes of a pair element: column 0 is the key, column 1 the value.
  var ofPairs: AttributeNames
  var ofOthers = AttributeNames([])

  init(_ shape: ElementShape) {
    row = Array((shape.path.last ?? "").utf8)
    pair = shape.pairs.map { Array($0.element.utf8) }
    keys = shape.pairs?.names.map { Array($0.utf8) } ?? []
    ofRows = AttributeNames(shape.attributes)
    ofPairs = AttributeNames(shape.pairs.map { [$0.key, $0.value] } ?? [])
  }
}

extension XMLScanner {
  /// Parses plain elements: rows and their siblings.
  ///
  /// - Returns: the index of the first byte that is left for expat.
  func readPlainElements(of bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
    guard isBetweenRows else { return start }
    var tags = PlainTags(bytes, from: start)
    let (origin, line) = (state.pointee.fed - Int64(start), self.line)
    var (end, lines) = (start, Int64(0))
    while readPlainElement(&tags, origin, line) { (end, lines) = (tags.place, tags.lines) }
    let taken = Int64(end - start)
    state.pointee.fed += taken
    state.pointee.plainBytes += taken
    state.pointee.plainLines += lines
    if taken > 0 { (state.pointee.boundary, state.pointee.unread) = (state.pointee.fed, state.pointee.fed) }
    return end
  }

  /// Parses the next element if it is plain: a row, which is added to the rows of this piece, or a sibling of
  /// rows.
  ///
  /// - Parameter origin: the offset in the whole text at which the bytes of `tags` begin.
  /// - Parameter firstLine: the line in which `tags` began.
  /// - Returns: false if the next element is not plain or not complete; nothing of it is stored.
  private func readPlainElement(_ tags: inout PlainTags, _ origin: Int64, _ firstLine: Int64) -> Bool {
    tags.skipBlanks()
    let (start, line) = (tags.place, firstLine + tags.lines)
    guard let name = tags.readOpening() else { return false }
    guard tags.hasBytes(of: name, state.pointee.plain.row) else {
      guard let isEmpty = tags.readAttributes(&state.pointee.plain.ofOthers) else { return false }
      return isEmpty || readContent(&tags, of: name, depth: path.count)
    }
    guard let isEmpty = tags.readAttributes(&state.pointee.plain.ofRows) else { return false }
    state.pointee.openFields(shape.columnCount)
    if shape.hasAnyName { state.pointee.storeAnyName(in: shape.ownColumnCount) }
    for attribute in tags.attributes where attribute.column >= 0 {
      state.pointee.store(attribute, of: tags, in: attribute.column)
    }
    guard isEmpty || readContent(&tags, of: name, depth: path.count, isRow: true) else {
      state.pointee.values.removeSubrange(state.pointee.openValue...)
      state.pointee.fields.removeSubrange(state.pointee.openField...)
      return false
    }
    state.pointee.rows.append(
      FoundRow(
        line: line, source: origin + Int64(start)..<origin + Int64(tags.place),
        firstField: state.pointee.openField))
    return true
  }

  /// Parses the children of an element, and its end tag.
  ///
  /// - Parameter depth: the depth of that element, from 1.
  /// - Returns: false if the children or the tag are not plain or not complete.
  private func readContent(
    _ tags: inout PlainTags, of outer: Range<Int>, depth: Int, isRow: Bool = false
  ) -> Bool {
    guard depth < Self.deepestNesting else { return false }
    while true {
      tags.skipBlanks()
      if tags.isAtEndTag { return tags.readEnd(of: outer) }
      guard let name = tags.readOpening() else { return false }
      let isEmpty: Bool
      if isRow, let pair = state.pointee.plain.pair, tags.hasBytes(of: name, pair) {
        guard let ends = tags.readAttributes(&state.pointee.plain.ofPairs), readPair(tags) else {
          return false
        }
        isEmpty = ends
      } else {
        guard let ends = tags.readAttributes(&state.pointee.plain.ofOthers) else { return false }
        isEmpty = ends
      }
      guard isEmpty || readContent(&tags, of: name, depth: depth + 1) else { return false }
    }
  }

  private func readPair(_ tags: PlainTags) -> Bool {
    guard let key = tags.attributes.first(where: { $0.column == 0 }),
      let value = tags.attributes.first(where: { $0.column == 1 }),
      state.pointee.values.count - state.pointee.openValue < Self.longestItem
    else { return true }
    if key.hasReferences { return false }
    if let column = state.pointee.plain.keys.firstIndex(where: { tags.hasBytes(of: key.value, $0) }) {
      state.pointee.store(value, of: tags, in: shape.attributes.count + column)
    }
    return true
  }
}
