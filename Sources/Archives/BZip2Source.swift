// SPDX-License-Identifier: Apache-2.0

import CBZip2
import Logbook

/// Unpacks bzip2, including several streams in a row.
final class BZip2Source: UnpackingSource {
  private let packed: any ByteSource
  private let name: String
  private var stream = bz_stream()
  private var isOpen = false
  private let input: UnsafeMutableRawBufferPointer
  private var hasEnded = false
  private(set) var isTruncated = false

  init(_ packed: any ByteSource, name: String) throws {
    self.packed = packed
    self.name = name
    input = .allocate(byteCount: 64 * 1024, alignment: 16)
    try open()
  }

  deinit {
    close()
    input.deallocate()
  }

  private func open() throws {
    guard BZ2_bzDecompressInit(&stream, 0, 0) == BZ_OK else {
      throw Failure(.inputOutput, "\(name): cannot start decompressing")
    }
    isOpen = true
  }

  private func close() {
    if isOpen { BZ2_bzDecompressEnd(&stream) }
    isOpen = false
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> ReadOutcome {
    if hasEnded { return .end }
    let room = UInt32(min(buffer.count, 1 << 30))
    stream.next_out = buffer.baseAddress?.assumingMemoryBound(to: CChar.self)
    stream.avail_out = room
    while stream.avail_out == room {
      if stream.avail_in == 0 {
        switch try packed.read(into: input) {
        case .paused: return .paused
        case .end:
          hasEnded = true
          isTruncated = isOpen
          return .end
        case .bytes(let count):
          stream.next_in = input.baseAddress?.assumingMemoryBound(to: CChar.self)
          stream.avail_in = UInt32(count)
        }
      }
      // Another stream may follow the one that ended.
      if !isOpen { try open() }
      switch BZ2_bzDecompress(&stream) {
      case BZ_OK: break
      case BZ_STREAM_END: close()
      default: throw Failure(.badInput, "\(name): the bzip2 data are damaged; download the file again")
      }
    }
    return .bytes(Int(room - stream.avail_out))
  }
}
