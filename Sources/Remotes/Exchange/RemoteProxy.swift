// SPDX-License-Identifier: Apache-2.0

import Foundation
package import Logbook

/// The proxy for a remote. Its login appears in no message, log or dump.
package struct RemoteProxy: Sendable {
  enum Kind {
    /// An HTTP proxy with the method CONNECT.
    case http
    /// SOCKS, version 5, which also resolves the remote's address.
    case socks
  }

  let kind: Kind
  let host: String
  let port: Int
  /// User and password of an HTTP proxy; nil without.
  let login: (user: String, password: String)?

  /// The proxy in the environment for a remote; nil for none. This machine is reached directly, and unencrypted
  /// connections only use SOCKS.
  ///
  /// - Parameter environment: returns the value of an environment variable.
  /// - Throws: `Failure` of category `configuration` for an unusable proxy. Its message names only the variable.
  package init?(
    for address: RemoteAddress, environment: (_ name: String) -> String?
  ) throws(Failure) {
    func value(_ name: String) -> (name: String, text: String)? {
      for name in [name, name.uppercased()] {
        if let text = environment(name)?.trimmingCharacters(in: .whitespaces), !text.isEmpty {
          return (name, text)
        }
      }
      return nil
    }
    guard !address.isLoopback,
      let chosen = (address.isEncrypted ? value("https_proxy") : nil) ?? value("all_proxy")
    else { return nil }
    let exceptions = ProxyExceptions(value("no_proxy")?.text ?? "")
    guard !exceptions.contains(host: address.hostName, port: address.port) else { return nil }
    try self.init(chosen.text, from: chosen.name)
    if kind == .http, !address.isEncrypted { return nil }
  }

  private init(_ text: String, from name: String) throws(Failure) {
    let url = text.contains("://") ? text : "http://" + text
    // Text after the port may be the rest of a password with a character that ends the host. Then the start of the
    // password would be shown as host and port.
    guard let parts = URLComponents(string: url), let host = parts.host, Self.isHost(host),
      (1...65535).contains(parts.port ?? 80), ["", "/"].contains(parts.percentEncodedPath),
      parts.query == nil, parts.fragment == nil
    else {
      throw Failure(
        .configuration,
        "the variable \(name) names no proxy; use http://host:port or socks5://host:port, and write /, ?, # and % of a password as %2F, %3F, %23 and %25"
      )
    }
    switch parts.scheme?.lowercased() {
    case "http": kind = .http
    case "socks5", "socks5h", "socks": kind = .socks
    default:
      throw Failure(
        .configuration,
        "the variable \(name) names a proxy of a type that is not supported; use http://host:port or socks5://host:port"
      )
    }
    if kind == .socks, parts.user != nil {
      throw Failure(
        .configuration, "the variable \(name) names a SOCKS proxy with a user, which is not supported")
    }
    self.host = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
    port = parts.port ?? (kind == .socks ? 1080 : 80)
    login = parts.user.map { ($0, parts.password ?? "") }
  }

  /// Whether messages may contain it: it has neither blanks nor control characters.
  private static func isHost(_ host: String) -> Bool {
    !host.isEmpty && host.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }
  }
}

extension RemoteProxy: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Excludes the login.
  package var description: String {
    (kind == .socks ? "socks5://" : "http://") + (host.contains(":") ? "[\(host)]" : host) + ":\(port)"
  }
  /// Excludes the login.
  package var debugDescription: String { description }
  /// Excludes the login from dumps, which print members.
  package var customMirror: Mirror { Mirror(self, children: [:]) }
}
