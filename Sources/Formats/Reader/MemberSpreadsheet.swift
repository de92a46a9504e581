// SPDX-License-Identifier: Apache-2.0

import Archives
import TemporaryFiles

/// A spreadsheet that is a member of a ZIP archive. Its directory is at its end, so it is unpacked to a file that no
/// other process can see. It is a document and not a nested archive, so nothing in it is unpacked further.
enum MemberSpreadsheet {
  /// A spreadsheet of this many bytes unpacks to far more rows than a sheet can have.
  static let maxSize: UInt64 = 512 << 20
  private static let endings = [".xlsx", ".xlsm", ".xltx", ".xls", ".ods"]

  /// A copy of a member that has the name and the first bytes of a spreadsheet; nil for any other member.
  ///
  /// - Throws: `UnrecognisedInput` if it is too large, `Failure` if it is damaged.
  static func copy(of source: ArchivedSource, _ member: ZipMember) throws -> FileSource? {
    let name = member.name.lowercased()
    guard endings.contains(where: name.hasSuffix) else { return nil }
    let head = try source.readHead(limit: 4)
    try source.rewind()
    guard ZipArchive.isArchive(head.bytes) else { return nil }
    guard member.size <= maxSize else {
      throw UnrecognisedInput(
        name: source.name, reason: "the spreadsheet has more than 512 MiB; unpack the archive first")
    }
    let file = try Spool.copy([], then: source, name: source.name, modifiedAt: source.modifiedAt)
    file.isInterrupted = source.isInterrupted
    return file
  }
}
