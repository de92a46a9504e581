// SPDX-License-Identifier: Apache-2.0

import Foundation
package import Logbook

/// The proxy through which a remote is reached. Its login shows itself in no message, log or dump.
package struct RemoteProxy: Sendable {
  enum Kind {
    /// It opens a way by the method CONNECT.
    case http
    /// SOCKS, version 5, which also finds the remote's address.
    case socks
  }

  let kind: Kind
  let host: String
  let port: Int
  /// User and password of an HTTP proxy; nil without.
  let login: (user: String, password: String)?

  /// The proxy that the environment names for a remote; nil for none. This machine is reached without one, and only SOCKS
  /// carries what is not encrypted.
  ///
  /// - Parameter environment: gives the value of a variable of the environment.
  /// - Throws: `Failure` of category `configuration` for a proxy that cannot be used. Its message names the variable alone.
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
    // What follows the port can be the rest of a password with a sign that ends the host, whose beginning would be shown
    // as the host and the port.
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

  /// Whether messages can name it: it has neither blanks nor signs that control a terminal.
  private static func isHost(_ host: String) -> Bool {
    !host.isEmpty && host.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }
  }
}

extension RemoteProxy: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Without its login.
  package var description: String {
    (kind == .socks ? "socks5://" : "http://") + (host.contains(":") ? "[\(host)]" : host) + ":\(port)"
  }
  /// Without its login.
  package var debugDescription: String { description }
  /// Without its login, for what prints values by their members.
  package var customMirror: Mirror { Mirror(self, children: [:]) }
}
