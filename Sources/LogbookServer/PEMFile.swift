// SPDX-License-Identifier: Apache-2.0

import Glibc
import Logbook

/// A file with a certificate or a key. Named pipes and devices are refused: reading one could block a running server.
enum PEMFile {
  /// The maximum size. The bundle of all authorities of a system has about 230 kB.
  private static let maxBytes = 4 << 20

  /// The bytes of the file.
  ///
  /// - Throws: `Failure` of category `configuration`.
  static func bytes(_ path: String) throws(Failure) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw failure(path) }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw failure(path) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw Failure(.configuration, "\(path): a certificate or key must be a regular file")
    }
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 16 << 10)
    while bytes.count <= maxBytes {
      let count = read(descriptor, &piece, piece.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw failure(path) }
      if count == 0 { return bytes }
      bytes += piece[..<count]
    }
    throw Failure(.configuration, "\(path): a certificate or key has at most \(maxBytes) bytes")
  }

  private static func failure(_ path: String) -> Failure {
    Failure(
      .configuration, "\(path): cannot read this certificate or key: \(String(cString: strerror(errno)))")
  }
}
