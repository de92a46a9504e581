// SPDX-License-Identifier: Apache-2.0

import CZstd
import Logbook

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
