// SPDX-License-Identifier: Apache-2.0

import Archives
import Foundation
import Logbook

/// An archive in a file that exists during a test.
final class ArchiveFile {
  private let url: URL
  private let file: FileHandle
  let archive: ZipArchive

  init(_ bytes: [UInt8]) throws {
    url = FileManager.default.temporaryDirectory.appending(path: "glucoport-\(UUID().uuidString).zip")
    try Data(bytes).write(to: url)
    file = try FileHandle(forReadingFrom: url)
    do {
      archive = try ZipArchive(descriptor: file.fileDescriptor, name: "archive.zip")
    } catch {
      unlink(url.path)
      throw error
    }
  }

  deinit { unlink(url.path) }

  func source(_ member: ZipMember) throws -> ZipMemberSource {
    try ZipMemberSource(member, of: archive, name: "archive.zip:\(member.name)")
  }

  /// The unpacked bytes of a member.
  func bytes(_ member: ZipMember) throws -> [UInt8] { try source(member).allBytes(chunk: 1000) }
}

extension ByteSource {
  /// All bytes, read in chunks of this size.
  func allBytes(chunk: Int) throws -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: chunk)
    while case .bytes(let count) = try buffer.withUnsafeMutableBytes({ try read(into: $0) }) {
      bytes += buffer.prefix(count)
    }
    return bytes
  }
}

/// A source that returns bytes in small pieces.
final class PieceSource: ByteSource {
  private var rest: ArraySlice<UInt8>
  private let piece: Int

  init(_ bytes: [UInt8], piece: Int = 7) {
    rest = bytes[...]
    self.piece = piece
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> ReadOutcome {
    if rest.isEmpty { return .end }
    let count = min(piece, buffer.count, rest.count)
    buffer.copyBytes(from: rest.prefix(count))
    rest = rest.dropFirst(count)
    return .bytes(count)
  }
}
