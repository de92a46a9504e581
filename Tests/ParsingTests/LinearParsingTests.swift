// SPDX-License-Identifier: Apache-2.0

import Archives
import FormatConformance
import Foundation
import Glibc
import Logbook
import LogbookAPI
import Meters
import Nightscout
import SeededRandom
import Testing

@testable import Formats

/// Tests that twice the input takes at most 2.3 times the work, for every parser of files, requests and
/// answers, whatever its content.
///
/// The work is the processor time of this thread, so that other programs do not count. The best of several
/// runs is used, because of caches. If one doubling takes more, the average of three doublings must be within
/// the limit.
@Suite struct LinearParsingTests {
  static let maxRatio = 2.3
  private static let maxRounds = 20

  private static let contents =
    ParsedContent.json + ParsedContent.wire + ParsedContent.tables + ParsedContent.cells
    + ParsedContent.withdrawals + ParsedContent.sheets + ParsedContent.elements + ParsedContent.resources

  @Test(arguments: Seeds.share(of: contents, every: 3))
  func parsingTwiceTheInputTakesAboutTwiceTheWork(_ content: ParsedContent) throws {
    try Self.expectLinear(content)
  }

  @Test(arguments: Seeds.share(of: SampleCells.all, every: 3))
  func aLongCellOfAnExportIsReadInLinearTime(_ content: ParsedContent) throws {
    try Self.expectLinear(content)
  }

  /// Tests that the measurement finds quadratic work, so that the suite can fail.
  @Test func quadraticWorkIsFoundByTheMeasurement() throws {
    let quadratic = ParsedContent("quadratic", 400) {
      [UInt8](repeating: 1, count: $0)
    } _: { bytes in
      var sum = 0
      for _ in bytes { for byte in bytes { sum &+= Int(byte) } }
      #expect(sum == bytes.count * bytes.count)
    }
    #expect(try Self.growth(quadratic, doublings: 1, enough: 0) > Self.maxRatio)
    #expect(try Self.growth(quadratic, doublings: 3, enough: 0) > Self.maxRatio)
  }

  private static func expectLinear(_ content: ParsedContent) throws {
    var best = Double.infinity
    // A busy machine shares its caches, and a buffer that doubles causes steps. Both can affect a single
    // doubling of the input. Quadratic work shows in each measurement, and over several doublings.
    for doublings in [1, 1, 3] where best > maxRatio {
      best = min(best, try growth(content, doublings: doublings, enough: maxRatio))
    }
    #expect(best <= maxRatio, "\(content)")
  }

  /// The factor by which a doubling of the input multiplies the work. This factor is the average over
  /// several doublings up to twice the content's size. The measurement ends when the factor is small enough.
  private static func growth(_ content: ParsedContent, doublings: Int, enough: Double) throws -> Double {
    let factor = 1 << doublings
    let inputs = [2 * content.size / factor, 2 * content.size].map(content.make)
    #expect(
      Double(inputs[1].count) <= 1.05 * Double(factor * inputs[0].count),
      "\(content) is no input \(factor) times as long")
    // A time shorter than the clock's steps proves nothing, so shorter times count as this one.
    let least = 0.001 * pow(maxRatio, Double(1 - doublings))
    var best = [Double.infinity, Double.infinity]
    for _ in 1...maxRounds {
      // The longer input runs first, with cold caches, which only make it slower. So a factor that is small
      // enough in the first round is certain.
      for (index, input) in inputs.enumerated().reversed() {
        best[index] = min(best[index], try seconds(content, input))
      }
      // If a run takes seconds, caches have no effect on the result, so the measurement ends.
      if best[1] <= max(best[0], least) * pow(enough, Double(doublings)) || best[1] > 2 { break }
    }
    return pow(best[1] / max(best[0], least), 1 / Double(doublings))
  }

  private static func seconds(_ content: ParsedContent, _ input: [UInt8]) throws -> Double {
    let start = threadSeconds()
    try content.parse(input)
    return threadSeconds() - start
  }

  private static func threadSeconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}

/// Content of a given length, and the parser that reads it. A parser must also refuse its input in linear
/// time.
struct ParsedContent: CustomTestStringConvertible, Sendable {
  let testDescription: String
  let size: Int
  let make: @Sendable (Int) -> [UInt8]
  let parse: @Sendable ([UInt8]) throws -> Void

  init(
    _ name: String, _ size: Int, _ make: @escaping @Sendable (Int) -> [UInt8],
    _ parse: @escaping @Sendable ([UInt8]) throws -> Void
  ) {
    (testDescription, self.size, self.make, self.parse) = (name, size, make, parse)
  }

  /// Repeats a text between two others.
  static func repeated(_ text: String, between start: String = "", _ end: String = "")
    -> @Sendable (Int) -> [UInt8]
  {
    { count in Array((start + String(repeating: text, count: count) + end).utf8) }
  }
}

// MARK: - JSON

extension ParsedContent {
  private typealias Make = @Sendable (Int) -> [UInt8]

  /// JSON texts, each named after the one part that is long.
  private static let jsonContents: [(name: String, size: Int, make: Make)] = [
    ("short escapes", 60_000, repeated("\\n", between: "[\"", "\"]")),
    ("hexadecimal escapes", 30_000, repeated("\\u00e4", between: "[\"", "\"]")),
    ("surrogate pairs", 20_000, repeated("\\ud83d\\ude00", between: "[\"", "\"]")),
    ("half surrogates", 20_000, repeated("\\ud83d", between: "[\"", "\"]")),
    ("escapes in a name", 60_000, repeated("\\t", between: "{\"", "\":1}")),
    ("plain text", 200_000, repeated("x", between: "[\"", "\"]")),
    ("text that is not ASCII", 100_000, repeated("é", between: "[\"", "\"]")),
    ("a long number", 200_000, repeated("7", between: "[", "]")),
    ("a long fraction", 200_000, repeated("7", between: "[0.", "]")),
    ("many numbers", 20_000, repeated("1.5,", between: "[", "0]")),
    ("many texts", 10_000, repeated("\"a\\n\",", between: "[", "0]")),
    ("many lists", 10_000, repeated("[[[]]],", between: "[", "0]")),
    ("many objects", 8000, repeated("{\"a\":{\"b\":1}},", between: "[", "0]")),
    ("deep nesting", 100_000, repeated("[")),
    ("deep objects", 30_000, repeated("{\"a\":")),
    ("blanks", 200_000, repeated(" ", between: "[", "]")),
    ("an open text", 100_000, repeated("x", between: "[\"")),
    ("an open escape", 50_000, repeated("\\\\", between: "[\"")),
    ("other members", 8000, members { "\"name \(100_000 + $0)\":1" }),
    ("the same member", 8000, members { _ in "\"name\":1" }),
  ]

  private static func members(_ member: @escaping @Sendable (Int) -> String) -> Make {
    { count in Array("{\((0..<count).map(member).joined(separator: ","))}".utf8) }
  }

  private static let jsonParsers: [(name: String, parse: @Sendable ([UInt8]) throws -> Void)] = [
    (
      "JSONScanner.skip",
      { bytes in
        refusable { try JSONScanner.read(bytes) { (scanner) throws(JSONError) in try scanner.skip() } }
      }
    ),
    ("JSONValue", { bytes in refusable { _ = try JSONValue.read(bytes).bytes } }),
    (
      "RecordFields",
      { bytes in refusable { _ = try RecordFields(json: String(decoding: bytes, as: UTF8.self)).json } }
    ),
    ("WireCodec.readReadings", { bytes in refusable { _ = try WireCodec.readReadings(bytes) } }),
    ("WireCodec.readChanges", { bytes in refusable { _ = try WireCodec.readChanges(bytes) } }),
    ("WireCodec.readPage", { bytes in refusable { _ = try WireCodec.readPage(bytes) } }),
    ("WireCodec.readLogbook", { bytes in refusable { _ = try WireCodec.readLogbook(bytes) } }),
    ("WireCodec.readDigests", { bytes in refusable { _ = try WireCodec.readDigests(bytes) } }),
    ("ErrorBody", { bytes in refusable { _ = try ErrorBody(bytes) } }),
    (
      "JSONReader",
      { bytes in try read(JSONReader(TextBuffer(Pieces(bytes), name: "test"), columns: ["a", "a.b", "name"]))
      }
    ),
    (
      "JSONReader collecting",
      { bytes in try read(JSONReader(TextBuffer(Pieces(bytes), name: "test"), columns: nil)) }
    ),
    ("NestedText", { bytes in withField(bytes) { _ = NestedText.members(of: $0) } }),
  ]

  static let json = jsonParsers.flatMap { parser in
    jsonContents.map { ParsedContent("\(parser.name): \($0.name)", $0.size, $0.make, parser.parse) }
  }

  /// Runs a parser that may refuse its input.
  private static func refusable(_ body: () throws -> Void) {
    do { try body() } catch { #expect(error is JSONError) }
  }

  /// Reads all rows.
  private static func read(_ rows: any RowSource) throws {
    while true { if case .end = try rows.next() { return } }
  }

  static func withField(_ bytes: [UInt8], _ body: (Field) -> Void) {
    bytes.withUnsafeBufferPointer { buffer in
      guard let start = buffer.baseAddress else { return }
      body(Field(start: start, count: buffer.count, shape: .bare))
    }
  }

  /// Returns bytes in pieces, as a pipe does.
  private final class Pieces: ByteSource {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> ReadOutcome {
      let count = min(2048, buffer.count, bytes.count - position)
      guard count > 0 else { return .end }
      buffer.copyBytes(from: bytes[position..<position + count])
      position += count
      return .bytes(count)
    }
  }
}

// MARK: - Bodies

extension ParsedContent {
  private static let row = "[800000000,60,0,\"1995-05-09T06:13:20\",\"Z\",\"stated\",60,\"mg/dL\"]"
  private static let seriesHead =
    "{\"device\":{\"vendor\":\"a\",\"model\":\"b\",\"serial\":\"c\",\"format\":\"d\"},\"kind\":\"cbg\",\"position_kind\":\"time\",\"readings\":["

  static let wire: [ParsedContent] = [
    body("refused rows", 2000, repeated("[1,{\"a\":[]}],", between: "{\"series\":[\(seriesHead)", "0]}]}")),
    body("many series", 300, repeated("\(seriesHead)]},", between: "{\"series\":[", "\(seriesHead)]}]}")),
    ParsedContent(
      "WireCodec.readReadings: texts of devices", 40_000,
      repeated("\\n", between: "{\"series\":[{\"device\":{\"x\":\"", "\"}}]}")
    ) {
      refusable($0) { _ = try WireCodec.readReadings($0) }
    },
    ParsedContent(
      "WireCodec.readChanges: refused changes", 400,
      repeated("{\"state\":{\"fields\":{\"a\":\"\\n\"}}},", between: "{\"records\":[", "0]}")
    ) {
      refusable($0) { _ = try WireCodec.readChanges($0) }
    },
    ParsedContent(
      "WireCodec.readChanges: a text of escapes", 40_000,
      repeated("\\u0007", between: "{\"records\":[{\"state\":{\"fields\":{\"text\":\"", "\"}}}]}")
    ) {
      refusable($0) { _ = try WireCodec.readChanges($0) }
    },
    ParsedContent(
      "RecordFields: words", 4000,
      { count in Array("{\"tags\":[\((0..<count).map { "\"\($0 % 1000)\"" }.joined(separator: ","))]}".utf8) }
    ) {
      refusable($0) { _ = try RecordFields(json: String(decoding: $0, as: UTF8.self)).json }
    },
    ParsedContent("WireGzip.unpack: zeros", 1 << 20, packedBlanks) { bytes in
      let body = try WireGzip.unpack(bytes, limit: 16 << 20)
      #expect(body.count >= 1 << 20)
    },
    ParsedContent("WireGzip.unpack: a packed text of escapes", 300_000, { packed(escapes: $0) }) { bytes in
      let body = try WireGzip.unpack(bytes, limit: 16 << 20)
      refusable(body) { _ = try WireCodec.readChanges($0) }
    },
    ParsedContent("DeviceTime: digits", 200_000, repeated("1")) { bytes in
      #expect(DeviceTime(text: String(decoding: bytes, as: UTF8.self)) == nil)
    },
    ParsedContent("WireCodec.buckets: many", 20_000, repeated("abc,")) { bytes in
      #expect(WireCodec.buckets(String(decoding: bytes, as: UTF8.self)) == nil)
    },
    ParsedContent("Transcript: lines", 2000, repeated("# a comment\n")) { bytes in
      do { _ = try Transcript(bytes: bytes, named: "test") } catch {
        #expect((error as? Failure)?.category == .badInput)
      }
    },
  ]

  private static func body(_ name: String, _ size: Int, _ make: @escaping @Sendable (Int) -> [UInt8])
    -> ParsedContent
  {
    ParsedContent("WireCodec.readReadings: \(name)", size, make) {
      refusable($0) { _ = try WireCodec.readReadings($0) }
    }
  }

  @Sendable private static func packedBlanks(_ count: Int) -> [UInt8] {
    WireGzip.pack([UInt8](repeating: 0x20, count: count)) ?? []
  }

  @Sendable private static func packed(escapes count: Int) -> [UInt8] {
    WireGzip.pack(repeated("\\n", between: "{\"records\":[\"", "\"]}")(count)) ?? []
  }

  private static func refusable(_ bytes: [UInt8], _ body: ([UInt8]) throws -> Void) {
    refusable { try body(bytes) }
  }
}

// MARK: - Tables and cells

extension ParsedContent {
  private static let tableContents: [(name: String, size: Int, make: Make)] = [
    ("a long cell", 200_000, repeated("x", between: "a,b\n1,")),
    ("a long quoted cell", 200_000, repeated("x", between: "a,b\n1,\"", "\"\n")),
    ("doubled quotes", 80_000, repeated("\"\"", between: "a,b\n1,\"", "\"\n")),
    ("lone quotes", 80_000, repeated("\"x", between: "a,b\n1,\"")),
    ("lines in a cell", 80_000, repeated("x\n", between: "a,b\n1,\"", "\"\n")),
    ("an open quote in each line", 30_000, repeated("1,\"2\n")),
    ("an open quote behind a good cell in each line", 20_000, repeated("\"1\",\"2\n")),
    ("short rows", 20_000, repeated("1,2\n")),
    ("short cells", 100, repeated(String(repeating: "1,", count: 1000) + "\n")),
    ("too many cells", 100_000, repeated("1,")),
    ("too many quoted cells", 40_000, repeated("\"1\",")),
    ("cells with lines", 300, repeated("\"" + String(repeating: "x\n", count: 500) + "\",")),
    ("blanks", 200_000, repeated(" ", between: "1,")),
    ("empty lines", 100_000, repeated("\n")),
    ("byte order marks", 60_000, repeated("\u{FEFF}")),
    ("carriage returns", 100_000, repeated("\r", between: "a,b\r1,2")),
  ]

  static let tables =
    tableContents.map { content in
      ParsedContent("TableReader: \(content.name)", content.size, content.make) { bytes in
        try read(TableReader(TextBuffer(Pieces(bytes), name: "test"), delimiter: UInt8(ascii: ",")))
      }
    } + [
      // Each cell has thousands of lines and is longer than a row may be. A slow parser would search from
      // each line to the same end again.
      ParsedContent(
        "TableReader: cells with lines beyond the longest row", 1100,
        repeated("\"" + String(repeating: "x\n", count: 4500) + "\",")
      ) { bytes in
        try read(TableReader(TextBuffer(Pieces(bytes), name: "test"), delimiter: UInt8(ascii: ",")))
      }
    ]

  private static let cellContents: [(name: String, size: Int, make: Make)] = [
    ("digits", 200_000, repeated("1")), ("letters", 200_000, repeated("x")),
    ("blanks", 200_000, repeated(" ", between: "1", "1")), ("colons", 200_000, repeated("1:", between: "1")),
    ("no-break spaces", 100_000, repeated("\u{A0}")),
    ("a time and blanks", 200_000, repeated(" ", between: "2026-05-06 12:00")),
    ("a time with a long fraction", 200_000, repeated("1", between: "2026-05-06 12:00:00.")),
    ("a date and blanks", 200_000, repeated(" ", between: "06-05-2026 ", "12:00")),
    ("quotes", 100_000, repeated("\"\n")), ("no UTF-8", 100_000, { [UInt8](repeating: 0xE9, count: $0) }),
    ("points", 200_000, repeated(".")),
  ]

  static let cells = cellContents.map { content in
    ParsedContent("cell: \(content.name)", content.size, content.make) { bytes in
      withField(bytes) { field in
        let isRead =
          field.number(.comma) != nil || field.jsonNumber != nil || field.integer != nil
          || field.instant != nil
          || field.yearFirstTime != nil || field.ambiguousTime != nil || field.ambiguousDate != nil
          || field.timeOfDay != nil || ValueWord(field, mark: .point) != nil
        _ = isRead
        #expect(field.trimmed.count <= field.count)
        _ = field.text
        _ = field.folded
      }
    }
  }
}

/// Exports with one long cell in the last row, for each sample that is a table.
enum SampleCells {
  private static let samples = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Samples")

  /// The first table of each format.
  static let all: [ParsedContent] = FormatConformance(
    formats: FormatRegister.all.map(\.id), lastResort: "generic", samples: samples
  ).samplePaths.filter { $0.hasSuffix(".csv") }
    .reduce(into: [String]()) { paths, path in
      if !paths.contains(where: { folder($0) == folder(path) }) { paths.append(path) }
    }
    .flatMap { path in ["1", "x", " 1"].map { content(path, $0) } }

  private static func folder(_ path: String) -> Substring { path.prefix { $0 != "/" } }

  /// A sample with a copy of its last row, in which every cell is long.
  private static func content(_ path: String, _ cell: String) -> ParsedContent {
    ParsedContent("\(path) with cells of '\(cell)'", 500) { count in
      var bytes = Array(FileManager.default.contents(atPath: samples.appending(path: path).path) ?? Data())
      let text = String(repeating: cell, count: count)
      if bytes.last != 0x0A { bytes.append(0x0A) }
      bytes += Array((Array(repeating: text, count: 20).joined(separator: ",") + "\n").utf8)
      return bytes
    } _: { bytes in
      try read(bytes, samples.appending(path: path))
    }
  }

  private static func read(_ bytes: [UInt8], _ sample: URL) throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "glucoport-long-\(UUID().uuidString)")
    try Data(bytes).write(to: file)
    defer { unlink(file.path) }
    do {
      var reader = try InputReader(path: file.path, options: try Rendering.options(besides: sample))
      var batch = IngestBatch()
      while try reader.read(into: &batch) { batch.removeItems() }
    } catch let failure as Failure {
      // With a long cell, the order of day and month or the unit of the sample may be unclear.
      #expect(failure.category == .badInput, "\(failure.message)")
    }
  }
}
