// SPDX-License-Identifier: Apache-2.0

import CZlib
import Logbook

/// Writes ZIP archives for tests. A test can set every detail.
package struct ZipWriter {
  package struct Entry {
    package var name: String
    package var bytes: [UInt8]
    package var isDeflated = true
    package var flags = 0
    package var method: Int?
    package var mode = 0o100644
    /// A wrong size for the archive's directory; nil for the true size.
    package var statedSize: Int?
    package var statedChecksum: UInt32?
    package var isZip64 = false
    /// A wrong offset of the member for the archive's directory; nil for the true offset.
    package var statedOffset: Int?
    /// The local time of the member in the format of DOS: the date in the upper 16 bits; 0 for none.
    package var time = 0
    /// Extra fields for the archive's directory.
    package var extra: [UInt8] = []

    package init(
      name: String, bytes: [UInt8], isDeflated: Bool = true, statedSize: Int? = nil,
      statedChecksum: UInt32? = nil, isZip64: Bool = false, statedOffset: Int? = nil
    ) {
      (self.name, self.bytes, self.isDeflated, self.isZip64) = (name, bytes, isDeflated, isZip64)
      (self.statedSize, self.statedChecksum, self.statedOffset) = (statedSize, statedChecksum, statedOffset)
    }
  }

  package var entries: [Entry] = []
  package var prefix: [UInt8] = []
  package var comment = ""
  package var isZip64 = false

  package init(entries: [Entry] = []) { self.entries = entries }

  /// An archive with these texts.
  package static func archive(_ members: [(String, String)]) throws -> [UInt8] {
    var writer = ZipWriter()
    writer.entries = members.map { Entry(name: $0.0, bytes: Array($0.1.utf8)) }
    return try writer.bytes()
  }

  package func bytes() throws -> [UInt8] {
    var out = prefix
    var directory: [UInt8] = []
    for entry in entries {
      let offset = entry.statedOffset ?? out.count - prefix.count
      let packed = entry.isDeflated ? try Deflate.raw(entry.bytes) : entry.bytes
      let checksum =
        entry.statedChecksum
        ?? UInt32(entry.bytes.withUnsafeBufferPointer { crc32_z(0, $0.baseAddress, $0.count) })
      let size = entry.statedSize ?? entry.bytes.count
      let name = Array(entry.name.utf8)
      var common = Self.number(entry.flags, 2) + Self.number(entry.method ?? (entry.isDeflated ? 8 : 0), 2)
      common += Self.number(entry.time, 4) + Self.number(Int(checksum), 4)
      common += Self.number(entry.isZip64 ? 0xFFFF_FFFF : packed.count, 4)
      common += Self.number(entry.isZip64 ? 0xFFFF_FFFF : size, 4)
      out += [0x50, 0x4B, 3, 4] + Self.number(45, 2) + common
      out += Self.number(name.count, 2) + Self.number(0, 2) + name + packed
      let extra =
        entry.extra
        + (entry.isZip64
          ? Self.number(1, 2) + Self.number(24, 2) + Self.number(size, 8) + Self.number(packed.count, 8)
            + Self.number(offset, 8) : [])
      directory += [0x50, 0x4B, 1, 2, 45, 3] + Self.number(45, 2) + common
      directory += Self.number(name.count, 2) + Self.number(extra.count, 2) + Self.number(0, 2)
      directory += Self.number(0, 4) + Self.number(entry.mode << 16, 4)
      directory += Self.number(entry.isZip64 ? 0xFFFF_FFFF : offset, 4) + name + extra
    }
    let start = out.count - prefix.count
    out += directory
    if isZip64 {
      let end = out.count - prefix.count
      out +=
        [0x50, 0x4B, 6, 6] + Self.number(44, 8) + Self.number(45, 2) + Self.number(45, 2) + Self.number(0, 8)
      out += Self.number(entries.count, 8) + Self.number(entries.count, 8) + Self.number(directory.count, 8)
      out += Self.number(start, 8)
      out += [0x50, 0x4B, 6, 7] + Self.number(0, 4) + Self.number(end, 8) + Self.number(1, 4)
    }
    out += [0x50, 0x4B, 5, 6] + Self.number(0, 4)
    out += Self.number(isZip64 ? 0xFFFF : entries.count, 2) + Self.number(isZip64 ? 0xFFFF : entries.count, 2)
    out += Self.number(isZip64 ? 0xFFFF_FFFF : directory.count, 4)
    out += Self.number(isZip64 ? 0xFFFF_FFFF : start, 4)
    return out + Self.number(comment.utf8.count, 2) + Array(comment.utf8)
  }

  private static func number(_ value: Int, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }
}
