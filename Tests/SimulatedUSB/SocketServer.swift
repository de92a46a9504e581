// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

/// A listening socket in the file system, with a thread for each connection.
///
/// Unchecked: the connections are only used with the lock.
final class SocketServer: @unchecked Sendable {
  private let lock = NSLock()
  private let listener: Int32
  private let serve: @Sendable (Int32) -> Void
  private var connections: Set<Int32> = []

  /// - Parameter serve: answers on a connection until it ends. The connection is closed after it.
  init(at path: String, serve: @escaping @Sendable (Int32) -> Void) throws {
    listener = try Self.listen(at: path)
    self.serve = serve
    Thread.detachNewThread { self.accept() }
  }

  func stop() {
    shutdown(listener, Int32(SHUT_RDWR))
    for connection in lock.withLock({ connections }) { shutdown(connection, Int32(SHUT_RDWR)) }
  }

  private func accept() {
    while true {
      let connection = Glibc.accept(listener, nil, nil)
      guard connection >= 0 else { break }
      lock.withLock { _ = connections.insert(connection) }
      Thread.detachNewThread {
        self.serve(connection)
        self.lock.withLock { _ = self.connections.remove(connection) }
        close(connection)
      }
    }
    close(listener)
  }

  private static func listen(at path: String) throws -> Int32 {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let room = MemoryLayout.size(ofValue: address.sun_path)
    guard descriptor >= 0, path.utf8.count < room else { throw POSIXError(.ENAMETOOLONG) }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard result == 0, Glibc.listen(descriptor, 8) == 0 else {
      close(descriptor)
      throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
    }
    // A program under test may run as another user, and must be able to connect.
    chmod(path, 0o666)
    return descriptor
  }
}
