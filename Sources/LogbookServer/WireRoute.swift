// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import LogbookAPI

/// What a server answers, by its path. A path is compared as it stands, so that no spelling leads elsewhere.
enum WireRoute: String, CaseIterable {
  case logbook, readings, records, changes, digests, health, metrics

  init?(path: String) {
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
    case .health: "/healthz"
    case .metrics: "/metrics"
    }
  }

  var method: HTTPRequest.Method {
    switch self {
    case .readings, .records: .post
    default: .get
    }
  }

  /// Whether a login that may only read is refused.
  var writes: Bool { method == .post }
}
