// SPDX-License-Identifier: Apache-2.0

import Glibc
import Logbook

/// A file for data that is too large for memory: bytes are appended once, then read at any offset.
package protocol OverflowFile: AnyObject {
  func append(_ bytes: UnsafeRawBufferPointer) throws
  func read(_ buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws
}

/// The texts to which cells of an XLSX file refer by number. A small amount is in memory, more in a file.
final class SharedStrings: XMLPart {
  /// Enough for a sheet of a million rows with sixteen different texts each.
  static let maxCount = 16 << 20
  static let maxTextBytes = 1 << 30
  /// The maximum number of bytes in memory.
  static let memorySize = 8 << 20
  /// Every 16th text has a stored offset; those between are found from it.
  private static let spacing = 16
  private static let lengthSize = 4

  private(set) var count = 0
  /// The texts, each after its length.
  private var bytes: [UInt8] = []
  private var places: [Int] = []
  private var overflow: (any OverflowFile)?
  private var written = 0
  private let makeOverflow: () throws -> any OverflowFile
  private var windows = FileWindows()
  private var text: [UInt8] = []
  private var phoneticDepth = 0
  private var isInItem = false

  init(name: String, makeOverflow: @escaping () throws -> any OverflowFile) {
    self.makeOverflow = makeOverflow
    super.init(name: name)
  }

  override func start(_ name: XMLName, _ attributes: XMLAttributes) {
    if name.isLocally("si") {
      capture()
      endCapture()
      isInItem = true
    } else if name.isLocally("rPh") {
      phoneticDepth += 1
    } else if name.isLocally("t"), isInItem, phoneticDepth == 0 {
      captureMore()
    }
  }

  override func end(_ name: XMLName) {
    if name.isLocally("t") {
      endCapture()
    } else if name.isLocally("rPh") {
      phoneticDepth -= 1
    } else if name.isLocally("si") {
      isInItem = false
      do {
        try addCaptured()
      } catch {
        fail(error)
      }
    } else if name.isLocally("sst") {
      do {
        guard overflow != nil else { return }
        try spill()
        bytes = []
      } catch {
        fail(error)
      }
    }
  }

  private func addCaptured() throws {
    guard count < Self.maxCount, written + bytes.count + captured.count < Self.maxTextBytes else {
      return fail("the shared texts are more than \(Self.maxCount), or longer than 1 GiB")
    }
    if count % Self.spacing == 0 { places.append(written + bytes.count) }
    count += 1
    var cell = captured
    EscapedText.unescape(&cell)
    for shift in 0..<Self.lengthSize { bytes.append(UInt8(truncatingIfNeeded: cell.count >> (8 * shift))) }
    bytes.append(contentsOf: cell)
    if bytes.count >= Self.memorySize { try spill() }
  }

  /// Moves the bytes in memory to the file.
  private func spill() throws {
    let file = try overflow ?? makeOverflow()
    overflow = file
    try bytes.withUnsafeBytes { try file.append($0) }
    written += bytes.count
    bytes.removeAll(keepingCapacity: true)
  }

  /// Calls the body with a text.
  ///
  /// - Returns: false if there is no text with this number.
  func withText(_ number: Int, _ body: (UnsafeBufferPointer<UInt8>) throws -> Void) throws -> Bool {
    guard number >= 0, number < count else { return false }
    var place = places[number / Self.spacing]
    for _ in 0..<(number % Self.spacing) { place += Self.lengthSize + (try length(at: place)) }
    let length = try length(at: place)
    place += Self.lengthSize
    guard let overflow else {
      try bytes.withUnsafeBufferPointer {
        try body(UnsafeBufferPointer(rebasing: $0[place..<(place + length)]))
      }
      return true
    }
    try windows.copy(from: overflow, size: written, place, length, into: &text)
    try text.withUnsafeBufferPointer { try body(UnsafeBufferPointer(rebasing: $0[..<length])) }
    return true
  }

  private func length(at place: Int) throws -> Int {
    guard let overflow else { return Int(bytes.number(place, Self.lengthSize)) }
    try windows.copy(from: overflow, size: written, place, Self.lengthSize, into: &text)
    return Int(text.number(0, Self.lengthSize))
  }
}

/// The parts of a file that were read last.
private struct FileWindows {
  private static let size = 32 * 1024
  private static let slots = 32
  private var pieces: [[UInt8]] = Array(repeating: [], count: slots)
  private var numbers: [Int] = Array(repeating: -1, count: slots)

  /// Copies bytes of the file to the start of an array, which grows if needed.
  mutating func copy(
    from file: any OverflowFile, size: Int, _ start: Int, _ count: Int, into out: inout [UInt8]
  ) throws {
    if out.count < count { out = [UInt8](repeating: 0, count: max(count, 4096)) }
    var done = 0
    while done < count {
      let number = (start + done) / Self.size
      let slot = number % Self.slots
      if numbers[slot] != number { try load(number, into: slot, from: file, size: size) }
      let offset = (start + done) % Self.size
      let part = min(count - done, pieces[slot].count - offset)
      guard part > 0 else { throw Failure(.inputOutput, "the temporary file is truncated") }
      out.withUnsafeMutableBytes { out in
        pieces[slot].withUnsafeBytes { piece in
          UnsafeMutableRawBufferPointer(rebasing: out[done...]).copyMemory(
            from: UnsafeRawBufferPointer(rebasing: piece[offset..<(offset + part)]))
        }
      }
      done += part
    }
  }

  private mutating func load(_ number: Int, into slot: Int, from file: any OverflowFile, size: Int) throws {
    let length = min(Self.size, size - number * Self.size)
    guard length > 0 else { throw Failure(.inputOutput, "the temporary file is truncated") }
    if pieces[slot].count != length { pieces[slot] = [UInt8](repeating: 0, count: length) }
    numbers[slot] = -1
    try pieces[slot].withUnsafeMutableBytes { try file.read($0, at: number * Self.size) }
    numbers[slot] = number
  }
}

/// Characters that are invalid in XML, in the escaped form of XLSX: `_x000D_`.
enum EscapedText {
  static func unescape(_ text: inout [UInt8]) {
    guard text.contains(UInt8(ascii: "_")), text.firstRange(of: Array("_x".utf8)) != nil else { return }
    var (from, to) = (0, 0)
    while from < text.count {
      if let scalar = scalar(text, at: from) {
        // A zero byte is dropped.
        for byte in scalar == "\0" ? [] : Array(UTF8.encode(scalar) ?? .init()) {
          text[to] = byte
          to += 1
        }
        from += 7
      } else {
        text[to] = text[from]
        from += 1
        to += 1
      }
    }
    text.removeSubrange(to...)
  }

  private static func scalar(_ text: [UInt8], at place: Int) -> Unicode.Scalar? {
    guard text.count - place >= 7, text[place] == UInt8(ascii: "_"), text[place + 1] == UInt8(ascii: "x"),
      text[place + 6] == UInt8(ascii: "_"),
      let code = UInt32(String(decoding: text[(place + 2)..<(place + 6)], as: UTF8.self), radix: 16)
    else { return nil }
    return Unicode.Scalar(code)
  }
}
