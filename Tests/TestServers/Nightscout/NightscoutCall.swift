// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A parsed request.
struct NightscoutCall {
  let method: String
  /// The parts of the path, as sent.
  let rawSegments: [String]
  /// The parts of the path, percent-decoded. The first two are in lower case: `api`, `v3`.
  let segments: [String]
  let query: NightscoutQuery
  let headers: [String: String]
  let body: [UInt8]
  /// The path and its parameters, as sent.
  let address: String

  init(_ received: ReceivedRequest) {
    address = received.path
    method = received.method == "HEAD" ? "GET" : received.method
    let parts = received.path.split(separator: "?", maxSplits: 1).map(String.init)
    rawSegments = (parts.first ?? "").split(separator: "/").map(String.init)
    segments = rawSegments.enumerated().map { place, segment in
      let plain = segment.removingPercentEncoding ?? segment
      return place < 2 ? plain.lowercased() : plain
    }
    query = NightscoutQuery(parts.count < 2 ? "" : parts[1])
    headers = received.headers
    body = received.body
  }

  /// The caller's address, for which wrong credentials cause delays. A proxy can state another address.
  var client: String { headers["x-forwarded-for"] ?? "127.0.0.1" }

  /// The text of a parameter; nil if it is missing or empty.
  func parameter(_ name: String) -> String? { query[name]?.text.flatMap { $0.isEmpty ? nil : $0 } }

  /// The path without its parameters.
  var path: String { String(address.prefix { $0 != "?" }) }
}

/// A site's answer to a request without a connection: a status, header lines and a body.
package struct NightscoutReply: Sendable {
  package let status: Int
  package let headers: [String]
  package let body: [UInt8]
}
