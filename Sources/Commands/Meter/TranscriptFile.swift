// SPDX-License-Identifier: Apache-2.0

import Glibc
import Logbook

/// A file with a transcript: written line by line as the session goes on, and read at once.
final class TranscriptFile {
  /// The maximum size of a transcript to read. That of a meter with 100,000 readings is smaller.
  static let maxBytes = 256 << 20

  private let path: String
  private var descriptor: Int32

  /// A new file, accessible only to its owner.
  init(creating path: String) throws(Failure) {
    self.path = path
    descriptor = open(PathText.bytes(path), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      let reason =
        errno == EEXIST ? "File exists; choose another name" : String(cString: strerror(errno))
      throw Failure(.cannotCreate, "\(path): cannot create the transcript: \(reason)")
    }
  }

  deinit { if descriptor >= 0 { Glibc.close(descriptor) } }

  func write(_ text: String) throws(Failure) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = uninterrupted { rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) } }
      guard count > 0 else { throw failure() }
      rest = rest.dropFirst(count)
    }
  }

  func close() throws(Failure) {
    let code = Glibc.close(descriptor)
    descriptor = -1
    guard code == 0 else { throw failure() }
  }

  /// Removes the file.
  func remove() { unlink(PathText.bytes(path)) }

  private func failure() -> Failure {
    Failure(.inputOutput, "\(path): cannot write the transcript: \(String(cString: strerror(errno)))")
  }

  /// The bytes of a transcript.
  static func read(_ path: String) throws(Failure) -> [UInt8] {
    let descriptor = open(PathText.bytes(path), O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      let category: FailureCategory =
        errno == ENOENT ? .missingInput : errno == EACCES ? .permission : .inputOutput
      throw unreadable(path, category)
    }
    defer { Glibc.close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw unreadable(path, .inputOutput) }
    guard status.st_mode & S_IFMT != S_IFDIR else {
      throw Failure(.badInput, "\(path): Is a directory; name the transcript in it")
    }
    let bytes = try bytes(of: descriptor, path)
    guard !bytes.isEmpty else { throw Failure(.badInput, "\(path): the file is empty") }
    guard bytes.count <= maxBytes else {
      throw Failure(.badInput, "\(path): the file is too large for a transcript")
    }
    return bytes
  }

  /// All bytes, or a few more than the maximum if there are too many.
  private static func bytes(of descriptor: Int32, _ path: String) throws(Failure) -> [UInt8] {
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 64 << 10)
    while bytes.count <= maxBytes {
      let count = uninterrupted { Glibc.read(descriptor, &piece, piece.count) }
      guard count >= 0 else { throw unreadable(path, .inputOutput) }
      guard count > 0 else { break }
      bytes += piece[..<count]
    }
    return bytes
  }

  private static func unreadable(_ path: String, _ category: FailureCategory) -> Failure {
    Failure(category, "\(path): cannot read the transcript: \(String(cString: strerror(errno)))")
  }
}
