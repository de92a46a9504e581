// SPDX-License-Identifier: Apache-2.0

import Archives
import Logbook
import TemporaryFiles

/// One input with its stages: bytes, optional unpacking, optional decoding, and the window that tokenizers
/// read.
final class Input {
  private(set) var source: any InputSource
  private(set) var head: InputHead
  private(set) var text: TextBuffer
  private let encoding: TextEncoding
  private let packing: Packing?
  private let markLength: Int
  private var unpacking: (any UnpackingSource)?
  private var decoder: DecodingSource?
  /// Whether the input is a pipe with a slow writer. It may be written live, so its rows must be stored
  /// without waiting for further rows.
  let isLive: Bool
  private let headBytes: [UInt8]
  private let headEnded: Bool

  init(_ given: any InputSource) throws {
    var source = given
    var first = try source.readHead(limit: InputHead.size)
    if DatabaseHeader.isDatabase(first.bytes) {
      source = try DatabaseSource(given, head: first, formats: FormatRegister.formats)
      first = try source.readHead(limit: InputHead.size)
    }
    packing = Packing(first.bytes)
    if let packing, !source.isRegularFile, packing != .gzip {
      // A block of any compression other than gzip can be larger than the head, so a pipe is copied to a
      // file.
      let isInterrupted = source.isInterrupted
      source = try Spool.copy(first.bytes, then: first.ended ? nil : source, name: source.name)
      source.isInterrupted = isInterrupted
    }
    var limit = InputHead.size
    var start = try Start(first, packing, of: source, limit: limit)
    // One JSON record can be longer than the usual head, so the head grows until it has a whole one.
    while start.head.isInsideFirstObject, !first.isLive, limit < TextBuffer.longestItem {
      if !first.ended, packing == nil || !source.isRegularFile {
        let more = try source.readHead(limit: limit)
        first = Head(bytes: first.bytes + more.bytes, ended: more.ended, isLive: more.isLive)
      }
      limit *= 2
      start = try Start(first, packing, of: source, limit: limit)
    }
    self.source = source
    headBytes = first.bytes
    headEnded = first.ended
    isLive = first.isLive
    (encoding, markLength, head) = (start.encoding, start.markLength, start.head)
    text = TextBuffer(ReplaySource(head: [], rest: nil), name: source.name)
    if packing != nil, source.isRegularFile {
      try checkPacked()
      try rewind()
    } else {
      try connect(after: ReplaySource(head: headBytes, rest: headEnded ? nil : source))
    }
  }

  /// Unpacks a file to its end once, so that no value is taken from bytes that do not match their checksum.
  private func checkPacked() throws {
    guard let packing else { return }
    try source.rewind()
    source.isHashing = false
    let unpacked = try packing.unpacking(source, name: source.name, isInterrupted: source.isInterrupted)
    let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 * 1024, alignment: 16)
    defer { chunk.deallocate() }
    while case .bytes = try unpacked.read(into: chunk) {}
  }

  /// Verifies the whole of an archive's member or a sheet, after a format has recognised it. Does nothing for
  /// any other input.
  func checkMember() throws {
    if let member = source as? ArchivedSource {
      try member.check()
    } else if let sheet = source as? SheetSource {
      try sheet.check()
    } else {
      return
    }
    try rewind()
  }

  /// Whether the line numbers in messages are the numbers of a spreadsheet's rows. Cells of a spreadsheet may
  /// hold line ends, so its lines of text are not counted.
  var linesAreRows: Bool { source is SheetSource }

  var encodingDecision: Decision {
    if let sheet = source as? SheetSource { return Decision("encoding", sheet.encoding, .read) }
    if source is DatabaseSource { return Decision("encoding", DatabaseSource.encoding, .read) }
    return Decision(
      "encoding", encoding.rawValue + (packing.map { ", \($0.rawValue)" } ?? ""),
      markLength > 0 ? .read : .inferred)
  }

  var warnings: [String] {
    let errors = (source as? SheetSource)?.errorCount ?? 0
    let formulas = (source as? SheetSource)?.formulaCount ?? 0
    return (text.nulBytesDropped > 0 ? ["NUL bytes were dropped: \(text.nulBytesDropped)"] : [])
      + (errors > 0 ? ["cells with an error of the spreadsheet, read as empty: \(errors)"] : [])
      + (formulas > 0
        ? [
          "cells with a formula whose value is not in the file, read as '=?': \(formulas); open the workbook in a spreadsheet "
            + "program, save it and import it again"
        ] : [])
  }

  /// The reason why the compressed data or the last character is truncated; nil if neither is truncated.
  var truncation: String? {
    if let packing, unpacking?.isTruncated == true { return packing.truncation }
    if decoder?.isTruncated == true { return "the last character is truncated" }
    return nil
  }

  /// Makes sure that the input can be read twice. A pipe is copied to a file that no other process can see.
  ///
  /// - Throws: `Failure` of category `badInput` for a live pipe, whose end may never come.
  func makeRereadable(evenIfLive: Bool = false) throws {
    guard !source.isRegularFile else { return }
    if isLive, !evenIfLive {
      throw Failure(
        .badInput,
        "\(source.name): cannot infer how to read a live pipe from its first rows; "
          + "use --date-order, --unit, --kind, --timezone or --where, or import a file")
    }
    let isInterrupted = source.isInterrupted
    source = try Spool.copy(headBytes, then: headEnded ? nil : source, name: source.name)
    source.isInterrupted = isInterrupted
    try rewind()
  }

  /// Whether the input holds a text more than once. This takes some milliseconds for a large file.
  func repeats(_ mark: String) throws -> Bool {
    try makeRereadable()
    // Hashing is off here: the digest is computed when the input is read afterwards.
    source.isHashing = false
    let mark = Array(mark.utf8)
    guard !mark.isEmpty else { return false }
    var count = 0
    var isAtEnd = false
    while count < 2, !isAtEnd {
      while count < 2, text.find(mark) { count += 1 }
      if case .end = try text.fill() { isAtEnd = true }
    }
    try rewind()
    return count > 1
  }

  /// Whether a JSON member has two different texts as its values, as in the joined response bodies of two
  /// people. This takes as long as `repeats`.
  func hasSeveralValues(of member: String) throws -> Bool {
    try makeRereadable()
    source.isHashing = false
    let key = Array("\"\(member)\"".utf8)
    var first: [UInt8]?
    var (isAtEnd, differs) = (false, false)
    while !differs {
      while !differs, text.find(key) {
        while text.end - text.start < Self.maxValueBytes, !isAtEnd {
          if case .end = try text.fill() { isAtEnd = true }
        }
        guard let value = nextText else { continue }
        differs = first.map { $0 != value } ?? false
        first = value
      }
      if isAtEnd { break }
      if case .end = try text.fill() { isAtEnd = true }
    }
    try rewind()
    return differs
  }
  private static let maxValueBytes = 512

  /// The text that follows the colon of a member; nil if the value is not a text.
  private var nextText: [UInt8]? {
    let bytes = UnsafeBufferPointer(start: text.base + text.start, count: text.end - text.start)
    let value = bytes.prefix(Self.maxValueBytes).drop { $0.isBlank }
    guard value.first == UInt8(ascii: ":") else { return nil }
    let quoted = value.dropFirst().drop { $0.isBlank }
    guard quoted.first == UInt8(ascii: "\"") else { return nil }
    return Array(quoted.dropFirst().prefix { $0 != UInt8(ascii: "\"") })
  }

  /// Starts over from the first byte.
  func rewind() throws {
    try source.rewind()
    try connect(after: source)
  }

  private func connect(after bytes: any ByteSource) throws {
    var stage = bytes
    if let packing {
      let stageBelow = try packing.unpacking(stage, name: source.name, isInterrupted: source.isInterrupted)
      unpacking = stageBelow
      stage = stageBelow
    }
    if encoding != .utf8 {
      let decoding = DecodingSource(stage, encoding: encoding)
      decoder = decoding
      stage = decoding
    }
    text = TextBuffer(stage, name: source.name)
    try skipMark()
  }

  /// Skips the byte order mark. The decoder has changed it to that of UTF-8.
  private func skipMark() throws {
    guard markLength > 0 else { return }
    while text.end - text.start < 3 {
      guard case .bytes = try text.fill() else { break }
    }
    let window = UnsafeBufferPointer(start: text.base + text.start, count: min(3, text.end - text.start))
    if window.elementsEqual([0xEF, 0xBB, 0xBF]) { text.start += 3 }
  }
}

/// The encoding and the head of an input, from its first bytes.
private struct Start {
  let encoding: TextEncoding
  let markLength: Int
  let head: InputHead

  /// - Parameters:
  ///   - first: the first bytes of the source.
  ///   - packing: the compression; nil if the bytes are not compressed.
  ///   - limit: the maximum number of unpacked bytes to examine.
  init(_ first: Head, _ packing: Packing?, of source: any InputSource, limit: Int) throws {
    var bytes = first.bytes
    var ended = first.ended
    if let packing {
      let unpacked = try Self.unpackedHead(packing, of: source, first, limit: limit)
      bytes = unpacked.bytes
      ended = first.ended && unpacked.ended
    }
    try Signature.refuseUnreadable(bytes, name: source.name)
    (encoding, markLength) = TextEncoding.detect(bytes)
    var decoded = Array(bytes.dropFirst(markLength))
    if encoding != .utf8 {
      let stage = DecodingSource(ReplaySource(head: decoded, rest: nil), encoding: encoding)
      decoded = try stage.readHead(limit: limit * 2).bytes
    }
    let nulBytes = decoded.count { $0 == 0 }
    // NUL bytes are counted here as well as in later reading, so that data that is not text fails before a
    // store is opened.
    try TextBuffer.judge(nulBytes: nulBytes, of: decoded.count, name: source.name)
    if nulBytes > 0 { decoded.removeAll { $0 == 0 } }
    head = try InputHead(text: decoded, isWhole: ended)
  }

  /// The first unpacked bytes. For a pipe, these are the bytes that its own first bytes unpack to.
  ///
  /// - Throws: `UnrecognisedInput` for packed data that end inside their first block.
  private static func unpackedHead(
    _ packing: Packing, of source: any InputSource, _ first: Head, limit: Int
  ) throws -> Head {
    let packed: any ByteSource
    if source.isRegularFile {
      try source.rewind()
      packed = source
    } else {
      packed = ReplaySource(head: first.bytes, rest: nil)
    }
    let unpacking = try packing.unpacking(packed, name: source.name, isInterrupted: source.isInterrupted)
    let head = try unpacking.readHead(limit: limit)
    if head.bytes.isEmpty, unpacking.isTruncated, source.isRegularFile || first.ended {
      throw UnrecognisedInput(name: source.name, reason: packing.truncation + "; download the file again")
    }
    return head
  }
}

extension Packing {
  /// The message for data that end too early.
  fileprivate var truncation: String { "the \(rawValue) data are truncated" }
}

/// Copies a pipe to a file, so that it can be read twice.
enum Spool {
  /// Copies bytes into a file that no other process can see.
  ///
  /// - Parameter modifiedAt: when the input was last written; nil for an input that is being written now.
  static func copy(
    _ head: [UInt8], then rest: (any ByteSource)?, name: String, modifiedAt: Int64? = nil
  ) throws -> FileSource {
    let file = try UnlinkedFile()
    let source = ReplaySource(head: head, rest: rest)
    let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1024, alignment: 16)
    defer { chunk.deallocate() }
    while true {
      switch try source.read(into: chunk) {
      case .bytes(let count):
        try file.append(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(chunk)[..<count]))
      case .paused: continue
      case .end:
        return try FileSource(descriptor: file.duplicate(), name: name, modifiedAt: modifiedAt)
      }
    }
  }
}
