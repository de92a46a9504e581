// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Synchronization

/// A slow link on loopback that passes bytes to another port. It drops every connection after a number of
/// bytes.
package final class CuttingProxy: Sendable {
  package let port: UInt16
  private let listener: Int32
  private let drops = Drops()

  package var url: String { "http://127.0.0.1:\(port)" }
  /// The number of dropped connections.
  package var dropCount: Int { drops.count.withLock { $0 } }

  /// - Parameters:
  ///   - maxBytes: the bytes that pass in both directions before a connection is dropped.
  ///   - target: returns the port to which the bytes of a connection are passed. It is called for each
  ///     connection.
  package init(maxBytes: Int, to target: @escaping @Sendable () -> UInt16?) throws {
    signal(SIGPIPE, SIG_IGN)
    listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = Self.loopback(0)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let bound = withUnsafeMutablePointer(to: &address) { [listener] pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.bind(listener, $0, length) == 0 && listen(listener, 64) == 0
          && getsockname(listener, $0, &length) == 0
      }
    }
    guard bound else { throw CocoaError(.fileReadUnknown) }
    port = UInt16(bigEndian: address.sin_port)
    Thread { [listener, drops] in
      while true {
        let client = Glibc.accept(listener, nil, nil)
        if client < 0, errno == EINVAL { break }
        guard client >= 0, let port = target() else { continue }
        Thread {
          if Self.pass(client, to: port, maxBytes) { drops.count.withLock { $0 += 1 } }
        }.start()
      }
      close(listener)
    }.start()
  }

  /// Shuts the listening socket down, so that the accepting thread stops and closes this socket.
  deinit { shutdown(listener, Int32(SHUT_RDWR)) }

  private static func loopback(_ port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return address
  }

  /// Passes bytes in both directions until the client or the server closes the connection. After `maxBytes`,
  /// this function drops the connection and returns true.
  private static func pass(_ client: Int32, to port: UInt16, _ maxBytes: Int) -> Bool {
    let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer {
      close(client)
      close(server)
    }
    var address = loopback(port)
    let isConnected = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(server, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
    guard isConnected else { return false }
    var (passed, piece) = (0, [UInt8](repeating: 0, count: 16 << 10))
    while true {
      var waiting = [client, server].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
      guard poll(&waiting, 2, 60_000) > 0 else { return false }
      for (place, other) in [(0, server), (1, client)] where waiting[place].revents != 0 {
        let count = recv(waiting[place].fd, &piece, piece.count, 0)
        guard count > 0 else { return false }
        passed += count
        guard passed <= maxBytes else { return true }
        var sent = 0
        while sent < count {
          let written = piece[sent..<count].withUnsafeBytes { Glibc.write(other, $0.baseAddress, $0.count) }
          guard written > 0 else { return false }
          sent += written
        }
        // This pause limits the link to about 10 MB/s, so that a test can do something during a transfer.
        usleep(1500)
      }
    }
  }
}

/// The number of dropped connections.
private final class Drops: Sendable {
  let count = Mutex(0)
}
