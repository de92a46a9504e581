// SPDX-License-Identifier: Apache-2.0

import Glibc
package import Logbook

package enum ListeningAddress: Hashable, Sendable {
  /// A host name or numeric address (IPv6 without brackets), and a port. With port 0, the system chooses a
  /// free port.
  case network(host: String, port: Int)
  /// A socket in the file system.
  case unix(path: String)

  /// The maximum length of a socket's path in bytes: the size of the kernel's `sun_path` without the final
  /// NUL.
  static let maxPathBytes = 107

  package init(host: String, port: Int) { self = .network(host: host, port: port) }

  /// Parses `HOST:PORT`, `[IPV6]:PORT` or `unix:PATH`; nil for any other text.
  package init?(text: String) {
    if text.hasPrefix("unix:") {
      let path = String(text.dropFirst(5))
      guard (1...Self.maxPathBytes).contains(path.utf8.count) else { return nil }
      self = .unix(path: path)
      return
    }
    guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
      return nil
    }
    var host = text[..<colon]
    if host.hasPrefix("["), host.hasSuffix("]") {
      host = host.dropFirst().dropLast()
    } else if host.contains(":") {
      return nil
    }
    guard !host.isEmpty else { return nil }
    self.init(host: String(host), port: Int(port))
  }

  /// Whether only programs on this machine can connect to the address.
  package var isLoopback: Bool {
    guard case .network(let host, _) = self else { return true }
    if host == "localhost" || host == "::1" { return true }
    // Every part must be a number. Otherwise the name 127.0.0.1.example.com would count as an address of this
    // machine.
    let parts = host.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
    return parts.count == 4 && parts[0] == 127 && !parts.contains(nil)
  }

  /// The address in the notation of `init(text:)`.
  package var text: String {
    switch self {
    case .network(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    case .unix(let path): "unix:\(path)"
    }
  }
}

/// A listening socket that the service manager passed to this process, and keeps open when the process ends.
package struct SystemSocket: Hashable, Sendable {
  /// The number of the first passed descriptor, as sd_listen_fds(3) defines it.
  static let firstDescriptor: Int32 = 3
  private static let maxSockets: Int32 = 64
  /// The name that `FileDescriptorName=` must give a socket that serves only metrics.
  package static let metricsName = "metrics"

  let descriptor: Int32
  /// Whether the socket serves only metrics.
  package let isForMetrics: Bool
  /// The address on which the socket listens.
  package let address: ListeningAddress

  /// The sockets that were passed to this process. Empty if there are none, or if they are meant for another
  /// process.
  ///
  /// - Parameter environment: returns the value of an environment variable.
  /// - Throws: `Failure` of category `configuration` for a descriptor that is not a listening stream socket,
  ///   and for a wrong number of descriptors.
  package static func all(environment: (_ name: String) -> String?) throws(Failure) -> [SystemSocket] {
    guard environment("LISTEN_PID").flatMap({ Int32($0) }) == getpid(), let text = environment("LISTEN_FDS")
    else { return [] }
    // If a socket was passed but is not served, this must be reported, since its clients would wait
    // endlessly.
    guard let count = Int32(text), (0...maxSockets).contains(count) else {
      throw Failure(
        .configuration,
        "the service manager passed sockets, but LISTEN_FDS is not a number from 0 to \(maxSockets)")
    }
    let names = (environment("LISTEN_FDNAMES") ?? "").split(separator: ":", omittingEmptySubsequences: false)
    var sockets: [SystemSocket] = []
    for number in 0..<count {
      let name = names.indices.contains(Int(number)) ? names[Int(number)] : ""
      let socket = try SystemSocket(
        descriptor: firstDescriptor + number, isForMetrics: name == metricsName)
      if let other = sockets.first(where: { inode($0.descriptor) == inode(socket.descriptor) }) {
        throw Failure(
          .configuration,
          "the service manager passed one socket twice, as descriptors \(other.descriptor) and \(socket.descriptor); name each address once in the socket unit"
        )
      }
      sockets.append(socket)
    }
    return sockets
  }

  /// The inode of a socket, which is the same for duplicates of the descriptor. Duplicates are refused, since
  /// each of two listeners would wait for connections that the other one has accepted.
  private static func inode(_ descriptor: Int32) -> ino_t? {
    var status = stat()
    return fstat(descriptor, &status) == 0 ? status.st_ino : nil
  }

  private init(descriptor: Int32, isForMetrics: Bool) throws(Failure) {
    guard Self.option(SO_ACCEPTCONN, descriptor) == 1,
      Self.option(SO_TYPE, descriptor) == Int32(SOCK_STREAM.rawValue),
      let address = Self.address(of: descriptor)
    else {
      throw Failure(
        .configuration,
        "the service manager passed descriptor \(descriptor), which is not a listening stream socket; use ListenStream= and not Accept=yes in the socket unit"
      )
    }
    // Child processes must not inherit the descriptor, since they would keep the socket open.
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    self.descriptor = descriptor
    self.isForMetrics = isForMetrics
    self.address = address
  }

  private static func option(_ name: Int32, _ descriptor: Int32) -> Int32? {
    var value: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    return getsockopt(descriptor, SOL_SOCKET, name, &value, &length) == 0 ? value : nil
  }

  /// The address of a socket; nil if it is neither IP nor Unix.
  private static func address(of descriptor: Int32) -> ListeningAddress? {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    return withUnsafeMutablePointer(to: &storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address -> ListeningAddress? in
        guard getsockname(descriptor, address, &length) == 0 else { return nil }
        if Int32(address.pointee.sa_family) == AF_UNIX { return .unix(path: path(address, length)) }
        var host = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        var port = [CChar](repeating: 0, count: Int(NI_MAXSERV))
        let flags = NI_NUMERICHOST | NI_NUMERICSERV
        guard
          getnameinfo(
            address, length, &host, socklen_t(host.count), &port, socklen_t(port.count), flags) == 0
        else { return nil }
        return .network(host: text(host), port: Int(text(port)) ?? 0)
      }
    }
  }

  private static func path(_ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> String {
    let start = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2
    let bytes = UnsafeRawBufferPointer(start: address, count: Int(length)).dropFirst(start)
    // The name of an abstract socket begins with a NUL, for which systemd writes `@`.
    guard bytes.first == 0 else { return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self) }
    return "@" + String(decoding: bytes.dropFirst(), as: UTF8.self)
  }

  private static func text(_ characters: [CChar]) -> String {
    String(decoding: characters.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
