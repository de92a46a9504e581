// SPDX-License-Identifier: Apache-2.0

/// How the bytes of one input are packed, by their first bytes.
package enum Packing: String, CaseIterable {
  case gzip
  case xz
  case bzip2
  case zstd

  /// The packing whose signature the bytes begin with; nil for any other bytes.
  package init?(_ head: some Collection<UInt8>) {
    if let found = Self.allCases.first(where: { head.starts(with: $0.signature) }) {
      self = found
    } else if Self.isSkippableFrame(head) {
      self = .zstd
    } else {
      return nil
    }
  }

  /// Whether a frame of Zstandard that holds no data is first, as `pzstd` writes it: sixteen signatures stand for one.
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

  /// A stage that unpacks the bytes of another.
  ///
  /// - Parameter name: the input, for messages.
  package func unpacking(_ packed: any ByteSource, name: String) throws -> any UnpackingSource {
    switch self {
    case .gzip: try GzipSource(packed, name: name)
    case .xz: try XZSource(packed, name: name)
    case .bzip2: try BZip2Source(packed, name: name)
    case .zstd: try ZstdSource(packed, name: name)
    }
  }
}

/// A stage that unpacks what another yields, in memory that does not grow with it.
package protocol UnpackingSource: ByteSource {
  /// Whether the packed bytes ended too early: what came out so far is true, the rest is missing.
  var isTruncated: Bool { get }
}
