// SPDX-License-Identifier: Apache-2.0

/// The names of an `ElementShape` for `PlainTags`.
struct PlainShape {
  let row: [UInt8]
  let pair: [UInt8]?
  let keys: [[UInt8]]
  var ofRows: AttributeNames
  /// The columns are key and value.
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
  func takePlainElements(of bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
    guard isBetweenRows else { return start }
    var tags = PlainTags(bytes, from: start)
    let (origin, line) = (state.pointee.fed - Int64(start), self.line)
    var (end, lines) = (start, Int64(0))
    while takePlainElement(&tags, origin, line) { (end, lines) = (tags.place, tags.lines) }
    let taken = Int64(end - start)
    state.pointee.fed += taken
    state.pointee.plainBytes += taken
    state.pointee.plainLines += lines
    if taken > 0 { (state.pointee.boundary, state.pointee.unread) = (state.pointee.fed, state.pointee.fed) }
    return end
  }

  /// - Parameter origin: the position of the bytes in the text.
  /// - Parameter firstLine: the line in which `tags` began.
  /// - Returns: false if the next element is not plain or not complete; nothing of it is stored.
  private func takePlainElement(_ tags: inout PlainTags, _ origin: Int64, _ firstLine: Int64) -> Bool {
    tags.skipBlanks()
    let (start, line) = (tags.place, firstLine + tags.lines)
    guard let name = tags.takeOpening() else { return false }
    guard tags.hasBytes(of: name, state.pointee.plain.row) else {
      guard let isEmpty = tags.takeAttributes(&state.pointee.plain.ofOthers) else { return false }
      return isEmpty || takeContent(&tags, of: name, depth: path.count)
    }
    guard let isEmpty = tags.takeAttributes(&state.pointee.plain.ofRows) else { return false }
    state.pointee.openFields(shape.columnCount)
    if shape.hasAnyName { state.pointee.storeAnyName(in: shape.ownColumnCount) }
    for attribute in tags.attributes where attribute.column >= 0 {
      state.pointee.store(attribute, of: tags, in: attribute.column)
    }
    guard isEmpty || takeContent(&tags, of: name, depth: path.count, isRow: true) else {
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
  private func takeContent(
    _ tags: inout PlainTags, of outer: Range<Int>, depth: Int, isRow: Bool = false
  ) -> Bool {
    guard depth < Self.deepestNesting else { return false }
    while true {
      tags.skipBlanks()
      if tags.isAtEndTag { return tags.takeEnd(of: outer) }
      guard let name = tags.takeOpening() else { return false }
      let isEmpty: Bool
      if isRow, let pair = state.pointee.plain.pair, tags.hasBytes(of: name, pair) {
        guard let ends = tags.takeAttributes(&state.pointee.plain.ofPairs), takePair(tags) else {
          return false
        }
        isEmpty = ends
      } else {
        guard let ends = tags.takeAttributes(&state.pointee.plain.ofOthers) else { return false }
        isEmpty = ends
      }
      guard isEmpty || takeContent(&tags, of: name, depth: depth + 1) else { return false }
    }
  }

  private func takePair(_ tags: PlainTags) -> Bool {
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
