// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import LogbookAPI

/// What a server answers, by its path. A path is compared as it stands, so that no spelling leads elsewhere.
enum WireRoute: String, CaseIterable {
  case logbook, readings, records, changes, digests, blobs, health, metrics

  init?(path: String) {
    if path.hasPrefix(Wire.blobsPath) {
      self = .blobs
      return
    }
    guard let route = Self.allCases.first(where: { $0.path == path }) else { return nil }
    self = route
  }

  var path: String {
    switch self {
    case .logbook: Wire.logbookPath
    case .readings: Wire.readingsPath
    case .records: Wire.recordsPath
    case .changes: Wire.changesPath
    case .digests: Wire.digestsPath
    case .blobs: Wire.blobsPath
    case .health: "/healthz"
    case .metrics: "/metrics"
    }
  }

  var methods: [HTTPRequest.Method] {
    switch self {
    case .readings, .records: [.post]
    case .blobs: [.get, .head, .patch, .put]
    default: [.get]
    }
  }

  /// Whether a login that may only read is refused.
  static func writes(_ method: HTTPRequest.Method) -> Bool { method != .get && method != .head }
}
