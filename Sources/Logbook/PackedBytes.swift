// SPDX-License-Identifier: Apache-2.0

import CZlib

/// Packs bytes with the Huffman codes of deflate (RFC 1951). The packed form begins with the number of the
/// bytes.
///
/// References to earlier bytes are not used: they save little in lists of irregular times. Then each byte
/// takes at least one bit, so a packed form that would expand to more than eight times its size is refused.
/// Versions of zlib may pack the same bytes differently, so only unpacked bytes can be compared.
enum PackedBytes {
  /// The maximum number of bytes for each packed byte.
  static let maxExpansion = 8
  /// Negative window bits mean raw data without a zlib header.
  private static let windowBits: Int32 = -15

  /// The size that no packed form of this number of bytes exceeds.
  static func maxPackedCount(_ count: Int) -> Int { 10 + Int(compressBound(UInt(count))) }

  static func pack(_ bytes: [UInt8]) -> [UInt8] {
    var packed: [UInt8] = []
    packed.append(number: UInt64(bytes.count))
    var stream = z_stream()
    let status = deflateInit2_(
      &stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, windowBits, 8, Z_HUFFMAN_ONLY, ZLIB_VERSION,
      Int32(MemoryLayout<z_stream>.size))
    precondition(status == Z_OK, "zlib has no memory")
    defer { deflateEnd(&stream) }
    var input = bytes
    let capacity = Int(deflateBound(&stream, UInt(bytes.count)))
    input.withUnsafeMutableBufferPointer { source in
      stream.next_in = source.baseAddress
      stream.avail_in = UInt32(source.count)
      packed += [UInt8](unsafeUninitializedCapacity: capacity) { out, count in
        stream.next_out = out.baseAddress
        stream.avail_out = UInt32(capacity)
        // The buffer is large enough for every result, so one call packs everything.
        deflate(&stream, Z_FINISH)
        count = capacity - Int(stream.avail_out)
      }
    }
    return packed
  }

  /// The unpacked bytes. Nil if `packed` is damaged or truncated, continues after its end, or states no bytes
  /// or more than it can contain.
  static func unpack(_ packed: [UInt8]) -> [UInt8]? {
    var start = 0
    guard let number = packed.number(at: &start), let available = UInt32(exactly: packed.count - start),
      let count = UInt32(exactly: number), count > 0, Int(count) <= Int(available) * maxExpansion
    else { return nil }
    var stream = z_stream()
    let status = inflateInit2_(&stream, windowBits, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
    precondition(status == Z_OK, "zlib has no memory")
    defer { inflateEnd(&stream) }
    var (input, isComplete) = (packed, false)
    let bytes = input.withUnsafeMutableBufferPointer { source in
      stream.next_in = source.baseAddress.map { $0 + start }
      stream.avail_in = available
      return [UInt8](unsafeUninitializedCapacity: Int(count)) { out, written in
        stream.next_out = out.baseAddress
        stream.avail_out = count
        let status = inflate(&stream, Z_FINISH)
        isComplete = status == Z_STREAM_END && stream.avail_in == 0 && stream.avail_out == 0
        written = Int(count - stream.avail_out)
      }
    }
    return isComplete ? bytes : nil
  }
}
