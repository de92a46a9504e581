// SPDX-License-Identifier: Apache-2.0

import TestArchives

/// Converts the bytes of libFuzzer to a file.
///
/// Most inputs are the file itself. An input that begins with `=== ` has the members of an archive as text,
/// each after a line `=== PATH`. A mutation cannot correct the checksums in an archive, so a ZIP archive, an
/// XLSX or an ODS file would otherwise never be damaged inside.
enum FuzzInput {
  private static let mark = Array("=== ".utf8)
  /// The maximum number of members, which is more than an office program writes.
  private static let maxMembers = 32

  /// Makes the file to import from the bytes of libFuzzer.
  static func file(_ bytes: UnsafeBufferPointer<UInt8>) throws -> [UInt8] {
    guard bytes.starts(with: mark) else { return Array(bytes) }
    var entries: [ZipWriter.Entry] = []
    var isAfterEntry = false
    for line in bytes.split(separator: 0x0A, omittingEmptySubsequences: false) {
      if line.starts(with: mark), entries.count < maxMembers {
        let name = String(decoding: line.dropFirst(mark.count), as: UTF8.self)
        entries.append(ZipWriter.Entry(name: name, bytes: [], isDeflated: false))
        isAfterEntry = false
      } else {
        if isAfterEntry { entries[entries.count - 1].bytes.append(0x0A) }
        entries[entries.count - 1].bytes += line
        isAfterEntry = true
      }
    }
    return try ZipWriter(entries: entries).bytes()
  }

  /// A number of ten bits that depends only on the bytes.
  static func variant(of bytes: UnsafeBufferPointer<UInt8>) -> Int {
    var hash: UInt32 = 2_166_136_261
    for byte in bytes { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
    return Int(hash >> 22)
  }
}
