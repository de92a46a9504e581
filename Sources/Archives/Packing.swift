// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The compression of an input, recognised by its first bytes.
package enum Packing: String, CaseIterable {
  case gzip
  case xz
  case bzip2
  case zstd

  /// The compression whose signature these bytes begin with; nil if there is none.
  package init?(_ head: some Collection<UInt8>) {
    if let found = Self.allCases.first(where: { head.starts(with: $0.signature) }) {
      self = found
    } else if Self.isSkippableFrame(head) {
      self = .zstd
    } else {
      return nil
    }
  }

  /// Whether the bytes begin with a skippable Zstandard frame, as `pzstd` writes it. Sixteen signatures mark
  /// such a frame.
  private static func isSkippableFrame(_ head: some Collection<UInt8>) -> Bool {
    guard let first = head.first, first & 0xF0 == 0x50 else { return false }
    return head.dropFirst().starts(with: [0x2A, 0x4D, 0x18])
  }

  private var signature: [UInt8] {
    switch self {
    case .gzip: [0x1F, 0x8B]
    case .xz: [0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00]
    case .bzip2: Array("BZh".utf8)
    case .zstd: [0x28, 0xB5, 0x2F, 0xFD]
    }
  }

  /// A stage that unpacks another source.
  ///
  /// - Parameters:
  ///   - name: the input, for messages.
  ///   - isInterrupted: polled before each read, since a small file can unpack to many bytes. A read then
  ///     throws a `Failure` of category `temporary`.
  package func unpacking(
    _ packed: any ByteSource, name: String, isInterrupted: @escaping () -> Bool = { false }
  ) throws -> any UnpackingSource {
    let packed = ByteCount(packed)
    let stage: any UnpackingSource =
      switch self {
      case .gzip: try GzipSource(packed, name: name)
      case .xz: try XZSource(packed, name: name)
      case .bzip2: try BZip2Source(packed, name: name)
      case .zstd: try ZstdSource(packed, name: name)
      }
    return BoundedUnpacking(stage, of: packed, name: name, isInterrupted)
  }
}

/// A stage that unpacks another source. Its memory does not depend on the size of the input.
package protocol UnpackingSource: ByteSource {
  /// Whether the packed bytes ended too early. The bytes so far are valid, the rest is missing.
  var isTruncated: Bool { get }
}

/// Fails if a signal asked the program to end, or if the output is far larger than the input. A kilobyte can
/// unpack to a gigabyte of zeros, which would take minutes to read.
private final class BoundedUnpacking: UnpackingSource {
  /// The unpacked size in bytes up to which any ratio of output to input is accepted: a small file of equal
  /// lines is harmless.
  private static let freeBytes: UInt64 = 64 << 20

  private let stage: any UnpackingSource
  private let packed: ByteCount
  private let name: String
  private let isInterrupted: () -> Bool
  private var count: UInt64 = 0

  init(
    _ stage: any UnpackingSource, of packed: ByteCount, name: String,
    _ isInterrupted: @escaping () -> Bool
  ) {
    (self.stage, self.packed, self.name, self.isInterrupted) = (stage, packed, name, isInterrupted)
  }

  var isTruncated: Bool { stage.isTruncated }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> ReadOutcome {
    if isInterrupted() { throw Failure(.temporary, "\(name): interrupted") }
    let outcome = try stage.read(into: buffer)
    guard case .bytes(let more) = outcome else { return outcome }
    count += UInt64(more)
    guard count > Self.freeBytes, count / ZipMember.maxRatio > packed.count else { return outcome }
    throw Failure(
      .badInput,
      "\(name): it unpacks to more than \(ZipMember.maxRatio) times its size, as a file that is made to harm; "
        + "if you trust it, unpack it first")
  }
}

/// Counts the bytes of another source.
private final class ByteCount: ByteSource {
  private let source: any ByteSource
  private(set) var count: UInt64 = 0

  init(_ source: any ByteSource) { self.source = source }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> ReadOutcome {
    let outcome = try source.read(into: buffer)
    if case .bytes(let more) = outcome { count += UInt64(more) }
    return outcome
  }
}

/// The result of one read of a source.
package enum ReadOutcome: Equatable {
  case bytes(Int)
  /// No bytes arrived for a while; the source is still open.
  case paused
  case end
}

/// An ordered source of bytes. Each stage of an input (file, unpacking, decoding) is one, and reads from the
/// stage below.
package protocol ByteSource: AnyObject {
  /// Fills the start of `buffer`, which must not be empty.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> ReadOutcome
}
