// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The start of an input, decoded: what formats are recognised by.
struct InputHead {
  /// How much is looked at, in bytes.
  static let size = 64 * 1024
  static let maxLines = 40
  static let maxObjects = 20

  /// The first non-empty lines, without line ends.
  let lines: [String]
  /// Whether the text is JSON.
  let isJSON: Bool
  /// The first objects, flattened: names with dots to values as text. Empty for other text.
  let objects: [[String: String]]
  /// The delimiter that a `sep=` line declares.
  let declaredDelimiter: UInt8?
  /// Whether the head is the whole input.
  let isWhole: Bool
  private let tables: [UInt8: [[String]]]

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
    if isJSON {
      objects = try Self.readObjects(text)
      tables = [:]
    } else {
      objects = []
      var tables: [UInt8: [[String]]] = [:]
      for delimiter in Self.delimiters { tables[delimiter] = try Self.readTable(text, delimiter) }
      self.tables = tables
    }
  }

  /// The first rows of the text split at this delimiter, cells as text.
  func rows(_ delimiter: UInt8) -> [[String]] { tables[delimiter] ?? [] }

  /// The delimiter and index of the first row whose folded cells satisfy a test, trying each delimiter in turn.
  func firstRow(where test: ([String]) -> Bool) -> (delimiter: UInt8, index: Int)? {
    for delimiter in Self.delimiters {
      for (index, row) in rows(delimiter).enumerated() where test(row.map(foldedHeader)) {
        return (delimiter, index)
      }
    }
    return nil
  }

  /// The delimiter and index of the header line of a table with at least so many columns, if its folded cells satisfy a
  /// test: the first row that is as wide, which rows of data come behind.
  func headerRow(width: Int, where test: ([String]) -> Bool) -> (delimiter: UInt8, index: Int)? {
    for delimiter in Self.delimiters {
      let rows = rows(delimiter)
      guard let index = rows.firstIndex(where: { $0.count >= width }) else { continue }
      if test(rows[index].map(foldedHeader)) { return (delimiter, index) }
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
  fileprivate var isBlank: Bool { self == 0x20 || self == 0x0A || self == 0x0D || self == 0x09 }
}
