// SPDX-License-Identifier: Apache-2.0

import Formats
import Foundation
import Logbook
import Testing

/// One sample with its options.
struct SampleExport {
  let path: String
  let bytes: [UInt8]
  private let options: ExportOptions

  /// The folder of inputs that no reader accepts.
  private static let refused = "refused/"

  /// The paths of the sample exports below a folder, in order.
  static func paths(in folder: URL) -> [String] {
    let extensions: Set<String> = ["csv", "tsv", "txt", "json", "ndjson", "xml", "gz"]
    let files = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
    return files.filter { path in
      extensions.contains((path as NSString).pathExtension) && !path.hasSuffix(".expected.ndjson")
        && !path.hasPrefix(refused)
    }.sorted()
  }

  static func all(of format: String, in folder: URL) throws -> [SampleExport] {
    try paths(in: folder.appending(path: format)).map { name in
      let path = "\(format)/\(name)"
      let url = folder.appending(path: path)
      return try SampleExport(
        path: path, bytes: Array(Data(contentsOf: url)), options: Rendering.options(besides: url))
    }
  }

  var isPacked: Bool { path.hasSuffix(".gz") }

  var isJSON: Bool { path.hasSuffix("json") }

  /// Whether the sample's rows have no header.
  var isWithoutHeader: Bool { isJSON || path.hasSuffix("xml") }

  /// The result of a reader for an input: the items as text, without parts that depend on its encoding.
  struct Result: Equatable {
    let format: String
    let items: [String]
    let end: InputEnd

    var withPlainLineEnds: Result {
      Result(
        format: format, items: items.map { $0.replacing(#"\r\n"#, with: #"\n"#) }, end: end)
    }

    /// The readings without the numbers of their lines.
    var readings: [String] {
      items.filter { $0.contains(#","kind":"#) }.map { String($0.drop { $0 != "," }) }
    }
  }

  func read(_ change: (inout ExportOptions) -> Void = { _ in }) throws -> Result {
    try read(bytes, change)
  }

  func read(_ bytes: [UInt8], _ change: (inout ExportOptions) -> Void = { _ in }) throws -> Result {
    var options = options
    change(&options)
    let file = try ScratchFile(bytes)
    return try result(of: InputReader(path: file.url.path, options: options))
  }

  /// All items of the sample.
  func batch() throws -> IngestBatch {
    let file = try ScratchFile(bytes)
    var reader = try InputReader(path: file.url.path, options: options)
    var batch = IngestBatch()
    while try reader.read(into: &batch) {}
    return batch
  }

  /// Reads the bytes from a pipe that contains all of them.
  func readPiped(_ bytes: [UInt8]) throws -> Result {
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    let written = write(ends[1], bytes, bytes.count)
    close(ends[1])
    try #require(written == bytes.count && bytes.count < 64 * 1024, "\(path) does not fit into a pipe")
    return try result(of: InputReader(descriptor: ends[0], name: "-", options: options))
  }

  private func result(of reader: InputReader) throws -> Result {
    var reader = reader
    let lines = try Rendering.lines(from: &reader)
    return Result(format: reader.format, items: Array(lines.dropFirst()), end: reader.end)
  }

  /// The bytes from the start to the end of the header line; nil for an input without header.
  func upToHeader() throws -> [UInt8]? {
    let file = try ScratchFile(bytes)
    var reader = try InputReader(path: file.url.path, options: options)
    let lines = try Rendering.lines(from: &reader).dropFirst()
    guard !isWithoutHeader, let header = reader.header else { return nil }
    // If joined files have different headers, `header` is that of the last file. It is then below items of
    // the first file, so the result is nil.
    let place = text.firstRange(of: header)
    guard let place, try lines.first.map({ try line(of: $0) > count(text[..<place.lowerBound]) }) ?? true
    else {
      return nil
    }
    return Array((text[..<place.upperBound] + "\n").utf8)
  }

  /// The sample with an additional cell in the middle of one row, for the first rows with items below the
  /// last header. The last cell of such a row is filled. Empty for an input without header.
  func longRows() throws -> [(line: Int, bytes: [UInt8])] {
    let file = try ScratchFile(bytes)
    var reader = try InputReader(path: file.url.path, options: options)
    let items = try Rendering.lines(from: &reader).dropFirst().filter { $0.hasPrefix(#"{"line":"#) }
    let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map(String.init)
    guard !isWithoutHeader, let header = reader.header, let place = lines.lastIndex(of: header) else {
      return []
    }
    let headers = [",", ";", "\t", "|"].map { (delimiter: $0, cells: cells(header, Character($0))) }
    guard let names = headers.max(by: { $0.cells.count < $1.cells.count }) else { return [] }
    let rows = try Set(items.map { try line(of: $0) }).sorted().filter { row in
      // A row with an odd number of quotes continues in the next line.
      row > place + 1 && row <= lines.count
        && lines[row - 1].count(where: { $0 == "\"" }).isMultiple(of: 2)
    }
    return rows.prefix(3).map { row in
      let filled = filledCells(cells(lines[row - 1], Character(names.delimiter)))
      let missing = max(0, filledCells(names.cells).count - filled.count)
      var long = filled + Array(repeating: "", count: missing)
      if missing > 0 { long[long.count - 1] = "x" }
      long.insert("77", at: long.count / 2)
      var changed = lines
      changed[row - 1] = long.joined(separator: names.delimiter)
      return (row, Array(changed.joined(separator: "\n").utf8))
    }
  }

  /// The cells of a line, with their quotes.
  private func cells(_ line: String, _ delimiter: Character) -> [String] {
    var cells = [""]
    var isQuoted = false
    for character in line {
      if character == "\"" { isQuoted.toggle() }
      if character == delimiter, !isQuoted {
        cells.append("")
      } else {
        cells[cells.count - 1].append(character)
      }
    }
    return cells
  }

  /// The cells without the empty ones at the end.
  private func filledCells(_ cells: [String]) -> [String] {
    var cells = cells
    while let last = cells.last, last.allSatisfy({ $0 == "\"" || $0.isWhitespace }) { cells.removeLast() }
    return cells
  }

  private func line(of item: String) throws -> Int {
    try #require(Int(item.drop { !$0.isNumber }.prefix { $0.isNumber }))
  }

  private func count(_ text: Substring) -> Int { text.count(where: \.isNewline) }

  /// The text of the sample, whatever its encoding is.
  var text: String {
    let isWide = bytes.starts(with: [0xFF, 0xFE]) || bytes.dropFirst().first == 0
    if isWide || bytes.starts(with: [0xFE, 0xFF]) {
      let isBigEndian = bytes.starts(with: [0xFE, 0xFF])
      let units = stride(from: 0, to: bytes.count - 1, by: 2).map { place in
        isBigEndian
          ? UInt16(bytes[place]) << 8 | UInt16(bytes[place + 1])
          : UInt16(bytes[place]) | UInt16(bytes[place + 1]) << 8
      }
      return withoutMark(String(decoding: units, as: UTF16.self))
    }
    if let text = String(validating: bytes, as: UTF8.self) { return withoutMark(text) }
    return String(data: Data(bytes), encoding: .windowsCP1252) ?? ""
  }

  private func withoutMark(_ text: String) -> String {
    text.unicodeScalars.first == "\u{FEFF}" ? String(text.unicodeScalars.dropFirst()) : text
  }
}
