// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import LogbookAPI

/// What a server answers, by its path. A path is compared unchanged, so that no spelling leads elsewhere.
enum WireRoute: String, CaseIterable {
  case logbook, purge, readings, records, changes, digests, blobs, pageLinks, page, health, metrics

  /// The route of a path; with a method that the path does not take, one of its others.
  init?(path: String, method: HTTPRequest.Method) {
    let routes = Self.routes(of: path)
    guard let route = routes.first(where: { $0.methods.contains(method) }) ?? routes.first else { return nil }
    self = route
  }

  /// The methods that the path takes, as the header `Allow` lists them.
  var allowed: String { Self.routes(of: path).flatMap(\.methods).map(\.rawValue).joined(separator: ", ") }

  var path: String {
    switch self {
    case .logbook, .purge: Wire.logbookPath
    case .readings: Wire.readingsPath
    case .records: Wire.recordsPath
    case .changes: Wire.changesPath
    case .digests: Wire.digestsPath
    case .blobs: Wire.blobsPath
    case .pageLinks: Wire.pageLinksPath
    case .page: Wire.pagesPath
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

  /// Whether it is there only on a server that shows pages.
  var isOfPages: Bool { self == .page || self == .pageLinks }

  /// Whether a login that may only read is refused.
  static func writes(_ method: HTTPRequest.Method) -> Bool { method != .get && method != .head }

  private static func routes(of path: String) -> [WireRoute] {
    if path.hasPrefix(Wire.blobsPath) { return [.blobs] }
    // The secret behind it is no part of what is logged and counted.
    if path.hasPrefix(Wire.pagesPath) { return [.page] }
    return allCases.filter { $0.path == path }
  }
}
