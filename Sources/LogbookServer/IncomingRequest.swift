// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import HummingbirdCore
import Logbook
import LogbookAPI
import NIOCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// What belongs to a request besides what it says.
struct RequestOrigin {
  /// What is served at the address that the request came to.
  enum Place {
    /// The calls of the protocol, and metrics to this machine.
    case everything
    /// All but metrics.
    case calls
    /// Metrics and health alone, to everybody.
    case metrics

    /// What a URL of the place ends with.
    var path: String { self == .metrics ? WireRoute.metrics.path : "" }
  }

  let channel: any Channel
  let place: Place
  let peer: SocketAddress?

  init(_ channel: any Channel, _ place: Place) {
    self.channel = channel
    self.place = place
    peer = channel.remoteAddress
  }

  /// The address by which failed logins are counted.
  var address: String { Self.address(of: peer) }

  /// Who is at the other end: a household has many addresses of IPv6, which share their first half.
  static func address(of peer: SocketAddress?) -> String {
    guard let text = peer?.ipAddress else { return "" }
    // As bytes, since the text leaves out zeros, of which each address has others.
    var bytes = [UInt8](repeating: 0, count: 16)
    let number = text.prefix { $0 != "%" }
    guard inet_pton(AF_INET6, String(number), &bytes) == 1 else { return text }
    // What came over IPv4 has its whole address in the second half.
    if bytes.starts(with: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]) {
      return bytes.suffix(4).map(String.init).joined(separator: ".")
    }
    return bytes.prefix(8).map { $0 < 16 ? "0\(String($0, radix: 16))" : String($0, radix: 16) }.joined()
  }

  var isLoopback: Bool {
    guard let text = peer?.ipAddress else { return false }
    return text == "::1" || text.hasPrefix("127.") || text.hasPrefix("::ffff:127.")
  }
}

/// A request as the calls of the protocol see it.
struct IncomingRequest: Sendable {
  let request: Request
  let path: String

  init(_ request: Request) {
    self.request = request
    path = request.uri.path
  }

  /// Whether something follows the head, which nobody may have read.
  var hasBody: Bool {
    request.headers[.transferEncoding] != nil || (request.headers[.contentLength] ?? "0") != "0"
  }

  /// Whether a proxy says that the request is somebody else's: by the headers of RFC 7239 and RFC 9110, or by those that
  /// proxies are set up with.
  var isForwarded: Bool {
    request.headers.contains { field in
      let name = field.name.canonicalName
      return ["forwarded", "via", "x-real-ip"].contains(name) || name.hasPrefix("x-forwarded-")
    }
  }

  var takesGzip: Bool {
    request.headers[values: .acceptEncoding].joined(separator: ",").lowercased().split(separator: ",")
      .contains { part in
        let words = part.split(separator: ";").map { $0.filter { $0 != " " } }
        return words.first == "gzip"
          && !words.dropFirst().contains { $0.hasPrefix("q=0") && !$0.contains { "123456789".contains($0) } }
      }
  }

  /// The token of `Authorization: Bearer`.
  var token: LoginToken? {
    let values = request.headers[values: .authorization]
    let parts = (values.first ?? "").split(separator: " ", maxSplits: 1)
    guard values.count == 1, parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
    return LoginToken(String(parts[1]))
  }

  /// The run that the headers name.
  func run() throws(Refusal) -> RunStamp {
    let node = try header(Wire.nodeHeader) ?? ""
    let run = try header(Wire.runHeader) ?? ""
    let stamp = RunStamp(
      node: node, run: run, logbook: try header(Wire.logbookHeader),
      lastSeenPosition: try header(Wire.positionHeader))
    guard let stamp else {
      throw Refusal(
        .badRequest,
        "the header \(Wire.nodeHeader) must be a UUID, and \(Wire.runHeader) a number from 1, a blank and a UUID"
      )
    }
    return stamp
  }

  /// A parameter of the query, which may occur once.
  func parameter(_ name: String) throws(Refusal) -> String? {
    let values = request.uri.queryParameters[values: Substring(name)]
    guard values.count <= 1 else { throw Refusal(.badRequest, "the parameter \(name) occurs twice") }
    return values.first.map(String.init)
  }

  /// A header, which may occur once.
  func header(_ name: String) throws(Refusal) -> String? {
    guard let field = HTTPField.Name(name) else { return nil }
    let values = request.headers[values: field]
    guard values.count <= 1 else { throw Refusal(.badRequest, "the header \(name) occurs twice") }
    return values.first
  }
}
