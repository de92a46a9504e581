// SPDX-License-Identifier: Apache-2.0

import Archives
import Glibc
import Logbook
import Nightscout

/// The header of a table in the head of an input.
struct HeaderRow<Meaning> {
  let delimiter: UInt8
  /// The header's cells as they are in the input.
  let cells: [String]
  /// The rows below the header, as far as the head of the input has them.
  let rows: ArraySlice<[String]>
  /// The result of parsing the header for the format.
  let meaning: Meaning

  /// The result of `recognise` for a format that needs the header and the rows of the head.
  var recognition: Recognition<HeaderRow> { Recognition(layout: .table(delimiter: delimiter), header: self) }
}

/// The decoded start of an input, by which formats recognise it.
struct InputHead {
  /// The maximum size of a head in bytes.
  static let size = 64 * 1024
  static let maxLines = 40
  static let maxObjects = 20

  /// The first non-empty lines, without line ends.
  let lines: [String]
  /// Whether the text is JSON.
  let isJSON: Bool
  /// The name of the outermost element of XML; nil for other text.
  let rootElement: String?
  /// The first JSON objects, with their values as text. The members of nested objects have names with dots.
  /// Empty for text that is not JSON.
  let objects: [[String: String]]
  /// The delimiter that a `sep=` line declares.
  let declaredDelimiter: UInt8?
  /// Whether the head is the whole input.
  let isWhole: Bool
  private let tables: [UInt8: [[String]]]
  /// The text of the head, if it is JSON. Its first object may be longer than the head.
  private let json: [UInt8]
  /// The text of XML.
  private let markup: [UInt8]

  static let delimiters: [UInt8] = [
    UInt8(ascii: ","), UInt8(ascii: ";"), 0x09, UInt8(ascii: "|"),
  ]

  /// - Parameter text: the first bytes in UTF-8, without byte order mark.
  init(text: [UInt8], isWhole: Bool) throws {
    self.isWhole = isWhole
    let first = text.first { !$0.isBlank }
    isJSON = first == UInt8(ascii: "[") || first == UInt8(ascii: "{")
    var lines: [String] = []
    for line in text.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) where lines.count < Self.maxLines {
      if line.contains(where: { !$0.isBlank }) { lines.append(String(decoding: line, as: UTF8.self)) }
    }
    self.lines = lines
    let declaration = lines.first.flatMap {
      $0.lowercased().hasPrefix("sep=") ? $0.utf8.dropFirst(4).first : nil
    }
    declaredDelimiter = declaration
    rootElement = first == UInt8(ascii: "<") ? XMLProlog(text).rootElement : nil
    json = isJSON ? text : []
    markup = first == UInt8(ascii: "<") ? Self.withoutComments(text) : []
    if isJSON {
      objects = try Self.readObjects(text)
      tables = [:]
    } else if first == UInt8(ascii: "<") {
      (objects, tables) = ([], [:])
    } else {
      objects = []
      var tables: [UInt8: [[String]]] = [:]
      for delimiter in Self.delimiters { tables[delimiter] = try Self.readTable(text, delimiter) }
      self.tables = tables
    }
  }

  /// Whether JSON has a member with this name anywhere in the head.
  func names(_ member: String) -> Bool { valueStart(of: member) != nil }

  /// The members of a JSON text that is one object and is wholly in the head; nil for any other text.
  var answer: [String: JSONValue]? {
    guard isJSON, isWhole, json.first(where: { !$0.isBlank }) == UInt8(ascii: "{") else { return nil }
    do {
      guard case .object(let members) = try JSONValue.read(json) else { return nil }
      return members
    } catch {
      // The text has several objects, or a damaged one. The reader reports the damage later.
      return nil
    }
  }

  /// The text of the first member with this name in JSON; nil if there is none.
  func value(of member: String) -> String? {
    guard let start = valueStart(of: member) else { return nil }
    let rest = json[start...].drop { $0.isBlank }
    guard rest.first == UInt8(ascii: "\"") else { return nil }
    return String(decoding: rest.dropFirst().prefix { $0 != UInt8(ascii: "\"") }, as: UTF8.self)
  }

  /// The texts and numbers in a JSON object, by the names of its members. The object is the value of the
  /// first member named `member`. Empty without such a member, or if the head ends inside the object.
  func texts(in member: String) -> [String: String] {
    guard let start = valueStart(of: member) else { return [:] }
    let rest = json[start...].drop { $0.isBlank }
    guard rest.first == UInt8(ascii: "{"), let end = rest.firstIndex(of: UInt8(ascii: "}")) else {
      return [:]
    }
    do {
      guard case .object(let members) = try JSONValue.read(Array(rest[...end])) else { return [:] }
      return members.compactMapValues { value in
        switch value {
        case .text(let text): text
        case .number(let number): plainNumber(number)
        default: nil
        }
      }
    } catch {
      // The object contains further objects. No format states a person in that way.
      return [:]
    }
  }

  /// The value of `member` in the first JSON object that also has a member with the value `text`. For
  /// example, it is the first name next to a patient's id. The head may end inside this object.
  func value(of member: String, nextTo text: String) -> String? {
    var objects: [(isMeant: Bool, value: String?)] = []
    var (key, index) = (String?.none, json.startIndex)
    while index < json.endIndex {
      let sign = json[index]
      index += 1
      switch sign {
      case UInt8(ascii: "{"): objects.append((false, nil))
      case UInt8(ascii: "}"):
        if let object = objects.popLast(), object.isMeant, let value = object.value { return value }
      case UInt8(ascii: "\""):
        let start = index
        while index < json.endIndex, json[index] != UInt8(ascii: "\"") {
          index += json[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        guard index < json.endIndex else { break }
        let string = String(decoding: json[start..<index], as: UTF8.self)
        index += 1
        if json[index...].first(where: { !$0.isBlank }) == UInt8(ascii: ":") {
          key = string
        } else if let last = objects.indices.last {
          if string == text { objects[last].isMeant = true }
          if key == member { objects[last].value = string }
          key = nil
        }
      default: break
      }
    }
    return objects.last { $0.isMeant && $0.value != nil }?.value
  }

  /// Whether the XML has more than one element with this name and with attributes.
  func repeats(_ element: String) -> Bool {
    let tag = Array("<\(element) ".utf8)
    guard let first = markup.firstRange(of: tag) else { return false }
    return markup[first.upperBound...].firstRange(of: tag) != nil
  }

  /// The XML without its comments, since a comment may hold text that looks like an element.
  private static func withoutComments(_ text: [UInt8]) -> [UInt8] {
    var rest = text[...]
    var kept: [UInt8] = []
    while let start = rest.firstRange(of: Array("<!--".utf8)) {
      kept += rest[..<start.lowerBound]
      guard let end = rest[start.upperBound...].firstRange(of: Array("-->".utf8)) else { return kept }
      rest = rest[end.upperBound...]
    }
    return kept + rest
  }

  /// The value of an attribute of the first element of a name in XML; nil where the head has none.
  func attribute(_ name: String, of element: String) -> String? {
    guard let start = markup.firstRange(of: Array("<\(element) ".utf8)) else { return nil }
    let tag = markup[start.upperBound...].prefix { $0 != UInt8(ascii: ">") }
    for quote in ["\"", "'"] {
      // The blank before the name excludes a longer name that ends with it.
      guard
        let value = markup[(start.upperBound - 1)..<tag.endIndex].firstRange(
          of: Array(" \(name)=\(quote)".utf8))
      else { continue }
      return String(decoding: tag[value.upperBound...].prefix { $0 != quote.utf8.first }, as: UTF8.self)
    }
    return nil
  }

  /// The members of a JSON envelope outside of its lists. Empty for JSON without an envelope, where the first
  /// object is a reading.
  var outerMembers: [OuterMember] {
    let members = OuterMember.all(in: json)
    let keys = objects.first?.keys
    let areOfReading = members.allSatisfy { member in
      let name = member.path[0]
      return keys?.contains(name) == true || keys?.contains { $0.hasPrefix(name + ".") } == true
    }
    return areOfReading ? [] : members
  }

  /// The position after the colon of the first member with this name; nil without one.
  private func valueStart(of member: String) -> Int? {
    let key = Array("\"\(member)\"".utf8)
    var start = 0
    while let found = Self.index(of: key, in: json, from: start) {
      start = found + key.count
      let rest = json[start...].drop { $0.isBlank }
      if rest.first == UInt8(ascii: ":") { return rest.startIndex + 1 }
    }
    return nil
  }

  /// The first position of a quoted key from `start` on. Each JSON format searches the whole head for the
  /// names of its members. For such searches, `firstRange(of:)` takes many times longer.
  private static func index(of key: [UInt8], in text: [UInt8], from start: Int) -> Int? {
    text.withUnsafeBytes { text in
      guard let base = text.baseAddress else { return nil }
      var start = start
      while text.count - start >= key.count,
        let quote = memchr(base + start, Int32(UInt8(ascii: "\"")), text.count - start - key.count + 1)
      {
        if memcmp(quote, key, key.count) == 0 { return UnsafeRawPointer(quote) - base }
        start = UnsafeRawPointer(quote) - base + 1
      }
      return nil
    }
  }

  /// Whether the text is JSON whose first object ends after the head.
  var isInsideFirstObject: Bool { isJSON && objects.isEmpty && !isWhole }

  /// The first rows of the text, with their cells, if this delimiter separates the cells.
  func rows(_ delimiter: UInt8) -> [[String]] { tables[delimiter] ?? [] }

  /// The first row that `meaning` accepts as a header. The delimiters are tried in order.
  func firstRow<Meaning>(_ meaning: ([String]) -> Meaning?) -> HeaderRow<Meaning>? {
    for delimiter in Self.delimiters {
      let rows = rows(delimiter)
      for index in rows.indices {
        if let meaning = meaning(rows[index]) {
          return HeaderRow(
            delimiter: delimiter, cells: rows[index], rows: rows[(index + 1)...], meaning: meaning)
        }
      }
    }
    return nil
  }

  /// The first row whose folded cells satisfy a test.
  func firstRow(where test: ([String]) -> Bool) -> HeaderRow<Void>? {
    firstRow { test($0.map(foldedHeader)) ? () : nil }
  }

  /// The rows above the header of a table, split at the delimiter of the header; empty without a header.
  func rowsAbove(_ isHeader: ([String]) -> Bool) -> [[String]] {
    for delimiter in Self.delimiters {
      let rows = rows(delimiter)
      if let index = rows.firstIndex(where: isHeader) { return Array(rows[..<index]) }
    }
    return []
  }

  /// The first row with at least `width` cells as the header of a table, if `meaning` accepts its cells. The
  /// delimiters are tried in order.
  func headerRow<Meaning>(width: Int, _ meaning: ([String]) -> Meaning?) -> HeaderRow<Meaning>? {
    for delimiter in Self.delimiters {
      let rows = rows(delimiter)
      guard let index = rows.firstIndex(where: { $0.count >= width }) else { continue }
      if let meaning = meaning(rows[index]) {
        return HeaderRow(
          delimiter: delimiter, cells: rows[index], rows: rows[(index + 1)...], meaning: meaning)
      }
    }
    return nil
  }

  private static func readTable(_ text: [UInt8], _ delimiter: UInt8) throws -> [[String]] {
    let reader = TableReader(
      TextBuffer(ReplaySource(head: text, rest: nil), name: ""), delimiter: delimiter)
    var rows: [[String]] = []
    while rows.count < maxLines {
      switch try reader.next() {
      case .row(let row): rows.append(row.fields.prefix(128).map { $0.text })
      case .rejected: continue
      case .paused, .end: return rows
      }
    }
    return rows
  }

  private static func readObjects(_ text: [UInt8]) throws -> [[String: String]] {
    let reader = JSONReader(TextBuffer(ReplaySource(head: text, rest: nil), name: ""), columns: nil)
    var objects: [[String: String]] = []
    while objects.count < maxObjects {
      switch try reader.next() {
      case .row(let row):
        var object: [String: String] = [:]
        for (name, field) in zip(reader.columns, row.fields) where field.shape != .absent {
          object[name] = field.text
        }
        objects.append(object)
      case .rejected: continue
      case .paused, .end: return objects
      }
    }
    return objects
  }
}

extension UInt8 {
  var isBlank: Bool { self == 0x20 || self == 0x0A || self == 0x0D || self == 0x09 }
}
