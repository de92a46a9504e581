// SPDX-License-Identifier: Apache-2.0

import Archives
import FormatConformance
import Foundation
import Logbook
import Testing

@testable import Formats

@Suite struct TableReaderTests {
  /// Short texts for what was read: `1:a|b` is row 1, `2!reason` is a rejection, and `3?detail` is an end
  /// inside an item.
  static func read(_ text: some Sequence<UInt8>, delimiter: String = ",", chunk: Int = .max) throws
    -> [String]
  {
    let source = ChunkSource(Array(text), size: chunk)
    let reader = TableReader(TextBuffer(source, name: "test"), delimiter: Array(delimiter.utf8)[0])
    var items: [String] = []
    while true {
      switch try reader.next() {
      case .row(let row):
        let mark = row.isUnterminated ? "~" : ""
        items.append("\(row.line):" + row.fields.map(\.text).joined(separator: "|") + mark)
      case .rejected(let line, let reason): items.append("\(line)!\(reason)")
      case .paused: continue
      case .end(let cut):
        if let cut { items.append("\(cut.line)?\(cut.detail)") }
        return items
      }
    }
  }

  private func read(_ text: String, chunk: Int = .max) throws -> [String] {
    try Self.read(text.utf8, chunk: chunk)
  }

  @Test(arguments: [
    ("a,b\n1,2\n", ["1:a|b", "2:1|2"]), ("a,b\r\n1,2\r\n", ["1:a|b", "2:1|2"]),
    ("a,b\r1,2\r", ["1:a|b", "2:1|2"]),
    ("a\rb\nc\r\nd\n\re\n", ["1:a", "2:b", "3:c", "4:d", "6:e"]), ("a,b\n1,2", ["1:a|b", "2:1|2~"]),
    ("\n\n a , b \n\n", ["3:a|b"]), ("a,,\n,\n", ["1:a||", "2:|"]),
    ("\"a,b\",c\n", ["1:a,b|c"]), ("\"a \"\"b\"\"\",\"\"\n", ["1:a \"b\"|"]),
    ("\"say \"hello\" twice\",b\n", ["1:say \"hello\" twice|b"]), ("a\"b\"c,d\n", ["1:a\"b\"c|d"]),
    ("\"one\ntwo\r\nthree\rfour\",b\nc\n", ["1:one\ntwo\r\nthree\rfour|b", "5:c"]),
    (" \"a\" , \"b\"\t\nc\n", ["1:a|b", "2:c"]), ("a,b\n\u{1A}", ["1:a|b"]),
    ("a,b\n\u{FEFF}\"c\",d\n\u{FEFF}\u{FEFF}e,f\n", ["1:a|b", "2:c|d", "3:e|f"]), ("", []),
  ])
  func rowsOfATableAreSplitAtLineEndsOutsideOfQuotes(_ text: String, _ rows: [String]) throws {
    #expect(try read(text) == rows)
    // The rows do not depend on the size of the pieces in which the bytes arrive.
    for chunk in 1...3 { #expect(try read(text, chunk: chunk) == rows, "in pieces of \(chunk)") }
  }

  @Test(arguments: ["\n", "\r", "\r\n"])
  func anUnclosedQuoteInATableLosesOnlyOneLine(_ end: String) throws {
    let text = ["a,b", "1,\"open", "2,3", "4,5", ""].joined(separator: end)
    for chunk in [1, 7, .max] {
      #expect(
        try read(text, chunk: chunk) == [
          "1:a|b", "2!a quote that is opened here is never closed", "3:2|3", "4:4|5",
        ])
    }
  }

  @Test func anUnclosedQuoteIsReportedWithItsLine() throws {
    #expect(
      try read("\"one\ntwo\",\"open\nc,d\n") == ["2!a quote that is opened here is never closed", "3:c|d"])
  }

  @Test func anUnclosedQuoteInTheLastLineIsATruncation() throws {
    #expect(try read("a,b\n1,\"ope") == ["1:a|b", "2?the last line is truncated inside a quoted cell"])
  }

  @Test func aTableCellOfMoreThan1MiBIsRejected() throws {
    let longest = String(repeating: "x", count: TableReader.longestCell - 1)
    #expect(try read("\"\(longest)\",b\nc\n").map { $0.prefix(3) } == ["1:x", "2:c"])
    let items = try read("\"\(longest)xx\",b\nc\n")
    #expect(items == ["1!a quote that is opened here is never closed", "2:c"])
  }

  @Test func aTableLineOfMoreThan8MiBIsRejected() throws {
    let long = String(repeating: "abcd", count: 3 << 20)
    for chunk in [64 * 1024, .max] {
      #expect(
        try read("a\n\(long)\nb\n", chunk: chunk) == ["1:a", "2!the line is longer than 8 MiB", "3:b"])
    }
  }

  @Test func aTableRowOfMoreThan1024ColumnsIsRejected() throws {
    let row = { (count: Int) in [String](repeating: "x", count: count).joined(separator: ",") }
    let items = try read("\(row(1024))\n\(row(1025))\n\(row(300_000))\nb\n", chunk: 1000)
    #expect(items.count == 4 && items[0].hasPrefix("1:x|x"))
    #expect(items[1...] == ["2!more than 1024 columns", "3!more than 1024 columns", "4:b"])
  }

  @Test func manyUnclosedQuotesAreReadInLinearTime() throws {
    let text = String(repeating: "1,\"x\n", count: 60_000)
    let began = ContinuousClock().now
    let items = try read(text)
    #expect(ContinuousClock().now - began < .seconds(20))
    #expect(items.count == 60_000 && items.last == "60000!a quote that is opened here is never closed")
  }

  @Test func doubledQuotesAreReadInARowReadInPieces() throws {
    let text = String(repeating: "\"a\"\"b\",\"\"\"\",c\n", count: 200)
    let rows = (1...200).map { "\($0):a\"b|\"|c" }
    #expect(try read(text, chunk: 5) == rows)
  }

  // MARK: NUL bytes

  @Test func strayNULBytesInATableAreDroppedAndCounted() throws {
    let file = try ScratchFile("time,glu\0cose\n2026-05-01 07:00,1\0\u{30}1\n")
    var reader = try InputReader(path: file.url.path, options: Rendering.options())
    var batch = IngestBatch()
    while try reader.read(into: &batch) {}
    #expect(batch.readings.map(\.measurement) == [.value(Quantity(101, .milligramsPerDecilitre))])
    #expect(reader.warnings == ["NUL bytes were dropped: 2"])
  }

  @Test func anInputWithMoreThanOnePercentNULBytesIsRefused() throws {
    let row = "2026-05-01 07:00,101\0\n"
    let refusal = try ScratchFile("time,glucose\n" + String(repeating: row, count: 200)).refusal()
    #expect(refusal?.contains("not a text file") == true)
  }
}

/// Returns an input in pieces of a size, with occasional pauses.
final class ChunkSource: ByteSource {
  private let bytes: [UInt8]
  private let size: Int
  private var position = 0
  private var reads = 0

  init(_ bytes: [UInt8], size: Int) {
    self.bytes = bytes
    self.size = size
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> ReadOutcome {
    reads += 1
    if reads % 5 == 0 { return .paused }
    guard position < bytes.count else { return .end }
    let count = min(size, buffer.count, bytes.count - position)
    buffer.copyBytes(from: bytes[position..<position + count])
    position += count
    return .bytes(count)
  }
}
