// SPDX-License-Identifier: Apache-2.0

import FormatConformance
import Foundation
import Logbook
import TestArchives
import Testing

@testable import Formats

@Suite struct TextEncodingTests {
  private static let text =
    "time,glucose mg/dL,device\r\n2026-05-01 07:00,101,Gerät Ä\r\n2026-05-01 07:05,104,🍎\r\n"

  /// The bytes of a text in an encoding, with or without a byte order mark.
  static func encoded(_ encoding: TextEncoding, marked: Bool, _ text: String = text) -> [UInt8] {
    let whole = (marked ? "\u{FEFF}" : "") + text
    switch encoding {
    case .utf8: return Array(whole.utf8)
    case .utf16LittleEndian: return whole.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    case .utf16BigEndian: return whole.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
    case .windows1252:
      return text.unicodeScalars.map { scalar in
        DecodingSource.windows1252.firstIndex(of: scalar).map { UInt8($0) } ?? 0x3F
      }
    }
  }

  private func items(_ bytes: [UInt8]) throws -> ArraySlice<String> {
    try ScratchFile(bytes).lines().dropFirst()
  }

  @Test(arguments: [TextEncoding.utf8, .utf16LittleEndian, .utf16BigEndian], [false, true])
  func anInputInAnyUnicodeEncodingHasTheSameItems(_ encoding: TextEncoding, _ marked: Bool) throws {
    let wanted = try items(Array(Self.text.utf8))
    #expect(wanted.count == 2)
    let bytes = Self.encoded(encoding, marked: marked)
    #expect(try items(bytes) == wanted)
    #expect(TextEncoding.detect(bytes).encoding == encoding)
  }

  @Test func anInputInWindows1252IsReadAndReported() throws {
    let text = "time,glucose mg/dL,device\n2026-05-01 07:00,101,Gerät €\n"
    let lines = try ScratchFile(Self.encoded(.windows1252, marked: false, text)).lines()
    #expect(lines[0].contains(#""encoding":"Windows-1252 (inferred)""#))
    #expect(lines[1].contains("Gerät €"))
  }

  @Test func aUTF8CharacterSplitAtTheEndOfAPieceIsStillReadAsUTF8() {
    #expect(TextEncoding.detect(Array("aä".utf8).dropLast()).encoding == .utf8)
    #expect(TextEncoding.detect([0x61, 0xE4, 0x62]).encoding == .windows1252)
    #expect(TextEncoding.detect([0x61, 0xFF]).encoding == .windows1252)
  }

  @Test(arguments: [1, 2, 3])
  func anInputInUTF16ThatEndsInsideACharacterIsTruncated(_ lost: Int) throws {
    let text = "time,glucose mg/dL,note\n2026-05-01 07:00,101,\n2026-05-01 07:05,104,🍎"
    let result = try ScratchFile(Self.encoded(.utf16LittleEndian, marked: true, text).dropLast(lost))
      .readings()
    #expect(result.readings.count >= 1)
    #expect(result.end != .whole)
  }

  @Test func aLoneSurrogateInUTF16DoesNotEndTheText() throws {
    var bytes = Self.encoded(.utf16BigEndian, marked: true, "time,glucose mg/dL\n2026-05-01 07:00,101\n")
    bytes += [0xD8, 0x3C, 0x00, 0x0A]
    bytes += Self.encoded(.utf16BigEndian, marked: false, "2026-05-01 07:05,104\n")
    #expect(try ScratchFile(bytes).readings().readings.count == 2)
  }

  @Test func aByteOrderMarkBetweenJoinedFilesIsIgnored() throws {
    let part = "\u{FEFF}\"time\",\"glucose\"\n2026-05-01 07:00,101\n"
    let result = try ScratchFile(part + part).readings()
    #expect(result.readings.count == 2 && result.rejections.isEmpty)
  }
}

@Suite struct GzipSourceTests {
  private static let rows = (0..<5000).map {
    "2026-05-01 \(10 + $0 / 3600):\(10 + $0 / 60 % 50):\(10 + $0 % 50),\(100 + $0 % 90)\n"
  }
  private static let text = Array(("time,glucose\n" + rows.joined()).utf8)

  @Test func aGzipInputHasTheSameItemsAsItsText() throws {
    let plain = try ScratchFile(Self.text).readings()
    let packed = try ScratchFile(Deflate.gzip(Self.text)).readings()
    #expect(
      packed.readings.count == 5000 && plain.readings.map(\.position) == packed.readings.map(\.position))
  }

  @Test func severalConcatenatedGzipStreamsAreReadAsOneText() throws {
    let middle = Self.text.count / 2
    let bytes =
      try Deflate.gzip(Array(Self.text[..<middle])) + Deflate.gzip([])
      + Deflate.gzip(Array(Self.text[middle...]))
    let result = try ScratchFile(bytes + [0, 0, 0, 0]).readings()
    #expect(result.readings.count == 5000 && result.end == .whole)
  }

  @Test func theDigestOfAGzipInputIncludesBytesAfterTheText() throws {
    let bytes = try Deflate.gzip(Self.text) + [UInt8](repeating: 0, count: 300_000)
    let file = try ScratchFile(bytes)
    var reader = try InputReader(path: file.url.path, options: Rendering.options())
    var batch = IngestBatch()
    while try reader.read(into: &batch) {}
    var digest = Digest()
    bytes.withUnsafeBytes { digest.update($0) }
    #expect(reader.digest == digest.hexadecimal() && reader.end == .whole)
  }

  @Test func aTruncatedGzipInputProducesItsCompleteRowsAndIsReported() throws {
    let bytes = try Deflate.gzip(Self.text)
    let result = try ScratchFile(bytes.dropLast(bytes.count / 20)).readings()
    #expect(result.readings.count > 1000 && result.readings.count < 5000)
    #expect(result.end == .truncated(line: 0, detail: "the gzip data are truncated"))
  }

  @Test func aDamagedGzipInputIsRefused() throws {
    var bytes = try Deflate.gzip(Self.text)
    for index in bytes.count / 2..<bytes.count / 2 + 64 { bytes[index] ^= 0x5A }
    #expect(try ScratchFile(bytes).refusal()?.contains("the gzip data are damaged") == true)
  }

  @Test func aGzipInputWithAWrongChecksumIsRefused() throws {
    var bytes = try Deflate.gzip(Self.text)
    bytes[bytes.count - 6] ^= 1
    #expect(try ScratchFile(bytes).refusal()?.contains("the gzip data are damaged") == true)
  }
}

@Suite struct PackedInputTests {
  private static let rows = (0..<40_000).map {
    "2026-05-\(10 + $0 / 3600) \(10 + $0 / 3600 % 10):\(10 + $0 / 60 % 50):\(10 + $0 % 50),\(40 + $0 &* 7919 % 301)\n"
  }
  private static let text = "time,glucose\n" + rows.joined()

  private func packed(_ arguments: String..., text: String = Self.text) throws -> [UInt8] {
    let file = try ScratchFile(text)
    let (process, pipe) = (Process(), Pipe())
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = arguments + ["-c", file.url.path]
    process.standardOutput = pipe
    try process.run()
    let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return Array(data)
  }

  /// A block of bzip2 has more bytes than are read to recognise the format.
  @Test(arguments: ["xz", "bzip2"]) func aCompressedInputHasTheSameItemsAsItsText(_ program: String) throws {
    let bytes = try packed(program)
    let plain = try ScratchFile(Self.text).readings()
    let whole = try ScratchFile(bytes).readings()
    #expect(whole.readings.map(\.position) == plain.readings.map(\.position) && whole.end == .whole)
  }

  @Test(arguments: ["gzip", "xz", "bzip2"])
  func aCompressedInputTruncatedAfterItsFirstBlockProducesItsCompleteRows(
    _ program: String
  ) throws {
    // With `-1`, a block of bzip2 has 100 kB, so some blocks are complete. gzip and xz unpack everything
    // before the truncation.
    let bytes = try packed(program, "-1")
    let cut = try ScratchFile(bytes.dropLast(bytes.count / 3)).readings()
    #expect(cut.readings.count > 1000 && cut.readings.count < Self.rows.count)
    #expect(cut.end == .truncated(line: 0, detail: "the \(program) data are truncated"))
  }

  @Test(arguments: [("gzip", 14), ("xz", 30), ("bzip2", 60_000)])
  func aCompressedInputTruncatedInsideItsFirstBlockIsReported(
    _ program: String, _ count: Int
  ) throws {
    let bytes = try packed(program)
    #expect(bytes.count > count)
    let refusal = try #require(try ScratchFile(bytes.prefix(count)).refusal())
    #expect(refusal.hasSuffix("the \(program) data are truncated; download the file again"), "\(refusal)")
  }

  @Test(arguments: ["gzip", "xz", "bzip2"]) func aCompressedEmptyTextIsNotReportedAsTruncated(
    _ program: String
  ) throws {
    let refusal = try #require(try ScratchFile(try packed(program, text: "")).refusal())
    #expect(refusal.hasSuffix("the input is empty"), "\(refusal)")
  }
}
