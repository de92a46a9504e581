// SPDX-License-Identifier: Apache-2.0

package enum ListeningAddress: Hashable, Sendable {
  /// A name or a numeric address, without the brackets of IPv6, and a port. With port 0 the system chooses one.
  case network(host: String, port: Int)
  /// A socket in the file system.
  case unix(path: String)

  /// The maximum length of a path: the kernel's `sun_path` without its NUL.
  static let maxPathBytes = 107

  package init(host: String, port: Int) { self = .network(host: host, port: port) }

  /// Parses `HOST:PORT`, `[IPV6]:PORT` or `unix:PATH`; nil for anything else.
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

  /// Whether only this machine can reach it.
  package var isLoopback: Bool {
    guard case .network(let host, _) = self else { return true }
    if host == "localhost" || host == "::1" { return true }
    // Every part must be a number, since a name may begin like an address: 127.0.0.1.example.com.
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
