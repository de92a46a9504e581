// SPDX-License-Identifier: Apache-2.0

import CZlib
import Logbook

/// Compresses inputs of tests.
package enum Deflate {
  /// The bytes compressed as in a ZIP archive, without a header.
  package static func raw(_ bytes: [UInt8]) throws -> [UInt8] { try packed(bytes, windowBits: -15) }

  /// The bytes compressed as one gzip member.
  package static func gzip(_ bytes: [UInt8]) throws -> [UInt8] { try packed(bytes, windowBits: 15 + 16) }

  private static func packed(_ bytes: [UInt8], windowBits: Int32) throws -> [UInt8] {
    var stream = z_stream()
    let size = Int32(MemoryLayout<z_stream>.size)
    guard
      deflateInit2_(&stream, 9, Z_DEFLATED, windowBits, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size) == Z_OK
    else { throw Failure(.inputOutput, "deflateInit2") }
    defer { deflateEnd(&stream) }
    var input = bytes
    var output = [UInt8](repeating: 0, count: bytes.count + bytes.count / 100 + 1024)
    let status = input.withUnsafeMutableBufferPointer { input in
      output.withUnsafeMutableBufferPointer { output in
        stream.next_in = input.baseAddress
        stream.avail_in = UInt32(input.count)
        stream.next_out = output.baseAddress
        stream.avail_out = UInt32(output.count)
        return deflate(&stream, Z_FINISH)
      }
    }
    guard status == Z_STREAM_END else { throw Failure(.inputOutput, "deflate") }
    return Array(output.prefix(Int(stream.total_out)))
  }
}
