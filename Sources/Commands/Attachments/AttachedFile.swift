// SPDX-License-Identifier: Apache-2.0

import Glibc
import Logbook
import LogbookStore

/// A file, or standard input, that is read once from its first byte to its last.
struct AttachedFile {
  private static let pieceBytes = 64 << 10

  /// The path, or `-`.
  let path: String
  private let descriptor: Int32

  /// - Throws: `Failure`: `missingInput`, `permission`, `badInput` for a folder, `inputOutput`.
  init(_ path: String) throws {
    self.path = path
    descriptor = path == "-" ? STDIN_FILENO : open(PathText.bytes(path), O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Self.failure(path, "cannot be opened") }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw Self.failure(path, "cannot be read") }
    guard status.st_mode & S_IFMT != S_IFDIR else {
      throw Failure(.badInput, "\(displayed(path)): Is a directory; attach the files in it")
    }
  }

  /// The last part of the path. Bytes that are not UTF-8 are replaced.
  var name: String {
    let bytes = PathText.bytes(path).dropLast().map { UInt8(bitPattern: $0) }
    return String(decoding: bytes.split(separator: UInt8(ascii: "/")).last ?? bytes[...], as: UTF8.self)
  }

  /// Reads the bytes into the store's intake.
  ///
  /// - Returns: the content and its first bytes.
  /// - Throws: `Failure` of category `badInput` if it is larger than the limit; the rest is not read.
  func read(
    into intake: ContentIntake, limit: Int64
  ) throws -> (content: AttachmentContent, head: [UInt8]) {
    defer { if path != "-" { close(descriptor) } }
    let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.pieceBytes, alignment: 16)
    defer { piece.deallocate() }
    var (head, total): ([UInt8], Int64) = ([], 0)
    while true {
      let count = uninterrupted { Glibc.read(descriptor, piece.baseAddress, piece.count) }
      guard count >= 0 else { throw Self.failure(path, "cannot be read") }
      guard count > 0 else { return (try intake.end(), head) }
      total += Int64(count)
      guard total <= limit else {
        throw Failure(
          .badInput,
          "\(displayed(path)): larger than \(ByteCountArgument.text(limit)), the limit for attachments; change it with 'glucoport config attachment-limit'"
        )
      }
      let bytes = UnsafeRawBufferPointer(rebasing: piece[..<count])
      if head.count < ContentType.headBytes { head += bytes.prefix(ContentType.headBytes - head.count) }
      try intake.add(bytes)
    }
  }

  private static func failure(_ path: String, _ what: String) -> Failure {
    let code = errno
    return Failure(
      FailureCategory(unreadableFile: code),
      "\(displayed(path)): \(what): \(String(cString: strerror(code)))")
  }
}
