// SPDX-License-Identifier: Apache-2.0

import Foundation
package import Logbook

/// The address of one document: `https://host[:port]/path[?query]`. It contains no secret, so it may be
/// stored and shown.
package struct SourceAddress: Hashable, Sendable {
  /// The host and the port, for the connection.
  package let server: RemoteAddress
  /// The path and the query.
  package let target: String

  /// The whole address.
  package var text: String { server.text + target }

  /// Names of query parameters whose values are secrets, in lower case and without `-` and `_`.
  private static let secretNames: Set<String> = [
    "pwd", "auth", "signature", "sig", "session", "sessionid", "key", "jwt", "pass", "pin",
  ]
  /// Words that names of query parameters contain if their values are secrets.
  private static let secretParts = [
    "token", "secret", "passw", "passphrase", "credential", "apikey", "accesskey", "authorization",
  ]

  /// Whether the name of a query parameter shows that its value is a secret.
  private static func namesSecret(_ name: Substring) -> Bool {
    let name = (name.removingPercentEncoding ?? String(name)).lowercased().filter { $0 != "-" && $0 != "_" }
    return secretNames.contains(name) || secretParts.contains { name.contains($0) }
  }

  /// Parses an address.
  ///
  /// - Parameter allowsPlainHTTP: whether `http` is allowed to another machine.
  /// - Throws: `Failure` of category `configuration`. Its message does not quote texts that may be a secret.
  package init(_ text: String, allowsPlainHTTP: Bool) throws(Failure) {
    guard var parts = URLComponents(string: text) else {
      throw Failure(
        .configuration, "the address of a source must begin with https://, such as https://host.example/file")
    }
    let (path, query) = (parts.percentEncodedPath, parts.percentEncodedQuery)
    let names = (query ?? "").split { $0 == "&" || $0 == ";" }.map { $0.prefix { $0 != "=" } }
    if let name = names.first(where: Self.namesSecret) {
      throw Failure(
        .configuration,
        "the address of a source must not contain a secret, as its member '\(name)' may; pass it with --token-file or --token-command, and --header for the name of its header"
      )
    }
    (parts.percentEncodedPath, parts.percentEncodedQuery) = ("", nil)
    server = try RemoteAddress(parts.string ?? text, allowsPlainHTTP: allowsPlainHTTP)
    target = (path.isEmpty ? "/" : path) + (query.map { "?" + $0 } ?? "")
  }

  /// Whether the path of this address is the path of this site, or is below that path.
  package func isBelow(_ site: RemoteAddress) -> Bool {
    guard let path = site.path else { return true }
    return target == "/\(path)" || target.hasPrefix("/\(path)/") || target.hasPrefix("/\(path)?")
  }

  private init(_ server: RemoteAddress, _ target: String) { (self.server, self.target) = (server, target) }

  /// The target of a redirection on the same server; nil for any other target, since it must not receive the
  /// secret.
  ///
  /// - Parameter location: the header `Location`.
  func redirected(to location: String) -> SourceAddress? {
    // The location may be relative to this address.
    guard let stated = URLComponents(string: location), stated.fragment == nil,
      let url = stated.url(relativeTo: URL(string: text)),
      let parts = URLComponents(url: url, resolvingAgainstBaseURL: true), parts.user == nil
    else { return nil }
    let query = parts.percentEncodedQuery.map { "?" + $0 } ?? ""
    var base = parts
    (base.percentEncodedPath, base.percentEncodedQuery) = ("", nil)
    do throws(Failure) {
      let other = try RemoteAddress(base.string ?? "", allowsPlainHTTP: true)
      guard other.isEncrypted == server.isEncrypted, other.hostName == server.hostName,
        other.port == server.port
      else { return nil }
      return SourceAddress(
        server, (parts.percentEncodedPath.isEmpty ? "/" : parts.percentEncodedPath) + query)
    } catch {
      return nil
    }
  }
}
