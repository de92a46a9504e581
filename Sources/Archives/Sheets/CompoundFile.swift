// SPDX-License-Identifier: Apache-2.0

/// Files of old office programs, and current encrypted ones: "Compound File Binary", MS-CFB.
package enum CompoundFile {
  private static let signature: [UInt8] = [0xD0, 0xCF, 0x11, 0xE0]
  /// The stream with an encrypted document (MS-OFFCRYPTO, 2.3.4.4), in UTF-16 like all names in the directory.
  private static let encrypted = "EncryptedPackage".utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }

  /// The offset of the directory of streams, from the first bytes of a file; nil for any other file.
  package static func directoryOffset(_ head: [UInt8]) -> Int? {
    guard head.starts(with: signature), head.count >= 512 else { return nil }
    let shift = head.number(30, 2)
    let sector = head.number(48, 4)
    guard (9...12).contains(shift), sector < 0xFFFF_FFF0 else { return nil }
    return Int((sector + 1) << shift)
  }

  /// Why the file is refused and what to do instead, from bytes that may hold names of its streams; nil for any other
  /// file.
  package static func refusal(_ head: [UInt8], directory: [UInt8]) -> String? {
    guard head.starts(with: signature) else { return nil }
    let isEncrypted = [head, directory].contains { $0.firstRange(of: encrypted) != nil }
    return isEncrypted
      ? "an encrypted spreadsheet; save it without a password"
      : "an old spreadsheet (XLS); save it as XLSX or CSV"
  }
}
