// SPDX-License-Identifier: Apache-2.0

import CZlib

/// Compresses and decompresses bodies with gzip (RFC 1952) in memory. The size of bodies is limited.
package enum WireGzip {
  /// Why a body cannot be decompressed.
  package enum Problem: Error, Hashable, Sendable {
    /// The body is not gzip, is damaged, or is truncated.
    case damaged
    /// The body is larger than the limit after decompression.
    case tooLarge
  }

  /// The parameter of zlib: a window of 15 bits, plus 16 to use the gzip format.
  private static let windowBits: Int32 = 15 + 16
  /// The level of compression. With level 1, a reading takes 33 bytes. Level 6 needs 8 % fewer bytes, but
  /// twice the time.
  private static let level: Int32 = 1

  /// The compressed bytes. Nil if zlib has no memory; the body is then sent uncompressed.
  package static func pack(_ bytes: [UInt8]) -> [UInt8]? {
    var stream = z_stream()
    let size = Int32(MemoryLayout<z_stream>.size)
    guard
      deflateInit2_(&stream, level, Z_DEFLATED, windowBits, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size) == Z_OK
    else { return nil }
    defer { deflateEnd(&stream) }
    var input = bytes
    return input.withUnsafeMutableBufferPointer { source in
      stream.next_in = source.baseAddress
      stream.avail_in = UInt32(source.count)
      let capacity = Int(deflateBound(&stream, UInt(source.count)))
      return [UInt8](unsafeUninitializedCapacity: capacity) { out, count in
        stream.next_out = out.baseAddress
        stream.avail_out = UInt32(capacity)
        // The buffer is large enough for every result, so one call compresses everything.
        deflate(&stream, Z_FINISH)
        count = capacity - Int(stream.avail_out)
      }
    }
  }

  /// The decompressed bytes.
  ///
  /// - Parameter limit: the maximum size of the result in bytes. It is needed, since a few compressed bytes
  ///   can expand to millions.
  package static func unpack(_ bytes: [UInt8], limit: Int) throws(Problem) -> [UInt8] {
    var stream = z_stream()
    guard inflateInit2_(&stream, windowBits, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
      throw .damaged
    }
    defer { inflateEnd(&stream) }
    var input = bytes
    var out: [UInt8] = []
    let status = input.withUnsafeMutableBufferPointer { source in
      stream.next_in = source.baseAddress
      stream.avail_in = UInt32(source.count)
      var status = Z_OK
      while status == Z_OK, out.count <= limit {
        out.append(
          contentsOf: [UInt8](unsafeUninitializedCapacity: pieceSize) { piece, count in
            stream.next_out = piece.baseAddress
            stream.avail_out = UInt32(pieceSize)
            status = inflate(&stream, Z_NO_FLUSH)
            count = pieceSize - Int(stream.avail_out)
          })
      }
      return status
    }
    if out.count > limit { throw .tooLarge }
    // The body must be exactly one gzip member, without further bytes.
    guard status == Z_STREAM_END, stream.avail_in == 0 else { throw .damaged }
    return out
  }

  private static let pieceSize = 64 * 1024
}
