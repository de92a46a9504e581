// SPDX-License-Identifier: Apache-2.0

import CExpat

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Finds the rows of XML that comes piece by piece (expat). Memory stays bounded: of elements that are no rows nothing is kept,
/// nesting and rows have limits, and no entity but the five of XML itself is known.
package final class XMLScanner {
  static let deepestNesting = 64
  /// The longest tag or row, in bytes.
  package static let longestItem = 8 << 20

  /// A row that was found in the last piece.
  package struct FoundRow {
    /// The line of its first byte, from 1.
    package let line: Int64
    /// Its bytes, counted from the first byte that was fed.
    package let source: Range<Int64>
    let firstField: Int
  }

  /// What changes while expat calls. It is behind a pointer, since Swift checks each access to a variable of a class, which costs
  /// more than the work itself.
  private struct State {
    var rows: [FoundRow] = []
    /// Where the row begins that is not complete; nil outside of rows.
    var openRow: Int64?
    /// Why the scanner itself ended the reading.
    var refusal: String?
    var fed: Int64 = 0
    /// Where the first token begins that is not complete.
    var unread: Int64 = 0
    var depth = 0
    var matched = 0
    var openLine: Int64 = 0
    var openEnd: Int64 = 0
    /// The values of the rows, each ended by nothing: `fields` says where they are.
    var values: [UInt8] = []
    var fields: [Range<Int>] = []
    var openValues: [UInt8] = []
    var openFields: [Range<Int>] = []
    /// The columns of attribute names by their address: expat keeps each name once.
    var columnsOfNames: [(name: UnsafePointer<CChar>, column: Int)] = []
  }

  private let state: UnsafeMutablePointer<State>
  private let parser: XML_Parser
  private let shape: ElementShape
  private let path: [UnsafeMutablePointer<CChar>]
  private static let absent = -1..<(-1)

  package init(_ shape: ElementShape) {
    self.shape = shape
    state = .allocate(capacity: 1)
    state.initialize(to: State())
    path = shape.path.compactMap { strdup($0) }
    // The text was decoded before, whatever its declaration says.
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
    state.deinitialize(count: 1)
    state.deallocate()
  }

  /// The rows of the last piece.
  package var rows: [FoundRow] { state.pointee.rows }
  /// The first byte of what is not complete, which can be a row: the caller keeps the bytes from here on.
  package var neededFrom: Int64 { min(state.pointee.openRow ?? state.pointee.unread, state.pointee.unread) }

  /// The value in a column of a row; nil where the row has none.
  package func value<Result>(_ row: FoundRow, _ column: Int, _ use: (Int, Int) -> Result) -> Result? {
    let range = state.pointee.fields[row.firstField + column]
    return range.lowerBound < 0 ? nil : use(range.lowerBound, range.count)
  }

  /// The bytes of all state.pointee.values, in which those of a column are found.
  package func withValues<Result>(_ use: (UnsafeBufferPointer<UInt8>) throws -> Result) rethrows -> Result {
    try state.pointee.values.withUnsafeBufferPointer(use)
  }

  /// Reads a piece; the state.pointee.rows of the piece before are forgotten.
  ///
  /// - Returns: why nothing more can be read; nil when all is well.
  package func feed(_ bytes: UnsafeBufferPointer<UInt8>, isLast: Bool) -> (line: Int64, reason: String)? {
    state.pointee.rows.removeAll(keepingCapacity: true)
    state.pointee.values.removeAll(keepingCapacity: true)
    state.pointee.fields.removeAll(keepingCapacity: true)
    let status = bytes.withMemoryRebound(to: CChar.self) {
      XML_Parse(parser, $0.baseAddress, Int32($0.count), isLast ? 1 : 0)
    }
    state.pointee.fed += Int64(bytes.count)
    let line = Int64(XML_GetCurrentLineNumber(parser))
    if let refusal = state.pointee.refusal { return (line, refusal) }
    guard status == XML_STATUS_OK else {
      let text = XML_ErrorString(XML_GetErrorCode(parser)).map { String(cString: $0) } ?? "unknown"
      return (line, "the XML is truncated or damaged (\(text))")
    }
    // Expat knows no place while it waits for more of a token.
    state.pointee.unread = max(state.pointee.unread, Int64(XML_GetCurrentByteIndex(parser)))
    if state.pointee.fed - state.pointee.unread > Int64(Self.longestItem) {
      return (line, "a tag of the XML is longer than 8 MiB")
    }
    return nil
  }

  fileprivate func start(
    _ name: UnsafePointer<CChar>?, _ attributes: UnsafeMutablePointer<UnsafePointer<CChar>?>?
  ) {
    state.pointee.depth += 1
    guard state.pointee.depth <= Self.deepestNesting else {
      return refuse("XML elements are nested deeper than \(Self.deepestNesting)")
    }
    guard let name, let attributes else { return }
    if state.pointee.openRow != nil {
      if state.pointee.depth == path.count + 1 { takePair(name, attributes) }
      return
    }
    guard state.pointee.matched == state.pointee.depth - 1, state.pointee.depth <= path.count,
      strcmp(name, path[state.pointee.depth - 1]) == 0
    else { return }
    state.pointee.matched = state.pointee.depth
    if state.pointee.matched == path.count { startRow(attributes) }
  }

  private func startRow(_ attributes: UnsafeMutablePointer<UnsafePointer<CChar>?>) {
    let place = Int64(XML_GetCurrentByteIndex(parser))
    state.pointee.openRow = place
    state.pointee.openEnd = place + Int64(XML_GetCurrentByteCount(parser))
    state.pointee.openLine = Int64(XML_GetCurrentLineNumber(parser))
    state.pointee.openValues.removeAll(keepingCapacity: true)
    state.pointee.openFields.removeAll(keepingCapacity: true)
    for _ in 0..<shape.columnCount { state.pointee.openFields.append(Self.absent) }
    var index = 0
    while let name = attributes[index], let value = attributes[index + 1] {
      let column = column(of: name)
      if column >= 0 { store(value, column) }
      index += 2
    }
  }

  private func column(of name: UnsafePointer<CChar>) -> Int {
    for known in state.pointee.columnsOfNames where known.name == name { return known.column }
    let text = String(cString: name)
    let column = shape.attributes.firstIndex(of: text) ?? -1
    if state.pointee.columnsOfNames.count < 64 { state.pointee.columnsOfNames.append((name, column)) }
    return column
  }

  private func store(_ value: UnsafePointer<CChar>, _ column: Int) {
    let count = strlen(value)
    let start = state.pointee.openValues.count
    value.withMemoryRebound(to: UInt8.self, capacity: count) {
      state.pointee.openValues.append(contentsOf: UnsafeBufferPointer(start: $0, count: count))
    }
    state.pointee.openFields[column] = start..<(start + count)
  }

  private func takePair(
    _ name: UnsafePointer<CChar>, _ attributes: UnsafeMutablePointer<UnsafePointer<CChar>?>
  ) {
    guard let pairs = shape.pairs, strcmp(name, pairs.element) == 0 else { return }
    var (key, value): (UnsafePointer<CChar>?, UnsafePointer<CChar>?) = (nil, nil)
    var index = 0
    while let attribute = attributes[index] {
      if strcmp(attribute, pairs.key) == 0 { key = attributes[index + 1] }
      if strcmp(attribute, pairs.value) == 0 { value = attributes[index + 1] }
      index += 2
    }
    guard let key, let value, state.pointee.openValues.count < Self.longestItem else { return }
    if let column = pairs.names.firstIndex(where: { strcmp(key, $0) == 0 }) {
      store(value, shape.attributes.count + column)
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
    let end = Int64(XML_GetCurrentByteIndex(parser)) + Int64(XML_GetCurrentByteCount(parser))
    state.pointee.rows.append(
      FoundRow(
        line: state.pointee.openLine, source: start..<max(end, state.pointee.openEnd),
        firstField: state.pointee.fields.count))
    let shift = state.pointee.values.count
    state.pointee.values += state.pointee.openValues
    for field in state.pointee.openFields {
      state.pointee.fields.append(
        field.lowerBound < 0 ? field : (field.lowerBound + shift)..<(field.upperBound + shift))
    }
    state.pointee.openRow = nil
  }
}

/// The scanner that a call of expat is for: it outlives its parser.
private func scanner(of context: UnsafeMutableRawPointer?) -> XMLScanner? {
  context.map { Unmanaged<XMLScanner>.fromOpaque($0).takeUnretainedValue() }
}
