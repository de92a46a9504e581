// SPDX-License-Identifier: Apache-2.0

import Glibc
import Logbook

/// A listening socket in the file system, which this process created and removes when it ends.
struct UnixSocket: Sendable {
  let descriptor: Int32
  private let path: String
  private let device: dev_t
  private let inode: ino_t

  /// Listens. A leftover socket without a listening process is replaced.
  ///
  /// - Throws: `Failure`: `unavailable` if another process listens, or if another file is at the path.
  init(path: String, mode: mode_t) throws(Failure) {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw Self.failure(path, errno) }
    do throws(Failure) {
      try Self.bind(descriptor, path)
      // The mode is set before listening, so that no client can connect while the umask still determines it.
      var status = stat()
      guard chmod(path, mode) == 0, lstat(path, &status) == 0, listen(descriptor, SOMAXCONN) == 0 else {
        throw Self.failure(path, errno)
      }
      self.descriptor = descriptor
      self.path = path
      device = status.st_dev
      inode = status.st_ino
    } catch {
      close(descriptor)
      throw error
    }
  }

  /// Removes the socket, unless it was replaced by another.
  func remove() {
    var status = stat()
    if lstat(path, &status) == 0, status.st_dev == device, status.st_ino == inode { unlink(path) }
  }

  private static func bind(_ descriptor: Int32, _ path: String) throws(Failure) {
    if call(Glibc.bind, descriptor, path) == 0 { return }
    guard errno == EADDRINUSE else { throw failure(path, errno) }
    guard isStale(path) else { throw failure(path, EADDRINUSE) }
    guard unlink(path) == 0, call(Glibc.bind, descriptor, path) == 0 else { throw failure(path, errno) }
  }

  /// Whether the path is a socket without a listening process. Only a refused connection proves that; a full queue does
  /// not.
  private static func isStale(_ path: String) -> Bool {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return false }
    let descriptor = socket(
      AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    return call(connect, descriptor, path) != 0 && errno == ECONNREFUSED
  }

  private static func call(
    _ function: (Int32, UnsafePointer<sockaddr>?, socklen_t) -> Int32, _ descriptor: Int32, _ path: String
  ) -> Int32 {
    guard var address = sockaddr_un(path: path) else {
      errno = ENAMETOOLONG
      return -1
    }
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        function(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }

  private static func failure(_ path: String, _ code: Int32) -> Failure {
    let reason = String(cString: strerror(code))
    let advice =
      code == EADDRINUSE
      ? "; another program listens there, or the file is no socket: choose another path" : ""
    return Failure(.unavailable, "cannot listen on unix:\(path): \(reason)\(advice)")
  }
}

extension sockaddr_un {
  /// The address of a path, or of an abstract name after `@`; nil if it is too long.
  init?(path: String, isAbstract: Bool = false) {
    var bytes = Array(path.utf8)
    if isAbstract { bytes[0] = 0 }
    guard bytes.count <= ListeningAddress.maxPathBytes else { return nil }
    self.init()
    sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &sun_path) { $0.copyBytes(from: bytes) }
  }
}
