// SPDX-License-Identifier: Apache-2.0

import CZlib

/// The two faces of the font that the program carries, so that a PDF has the same bytes on each machine.
///
/// The faces are DejaVu Sans Condensed 2.37 and its bold face without hints, with Latin, Latin Extended-A,
/// Greek, Cyrillic and some signs. They were made by `pyftsubset` of fonttools from Debian's
/// fonts-dejavu-extra. The licence of the fonts is in `Samples/packaging/licences/DejaVu`.
enum FontData {
  /// Decodes and decompresses a TrueType font. Returns no bytes if the text is damaged. A test shows that the
  /// texts in this program are not damaged.
  static func bytes(of text: String, count: Int) -> [UInt8] {
    let packed = decoded(text)
    var length = UInt(count)
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialised in
      let status = uncompress(buffer.baseAddress, &length, packed, UInt(packed.count))
      initialised = status == Z_OK ? Int(length) : 0
    }
    return bytes
  }

  private static func decoded(_ text: String) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count * 3 / 4)
    var (bits, count): (UInt32, Int) = (0, 0)
    for character in text.utf8 {
      guard let value = value(of: character) else { continue }
      (bits, count) = (bits << 6 | value, count + 6)
      if count >= 8 {
        count -= 8
        bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
      }
    }
    return bytes
  }

  /// The six bits of a character of base64; nil for the padding.
  private static func value(of character: UInt8) -> UInt32? {
    switch character {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(character - UInt8(ascii: "A"))
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(character - UInt8(ascii: "a")) + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(character - UInt8(ascii: "0")) + 52
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }
}

/// Compression of the streams of a PDF.
enum Deflate {
  /// The bytes in zlib's format; nil if zlib has no memory, so that the caller writes the stream
  /// uncompressed.
  static func pack(_ bytes: [UInt8]) -> [UInt8]? {
    var length = compressBound(UInt(bytes.count))
    let capacity = Int(length)
    let packed = [UInt8](unsafeUninitializedCapacity: capacity) { buffer, initialised in
      let status = compress2(buffer.baseAddress, &length, bytes, UInt(bytes.count), 9)
      initialised = status == Z_OK ? Int(length) : 0
    }
    return packed.isEmpty ? nil : packed
  }
}
