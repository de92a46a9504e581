// SPDX-License-Identifier: Apache-2.0

import Glibc
import Logbook

/// A file that a person set for a remote: a token, a private key or certificates. Named pipes and devices are
/// refused, since reading them could block the program endlessly.
enum RemoteFile {
  /// The maximum size of a file with certificates, in bytes. A bundle with all authorities of a system has
  /// about 230 kB.
  private static let maxPublicBytes = 4 << 20

  /// The bytes of a file with a token or key. The file must belong to the current user, and no other user may
  /// be able to read it.
  ///
  /// - Parameter name: what the file is, for messages.
  static func secret(_ path: String, as name: String) throws(Failure) -> [UInt8] {
    try read(path, name, isSecret: true, maxBytes: TokenSource.maxBytes)
  }

  /// The bytes of a file with certificates, which all users may read.
  ///
  /// - Parameter name: what the file is, for messages.
  static func open(_ path: String, as name: String) throws(Failure) -> [UInt8] {
    try read(path, name, isSecret: false, maxBytes: maxPublicBytes)
  }

  private static func read(
    _ path: String, _ name: String, isSecret: Bool, maxBytes: Int
  ) throws(Failure) -> [UInt8] {
    // Without O_NONBLOCK, opening a named pipe would wait until another program writes to it. Pipes are
    // refused below.
    let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw failure(name, path, errno) }
    defer { close(descriptor) }
    try check(descriptor, path, name, isSecret: isSecret)
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 16 << 10)
    while bytes.count <= maxBytes {
      let count = piece.withUnsafeMutableBytes { piece in
        uninterrupted { Glibc.read(descriptor, piece.baseAddress, piece.count) }
      }
      guard count >= 0 else { throw failure(name, path, errno) }
      if count == 0 { return bytes }
      bytes += piece[..<count]
    }
    throw Failure(.configuration, "\(path): the \(name) has more than \(maxBytes) bytes")
  }

  /// Checks the open file and not its path, so that the file cannot be replaced between the check and the
  /// reading.
  private static func check(
    _ descriptor: Int32, _ path: String, _ name: String, isSecret: Bool
  ) throws(Failure) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw failure(name, path, errno) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw Failure(.configuration, "\(path): the \(name) must be a regular file")
    }
    guard isSecret else { return }
    guard status.st_uid == geteuid() else {
      throw Failure(
        .permission, "\(path): the \(name) belongs to another user; create your own")
    }
    guard status.st_mode & 0o077 == 0 else {
      throw Failure(
        .permission, "\(path): other users may read or write the \(name); run: chmod 600 '\(path)'")
    }
  }

  private static func failure(_ name: String, _ path: String, _ code: Int32) -> Failure {
    Failure(
      FailureCategory(unreadableFile: code),
      "\(path): the \(name) cannot be read: \(String(cString: strerror(code)))")
  }
}
