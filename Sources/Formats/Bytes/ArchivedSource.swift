// SPDX-License-Identifier: Apache-2.0

import Archives
import Logbook

/// A member of an archive as a separate input. The digest is that of the unpacked member, so that the member is also
/// recognised outside of the archive.
final class ArchivedSource: InputSource {
  let name: String
  let isRegularFile = true
  let size: Int64?
  let modifiedAt: Int64?
  private(set) var bytesRead: Int64 = 0
  var isHashing = true
  var isInterrupted: @Sendable () -> Bool = { false }
  private let member: ZipMemberSource
  /// Keeps the archive's file open while members are read.
  private let file: FileSource
  private var background = BackgroundDigest()

  init(_ member: ZipMember, of archive: ZipArchive, in file: FileSource) throws {
    name = "\(file.name):\(member.name)"
    size = Int64(exactly: member.size)
    modifiedAt = file.modifiedAt
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

  /// Unpacks the member once completely, so that no value is used before its checksum is verified.
  func check() throws {
    let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 * 1024, alignment: 16)
    defer { chunk.deallocate() }
    while case .bytes = try member.read(into: chunk) {
      if isInterrupted() { throw Failure(.temporary, "\(name): interrupted") }
    }
    try rewind()
  }
}
