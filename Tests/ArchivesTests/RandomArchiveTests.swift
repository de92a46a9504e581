// SPDX-License-Identifier: Apache-2.0

import Archives
import Logbook
import SeededRandom
import TestArchives
import Testing

/// Tests that archives and XML of random content are read back unchanged.
@Suite struct RandomArchiveTests {
  private static func bytes(_ count: Int, _ generator: inout SeededGenerator) -> [UInt8] {
    // Half of the random contents compress well, the others do not.
    let top: UInt8 = Bool.random(using: &generator) ? 255 : 3
    return (0..<count).map { _ in UInt8.random(in: 0...top, using: &generator) }
  }

  @Test(arguments: UInt64(1)...12) func everyMemberOfAnArchiveIsReadBack(_ seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    var writer = ZipWriter()
    writer.isZip64 = seed.isMultiple(of: 3)
    // The record of ZIP64 is found by its position in the file, which a prefix would move.
    if !writer.isZip64 { writer.prefix = Self.bytes(Int.random(in: 0...50, using: &generator), &generator) }
    writer.comment = String(repeating: "x", count: Int.random(in: 0...300, using: &generator))
    for number in 0..<Int.random(in: 1...12, using: &generator) {
      let length = [0, 1, 100, 5000].randomElement(using: &generator) ?? 0
      writer.entries.append(
        ZipWriter.Entry(
          name: "folder \(number % 3)/file-\(number).csv", bytes: Self.bytes(length, &generator),
          isDeflated: Bool.random(using: &generator), isZip64: writer.isZip64))
    }
    let file = try ArchiveFile(writer.bytes())
    #expect(file.archive.members.map(\.name).sorted() == writer.entries.map(\.name).sorted())
    for member in file.archive.members {
      let entry = try #require(writer.entries.first { $0.name == member.name })
      #expect(member.refusal == nil, "\(member.name)")
      #expect(try file.bytes(member) == entry.bytes, "\(member.name)")
      let source = try file.source(member)
      #expect(try source.allBytes(chunk: Int.random(in: 1...700, using: &generator)) == entry.bytes)
    }
  }

  @Test(arguments: UInt64(1)...8) func compressedDataReadInPiecesOfAnySizeUnpacksToTheSameBytes(
    _ seed: UInt64
  ) throws {
    var generator = SeededGenerator(seed: seed)
    let bytes = Self.bytes(Int.random(in: 0...6000, using: &generator), &generator)
    let packed = try Deflate.gzip(bytes)
    for _ in 0..<4 {
      let piece = Int.random(in: 1...500, using: &generator)
      let source = try Packing.gzip.unpacking(PieceSource(packed, piece: piece), name: "a")
      #expect(try source.allBytes(chunk: Int.random(in: 1...900, using: &generator)) == bytes, "\(piece)")
      #expect(!source.isTruncated)
    }
    // A truncated input yields its start, and is reported as truncated.
    let cut = Array(packed.dropLast(Int.random(in: 1...8, using: &generator)))
    let source = try Packing.gzip.unpacking(PieceSource(cut, piece: 13), name: "a")
    #expect(try bytes.starts(with: source.allBytes(chunk: 100)) && source.isTruncated)
  }

  // MARK: - XML

  private static let shape = ElementShape(path: ["Root", "Row"], attributes: ["a", "b", "long-name"])

  /// Text as a program writes it into an attribute: escaped if necessary, and sometimes without need.
  private static func escaped(_ text: String, _ generator: inout SeededGenerator) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      let isFree = !["<", "&", "\"", "'", "\n", "\t"].contains(scalar)
      switch Int.random(in: 0...5, using: &generator) {
      case 0: escaped += "&#\(scalar.value);"
      case 1: escaped += "&#x\(String(scalar.value, radix: 16));"
      default: escaped += isFree ? "\(scalar)" : "&#\(scalar.value);"
      }
    }
    return escaped
  }

  private static func word(_ generator: inout SeededGenerator) -> String {
    let scalars: [Unicode.Scalar] = [
      "a", "Z", "0", " ", "<", "&", "\"", "'", ">", "é", "猫", "😀", "\n", "\t", "/", "=",
    ]
    let count = Int.random(in: 0...12, using: &generator)
    return String(
      String.UnicodeScalarView((0..<count).map { _ in scalars.randomElement(using: &generator) ?? "a" }))
  }

  @Test(arguments: UInt64(1)...12) func xmlReadInPiecesOfAnySizeHasTheValuesOfEveryRow(_ seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var (text, expected): (String, [[String?]]) = ("<?xml version=\"1.0\"?><Root>", [])
    for _ in 0..<30 {
      var row: [String?] = []
      var attributes: [String] = []
      for name in ["a", "b", "long-name"] {
        let value = Bool.random(using: &generator) ? Self.word(&generator) : nil
        row.append(value)
        let sign = Bool.random(using: &generator) ? "\"" : "'"
        if let value { attributes.append("\(name)=\(sign)\(Self.escaped(value, &generator))\(sign)") }
      }
      attributes.append("other=\"1\"")
      attributes.shuffle(using: &generator)
      expected.append(row)
      text +=
        "<Row \(attributes.joined(separator: " \n"))\(Bool.random(using: &generator) ? "/>" : "><x a=\"no\"/></Row>")"
      if Bool.random(using: &generator) {
        text += "<!-- <Row a='no'/> --><Other a=\"no\"><Row a=\"no\"/></Other>"
      }
    }
    text += "</Root>"
    let bytes = Array(text.utf8)
    for piece in [1, Int.random(in: 2...90, using: &generator), bytes.count] {
      #expect(Self.rows(bytes, piece: piece) == expected, "\(piece)")
    }
  }

  private static func rows(_ bytes: [UInt8], piece: Int) -> [[String?]] {
    let scanner = XMLScanner(shape)
    var rows: [[String?]] = []
    for start in stride(from: 0, to: bytes.count, by: piece) {
      let end = min(start + piece, bytes.count)
      let stop = bytes[start..<end].withUnsafeBufferPointer { scanner.feed($0, isLast: end == bytes.count) }
      if let stop { Issue.record("line \(stop.line): \(stop.reason)") }
      for row in scanner.rows {
        rows.append(
          scanner.withValues { values in
            (0..<shape.columnCount).map { column in
              scanner.value(row, column).map { String(decoding: values[$0..<($0 + $1)], as: UTF8.self) }
            }
          })
      }
    }
    return rows
  }
}
