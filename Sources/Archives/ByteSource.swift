// SPDX-License-Identifier: Apache-2.0

/// What one read of a source gave.
package enum ReadOutcome: Equatable {
  case bytes(Int)
  /// Nothing came for a while; the source is still open.
  case paused
  case end
}

/// Bytes that come in order. Each stage of an input (file, unpacking, decoding) is one, reading from the one below.
package protocol ByteSource: AnyObject {
  /// Fills the start of `buffer`, which is never empty.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> ReadOutcome
}
