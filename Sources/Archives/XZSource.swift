// SPDX-License-Identifier: Apache-2.0

import CLZMA
import Logbook

/// Unpacks xz, including several streams in a row.
final class XZSource: UnpackingSource {
  /// The memory limit of a stream: `xz -9` needs 65 MiB.
  private static let maxMemory: UInt64 = 80 << 20

  /// `LZMA_CONCATENATED`, a macro that Swift does not import.
  private static let concatenated: UInt32 = 0x08

  private let packed: any ByteSource
  private let name: String
  private var stream = lzma_stream()
  private let input: UnsafeMutableRawBufferPointer
  private var sourceEnded = false
  private var hasEnded = false
  private(set) var isTruncated = false

  init(_ packed: any ByteSource, name: String) throws {
    self.packed = packed
    self.name = name
    input = .allocate(byteCount: 64 * 1024, alignment: 16)
    guard lzma_stream_decoder(&stream, Self.maxMemory, Self.concatenated) == LZMA_OK else {
      throw Failure(.inputOutput, "\(name): cannot start decompressing")
    }
  }

  deinit {
    lzma_end(&stream)
    input.deallocate()
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> ReadOutcome {
    if hasEnded { return .end }
    stream.next_out = buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
    stream.avail_out = buffer.count
    while stream.avail_out == buffer.count {
      if stream.avail_in == 0, !sourceEnded {
        switch try packed.read(into: input) {
        case .paused: return .paused
        case .end: sourceEnded = true
        case .bytes(let count):
          stream.next_in = UnsafePointer(input.baseAddress?.assumingMemoryBound(to: UInt8.self))
          stream.avail_in = count
        }
      }
      switch lzma_code(&stream, sourceEnded ? LZMA_FINISH : LZMA_RUN) {
      case LZMA_OK: break
      case LZMA_STREAM_END: hasEnded = true
      // No input is left, and no output is possible: the last stream is incomplete.
      case LZMA_BUF_ERROR where sourceEnded:
        hasEnded = true
        isTruncated = true
      case LZMA_MEMLIMIT_ERROR:
        throw Failure(
          .badInput, "\(name): unpacking needs more than 80 MiB; unpack the file with 'xz -d' first")
      default:
        throw Failure(.badInput, "\(name): the xz data are damaged; download the file again")
      }
      if hasEnded { break }
    }
    let count = buffer.count - stream.avail_out
    return count > 0 ? .bytes(count) : .end
  }
}
