// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
package import Logbook

/// The address of a remote: `https://host[:port][/prefix]`. It contains no secret, so it may be shown.
package struct RemoteAddress: Hashable, Sendable {
  /// Whether connections are encrypted: the scheme of the address is `https`.
  package let isEncrypted: Bool
  /// The host and the port, for messages.
  package let host: String
  /// The host without the port and without the brackets of IPv6.
  let hostName: String
  let port: Int
  /// Whether the host is this machine.
  let isLoopback: Bool
  /// The address in its shortest notation, without a final slash.
  package let text: String

  /// Parses an address.
  ///
  /// - Parameter allowsPlainHTTP: whether `http` is allowed to another machine, although everyone on the
  ///   network path can read the data.
  /// - Throws: `Failure` of category `configuration`. Its message does not quote texts that may contain a
  ///   secret.
  package init(_ text: String, allowsPlainHTTP: Bool) throws(Failure) {
    guard let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased(),
      scheme == "https" || scheme == "http", let host = parts.host?.lowercased(), !host.isEmpty
    else {
      let example = Self.isHostName(text) ? text : "host.example/prefix"
      throw Failure(
        .configuration, "the address must begin with https://, such as https://\(example)")
    }
    guard (1...65535).contains(parts.port ?? 443) else {
      throw Failure(.configuration, "the port of the address must be 1 to 65535")
    }
    guard parts.user == nil, parts.password == nil, parts.query == nil, parts.fragment == nil else {
      throw Failure(
        .configuration,
        "the address must not have user, password, query or fragment; pass the token with --token-file or --token-command"
      )
    }
    isEncrypted = scheme == "https"
    guard isEncrypted || allowsPlainHTTP || Self.isLoopback(host) else {
      throw Failure(
        .configuration,
        "\(host): with plain http anyone on the network can read the data and the token; use https, or --insecure-http"
      )
    }
    hostName = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
    port = parts.port ?? (isEncrypted ? 443 : 80)
    isLoopback = Self.isLoopback(host)
    self.host = host + (parts.port.map { ":\($0)" } ?? "")
    let path = parts.percentEncodedPath
    let end = path.lastIndex { $0 != "/" }
    self.text = "\(scheme)://\(self.host)\(end.map { path[...$0] } ?? "")"
  }

  /// Whether both addresses have the same host name and port.
  package func isSameServer(as other: RemoteAddress) -> Bool {
    hostName == other.hostName && port == other.port
  }

  /// Whether both addresses are of one site, which has the same host, port and path.
  package func isSameSite(as other: RemoteAddress) -> Bool { isSameHost(as: other) && path == other.path }

  /// Whether both addresses have the same host and port. The usual ports of `http` and `https` count as
  /// equal, since one server answers at both.
  package func isSameHost(as other: RemoteAddress) -> Bool {
    hostName == other.hostName && (port == other.port || hasUsualPort && other.hasUsualPort)
  }

  private var hasUsualPort: Bool { port == (isEncrypted ? 443 : 80) }

  /// The path without the slashes at both ends; nil for none.
  var path: Substring? {
    text.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: true).dropFirst(2).first
  }

  /// Whether a text is certainly a host name and not a secret: it is in lower case and contains a dot.
  private static func isHostName(_ text: String) -> Bool {
    let labels = text.split(separator: ".", omittingEmptySubsequences: false)
    let isPlain = text.utf8.allSatisfy {
      (0x61...0x7A).contains($0) || (0x2D...0x39).contains($0) && $0 != 0x2F
    }
    return isPlain && text.utf8.count <= 64 && labels.count > 1 && labels.allSatisfy { !$0.isEmpty }
      && labels.last.map { $0.count > 1 && $0.allSatisfy(\.isLetter) } ?? false
  }

  /// Whether the host is this machine: in 127.0.0.0/8, ::1 or localhost.
  private static func isLoopback(_ host: String) -> Bool {
    if host == "localhost" { return true }
    var four = in_addr()
    if inet_pton(AF_INET, host, &four) == 1 { return UInt32(bigEndian: four.s_addr) >> 24 == 127 }
    return host == "[::1]" || host == "::1"
  }
}
