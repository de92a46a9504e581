// SPDX-License-Identifier: Apache-2.0

import CExpat
import Glibc
import Logbook

/// Reads one XML file of an office document as a stream (expat). A subclass handles its elements.
///
/// Memory is bounded: nesting, tags and texts have limits. A document type ends the reading, so that there
/// are no entities. No office program writes a document type.
class XMLPart {
  static let deepestNesting = 64
  /// The longest tag, in bytes.
  static let longestTag: Int64 = 8 << 20
  /// The longest text of one cell, in bytes. This exceeds the limit of office programs, and fits a cell of a
  /// table even with every quote doubled.
  static let longestText = 256 * 1024
  /// The maximum size of one XML file.
  static let maxBytes: Int64 = 8 << 30

  private static let pieceSize = 64 * 1024

  /// The number of open elements.
  private(set) var depth = 0
  /// The text of the open element since `capture`.
  private(set) var captured: [UInt8] = []
  private var isCapturing = false
  private let parser: XML_Parser
  private let name: String
  private var failure: (any Error)?
  private var isFinished = false

  /// - Parameter name: the file, for messages.
  init(name: String) {
    self.name = name
    parser = XML_ParserCreate(nil)
    XML_SetUserData(parser, Unmanaged.passUnretained(self).toOpaque())
    XML_SetElementHandler(
      parser, { part(of: $0)?.open($1, $2) }, { part(of: $0)?.close($1) })
    XML_SetCharacterDataHandler(parser) { context, bytes, count in
      part(of: context)?.append(bytes, Int(count))
    }
    XML_SetStartDoctypeDeclHandler(parser) { context, _, _, _, _ in
      part(of: context)?.fail("the XML has a document type, as a file that is made to harm")
    }
  }

  deinit { XML_ParserFree(parser) }

  /// Called at the start of an element, for subclasses to override. Names are compared with or without
  /// prefix; see `XMLName`.
  func start(_ name: XMLName, _ attributes: XMLAttributes) {}
  func end(_ name: XMLName) {}

  /// Starts to store text in `captured`.
  final func capture() {
    captured.removeAll(keepingCapacity: true)
    isCapturing = true
  }

  /// Appends further text to `captured`.
  final func captureMore() { isCapturing = true }
  final func endCapture() { isCapturing = false }

  /// Appends a character that an element represents.
  final func append(_ byte: UInt8, count: Int = 1) {
    guard captured.count + count <= Self.longestText else { return fail("a text is longer than 256 KiB") }
    for _ in 0..<count { captured.append(byte) }
  }

  final func fail(_ reason: String) { fail(Failure(.badInput, "\(name): \(reason)")) }

  final func fail(_ error: any Error) {
    if let problem = error as? SheetProblem { return fail(problem.reason) }
    if failure == nil { failure = error }
    XML_StopParser(parser, 0)
  }

  /// Performs work; an error ends the reading.
  final func attempt(_ work: () throws -> Void) {
    do {
      try work()
    } catch {
      fail(error)
    }
  }

  /// Throws the error that ended the reading, if there is one.
  final func check() throws {
    if let failure { throw failure }
  }

  /// Ends the reading before the end of the file.
  final func finish() {
    isFinished = true
    XML_StopParser(parser, 0)
  }

  /// Reads the file to its end, or until the subclass ends it.
  ///
  /// - Throws: `Failure` of category `badInput` for damaged XML, or if a limit is exceeded.
  final func read(_ source: any ByteSource, isInterrupted: () -> Bool) throws {
    var piece = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.pieceSize, alignment: 16)
    defer { piece.deallocate() }
    var fed: Int64 = 0
    while !isFinished {
      if isInterrupted() { throw Failure(.temporary, "\(name): interrupted") }
      // Expat rereads an incomplete tag from its start. Doubling the slice each time bounds the work.
      let pending = Int(fed - max(0, Int64(XML_GetCurrentByteIndex(parser))))
      let wanted = max(Self.pieceSize, min(pending, Int(Self.longestTag) - pending))
      if piece.count < wanted {
        piece.deallocate()
        piece = .allocate(byteCount: wanted, alignment: 16)
      }
      let (count, isLast) = try Self.fill(UnsafeMutableRawBufferPointer(rebasing: piece[..<wanted]), source)
      fed += Int64(count)
      try parse(UnsafeRawBufferPointer(rebasing: piece[..<count]), isLast: isLast, fed)
      if isLast { return }
    }
  }

  private static func fill(
    _ piece: UnsafeMutableRawBufferPointer, _ source: any ByteSource
  ) throws -> (count: Int, isLast: Bool) {
    var count = 0
    while count < piece.count {
      switch try source.read(into: UnsafeMutableRawBufferPointer(rebasing: piece[count...])) {
      case .paused: continue
      case .bytes(let more): count += more
      case .end: return (count, true)
      }
    }
    return (count, false)
  }

  private func parse(_ piece: UnsafeRawBufferPointer, isLast: Bool, _ fed: Int64) throws {
    let status = XML_Parse(
      parser, piece.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(piece.count), isLast ? 1 : 0)
    if let failure { throw failure }
    if isFinished { return }
    guard status == XML_STATUS_OK else {
      let text = XML_ErrorString(XML_GetErrorCode(parser)).map { String(cString: $0) } ?? "unknown"
      let line = XML_GetCurrentLineNumber(parser)
      throw Failure(.badInput, "\(name): the XML is damaged in line \(line) (\(text))")
    }
    guard fed - Int64(XML_GetCurrentByteIndex(parser)) <= Self.longestTag, fed <= Self.maxBytes else {
      throw Failure(.badInput, "\(name): a tag is longer than 8 MiB, or the XML longer than 8 GiB")
    }
  }

  fileprivate final func open(
    _ name: UnsafePointer<CChar>?, _ attributes: UnsafeMutablePointer<UnsafePointer<CChar>?>?
  ) {
    depth += 1
    guard depth <= Self.deepestNesting else {
      return fail("XML elements are nested deeper than \(Self.deepestNesting)")
    }
    guard let name, let attributes, failure == nil, !isFinished else { return }
    start(XMLName(name), XMLAttributes(values: attributes))
  }

  fileprivate final func close(_ name: UnsafePointer<CChar>?) {
    depth -= 1
    if let name, failure == nil, !isFinished { end(XMLName(name)) }
  }

  fileprivate final func append(_ bytes: UnsafePointer<CChar>?, _ count: Int) {
    guard isCapturing, let bytes else { return }
    guard captured.count + count <= Self.longestText else { return fail("a text is longer than 256 KiB") }
    bytes.withMemoryRebound(to: UInt8.self, capacity: count) {
      captured.append(contentsOf: UnsafeBufferPointer(start: $0, count: count))
    }
  }
}

/// The reader in the context of an expat callback. It is not retained here, since it outlives its parser.
private func part(of context: UnsafeMutableRawPointer?) -> XMLPart? {
  context.map { Unmanaged<XMLPart>.fromOpaque($0).takeUnretainedValue() }
}

/// The name of an element or attribute in the file, valid only during the callback.
struct XMLName {
  private let whole: UnsafePointer<CChar>
  private let local: UnsafePointer<CChar>

  init(_ name: UnsafePointer<CChar>) {
    whole = name
    local = strchr(name, 0x3A).map { UnsafePointer($0 + 1) } ?? name
  }

  /// Whether the name without its prefix equals another name.
  @inline(__always) func isLocally(_ name: StaticString) -> Bool { Self.matches(local, name) }

  /// Whether the name with its prefix equals another name.
  @inline(__always) func `is`(_ name: StaticString) -> Bool { Self.matches(whole, name) }

  @inline(__always)
  private static func matches(_ text: UnsafePointer<CChar>, _ name: StaticString) -> Bool {
    text.withMemoryRebound(to: UInt8.self, capacity: 1) { bytes in
      // A static text ends with a zero byte, as `strcmp` requires. Comparing the first bytes avoids most of
      // its calls.
      bytes[0] == name.utf8Start[0]
        && strcmp(text, UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self)) == 0
    }
  }
}

/// The attributes of an element, valid only during the callback.
struct XMLAttributes {
  let values: UnsafeMutablePointer<UnsafePointer<CChar>?>

  @inline(__always) func each(_ body: (XMLName, UnsafePointer<CChar>) -> Void) {
    var index = 0
    while let name = values[index], let value = values[index + 1] {
      body(XMLName(name), value)
      index += 2
    }
  }

  /// The value of an attribute by its name with prefix; nil if it is missing.
  func text(_ wanted: StaticString) -> String? {
    var found: String?
    each { name, value in if name.is(wanted) { found = String(cString: value) } }
    return found
  }

  /// The value of an attribute by its name without prefix; nil if it is missing.
  func localText(_ wanted: StaticString) -> String? {
    var found: String?
    each { name, value in if name.isLocally(wanted), found == nil { found = String(cString: value) } }
    return found
  }
}
