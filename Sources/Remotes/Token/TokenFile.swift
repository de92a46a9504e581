// SPDX-License-Identifier: Apache-2.0

import Logbook

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The file with a token or a private key: a regular file of the own user that nobody else may read.
enum TokenFile {
  /// - Parameter name: what the file is, for messages.
  static func read(_ path: String, as name: String = "token file") throws(Failure) -> [UInt8] {
    // Without waiting for the writer of a named pipe, which is refused below.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw failure(name, path, errno) }
    defer { close(descriptor) }
    try check(descriptor, path, name)
    var bytes = [UInt8](repeating: 0, count: TokenSource.maxBytes + 1)
    var count = 0
    while count < bytes.count {
      let read = bytes[count...].withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
      if read < 0, errno == EINTR { continue }
      guard read >= 0 else { throw failure(name, path, errno) }
      if read == 0 { break }
      count += read
    }
    guard count <= TokenSource.maxBytes else {
      throw Failure(
        .configuration, "\(path): the \(name) has more than \(TokenSource.maxBytes) bytes")
    }
    return Array(bytes[..<count])
  }

  /// The descriptor, not the path, is asked, so that nobody can exchange the file in between.
  private static func check(_ descriptor: Int32, _ path: String, _ name: String) throws(Failure) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw failure(name, path, errno) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw Failure(.configuration, "\(path): the \(name) must be a regular file")
    }
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
    let category: FailureCategory =
      switch code {
      case ENOENT, ENOTDIR: .missingInput
      case EACCES, EPERM: .permission
      default: .inputOutput
      }
    return Failure(category, "\(path): the \(name) cannot be read: \(String(cString: strerror(code)))")
  }
}
