// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A file with a transcript: written line by line as the talk goes on, and read at once.
final class TranscriptFile {
  /// The largest transcript that is read: that of a meter with 100,000 readings stays below.
  static let mostBytes = 256 << 20

  private let path: String
  private var descriptor: Int32

  /// A new file, its owner's alone.
  init(creating path: String) throws(Failure) {
    self.path = path
    descriptor = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      let reason =
        errno == EEXIST ? "it is there already; choose another name" : String(cString: strerror(errno))
      throw Failure(.cannotCreate, "\(path): cannot create the transcript: \(reason)")
    }
  }

  deinit { if descriptor >= 0 { Glibc.close(descriptor) } }

  func write(_ text: String) throws(Failure) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw failure() }
      rest = rest.dropFirst(count)
    }
  }

  func close() throws(Failure) {
    let code = Glibc.close(descriptor)
    descriptor = -1
    guard code == 0 else { throw failure() }
  }

  /// Takes the file away.
  func remove() { unlink(path) }

  private func failure() -> Failure {
    Failure(.inputOutput, "\(path): cannot write the transcript: \(String(cString: strerror(errno)))")
  }

  /// The bytes of a transcript.
  static func read(_ path: String) throws(Failure) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      let category: FailureCategory =
        errno == ENOENT ? .missingInput : errno == EACCES ? .permission : .inputOutput
      throw Failure(category, "\(path): cannot read the transcript: \(String(cString: strerror(errno)))")
    }
    let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    let data: Data?
    do {
      data = try handle.read(upToCount: mostBytes + 1)
    } catch {
      throw Failure(.inputOutput, "\(path): cannot read the transcript: \(error.localizedDescription)")
    }
    guard let data, !data.isEmpty else { throw Failure(.badInput, "\(path): the file is empty") }
    guard data.count <= mostBytes else { throw Failure(.badInput, "\(path): too large for a transcript") }
    return Array(data)
  }
}
