// SPDX-License-Identifier: Apache-2.0

import Archives
import Glibc

/// Reads JSON objects as rows. They are in an array, in lines (NDJSON), in several arrays in sequence, or in
/// arrays inside an envelope such as `{"status":200,"result":[…]}`.
///
/// A row has one column for each requested name. `payload.transmitterTicks` names a member of a nested
/// object. A nested object or array that is requested by its own name is given as its JSON text.
final class JSONReader: RowSource {
  /// Names of members in which services wrap their lists of items.
  static let envelopeKeys: [StaticString] = [
    "result", "data", "entries", "treatments", "records", "readings", "egvs", "items", "values", "entry",
    "metrics", "BgReadings", "Treatments", "sgvs", "mbgs", "bgs",
  ]
  static let deepestContainers = 8

  private let text: TextBuffer
  private let names: MemberColumns
  private let fields: UnsafeMutablePointer<Field>
  private var line: Int64 = 1
  private var containers: [Container] = []
  /// Whether objects at the top level are rows. After a first row, each further object is a row, since a list
  /// of rows holds no envelopes.
  private var topHoldsRows = false
  /// The indexes of the columns whose cells have escapes, each once.
  private var escapedColumns: [Int] = []
  private var copies: UnsafeMutablePointer<UInt8>
  private var copiesCapacity = 4096

  /// Whether a list under an unknown name is reported as a rejected row, if its objects look like readings.
  var reportsOtherLists = false
  /// The name of an unread list of readings that is still to be reported.
  private var otherList: String?

  private enum Container { case array, envelope }

  /// - Parameter columns: the names to find; nil to collect all names.
  init(_ text: TextBuffer, columns: [String]?) {
    self.text = text
    names = MemberColumns(columns)
    fields = .allocate(capacity: MemberColumns.maxColumns)
    copies = .allocate(capacity: copiesCapacity)
  }

  var columns: [String] { names.columns }

  deinit {
    fields.deallocate()
    copies.deallocate()
  }

  func next() throws -> RowOutcome {
    while true {
      if let name = otherList {
        otherList = nil
        return .rejected(
          line: line,
          reason:
            "another list of readings, \(shownName(name)), which is not read; import it from a separate file")
      }
      do {
        var cursor = JSONCursor(text)
        if let outcome = try scan(&cursor) { return outcome }
      } catch JSONStop.needsMore {
        if text.end - text.start >= TextBuffer.longestItem {
          return try skipItem(reason: "the object is longer than 8 MiB")
        }
        switch try text.fillForItem() {
        case .bytes: continue
        case .paused: return .paused
        case .end: return atEnd()
        }
      } catch JSONStop.malformed(let reason) {
        return try skipItem(reason: reason)
      }
    }
  }

  /// Reads the next row; nil if the cursor passed only punctuation, or entered or left a container.
  private func scan(_ cursor: inout JSONCursor) throws(JSONStop) -> RowOutcome? {
    let byte = try cursor.peek()
    consume(to: cursor.position)
    switch byte {
    case UInt8(ascii: "["):
      guard containers.count < Self.deepestContainers else {
        throw .malformed("arrays are nested too deeply")
      }
      containers.append(.array)
    case UInt8(ascii: "]"):
      guard containers.popLast() == .array else { throw .malformed("a ']' without a '['") }
    case UInt8(ascii: "}"):
      guard containers.popLast() == .envelope else { throw .malformed("a '}' without a '{'") }
    case UInt8(ascii: ","): break
    case UInt8(ascii: "{"):
      if !containers.contains(.array), !topHoldsRows, try entersEnvelope(&cursor) { return nil }
      if containers.isEmpty { topHoldsRows = true }
      return try object(&cursor)
    case UInt8(ascii: "\"") where containers.last == .envelope:
      let key = try cursor.key()
      if !wraps(key, cursor) {
        let name = try nameOfReadings(key, cursor)
        _ = try cursor.value(depth: 1)
        otherList = name
      }
      consume(to: cursor.position)
      return nil
    default:
      _ = try cursor.value(depth: 0)
      let rejected = line
      consume(to: cursor.position)
      return .rejected(line: rejected, reason: "an object is expected here")
    }
    consume(to: cursor.position + 1)
    return nil
  }

  /// If the object wraps a list, moves to that list and returns true. If the object is a row, returns false.
  private func entersEnvelope(_ cursor: inout JSONCursor) throws(JSONStop) -> Bool {
    let start = cursor.position
    var name: String?
    cursor.position += 1
    while try cursor.peek() == UInt8(ascii: "\"") {
      let key = try cursor.key()
      if wraps(key, cursor) {
        containers.append(.envelope)
        otherList = name
        consume(to: cursor.position)
        return true
      }
      if name == nil { name = try nameOfReadings(key, cursor) }
      _ = try cursor.value(depth: 1)
      if try cursor.peek() == UInt8(ascii: ",") { cursor.position += 1 }
    }
    cursor.position = start
    return false
  }

  private func wraps(_ key: Range<Int>, _ cursor: JSONCursor) -> Bool {
    let name = Field(start: cursor.base + key.lowerBound, count: key.count, shape: .quoted)
    let opening = cursor.base[cursor.position]
    if opening == UInt8(ascii: "[") { return Self.envelopeKeys.contains { name.equals($0) } }
    return opening == UInt8(ascii: "{") && (name.equals("data") || name.equals("result"))
  }

  /// The name of a member, if its value is a list whose first object has a time and glucose. Nil for any
  /// other member, and for a list with a name for predictions or means.
  private func nameOfReadings(_ key: Range<Int>, _ cursor: JSONCursor) throws(JSONStop) -> String? {
    guard reportsOtherLists, cursor.base[cursor.position] == UInt8(ascii: "[") else { return nil }
    var cursor = cursor
    cursor.position += 1
    guard try cursor.peek() == UInt8(ascii: "{") else { return nil }
    cursor.position += 1
    var (hasTime, hasGlucose) = (false, false)
    while try cursor.peek() == UInt8(ascii: "\"") {
      let words = HeaderWords(text(of: try cursor.key(), cursor))
      if words.isTime { hasTime = true } else if words.isGlucose { hasGlucose = true }
      _ = try cursor.value(depth: 2)
      if try cursor.peek() == UInt8(ascii: ",") { cursor.position += 1 }
    }
    let name = text(of: key, cursor)
    let words = HeaderWords(name)
    return hasTime && hasGlucose && !words.namesNoValue && !words.namesNoReading && !words.isFlag ? name : nil
  }

  private func text(of key: Range<Int>, _ cursor: JSONCursor) -> String {
    Field(start: cursor.base + key.lowerBound, count: key.count, shape: .quoted).text
  }

  private func object(_ cursor: inout JSONCursor) throws(JSONStop) -> RowOutcome {
    // If names are collected, columns are added while an object is read, so all possible fields are emptied
    // first.
    let absent = Field.absent
    for index in 0..<(names.collects ? MemberColumns.maxColumns : names.columnCount) {
      (fields + index).initialize(to: absent)
    }
    escapedColumns.removeAll(keepingCapacity: true)
    let start = cursor.position
    try members(&cursor, scope: 0, depth: 1)
    let length = cursor.position - start
    if !escapedColumns.isEmpty { resolveEscapedColumns(rowLength: length) }
    let row = Row(
      fields: UnsafeBufferPointer(start: fields, count: names.columnCount), line: line, isUnterminated: false,
      source: UnsafeBufferPointer(start: cursor.base + start, count: length))
    consume(to: cursor.position)
    return .row(row)
  }

  /// Reads the members of the object whose `{` is at the position.
  private func members(_ cursor: inout JSONCursor, scope: Int, depth: Int) throws(JSONStop) {
    guard depth <= JSONCursor.deepestNesting else { throw .malformed("values are nested deeper than 64") }
    cursor.position += 1
    if try cursor.peek() == UInt8(ascii: "}") {
      cursor.position += 1
      return
    }
    while true {
      let key = try cursor.key()
      let meaning = names.meaning(of: cursor.base + key.lowerBound, length: key.count, in: scope)
      try value(&cursor, meaning, depth: depth)
      switch try cursor.peek() {
      case UInt8(ascii: ","): cursor.position += 1
      case UInt8(ascii: "}"):
        cursor.position += 1
        return
      default: throw .malformed("a ',' or '}' is expected")
      }
    }
  }

  /// Reads the value of a member into its column. If the value is an object, its requested members are read
  /// into their columns.
  @inline(__always)
  private func value(
    _ cursor: inout JSONCursor, _ meaning: MemberColumns.Meaning, depth: Int
  ) throws(JSONStop) {
    let column = meaning.column
    if column < 0, meaning.inside < 0 { return try cursor.skipValue(depth: depth) }
    if cursor.base[cursor.position] == UInt8(ascii: "{") {
      if let plain = try cursor.extendedValue(depth: depth) { return store(plain, column) }
      if meaning.inside >= 0 {
        let start = cursor.position
        try members(&cursor, scope: meaning.inside, depth: depth + 1)
        let whole = Field(start: cursor.base + start, count: cursor.position - start, shape: .composite)
        return store((whole, false), column)
      }
    }
    store(try cursor.value(depth: depth), column)
  }

  @inline(__always)
  private func store(_ value: (field: Field, isEscaped: Bool), _ column: Int) {
    guard column >= 0 else { return }
    fields[column] = value.field
    // A hostile object may repeat a key. Each column is added only once, so that the copies are not longer
    // than the object.
    if value.isEscaped, !escapedColumns.contains(column) { escapedColumns.append(column) }
  }

  /// Replaces fields with escapes by resolved copies. The bytes of the window do not change, so that
  /// `--rejects` shows the row as it was in the input.
  private func resolveEscapedColumns(rowLength: Int) {
    if rowLength > copiesCapacity {
      copies.deallocate()
      copies = .allocate(capacity: rowLength)
      copiesCapacity = rowLength
    }
    var used = 0
    for column in escapedColumns where fields[column].shape == .quoted {
      let count = resolveEscapes(fields[column], into: copies + used)
      fields[column] = Field(start: copies + used, count: count, shape: .quoted)
      used += count
    }
    escapedColumns.removeAll(keepingCapacity: true)
  }

  /// The outcome at the end of the input. An input can end inside an object or a list.
  private func atEnd() -> RowOutcome {
    var cursor = JSONCursor(text)
    let isInsideObject = cursor.skipBlanks() != nil
    let isInsideList = !containers.isEmpty
    let truncation = line
    consume(to: text.end)
    containers.removeAll()
    if isInsideObject { return .end(truncation: (truncation, "an object is truncated")) }
    return .end(truncation: isInsideList ? (truncation, "the closing bracket is missing") : nil)
  }

  /// Skips text that cannot be read, up to the next object that starts a line or follows another object and a
  /// comma.
  private func skipItem(reason: String) throws -> RowOutcome {
    let rejected = line
    consume(to: min(text.start + 1, text.end))
    while true {
      if let next = nextObjectStart() {
        consume(to: next)
        return .rejected(line: rejected, reason: reason)
      }
      // The last 64 bytes stay in the window, since they may end with the separator before the next object.
      consume(to: max(text.start, text.isAtEnd ? text.end : text.end - 64))
      if text.isAtEnd {
        containers.removeAll()
        return .rejected(line: rejected, reason: reason)
      }
      _ = try text.fill()
    }
  }

  private func nextObjectStart() -> Int? {
    var last: UInt8 = 0
    for position in text.start..<text.end {
      let byte = text.base[position]
      if byte == UInt8(ascii: "{"), last == 0x0A || last == UInt8(ascii: ",") { return position }
      if byte == UInt8(ascii: ","), last != UInt8(ascii: "}") {
        last = 0
      } else if byte != 0x20, byte != 0x09, byte != 0x0D, byte != 0x0A || last != UInt8(ascii: ",") {
        last = byte
      }
    }
    return nil
  }

  /// Moves the start of the window and counts the lines in between.
  private func consume(to position: Int) {
    var from = text.start
    while from < position, let found = memchr(text.base + from, 0x0A, position - from) {
      line += 1
      from = found.assumingMemoryBound(to: UInt8.self) - UnsafeMutablePointer(text.base) + 1
    }
    text.start = position
  }
}
