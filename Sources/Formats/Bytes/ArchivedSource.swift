// SPDX-License-Identifier: Apache-2.0

import Archives
import Logbook
import TemporaryFiles

/// A member of an archive as a separate input. The digest is that of the unpacked member, so that the member
/// is also recognised outside of the archive.
final class ArchivedSource: InputSource {
  let name: String
  let isRegularFile = true
  let size: Int64?
  let modifiedAt: Int64?
  private(set) var bytesRead: Int64 = 0
  var isHashing = true
  var isInterrupted: @Sendable () -> Bool = { false }
  private let member: ZipMemberSource
  /// This reference keeps the archive's file open while members are read.
  private let file: FileSource
  private var background = BackgroundDigest()

  /// - Parameter options: the zone of the member's local time, and the clock that shows whether it is
  ///   plausible. Without a plausible time, the member has the time of the archive.
  init(
    _ member: ZipMember, of archive: ZipArchive, in file: FileSource, _ options: ExportOptions
  ) throws {
    name = "\(file.name):\(member.name)"
    size = Int64(exactly: member.size)
    modifiedAt =
      options.now.flatMap { member.time?.seconds(in: options.zone, now: $0) } ?? file.modifiedAt
    self.file = file
    self.member = try ZipMemberSource(member, of: archive, name: name)
  }

  var digest: Digest { background.digest }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> ReadOutcome {
    if isInterrupted() { throw Failure(.temporary, "\(name): interrupted") }
    let outcome = try member.read(into: buffer)
    if case .bytes(let count) = outcome {
      bytesRead += Int64(count)
      if isHashing {
        background.update(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<count]))
      }
    }
    return outcome
  }

  func rewind() throws {
    try member.rewind()
    isHashing = true
    bytesRead = 0
    background = BackgroundDigest()
  }

  /// Unpacks the whole member once, so that its checksum is verified before any value is used.
  func check() throws {
    let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 * 1024, alignment: 16)
    defer { chunk.deallocate() }
    while case .bytes = try member.read(into: chunk) {
      if isInterrupted() { throw Failure(.temporary, "\(name): interrupted") }
    }
    try rewind()
  }
}

/// A spreadsheet that is a member of a ZIP archive. A spreadsheet is itself a ZIP file with its directory at
/// the end. So it is first unpacked to a file that other processes cannot see. Its own members are not read
/// as separate inputs.
enum MemberSpreadsheet {
  /// The maximum size of the packed spreadsheet in bytes. A larger one would unpack to far more rows than a
  /// sheet can have.
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
