// SPDX-License-Identifier: Apache-2.0

import Archives

/// How an input's text is encoded.
enum TextEncoding: String {
  case utf8 = "UTF-8"
  case utf16LittleEndian = "UTF-16LE"
  case utf16BigEndian = "UTF-16BE"
  case windows1252 = "Windows-1252"

  /// The encoding of an input according to its first bytes, and the length of their byte order mark.
  static func detect(_ head: [UInt8]) -> (encoding: TextEncoding, markLength: Int) {
    if head.starts(with: [0xEF, 0xBB, 0xBF]) { return (.utf8, 3) }
    if head.starts(with: [0xFF, 0xFE]) { return (.utf16LittleEndian, 2) }
    if head.starts(with: [0xFE, 0xFF]) { return (.utf16BigEndian, 2) }
    let sample = head.prefix(200)
    if sample.count >= 4 {
      let odd = stride(from: 1, to: sample.count, by: 2).filter { sample[$0] == 0 }.count
      let even = stride(from: 0, to: sample.count, by: 2).filter { sample[$0] == 0 }.count
      let half = Double(sample.count / 2)
      if Double(odd) > 0.9 * half, even == 0 { return (.utf16LittleEndian, 0) }
      if Double(even) > 0.9 * half, odd == 0 { return (.utf16BigEndian, 0) }
    }
    return (isUTF8(head) ? .utf8 : .windows1252, 0)
  }

  /// Whether the bytes are UTF-8, except for a character truncated by their end.
  private static func isUTF8(_ bytes: [UInt8]) -> Bool {
    if bytes.allSatisfy({ $0 < 0x80 }) { return true }
    for cut in 0..<min(4, bytes.count) where String(validating: bytes.dropLast(cut), as: UTF8.self) != nil {
      return cut == 0 || isStartOfCharacter(bytes.suffix(cut))
    }
    return false
  }

  /// Whether the bytes begin a UTF-8 character whose rest is missing.
  private static func isStartOfCharacter(_ bytes: ArraySlice<UInt8>) -> Bool {
    guard let first = bytes.first else { return false }
    let length =
      switch first {
      case 0xC2...0xDF: 2
      case 0xE0...0xEF: 3
      case 0xF0...0xF4: 4
      default: 0
      }
    return bytes.count < length && bytes.dropFirst().allSatisfy { $0 & 0xC0 == 0x80 }
  }
}

/// Decodes UTF-16 or Windows-1252 to UTF-8.
final class DecodingSource: ByteSource {
  private let coded: any ByteSource
  private let encoding: TextEncoding
  private var rest: [UInt8] = []
  private var decoded: [UInt8] = []
  private var position = 0
  private var ended = false
  private let chunk: UnsafeMutableRawBufferPointer
  /// Whether the input ended inside a UTF-16 unit or pair.
  private(set) var isTruncated = false

  init(_ coded: any ByteSource, encoding: TextEncoding) {
    self.coded = coded
    self.encoding = encoding
    chunk = .allocate(byteCount: 32 * 1024, alignment: 16)
  }

  deinit { chunk.deallocate() }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> ReadOutcome {
    while position == decoded.count {
      if ended { return .end }
      switch try coded.read(into: chunk) {
      case .paused: return .paused
      case .end:
        ended = true
        isTruncated = !rest.isEmpty
      case .bytes(let count):
        decoded.removeAll(keepingCapacity: true)
        position = 0
        decode(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(chunk)[..<count]))
      }
    }
    let count = min(buffer.count, decoded.count - position)
    buffer.copyBytes(from: decoded[position..<position + count])
    position += count
    return .bytes(count)
  }

  private func decode(_ bytes: UnsafeRawBufferPointer) {
    if encoding == .windows1252 {
      for byte in bytes { append(Self.windows1252[Int(byte)]) }
      return
    }
    rest += bytes
    var index = 0
    while index + 1 < rest.count {
      let unit = unit(at: index)
      if unit >= 0xD800, unit < 0xDC00 {
        guard index + 3 < rest.count else { break }
        let low = self.unit(at: index + 2)
        if low >= 0xDC00, low < 0xE000 {
          append(Unicode.Scalar(0x10000 + (UInt32(unit - 0xD800) << 10) + UInt32(low - 0xDC00)) ?? "\u{FFFD}")
          index += 4
          continue
        }
      }
      append(Unicode.Scalar(unit) ?? "\u{FFFD}")
      index += 2
    }
    rest.removeFirst(index)
  }

  private func unit(at index: Int) -> UInt16 {
    encoding == .utf16LittleEndian
      ? UInt16(rest[index]) | UInt16(rest[index + 1]) << 8
      : UInt16(rest[index]) << 8 | UInt16(rest[index + 1])
  }

  private func append(_ scalar: Unicode.Scalar) { decoded.append(contentsOf: UTF8.encode(scalar) ?? .init()) }

  /// Windows-1252 differs from Latin-1 in 0x80-0x9F. The five codes without a character are preserved.
  static let windows1252: [Unicode.Scalar] = {
    var table = (0..<256).map { Unicode.Scalar(UInt8($0)) }
    let high = "€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8D}Ž\u{8F}\u{90}‘’“”•–—˜™š›œ\u{9D}žŸ"
    for (offset, scalar) in high.unicodeScalars.enumerated() { table[0x80 + offset] = scalar }
    return table
  }()
}
