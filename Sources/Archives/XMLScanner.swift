// SPDX-License-Identifier: Apache-2.0

import CExpat
import Glibc

/// Finds the rows of XML that arrives in pieces (expat). Memory is bounded: elements that are not rows are
/// not stored, nesting and rows have limits, and only the five predefined entities are known.
package final class XMLScanner {
  private static let deepestNesting = 64
  /// The longest tag or row, in bytes.
  package static let longestItem = 8 << 20
  /// The longest element name, in bytes. Every name with a meaning for a format is shorter.
  private static let longestName = 4096

  /// A row found in the last piece of the XML.
  package struct FoundRow {
    /// The line on which the row begins, from 1.
    package let line: Int64
    /// The range of the row, counted from the first byte of the input.
    package let source: Range<Int64>
    let firstField: Int
  }

  /// The state that changes while a piece is read. It is accessed by a pointer, since Swift checks each
  /// access to a variable of a class, which costs more than the parsing itself.
  private struct ScanState {
    var rows: [FoundRow] = []
    /// The start of the incomplete row; nil outside of rows.
    var openRow: Int64?
    /// The reason why the scanner itself refused the input.
    var refusal: String?
    var fed: Int64 = 0
    /// The start of the first incomplete token.
    var unread: Int64 = 0
    var depth = 0
    var matched = 0
    var openLine: Int64 = 0
    var openEnd: Int64 = 0
    /// The values of the rows, without separators: `fields` has their ranges.
    var values: [UInt8] = []
    var fields: [Range<Int>] = []
    /// The indexes in `values` and `fields` at which the open row begins. This row is the last one.
    var openValue = 0
    var openField = 0
    /// The name of the open element at the path's wildcard.
    var anyName: [UInt8] = []
    /// The columns of attribute names, in the order of their first use. Names are compared by address, since
    /// expat stores each name once.
    var columnsOfNames: [(name: UnsafePointer<CChar>, column: Int)] = []

    /// Removes the rows of the last piece of the XML. The values of an open row move to the front.
    mutating func forgetRows() {
      rows.removeAll(keepingCapacity: true)
      guard openRow != nil else {
        values.removeAll(keepingCapacity: true)
        fields.removeAll(keepingCapacity: true)
        return
      }
      values.removeSubrange(..<openValue)
      fields.removeSubrange(..<openField)
      for index in fields.indices where fields[index].lowerBound >= 0 {
        fields[index] = (fields[index].lowerBound - openValue)..<(fields[index].upperBound - openValue)
      }
      (openValue, openField) = (0, 0)
    }

    /// Appends the fields of a new row.
    mutating func openFields(_ count: Int) {
      (openValue, openField) = (values.count, fields.count)
      for _ in 0..<count { fields.append(XMLScanner.absent) }
    }

    @inline(__always)
    mutating func store(_ value: UnsafePointer<CChar>, _ column: Int) {
      let (count, start) = (strlen(value), values.count)
      value.withMemoryRebound(to: UInt8.self, capacity: count) {
        values.append(contentsOf: UnsafeBufferPointer(start: $0, count: count))
      }
      fields[openField + column] = start..<(start + count)
    }

    /// Stores the name of the wildcard element around a row in the row's last column.
    mutating func storeAnyName(in column: Int) {
      let start = values.count
      values.append(contentsOf: anyName)
      fields[openField + column] = start..<values.count
    }
  }

  /// The names of `ElementShape.Pairs` as C strings: creating them for each comparison would cost more than
  /// everything else.
  private struct PairNames {
    let element: UnsafeMutablePointer<CChar>
    let key: UnsafeMutablePointer<CChar>
    let value: UnsafeMutablePointer<CChar>
    let columns: [UnsafeMutablePointer<CChar>]

    init?(_ pairs: ElementShape.Pairs) {
      guard let element = strdup(pairs.element), let key = strdup(pairs.key), let value = strdup(pairs.value)
      else {
        return nil
      }
      (self.element, self.key, self.value) = (element, key, value)
      columns = pairs.names.compactMap { strdup($0) }
    }

    func deallocate() { for name in [element, key, value] + columns { free(name) } }
  }

  private let state: UnsafeMutablePointer<ScanState>
  private let parser: XML_Parser
  private let shape: ElementShape
  private let path: [UnsafeMutablePointer<CChar>]
  private let pairs: PairNames?
  private static let absent = -1..<(-1)

  package init(_ shape: ElementShape) {
    self.shape = shape
    state = .allocate(capacity: 1)
    state.initialize(to: ScanState())
    path = shape.path.compactMap { strdup($0) }
    pairs = shape.pairs.flatMap(PairNames.init)
    // The text is already decoded to UTF-8, so the encoding in its declaration is ignored.
    parser = XML_ParserCreate("UTF-8")
    XML_SetUserData(parser, Unmanaged.passUnretained(self).toOpaque())
    XML_SetElementHandler(
      parser, { scanner(of: $0)?.start($1, $2) }, { context, _ in scanner(of: context)?.end() })
    XML_SetEntityDeclHandler(parser) { context, _, _, _, _, _, _, _, _ in
      scanner(of: context)?.refuse("the XML declares entities, which no export does")
    }
  }

  deinit {
    XML_ParserFree(parser)
    for name in path { free(name) }
    pairs?.deallocate()
    state.deinitialize(count: 1)
    state.deallocate()
  }

  /// The rows of the last piece of the XML.
  package var rows: [FoundRow] { state.pointee.rows }
  /// The row at an index among those of the last piece, from 0; nil past the last.
  package func row(_ place: Int) -> FoundRow? {
    place < state.pointee.rows.count ? state.pointee.rows[place] : nil
  }
  /// The first byte of the incomplete token or row. The caller must keep the bytes from here on.
  package var neededFrom: Int64 { min(state.pointee.openRow ?? state.pointee.unread, state.pointee.unread) }

  /// The range of a row's value in a column, among all values; nil if the row has none.
  package func value(_ row: FoundRow, _ column: Int) -> (start: Int, count: Int)? {
    let range = state.pointee.fields[row.firstField + column]
    return range.lowerBound < 0 ? nil : (range.lowerBound, range.count)
  }

  /// Passes the bytes of all values to `use`.
  package func withValues<Result>(_ use: (UnsafeBufferPointer<UInt8>) throws -> Result) rethrows -> Result {
    try state.pointee.values.withUnsafeBufferPointer(use)
  }

  /// Parses a piece. The rows of the previous piece are discarded.
  ///
  /// - Returns: why parsing must stop; nil on success.
  package func feed(_ bytes: UnsafeBufferPointer<UInt8>, isLast: Bool) -> (line: Int64, reason: String)? {
    state.pointee.forgetRows()
    let status = bytes.withMemoryRebound(to: CChar.self) {
      XML_Parse(parser, $0.baseAddress, Int32($0.count), isLast ? 1 : 0)
    }
    state.pointee.fed += Int64(bytes.count)
    if let refusal = state.pointee.refusal { return (line, refusal) }
    guard status == XML_STATUS_OK else {
      let text = XML_ErrorString(XML_GetErrorCode(parser)).map { String(cString: $0) } ?? "unknown"
      return (line, "the XML is truncated or damaged (\(text))")
    }
    // While expat waits for the rest of a token, it reports no position. Then `unread` keeps its value.
    state.pointee.unread = max(state.pointee.unread, tagStart)
    if state.pointee.fed - state.pointee.unread > Int64(Self.longestItem) {
      return (line, "a tag of the XML is longer than 8 MiB")
    }
    return nil
  }

  /// The current line of expat, from 1: that of a tag in a callback; else that of the first unread byte or of
  /// the error.
  private var line: Int64 { Int64(XML_GetCurrentLineNumber(parser)) }

  private var tagStart: Int64 { Int64(XML_GetCurrentByteIndex(parser)) }
  private var tagEnd: Int64 { tagStart + Int64(XML_GetCurrentByteCount(parser)) }

  fileprivate func start(
    _ name: UnsafePointer<CChar>?, _ attributes: UnsafeMutablePointer<UnsafePointer<CChar>?>?
  ) {
    state.pointee.depth += 1
    guard state.pointee.depth <= Self.deepestNesting else {
      return refuse("XML elements are nested deeper than \(Self.deepestNesting)")
    }
    guard let name, let attributes else { return }
    if state.pointee.openRow != nil {
      if state.pointee.depth == path.count + 1 { readPair(name, attributes) }
      return
    }
    guard state.pointee.matched == state.pointee.depth - 1, state.pointee.depth <= path.count,
      matches(name, state.pointee.depth - 1)
    else { return }
    state.pointee.matched = state.pointee.depth
    if state.pointee.matched == path.count { startRow(attributes) }
  }

  private func matches(_ name: UnsafePointer<CChar>, _ place: Int) -> Bool {
    guard shape.hasAnyName, shape.path[place] == ElementShape.anyName else {
      return strcmp(name, path[place]) == 0
    }
    let count = strlen(name)
    state.pointee.anyName = name.withMemoryRebound(to: UInt8.self, capacity: count) {
      Array(UnsafeBufferPointer(start: $0, count: min(count, Self.longestName)))
    }
    return true
  }

  private func startRow(_ attributes: UnsafeMutablePointer<UnsafePointer<CChar>?>) {
    state.pointee.openRow = tagStart
    state.pointee.openEnd = tagEnd
    state.pointee.openLine = line
    state.pointee.openFields(shape.columnCount)
    if shape.hasAnyName { state.pointee.storeAnyName(in: shape.ownColumnCount) }
    var index = 0
    // Nearly all rows have the same attributes in the same order, so each attribute is first compared with
    // the expected one.
    var expected = 0
    while let name = attributes[index], let value = attributes[index + 1] {
      let column = column(of: name, at: &expected)
      if column >= 0 { state.pointee.store(value, column) }
      index += 2
    }
  }

  /// The column of an attribute name; -1 if the attribute is not a column.
  ///
  /// - Parameter place: the expected index of the name in `columnsOfNames`; becomes the index expected for
  ///   the next attribute.
  private func column(of name: UnsafePointer<CChar>, at place: inout Int) -> Int {
    if place >= state.pointee.columnsOfNames.count || state.pointee.columnsOfNames[place].name != name {
      guard let found = state.pointee.columnsOfNames.firstIndex(where: { $0.name == name }) else {
        return lookUpColumn(name)
      }
      place = found
    }
    place += 1
    return state.pointee.columnsOfNames[place - 1].column
  }

  private func lookUpColumn(_ name: UnsafePointer<CChar>) -> Int {
    let column = shape.attributes.firstIndex(of: String(cString: name)) ?? -1
    if state.pointee.columnsOfNames.count < 64 { state.pointee.columnsOfNames.append((name, column)) }
    return column
  }

  private func readPair(
    _ name: UnsafePointer<CChar>, _ attributes: UnsafeMutablePointer<UnsafePointer<CChar>?>
  ) {
    guard let pairs, strcmp(name, pairs.element) == 0 else { return }
    var (key, value): (UnsafePointer<CChar>?, UnsafePointer<CChar>?) = (nil, nil)
    var index = 0
    while let attribute = attributes[index] {
      if strcmp(attribute, pairs.key) == 0 { key = attributes[index + 1] }
      if strcmp(attribute, pairs.value) == 0 { value = attributes[index + 1] }
      index += 2
    }
    guard let key, let value, state.pointee.values.count - state.pointee.openValue < Self.longestItem
    else { return }
    if let column = pairs.columns.firstIndex(where: { strcmp(key, $0) == 0 }) {
      state.pointee.store(value, shape.attributes.count + column)
    }
  }

  fileprivate func refuse(_ reason: String) {
    state.pointee.refusal = reason
    XML_StopParser(parser, 0)
  }

  fileprivate func end() {
    defer { state.pointee.depth -= 1 }
    if state.pointee.matched == state.pointee.depth {
      if state.pointee.matched == path.count, let start = state.pointee.openRow { endRow(from: start) }
      state.pointee.matched -= 1
    }
  }

  private func endRow(from start: Int64) {
    state.pointee.rows.append(
      FoundRow(
        line: state.pointee.openLine, source: start..<max(tagEnd, state.pointee.openEnd),
        firstField: state.pointee.openField))
    state.pointee.openRow = nil
  }
}

/// The scanner in the context of an expat callback. It is not retained here, since it outlives its parser.
private func scanner(of context: UnsafeMutableRawPointer?) -> XMLScanner? {
  context.map { Unmanaged<XMLScanner>.fromOpaque($0).takeUnretainedValue() }
}

/// The XML elements that are rows, and their columns.
package struct ElementShape {
  /// Members of a row that are elements with a name and a value: `<MetadataEntry key="…" value="…"/>`.
  package struct Pairs {
    let element: String
    let key: String
    let value: String
    let names: [String]

    package init(element: String, key: String, value: String, names: [String]) {
      (self.element, self.key, self.value, self.names) = (element, key, value, names)
    }
  }

  /// A wildcard in a path: an element of any name. Its name becomes the last column of each row inside it.
  package static let anyName = "*"

  /// The path of the rows, from the root element on.
  let path: [String]
  /// The attributes that are columns.
  let attributes: [String]
  /// The elements inside a row that are further columns.
  let pairs: Pairs?
  /// Whether the path has a wildcard. Like the two counts below, it is stored because computing it for each
  /// row takes time.
  let hasAnyName: Bool
  /// The number of columns that the row's own element fills.
  let ownColumnCount: Int
  /// The number of columns of a row: the attributes, the names of the pairs, and the name of the wildcard
  /// element.
  package let columnCount: Int

  package init(path: [String], attributes: [String], pairs: Pairs? = nil) {
    (self.path, self.attributes, self.pairs) = (path, attributes, pairs)
    hasAnyName = path.contains(Self.anyName)
    ownColumnCount = attributes.count + (pairs?.names.count ?? 0)
    columnCount = ownColumnCount + (hasAnyName ? 1 : 0)
  }
}
