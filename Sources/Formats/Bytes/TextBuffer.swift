// SPDX-License-Identifier: Apache-2.0

import Archives
import Glibc
import Logbook

/// A window on the decoded text of an input. Tokenizers read between `start` and `end`, and advance `start`.
///
/// The tokenizers must keep pointers inside the window by comparing with `end`. Pointers are valid until the
/// next `fill`. Stray NUL bytes are dropped and counted here, since later stages could not distinguish them
/// from text.
final class TextBuffer {
  private(set) var base: UnsafeMutablePointer<UInt8>
  private var capacity: Int
  /// The first byte not consumed yet, as an offset into the buffer.
  var start = 0
  /// The end of the bytes that were read, as an offset into the buffer.
  private(set) var end = 0
  private(set) var isAtEnd = false
  private(set) var nulBytesDropped = 0
  /// The number of bytes received so far.
  private(set) var bytesTaken = 0
  /// Whether consumed bytes were discarded from the buffer.
  private(set) var hasForgotten = false
  private let source: any ByteSource
  private let name: String

  /// The longest line or JSON object in memory, in bytes.
  static let longestItem = 8 << 20
  /// The minimum number of consumed bytes that stay in memory. The rows in them help to decide whether a last
  /// line without a line break is truncated.
  static let keptBytes = 32 << 10

  init(_ source: any ByteSource, name: String, capacity: Int = 128 * 1024) {
    self.source = source
    self.name = name
    self.capacity = capacity
    base = .allocate(capacity: capacity)
  }

  deinit { base.deallocate() }

  /// Reads more bytes after the unconsumed ones.
  ///
  /// - Returns: `.bytes` for more bytes, else `.paused` or `.end`. Must not be called with a full window of
  ///   `longestItem` unconsumed bytes.
  func fill() throws -> ReadOutcome {
    if isAtEnd { return .end }
    let forgotten = start - Self.keptBytes
    if forgotten > 0 {
      memmove(base, base + forgotten, end - forgotten)
      end -= forgotten
      start -= forgotten
      hasForgotten = true
    }
    // The kept bytes before `start` do not count for the length of an item.
    let room = start + Self.longestItem - end
    if capacity - end < min(64 * 1024, room) { grow() }
    let outcome = try source.read(
      into: UnsafeMutableRawBufferPointer(start: base + end, count: min(capacity - end, room)))
    switch outcome {
    case .bytes(let count):
      bytesTaken += count
      end += try dropNulBytes(from: end, count: count)
    case .end:
      isAtEnd = true
      dropEndMark()
    case .paused: break
    }
    return outcome
  }

  /// The consumed bytes that are still in memory, from the start of a line, up to `address` in the window.
  func consumed(before address: UnsafePointer<UInt8>?) -> [UInt8] {
    guard let address else { return [] }
    let length = max(0, min(UnsafePointer(base).distance(to: address), end))
    let bytes = UnsafeBufferPointer(start: base, count: length)
    guard hasForgotten else { return Array(bytes) }
    return bytes.firstIndex(of: 0x0A).map { Array(bytes[($0 + 1)...]) } ?? []
  }

  /// Reads more bytes for an item that does not end in the window: at least an eighth of its size, unless the
  /// source pauses. So an item in small pieces is scanned at most nine times instead of once for each piece.
  ///
  /// - Returns: as `fill`.
  func fillForItem() throws -> ReadOutcome {
    let wanted = (end - start) / 8
    var came = 0
    while true {
      let outcome = try fill()
      guard case .bytes(let count) = outcome else { return came > 0 ? .bytes(came) : outcome }
      came += count
      if came >= wanted || end - start >= Self.longestItem { return .bytes(came) }
    }
  }

  /// Moves past the next occurrence of a text in the window. If the window does not hold the text, moves to
  /// the end, except for last bytes that may begin the text.
  ///
  /// - Returns: whether the window contained it.
  func find(_ wanted: [UInt8]) -> Bool {
    while end - start >= wanted.count,
      let found = memchr(base + start, Int32(wanted[0]), end - start - wanted.count + 1)
    {
      start = UnsafeRawPointer(found) - UnsafeRawPointer(base)
      if memcmp(found, wanted, wanted.count) == 0 {
        start += wanted.count
        return true
      }
      start += 1
    }
    start = max(start, end - wanted.count + 1)
    return false
  }

  /// Drops the end-of-file mark that old systems write after the last byte. It does not belong to a cell.
  private func dropEndMark() {
    while end > start, base[end - 1] == 0x1A { end -= 1 }
  }

  private func grow() {
    let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity * 2)
    memcpy(larger, base, end)
    base.deallocate()
    base = larger
    capacity *= 2
  }

  private func dropNulBytes(from offset: Int, count: Int) throws -> Int {
    guard memchr(base + offset, 0, count) != nil else { return count }
    var kept = 0
    for index in 0..<count where base[offset + index] != 0 {
      base[offset + kept] = base[offset + index]
      kept += 1
    }
    nulBytesDropped += count - kept
    try Self.judge(nulBytes: nulBytesDropped, of: bytesTaken, name: name)
    return kept
  }

  /// The maximum number of NUL bytes that are accepted as stray even in a short text.
  private static let fewNulBytes = 4

  /// Distinguishes text with stray NUL bytes from other data.
  ///
  /// - Throws: `Failure` of category `badInput` for other data.
  static func judge(nulBytes: Int, of bytes: Int, name: String) throws {
    guard nulBytes > fewNulBytes, nulBytes * 100 > bytes else { return }
    throw Failure(.badInput, "\(name): not a text file: more than 1 % of its bytes are NUL")
  }
}
