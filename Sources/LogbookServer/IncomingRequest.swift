// SPDX-License-Identifier: Apache-2.0

import Glibc
import HTTPTypes
import HummingbirdCore
import Logbook
import LogbookAPI
import NIOCore

/// The client from which a request came, and the address of the server at which it arrived.
struct RequestOrigin {
  /// The routes that are available at a listening address.
  enum RouteSet {
    /// All routes of the protocol. Metrics are answered only to clients on this machine.
    case everything
    /// All routes except metrics.
    case calls
    /// Only metrics and health, which are answered to every client.
    case metrics

    /// The path that messages add to the URL of a listening address.
    var path: String { self == .metrics ? WireRoute.metrics.path : "" }
  }

  let channel: any Channel
  let routes: RouteSet
  let peer: SocketAddress?

  init(_ channel: any Channel, _ routes: RouteSet) {
    self.channel = channel
    self.routes = routes
    peer = channel.remoteAddress
  }

  /// The client's address, for counting failed logins and connections.
  var address: String { Self.address(of: peer) }

  /// The address under which a client is counted. Only the first half of an IPv6 address is used, since it is
  /// the same for all devices of a household.
  static func address(of peer: SocketAddress?) -> String {
    guard let text = peer?.ipAddress else { return "" }
    // The address is parsed to bytes, since its text omits zeros.
    var bytes = [UInt8](repeating: 0, count: 16)
    let number = text.prefix { $0 != "%" }
    guard inet_pton(AF_INET6, String(number), &bytes) == 1 else { return text }
    // An IPv4-mapped address has the IPv4 address in its second half.
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

struct IncomingRequest: Sendable {
  let request: Request
  let path: String

  init(_ request: Request) {
    self.request = request
    path = request.uri.path
  }

  /// Whether the request has a body after its head. The body may not have been read.
  var hasBody: Bool {
    request.headers[.transferEncoding] != nil || (request.headers[.contentLength] ?? "0") != "0"
  }

  /// Whether a proxy forwarded the request, according to the headers of RFC 7239 and RFC 9110 and the common
  /// headers of proxies.
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

  /// The token in the header `Authorization: Bearer`; nil if there is not exactly one such header.
  var token: LoginToken? {
    let values = request.headers[values: .authorization]
    let parts = (values.first ?? "").split(separator: " ", maxSplits: 1)
    guard values.count == 1, parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
    return LoginToken(String(parts[1]))
  }

  /// The run that the headers state.
  func run() throws(Refusal) -> RunStamp {
    let node = try header(WireProtocol.nodeHeader) ?? ""
    let run = try header(WireProtocol.runHeader) ?? ""
    let stamp = RunStamp(
      node: node, run: run, logbook: try header(WireProtocol.logbookHeader),
      lastSeenPosition: try header(WireProtocol.positionHeader))
    guard let stamp else {
      throw Refusal(
        .badRequest,
        "the header \(WireProtocol.nodeHeader) must be a UUID, and \(WireProtocol.runHeader) a number from 1, a blank and a UUID"
      )
    }
    return stamp
  }

  /// A parameter of the URL; nil if it is missing, and an error if it occurs twice.
  func parameter(_ name: String) throws(Refusal) -> String? {
    let values = request.uri.queryParameters[values: Substring(name)]
    guard values.count <= 1 else { throw Refusal(.badRequest, "the parameter \(name) occurs twice") }
    return values.first.map(String.init)
  }

  /// The value of a header; nil if it is missing, and an error if it occurs twice.
  func header(_ name: String) throws(Refusal) -> String? {
    guard let field = HTTPField.Name(name) else { return nil }
    let values = request.headers[values: field]
    guard values.count <= 1 else { throw Refusal(.badRequest, "the header \(name) occurs twice") }
    return values.first
  }
}

/// The routes of the server. Paths are compared byte by byte, so that no alternative spelling reaches a
/// route.
enum WireRoute: String, CaseIterable {
  case logbook, purge, readings, records, changes, digests, blobs, pageLinks, page, health, ready, metrics

  /// The route of a path and method; nil for an unknown path. If the path does not accept the method, the
  /// result is the first route of the path.
  init?(path: String, method: HTTPRequest.Method) {
    let routes = Self.routes(of: path)
    guard let route = routes.first(where: { $0.methods.contains(method) }) ?? routes.first else { return nil }
    self = route
  }

  /// The methods that the path accepts, as the header `Allow` lists them.
  var allowed: String { Self.routes(of: path).flatMap(\.methods).map(\.rawValue).joined(separator: ", ") }

  var path: String {
    switch self {
    case .logbook, .purge: WireProtocol.logbookPath
    case .readings: WireProtocol.readingsPath
    case .records: WireProtocol.recordsPath
    case .changes: WireProtocol.changesPath
    case .digests: WireProtocol.digestsPath
    case .blobs: WireProtocol.blobsPath
    case .pageLinks: WireProtocol.pageLinksPath
    case .page: WireProtocol.pagesPath
    case .health: "/healthz"
    case .ready: "/ready"
    case .metrics: "/metrics"
    }
  }

  var methods: [HTTPRequest.Method] {
    switch self {
    case .readings, .records, .pageLinks: [.post]
    case .purge: [.delete]
    case .blobs: [.get, .head, .patch, .put]
    default: [.get]
    }
  }

  /// Whether the route exists only on a server that has pages.
  var isOfPages: Bool { self == .page || self == .pageLinks }

  /// Whether the method changes data, so that read-only logins must be refused.
  static func writes(_ method: HTTPRequest.Method) -> Bool { method != .get && method != .head }

  private static func routes(of path: String) -> [WireRoute] {
    if path.hasPrefix(WireProtocol.blobsPath) { return [.blobs] }
    // The path ends with the secret of a link. The secret must not be logged or counted.
    if path.hasPrefix(WireProtocol.pagesPath) { return [.page] }
    return allCases.filter { $0.path == path }
  }
}
