// SPDX-License-Identifier: Apache-2.0

import CBZip2
import CLZMA
import CZlib
import CZstd
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

/// Unpacks Zstandard, including several frames in a row.
final class ZstdSource: UnpackingSource {
  /// The maximum size of a window: 2 to the power of this number, in bytes. Larger windows need more memory,
  /// and occur only with the options `--ultra` and `--long` of zstd.
  private static let maxWindowLog: Int32 = 25

  private let packed: any ByteSource
  private let name: String
  private let stream: OpaquePointer
  private let input: UnsafeMutableRawBufferPointer
  /// The range of the input that is not unpacked yet.
  private var waiting: Range<Int> = 0..<0
  /// Whether the last frame is complete, and no byte of another frame was read.
  private var isBetweenFrames = false
  private var hasEnded = false
  private(set) var isTruncated = false

  init(_ packed: any ByteSource, name: String) throws {
    guard let stream = ZSTD_createDStream() else {
      throw Failure(.inputOutput, "\(name): cannot start decompressing")
    }
    self.packed = packed
    self.name = name
    self.stream = stream
    input = .allocate(byteCount: 64 * 1024, alignment: 16)
    guard ZSTD_isError(ZSTD_DCtx_setParameter(stream, ZSTD_d_windowLogMax, Self.maxWindowLog)) == 0 else {
      throw Failure(.inputOutput, "\(name): cannot start decompressing")
    }
  }

  deinit {
    ZSTD_freeDStream(stream)
    input.deallocate()
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> ReadOutcome {
    var output = ZSTD_outBuffer(dst: buffer.baseAddress, size: buffer.count, pos: 0)
    while output.pos == 0, !hasEnded {
      var sourceEnded = false
      if waiting.isEmpty {
        switch try packed.read(into: input) {
        case .paused: return .paused
        case .end: sourceEnded = true
        case .bytes(let count): waiting = 0..<count
        }
      }
      if sourceEnded, isBetweenFrames {
        hasEnded = true
        break
      }
      try unpack(into: &output)
      // The source has ended and no output was made, so nothing more can follow. The last frame may be
      // incomplete.
      if sourceEnded, output.pos == 0 {
        hasEnded = true
        isTruncated = !isBetweenFrames
      }
    }
    return output.pos > 0 ? .bytes(output.pos) : .end
  }

  private func unpack(into output: inout ZSTD_outBuffer) throws {
    var part = ZSTD_inBuffer(src: input.baseAddress, size: waiting.upperBound, pos: waiting.lowerBound)
    let left = ZSTD_decompressStream(stream, &output, &part)
    waiting = part.pos..<waiting.upperBound
    guard ZSTD_isError(left) == 0 else {
      guard ZSTD_getErrorCode(left) == ZSTD_error_frameParameter_windowTooLarge else {
        throw Failure(.badInput, "\(name): the zstd data are damaged; download the file again")
      }
      throw Failure(
        .badInput, "\(name): unpacking needs more than 32 MiB; unpack the file with 'zstd -d --long=31' first"
      )
    }
    isBetweenFrames = left == 0
  }
}
