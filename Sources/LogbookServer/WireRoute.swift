// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import LogbookAPI

/// The routes of the server. Paths are compared literally, so that no alternative spelling reaches a route.
enum WireRoute: String, CaseIterable {
  case logbook, purge, readings, records, changes, digests, blobs, pageLinks, page, health, metrics

  /// The route of a path and method; for a method that the path does not accept, another route of the path.
  init?(path: String, method: HTTPRequest.Method) {
    let routes = Self.routes(of: path)
    guard let route = routes.first(where: { $0.methods.contains(method) }) ?? routes.first else { return nil }
    self = route
  }

  /// The methods that the path accepts, in the form of the header `Allow`.
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

  /// Whether it exists only on a server with pages.
  var isOfPages: Bool { self == .page || self == .pageLinks }

  /// Whether read-only logins are refused.
  static func writes(_ method: HTTPRequest.Method) -> Bool { method != .get && method != .head }

  private static func routes(of path: String) -> [WireRoute] {
    if path.hasPrefix(WireProtocol.blobsPath) { return [.blobs] }
    // The secret at the end is not logged or counted.
    if path.hasPrefix(WireProtocol.pagesPath) { return [.page] }
    return allCases.filter { $0.path == path }
  }
}
