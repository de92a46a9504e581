// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
package import Logbook

/// The proxy through which a remote is reached. Its user name and password are not part of any message, log
/// or dump.
package struct RemoteProxy: Sendable {
  enum ProxyKind {
    /// An HTTP proxy that is used with the method CONNECT.
    case http
    /// A SOCKS proxy of version 5, which also resolves the name of the remote.
    case socks
  }

  let kind: ProxyKind
  let host: String
  let port: Int
  /// The user and password for an HTTP proxy; nil without a login.
  let login: (user: String, password: String)?

  /// The proxy that environment variables set for a remote; nil without one. No proxy is used for this
  /// machine. For an unencrypted connection, only a SOCKS proxy is used.
  ///
  /// - Parameter environment: returns the value of an environment variable.
  /// - Throws: `Failure` of category `configuration` for an unusable proxy. Its message names only the
  ///   variable.
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
    // If the port is followed by other text, this text may be the rest of a password that contains `/`, `?`
    // or `#`. The host and the port would then be parts of the password, and messages would show them.
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

  /// Whether the text can be a host, so that messages may contain it: it has neither blanks nor control
  /// characters.
  private static func isHost(_ host: String) -> Bool {
    !host.isEmpty && host.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }
  }
}

extension RemoteProxy: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// A text for messages, without the login.
  package var description: String {
    (kind == .socks ? "socks5://" : "http://") + (host.contains(":") ? "[\(host)]" : host) + ":\(port)"
  }
  /// The same text, without the login.
  package var debugDescription: String { description }
  /// An empty mirror, since dumps would otherwise print the login.
  package var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// The hosts in the variable `NO_PROXY`, separated by commas or blanks. An entry is a host name, which
/// includes its subdomains, or an address. It can also be a network such as `10.0.0.0/8`, or `*` for all
/// hosts. Each entry can have a port. An IPv6 address needs brackets if a port follows: `[fd00::1]:443`,
/// `[fd00::]/8:443`.
struct ProxyExceptions {
  private let entries: [Substring]

  init(_ text: String) {
    entries = text.lowercased().split { $0 == "," || $0.isWhitespace }
  }

  /// Whether a host must be reached without the proxy.
  func contains(host: String, port: Int) -> Bool {
    // A final dot does not change a host name.
    let name = Self.withoutLastDot(host.lowercased()[...])
    let bytes = Self.bytes(String(name))
    return entries.contains { entry in
      if entry == "*" { return true }
      let (pattern, onlyPort) = Self.parts(entry)
      guard onlyPort == nil || onlyPort == port else { return false }
      guard let bytes else { return Self.holds(pattern, for: name) }
      return Self.holds(pattern, for: bytes)
    }
  }

  private static func holds(_ pattern: Substring, for name: Substring) -> Bool {
    let pattern = withoutLastDot(pattern)
    let domain =
      pattern.hasPrefix("*.") ? pattern.dropFirst(2) : pattern.hasPrefix(".") ? pattern.dropFirst() : pattern
    return !domain.isEmpty && (name == domain || name.hasSuffix("." + domain))
  }

  /// Whether an address is in a network, or equal to an address. The prefix is compared bit by bit.
  private static func holds(_ pattern: Substring, for bytes: [UInt8]) -> Bool {
    let words = pattern.split(separator: "/", omittingEmptySubsequences: false)
    guard words.count <= 2, let first = words.first, let network = self.bytes(String(first)),
      network.count == bytes.count
    else { return false }
    guard words.count == 2 else { return network == bytes }
    guard let bits = number(words[1]), bits <= bytes.count * 8 else { return false }
    return (0..<bits).allSatisfy { (bit: Int) -> Bool in
      let mask: UInt8 = 0x80 >> UInt8(bit % 8)
      return network[bit / 8] & mask == bytes[bit / 8] & mask
    }
  }

  private static func withoutLastDot(_ name: Substring) -> Substring {
    name.hasSuffix(".") ? name.dropLast() : name
  }

  /// Splits `name:port`, `[address]:port` and `[address]/bits:port`. An IPv6 address without brackets has no
  /// port. An invalid port becomes -1, which matches no host.
  private static func parts(_ entry: Substring) -> (pattern: Substring, port: Int?) {
    if entry.hasPrefix("["), let end = entry.firstIndex(of: "]") {
      let address = entry[entry.index(after: entry.startIndex)..<end]
      let rest = entry[entry.index(after: end)...]
      let bits = rest.prefix { $0 != ":" }
      // Any other text after the bracket makes the entry invalid. Otherwise this text would become a part of
      // the address.
      guard bits.isEmpty || bits.first == "/" else { return ("", nil) }
      let port = rest.dropFirst(bits.count)
      return (address + bits, port.isEmpty ? nil : number(port.dropFirst()) ?? -1)
    }
    guard let colon = entry.firstIndex(of: ":"), entry.lastIndex(of: ":") == colon else {
      return (entry, nil)
    }
    return (entry[..<colon], number(entry[entry.index(after: colon)...]) ?? -1)
  }

  /// The number in decimal digits without a sign; nil for any other text.
  private static func number(_ text: Substring) -> Int? {
    text.utf8.allSatisfy { $0 >= 0x30 && $0 <= 0x39 } ? Int(text) : nil
  }

  /// The bytes of a numeric address; nil for a name. An IPv4-mapped IPv6 address becomes an IPv4 address.
  private static func bytes(_ text: String) -> [UInt8]? {
    for (family, count) in [(AF_INET, 4), (AF_INET6, 16)] {
      var bytes = [UInt8](repeating: 0, count: count)
      guard inet_pton(family, text, &bytes) == 1 else { continue }
      return bytes.starts(with: mapped) ? Array(bytes[12...]) : bytes
    }
    return nil
  }

  /// The prefix of IPv4-mapped IPv6 addresses (RFC 4291 §2.5.5.2).
  private static let mapped: [UInt8] = Array(repeating: 0, count: 10) + [0xFF, 0xFF]
}
