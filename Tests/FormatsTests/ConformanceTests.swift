// SPDX-License-Identifier: Apache-2.0

import Formats
import Foundation
import Logbook
import Testing

/// What every format of the register does with its samples, which stand in the folder of its id.
@Suite struct ConformanceTests {
  private static let formats = ExportRegister.all.map(\.id)
  /// What detection takes when no other format recognises an input; it reads the tables of others, too.
  private static let lastResort = "generic"

  @Test func everyFolderOfSamplesIsThatOfAFormat() {
    let folders = Set(Repository.sampleExports.compactMap { $0.split(separator: "/").first.map(String.init) })
    #expect(folders == Set(Self.formats))
  }

  @Test(arguments: formats) func aFormatHasASampleWithReadings(_ format: String) throws {
    let samples = try SampleExport.all(of: format)
    #expect(try samples.contains { try !$0.read().readings.isEmpty })
  }

  @Test(arguments: formats) func aSampleIsDetectedAlsoThroughAPipeAndGzip(_ format: String) throws {
    for sample in try SampleExport.all(of: format) {
      let whole = try sample.read()
      #expect(whole.format == format, "\(sample.path)")
      #expect(try sample.readPiped(sample.bytes) == whole, "\(sample.path) through a pipe")
      if sample.isPacked { continue }
      let packed = try GzipSourceTests.packed(sample.bytes)
      #expect(try sample.read(packed) == whole, "\(sample.path) packed")
      #expect(try sample.readPiped(packed) == whole, "\(sample.path) packed through a pipe")
    }
  }

  @Test(arguments: formats) func aHeaderAloneIsAnExportOfNothing(_ format: String) throws {
    var count = 0
    for sample in try SampleExport.all(of: format) where !sample.isPacked {
      guard let bytes = try sample.upToHeader() else { continue }
      count += 1
      let result = try sample.read(bytes)
      #expect(result.format == format && result.items.isEmpty && result.end == .whole, "\(sample.path)")
    }
    // What has no header is JSON, of which nothing is an empty list.
    if count == 0 { #expect(try SampleExport.all(of: format).allSatisfy(\.isJSON)) }
  }

  @Test func anEmptyListIsAnExportOfNothingInEveryFormatWithJSON() throws {
    let formats = try Self.formats.filter { try SampleExport.all(of: $0).contains(where: \.isJSON) }
    try #require(formats.count > 1)
    for format in formats { try checkEmptyList(format) }
  }

  private func checkEmptyList(_ format: String) throws {
    let lines = try ScratchFile("[]\n").lines { $0.format = format }
    #expect(lines.count == 1)
  }

  @Test(arguments: formats) func aSampleOfAnotherFormatIsRefused(_ format: String) throws {
    for other in Self.formats where other != format && format != Self.lastResort {
      for sample in try SampleExport.all(of: other) {
        // An empty list is one of every format with JSON.
        if sample.isJSON, try sample.read().items.isEmpty { continue }
        #expect(throws: Failure.self, "\(sample.path) as \(format)") {
          try sample.read { $0.format = format }
        }
      }
    }
  }

  @Test(arguments: formats) func aSampleInAnotherEncodingGivesTheSameItems(_ format: String) throws {
    for sample in try SampleExport.all(of: format) where !sample.isPacked {
      let whole = try sample.read()
      let text = sample.text
      let mark: [UInt8] = [0xFF, 0xFE]
      let wide = text.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
      #expect(try sample.read(mark + wide) == whole, "\(sample.path) in UTF-16")
      #expect(try sample.read(Array("\u{FEFF}\(text)".utf8)) == whole, "\(sample.path) in UTF-8 with a mark")
    }
  }

  @Test(arguments: formats) func aSampleWithOtherLineEndsGivesTheSameItems(_ format: String) throws {
    for sample in try SampleExport.all(of: format) where !sample.isPacked {
      // A line end inside a cell is part of its text, and changes with the others.
      let whole = try sample.read().withPlainLineEnds
      let plain = sample.text.replacing("\r\n", with: "\n")
      #expect(try sample.read(Array(plain.utf8)).withPlainLineEnds == whole, "\(sample.path) with LF")
      let paired = plain.replacing("\n", with: "\r\n")
      #expect(try sample.read(Array(paired.utf8)).withPlainLineEnds == whole, "\(sample.path) with CRLF")
    }
  }

  @Test(arguments: formats, ["Exported for you by an app", "a,b,c,d", "\"never closed", "[", "2026-05-06"])
  func aLineInFrontAddsNoReading(_ format: String, _ line: String) throws {
    for sample in try SampleExport.all(of: format) where !sample.isPacked {
      let whole = Set(try sample.read().readings)
      do {
        let readings = try sample.read(Array("\(line)\n\(sample.text)".utf8)).readings
        #expect(Set(readings).subtracting(whole).isEmpty, "\(sample.path) behind '\(line)'")
      } catch let failure as Failure {
        #expect(failure.category == .badInput, "\(sample.path) behind '\(line)': \(failure.message)")
      }
    }
  }
}

/// One sample with the options beside it.
private struct SampleExport {
  let path: String
  let bytes: [UInt8]
  private let options: ExportOptions

  static func all(of format: String) throws -> [SampleExport] {
    let paths = Repository.sampleExports.filter { $0.hasPrefix("\(format)/") }
    return try paths.map { path in
      let url = Repository.samples.appending(path: path)
      return try SampleExport(
        path: path, bytes: Array(Data(contentsOf: url)), options: Rendering.options(besides: url))
    }
  }

  var isPacked: Bool { path.hasSuffix(".gz") }

  var isJSON: Bool { path.hasSuffix("json") }

  /// What a reader made of an input: the items as text, without what depends on its encoding.
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
    return try result(of: ExportReader(path: file.url.path, options: options))
  }

  /// Reads the bytes from a pipe that holds all of them.
  func readPiped(_ bytes: [UInt8]) throws -> Result {
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    let written = write(ends[1], bytes, bytes.count)
    close(ends[1])
    try #require(written == bytes.count && bytes.count < 64 * 1024, "\(path) does not fit into a pipe")
    return try result(of: ExportReader(descriptor: ends[0], name: "-", options: options))
  }

  private func result(of reader: ExportReader) throws -> Result {
    var reader = reader
    let lines = try Rendering.lines(from: &reader)
    return Result(format: reader.format, items: Array(lines.dropFirst()), end: reader.end)
  }

  /// The bytes from the start to the end of the header line; nil for an input without header.
  func upToHeader() throws -> [UInt8]? {
    let file = try ScratchFile(bytes)
    var reader = try ExportReader(path: file.url.path, options: options)
    let lines = try Rendering.lines(from: &reader).dropFirst()
    guard !isJSON, let header = reader.header else { return nil }
    // Of joined files, the header of the first is not the last header.
    let place = text.firstRange(of: header)
    guard let place, try lines.first.map({ try line(of: $0) > count(text[..<place.lowerBound]) }) ?? true
    else {
      return nil
    }
    return Array((text[..<place.upperBound] + "\n").utf8)
  }

  private func line(of item: String) throws -> Int {
    try #require(Int(item.drop { !$0.isNumber }.prefix { $0.isNumber }))
  }

  private func count(_ text: Substring) -> Int { text.count(where: \.isNewline) }

  /// The text, whatever its encoding.
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
