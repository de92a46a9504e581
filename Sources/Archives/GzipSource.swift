// SPDX-License-Identifier: Apache-2.0

import CZlib
import Logbook

/// Unpacks gzip, including several members in a row.
package final class GzipSource: UnpackingSource {
  private let packed: any ByteSource
  private let name: String
  private var stream = z_stream()
  private let input: UnsafeMutableRawBufferPointer
  /// Whether the input ended inside a member. The bytes so far are valid, the rest is missing.
  package private(set) var isTruncated = false
  private var memberEnded = false
  private var isPadded = false
  private var sourceEnded = false

  package init(_ packed: any ByteSource, name: String) throws {
    self.packed = packed
    self.name = name
    input = .allocate(byteCount: 64 * 1024, alignment: 16)
    // The window has 15 bits. The 16 that is added makes zlib expect a gzip header.
    guard inflateInit2_(&stream, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
      throw Failure(.inputOutput, "\(name): cannot start decompressing")
    }
  }

  deinit {
    inflateEnd(&stream)
    input.deallocate()
  }

  package func read(into buffer: UnsafeMutableRawBufferPointer) throws -> ReadOutcome {
    stream.next_out = buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
    stream.avail_out = UInt32(min(buffer.count, 1 << 30))
    let room = stream.avail_out
    while stream.avail_out == room {
      if stream.avail_in == 0 {
        if sourceEnded {
          isTruncated = !memberEnded
          return .end
        }
        switch try packed.read(into: input) {
        case .paused: return .paused
        case .end:
          sourceEnded = true
          continue
        case .bytes(let count):
          stream.next_in = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
          stream.avail_in = isPadded ? 0 : UInt32(count)
          if isPadded { continue }
        }
      }
      if memberEnded {
        // A member may be followed by another member, or by padding, which gzip(1) ignores as well. The
        // padding is read all the same, since the digest covers the whole file.
        guard stream.next_in?.pointee == 0x1F else {
          stream.avail_in = 0
          isPadded = true
          continue
        }
        guard inflateReset(&stream) == Z_OK else { throw damaged() }
        memberEnded = false
      }
      switch inflate(&stream, Z_NO_FLUSH) {
      case Z_OK, Z_BUF_ERROR: break
      case Z_STREAM_END: memberEnded = true
      default: throw damaged()
      }
    }
    return .bytes(Int(room - stream.avail_out))
  }

  private func damaged() -> Failure {
    Failure(.badInput, "\(name): the gzip data are damaged; download the file again")
  }
}
