// SPDX-License-Identifier: Apache-2.0

/// The result of one read of a source.
package enum ReadOutcome: Equatable {
  case bytes(Int)
  /// No bytes arrived for a while; the source is still open.
  case paused
  case end
}

/// An ordered source of bytes. Each stage of an input (file, unpacking, decoding) is one, and reads from the stage below.
package protocol ByteSource: AnyObject {
  /// Fills the start of `buffer`, which must not be empty.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> ReadOutcome
}
